"""A dual point: what every loss gives of the proof of a problem, and what may be put down to rounding.

Gains are concave and 0 at 0, so that duals times t <= 1 are feasible where they were, and keep at least t of
their gain.  So duals that rounding has left a little outside their bounds, or out of balance, are paid for as
if they were scaled.
"""

from math import fsum
from typing import NamedTuple

from ..errors import ProofError
from .sums import gamma, numbers

#: By what share duals may lie beyond their bounds, or not balance: rounding, paid for as if they were scaled.
ROUNDING = 1e-9


class Duals(NamedTuple):
    """A dual point: A (n, rows), by which scores are multiplied; its gain from below, how large its terms
    are, by which share duals must be scaled to be feasible; and how much may be taken from duals of single
    examples so that intercepts balance, with the largest cost there is."""

    A: object
    gain: float
    size: float
    excess: float
    taken: float = 0.0
    cost: float = 0.0


def planes(proof, scores_at):
    """Yield (share, scores_at(j)) of the planes j of a proof: each lies under the risk, since it is the
    risk's own at some scores, whoever chose these."""
    weights = numbers(proof, "weights", (None,))
    excess = fsum(weights.tolist()) - 1.0
    if (weights < 0).any() or excess > ROUNDING:
        raise ProofError("the weights of the planes are negative, or sum to more than there is")
    for j, weight in enumerate(weights / (1.0 + max(excess, 0.0)) * (1.0 - gamma(len(weights) + 8))):
        yield weight, scores_at(j)


def limit_of(proof):
    """How much is rounding: planes are found anew, and an example on the edge may be on its other side."""
    return 0.5 if "points" in proof else ROUNDING


def small(excess, what, i=None, limit=ROUNDING):
    """The share by which something is off, which must be nothing but rounding."""
    if not excess <= limit:
        where = "" if i is None else f" {i}"
        outside = "is outside its bounds by a share of" if i is not None else "is off by a share of"
        raise ProofError(f"{what}{where} {outside} {excess:.3g}")
    return max(excess, 0.0)

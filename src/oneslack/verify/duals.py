"""A dual point: what every loss gives of the proof of a problem, and what may be put down to rounding.

Gains are concave and 0 at 0, so that duals times t <= 1 are feasible where they were, and keep at least t of
their gain.  So duals that rounding has left a little outside their bounds, or out of balance, are paid for as
if they were scaled.
"""

from math import fsum
from typing import Any, NamedTuple

import numpy as np

from ..errors import ProofError
from .sums import gamma, numbers

#: By what share duals may lie beyond their bounds, or not balance: rounding, paid for as if they were scaled.
ROUNDING = 1e-9


class Duals(NamedTuple):
    """A dual point: A (n, rows), by which scores are multiplied; its gain from below, how large its terms
    are, by which share duals must be scaled to be feasible; and how much may be taken from duals of single
    examples so that intercepts balance, with the largest cost there is."""

    A: Any
    gain: float
    size: float
    excess: float
    taken: float = 0.0
    cost: float = 0.0


def planes(proof, plane_at):
    """Yield (share, plane_at(j)) of the planes j of a proof: each lies under the risk, since it is the risk's
    own at some scores, whoever chose these."""
    weights = numbers(proof, "weights", (None,))
    excess = fsum(weights.tolist()) - 1.0
    if (weights < 0).any() or excess > ROUNDING:
        raise ProofError("the weights of the planes are negative, or sum to more than there is")
    for j, weight in enumerate(weights / (1.0 + max(excess, 0.0)) * (1.0 - gamma(len(weights) + 8))):
        yield weight, plane_at(j)


def excess_of(given, room):
    """By what share the most that an example has given, (n,), is more than there is room, (n,) >= 0."""
    if not (room >= 0).all():
        raise ProofError(f"example {int(np.argmin(room >= 0))} has a weight below 0, or none at all")
    with np.errstate(divide="ignore", invalid="ignore"):
        filled = np.where(given > 0, given / room, 0.0)
    worst = int(np.argmax(filled))
    return small(filled[worst] - 1.0, f"the dual of example {worst} is outside its bounds")


def balance(proof, left, side, what):
    """By which share of one side the other one is larger.  Planes at points are found anew, and an example on
    the edge may be on its other side: then much may be left over, and is paid for."""
    return small(
        left / max(side, 1e-300), f"the balance of the {what} is off", 0.5 if "points" in proof else ROUNDING
    )


def small(excess, what, limit=ROUNDING):
    """The share by which something is off, which must be nothing but rounding."""
    if not excess <= limit:
        raise ProofError(f"{what} by a share of {excess:.3g}")
    return max(excess, 0.0)

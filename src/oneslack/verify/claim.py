"""What a model file claims, against what was computed from the data."""

from math import isfinite
from typing import NamedTuple

from ..errors import ProofError

#: By what share of itself a claimed primal may lie above P(w), and a gap below the proven one.
LOOSE, DRIFT = 1e-6, 0.05


class Bounds(NamedTuple):
    """low <= P(w) <= high, and dual_low <= D(alpha) <= dual_high, of which dual_low <= min P is proven."""

    low: float
    high: float
    dual_low: float
    dual_high: float


def compare(claim, bounds, where="", drift=0.0):
    """(P from above, D from below); a ProofError unless a claim (primal, dual) holds for what was computed.
    Planes at points are found anew, with other ties: their D may `drift` by a share of the gap."""
    primal, dual = claim
    if not (isfinite(primal) and isfinite(dual)):
        raise ProofError(f"the claim{where}, {primal!r} and {dual!r}, is not two numbers")
    if not (isfinite(bounds.low) and isfinite(bounds.high) and isfinite(bounds.dual_low)):
        raise ProofError(f"the bounds{where} are no numbers: P is {bounds.high!r}, D is {bounds.dual_low!r}")
    if primal < bounds.low:
        raise ProofError(
            f"the claim is P = {primal!r}{where}, but P at these weights is {bounds.low!r} at least"
        )
    if dual > max(bounds.dual_high, 0.0) + drift * (primal - dual):
        raise ProofError(
            f"the claim is D = {dual!r}{where}, but the duals prove {bounds.dual_high!r} at most"
        )
    room = max(drift * (primal - dual), LOOSE * abs(dual))
    if bounds.dual_low < dual - room:
        raise ProofError(f"the claim is D = {dual!r}{where}, but the duals prove {bounds.dual_low!r} only")
    return bounds.high, min(bounds.dual_low, bounds.high)

"""P(w) and D(alpha) put together, and what a model file claims against them."""

from math import inf, isfinite
from typing import Any, NamedTuple

from ..errors import ProofError
from .sums import SAFE, gamma

#: By what share of itself a claimed primal may lie above P(w), and a gap below the proven one.
LOOSE, DRIFT = 1e-6, 0.05


class Bounds(NamedTuple):
    """low <= P(w) <= high, and dual_low <= D(alpha) <= dual_high, of which dual_low <= min P is proven; the
    point u that the duals have, as weights, where it is one, and |r (w - u)|."""

    low: float
    high: float
    dual_low: float
    dual_high: float
    point: Any = None
    apart: float = inf

    @classmethod
    def of(cls, regular, risk, low, middle, size=0.0):
        """From (penalty(w), how far off), (risk(w), how far off); and D from below and as it was computed, of
        terms so large.  No dual at all proves P >= 0, too; D is concave: no farther above than below."""
        primal = regular[0] + risk[0]
        error = SAFE * (regular[1] + risk[1] + gamma(16) * (abs(regular[0]) + risk[0]))
        high = middle + SAFE * abs(middle - low) + gamma(256) * (abs(middle) + size)
        return cls(*map(float, (primal - error, primal + error, max(low, 0.0), high)))


def compare(claim, bounds, where="", drift=0.0):
    """Raise a ProofError unless a claim (primal, dual) holds for what was computed.
    Planes at points are found anew, with other ties: their D may `drift` by a share of the gap."""
    (primal, dual), drift = claim, drift * (claim[0] - claim[1])
    if not all(map(isfinite, (primal, dual, *bounds[:4]))):
        raise ProofError(
            f"the claim{where} is {primal!r} and {dual!r}, computed is {bounds[:4]}: not all numbers"
        )
    if bounds.dual_low > bounds.high:
        raise ProofError(
            f"the duals{where} prove D = {bounds.dual_low!r}, which is above P = {bounds.high!r}: "
            "this is the proof of no problem"
        )
    if primal < bounds.low:
        raise ProofError(f"the claim is P = {primal!r}{where}, but what is proven is {bounds.low!r}")
    if dual > max(bounds.dual_high, 0.0) + drift:
        raise ProofError(
            f"the claim is D = {dual!r}{where}, but the duals prove {bounds.dual_high!r} at most"
        )
    if dual > bounds.dual_low + max(drift, LOOSE * abs(dual)):
        raise ProofError(f"the claim is D = {dual!r}{where}, but the duals prove {bounds.dual_low!r} only")

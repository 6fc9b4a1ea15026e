"""RiskProblem: any convex risk, known by its value and a subgradient at every w."""

from __future__ import annotations

import numpy as np

from ..certificate.rounding import Lower, gamma, lower_bound, norm_up, rounded_up
from ..cuts import Plane
from ..data.identity import Identified, regulariser_digest
from ..models.answers import finite_row, is_one_number
from ..objective import Regulariser
from .capabilities import Capable
from .in_memory import check_C


class RiskProblem(Capable, Identified):
    """Any convex risk given by value and subgradient: risk(w) -> (value, subgradient), or (value,
    subgradient, upper) where the plane by value and subgradient lies under the risk, which at w is
    at most `upper`."""

    certified, has_batches = True, False
    unit = 1.0

    def __init__(self, risk, n_params, C=1.0, *, regulariser=None, floor=None):
        check_C(C)
        if floor is not None and not np.isfinite(floor):
            raise ValueError(f"floor must be a finite number or None; got {floor!r}")
        self._risk, self.n_params, self.weight, self.floor = risk, n_params, float(C), floor
        self.regulariser = regulariser or Regulariser(n_params)
        self._offset_error = 0.0
        self._seen = None

    def mean_cut(self, w) -> Plane:
        value, subgradient, upper = self._asked(w)
        size = abs(value) + norm_up(subgradient) * norm_up(w)
        self._offset_error = max(self._offset_error, gamma(self.n_params + 8) * size)
        return Plane(-subgradient, value - float(subgradient @ w), excess=upper - value)

    def upper(self, w, primal, enough=np.inf, way=0.0) -> float:
        """At least P(w); the value and the subgradient of the risk are taken at their word.  It may have been
        computed by the plane at w, whose offset and whose value there are off by as much each."""
        error = gamma(self.n_params + 16) * (abs(primal) + self.regulariser.value(w))
        return rounded_up(primal, error + 2.0 * self.weight * self._offset_error)

    def lower(self, proof, w, upper, enough=np.inf) -> Lower:
        """What a dual point proves, where P(w) <= upper."""
        return lower_bound(self.regulariser, proof, None, w, upper, enough)

    def plane_errors(self, lowest) -> tuple[float, float]:
        """By how much a plane's normal and its offset may be off, where none is below `lowest`."""
        return 0.0, self._offset_error

    @property
    def seen(self):
        return [self._offset_error]

    def see(self, seen):
        self._offset_error = max(self._offset_error, seen[0])

    def risk(self, w) -> float:
        return self._asked(w)[2]

    def primal_parts(self, w) -> tuple[float, float]:
        """(P(w), what it is without what an oracle that is not exact left open)."""
        value, _, upper = self._asked(w)
        regular = self.regulariser.value(w)
        return regular + self.weight * upper, regular + self.weight * value

    def _asked(self, w):
        """(value, subgradient, upper) of the risk, looked at."""
        found = self._risk(w.copy())
        value, subgradient, upper = found if len(found) == 3 else (*found, found[0])
        if not is_one_number(value):
            raise ValueError(f"risk(w) returned the value {value!r}, expected one number")
        value, subgradient = (
            float(value),
            finite_row(np.asarray(subgradient), self.n_params, "risk(w)", "the subgradient"),
        )
        if not np.isfinite(value):
            raise ValueError(f"risk(w) returned the value {value}, expected a finite number")
        if self.floor is not None and value < self.floor - 1e-9 * (1.0 + abs(self.floor)):
            raise ValueError(f"risk(w) returned {value!r}, which is below the floor of {self.floor!r}")
        if not is_one_number(upper) or not upper >= value - 1e-12 * abs(value):
            raise ValueError(
                f"risk(w) returned the bound {upper!r}, which is not at least its value {value!r}"
            )
        return value, subgradient, max(float(upper), value)

    def primal(self, w, weight=None) -> float:
        """P(w), or with another weight of the risk."""
        return self.regulariser.value(w) + (weight or self.weight) * self.risk(w)

    def identity(self) -> dict:
        """Of the risk one value is known, at weights that no solver has chosen; none is negative, as it may
        be a function of such alone."""
        if self._seen is None:
            self._seen = f"{self.risk(np.random.default_rng(0).random(self.n_params)):.9g}"
        return {
            "model": "RiskProblem",
            "parameters": self.n_params,
            "weight": self.weight,
            "regulariser": regulariser_digest(self.regulariser),
            "risk": self._seen,
            "unseen": "the risk is a function",
        }

    def vouches_for(self, w, primal, weight) -> bool:
        """Planes are no matter of the examples' order: two equal values will do."""
        return self.has_objective(w, primal, weight)

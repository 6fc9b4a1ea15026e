"""IntegerCosts: the costs of an integer programme, by features.

    <w, psi(x, z)> = -<w, features'z>        loss(y, z) = sum_j weights_j [y_j != z_j]

The best solution costs least.  Variables of the loss are 0 or 1, so that [y_j != z_j] = y_j + (1 - 2 y_j)
z_j, and loss-augmented inference is the same programme with other costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from ...certificate.rounding import gamma
from .highs import Effort, maximise

#: `outputs` lists no more solutions than a box has.
MAX_OUTPUTS = 1 << 16


class Truth(NamedTuple):
    """The solution that was chosen, and what it costs to have each variable wrong."""

    values: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class IntegerCosts:
    """x a Programme, y (m,) the solution that was chosen; as a Truth with weights (m,) of the loss, all 1
    without.

    mip_gap         relative gap at which HiGHS may stop; 0 for the best solution
    mip_time_limit  seconds a programme after which it stops, or None

    >>> import numpy as np
    >>> from oneslack import IntegerCosts, Programme
    >>> x = Programme(np.array([[1.0], [2.0], [0.5]]), A=[[1, 1, 1]], lb=1, ub=1)
    >>> IntegerCosts(1).decode(np.array([1.0]), x)
    array([0., 0., 1.])
    """

    n_features: int
    mip_gap: float = 0.0
    mip_time_limit: float | None = None

    @property
    def n_params(self) -> int:
        return self.n_features

    @property
    def exact(self) -> bool:
        """Whether searches go on to the end."""
        return self.mip_gap == 0.0 and self.mip_time_limit is None

    def joint_feature(self, x, y):
        return -(x.features.T @ _values(y))

    def loss(self, y, y_hat):
        wrong = _values(y) != _values(y_hat)
        return float(y.weights[wrong].sum() if isinstance(y, Truth) else np.count_nonzero(wrong))

    def decode(self, w, x, y=None):
        """(m,): the solution that costs least, with the loss against y when it is given."""
        return self._best(w, x, y)[0]

    def decode_bound(self, w, x, y):
        """(z, upper) as in protocols.Bounds."""
        return self._best(w, x, y)

    def at_precision(self, precision):
        """The same, with searches that may end at this relative gap."""
        return replace(self, mip_gap=max(self.mip_gap, precision))

    def outputs(self, x):
        low, high = np.ceil(x.lower), np.floor(x.upper)
        if not x.integrality.all() or np.prod(high - low + 1.0) > MAX_OUTPUTS:
            raise ValueError(f"{x} has too many solutions to list")
        ranges = [np.arange(a, b + 1.0) for a, b in zip(low, high, strict=True)]
        return (z for z in map(np.array, product(*ranges)) if x.fault(z) is None)

    def _best(self, w, x, y):
        w = np.asarray(w, float)
        g, constant, sizes = -(x.features @ w), 0.0, x.absolute @ np.abs(w)
        values = None if y is None else _values(y)
        if y is not None:
            weights = y.weights if isinstance(y, Truth) else np.ones(x.m)
            g, constant, sizes = g + weights * (1.0 - 2.0 * values), float(weights @ values), sizes + weights
        z, upper = maximise(x, g, Effort(self.mip_gap, self.mip_time_limit), values)
        error = gamma(x.depth + 8) * float(sizes @ x.sizes) + gamma(x.m + 8) * (constant + abs(upper))
        return z, upper + constant + error


def _values(y):
    return np.asarray(y.values if isinstance(y, Truth) else y, float)

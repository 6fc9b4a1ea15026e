"""Programme: what may be decided, and the features of each decision; everything of an integer programme but
its costs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

#: By how much a solution may break a bound or a row, beside the size of what is summed up: HiGHS's own rule.
FEASIBLE = 1e-6


class Rows(NamedTuple):
    """Rows as `scipy.optimize.linprog` takes them: A z <= b and E z = e, None where there are none; and from
    their multipliers to those of the programme's own rows."""

    A: sp.csr_array | None
    b: np.ndarray | None
    E: sp.csr_array | None
    e: np.ndarray | None
    to_own: sp.csr_array


class Programme:
    """Decisions z (m,) with features, lower <= z <= upper, lb <= A z <= ub and some of z whole numbers.

    What costs <w, features'z>; as in `scipy.optimize.milp`, but that features stand where costs do.

    Parameters
    ----------
    features : array-like or sparse matrix of shape (m, d)
        Row j: what variable j costs is <w, features[j]>.
    A : array-like or sparse matrix of shape (k, m), or None
        Rows of the constraints; None for none.
    lb, ub : float or array-like of shape (k,)
        Their bounds; equal ones for an equation.
    lower, upper : float or array-like of shape (m,)
        Bounds of the variables: 0 and 1 by default.  What has features has finite ones.
    integrality : bool or array-like of shape (m,)
        Which variables are whole numbers: all by default.
    weights : float, array-like of shape (m,) or None
        What it costs in the loss to have a variable wrong; only variables that are 0 or 1 may have one above
        0.  None is 1 for these.

    Examples
    --------
    >>> import numpy as np
    >>> from oneslack import Programme
    >>> x = Programme(np.array([[1.0], [2.0], [0.5]]), A=[[1, 1, 1]], lb=1, ub=1)
    >>> x
    Programme(3 variables, 1 feature, 1 constraint)
    >>> x.fault(np.array([1, 1, 0]))
    'constraint 0 is 2, expected 1'
    """

    def __init__(
        self, features: Any, A: Any = None, lb: Any = -np.inf, ub: Any = np.inf, *, lower: Any = 0.0,
        upper: Any = 1.0, integrality: Any = True, weights: Any = None,
    ) -> None:  # fmt: skip
        self.features = _matrix(features, "features", "(variables, features)")
        self.A = _matrix(np.zeros((0, self.m)) if A is None else A, "A", "(constraints, variables)")
        if self.A.shape[1] != self.m:
            raise ValueError(f"A has {self.A.shape[1]} columns but features has {self.m} rows: variables")
        self.A = sp.csr_array(self.A)
        self.lb, self.ub = _vector(lb, self.k, "lb"), _vector(ub, self.k, "ub")
        self.lower, self.upper = _vector(lower, self.m, "lower"), _vector(upper, self.m, "upper")
        self.integrality = _vector(integrality, self.m, "integrality") != 0.0
        _check_ordered(self.lb, self.ub, "constraint", ("lb", "ub"))
        _check_ordered(self.lower, self.upper, "variable", ("lower", "upper"))
        self._check_is_bounded()
        self.weights = self._loss_weights(weights)
        self._prepare()

    @property
    def m(self) -> int:
        """Number of variables."""
        return self.features.shape[0]

    @property
    def k(self) -> int:
        """Number of constraints."""
        return self.A.shape[0]

    @property
    def n_features(self) -> int:
        return self.features.shape[1]

    def __repr__(self):
        counts = ((self.m, "variable"), (self.n_features, "feature"), (self.k, "constraint"))
        return f"Programme({', '.join(f'{n} {word}' + 's' * (n != 1) for n, word in counts)})"

    def _prepare(self):
        """What every search needs; nothing is added to a programme later.

        sizes     (m,): no |z_j| is larger; 0 for what has neither features nor bounds
        absolute  |features|
        depth     no row of the features or of A, and no column of A, sums up more numbers
        rows      for `linprog`
        """
        sizes = np.maximum(np.abs(self.lower), np.abs(self.upper))
        self.sizes = np.where(np.isfinite(sizes), sizes, 0.0)
        self.absolute = abs(self.features)
        columns = np.bincount(self.A.indices, minlength=1)
        longest = int(np.diff(self.A.indptr).max(initial=0))
        self.depth = max(self.n_features, longest, int(columns.max()))
        self.rows = self._sides()

    def _sides(self) -> Rows:
        equal = self.lb == self.ub
        upper, lower = (np.isfinite(bound) & ~equal for bound in (self.ub, self.lb))
        own = sp.eye_array(self.k, format="csr")
        sides = (own[upper], -own[lower], own[equal])
        A = sp.csr_array(sp.vstack([self.A[upper], -self.A[lower]]))
        some, has_equal = A.shape[0] > 0, bool(equal.any())
        return Rows(
            A if some else None, np.append(self.ub[upper], -self.lb[lower]) if some else None,
            sp.csr_array(self.A[equal]) if has_equal else None, self.ub[equal] if has_equal else None,
            sp.csr_array(sp.vstack(sides).T),
        )  # fmt: skip

    def fault(self, z) -> str | None:
        """What a solution breaks, in words; None where it breaks nothing."""
        low, high = self.lower - FEASIBLE, self.upper + FEASIBLE
        if not ((z >= low) & (z <= high)).all():
            j = int(np.argmin((z >= low) & (z <= high)))
            return f"variable {j} is {z[j]:g}, expected {_range(self.lower[j], self.upper[j])}"
        if (broken := self.integrality & (z != np.rint(z))).any():
            j = int(np.argmax(broken))
            return f"variable {j} is {z[j]:g}, expected a whole number"
        values, size = self.A @ z, FEASIBLE * (1.0 + abs(self.A) @ np.abs(z))
        fine = (values >= self.lb - size) & (values <= self.ub + size)
        if not fine.all():
            i = int(np.argmin(fine))
            return f"constraint {i} is {values[i]:g}, expected {_range(self.lb[i], self.ub[i])}"
        return None

    def _check_is_bounded(self):
        costs = np.diff(sp.csr_array(self.features).indptr) > 0
        endless = costs & ~(np.isfinite(self.lower) & np.isfinite(self.upper))
        if endless.any():
            j = int(np.argmax(endless))
            raise ValueError(
                f"variable {j} has features but no finite bounds, so that no cost of a programme is the "
                "least; give it a lower and an upper one"
            )

    def _loss_weights(self, weights):
        binary = self.integrality & (self.lower >= 0.0) & (self.upper <= 1.0)
        if weights is None:
            return binary.astype(float)
        weights = _vector(weights, self.m, "weights")
        if not (np.isfinite(weights) & (weights >= 0.0)).all():
            raise ValueError("weights of the loss must be finite numbers >= 0")
        if (weights[~binary] > 0.0).any():
            j = int(np.argmax(~binary & (weights > 0.0)))
            raise ValueError(
                f"variable {j} has a weight in the loss but is not 0 or 1; give it the weight 0, or write it "
                "as several variables that are"
            )
        return weights


def _matrix(values, name, shape):
    matrix = sp.csr_array(values).astype(float) if sp.issparse(values) else np.asarray(values, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"{name} has {matrix.ndim} dimension(s), expected two: {shape}")
    numbers = matrix.data if sp.issparse(matrix) else matrix
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return matrix


def _vector(values, length, name):
    vector = np.asarray(values, dtype=float)
    if vector.shape not in ((), (length,)):
        raise ValueError(f"{name} has shape {vector.shape}, expected ({length},) or one number")
    if np.isnan(vector).any():
        raise ValueError(f"{name} has numbers that are no numbers (NaN)")
    return np.broadcast_to(vector, (length,)).copy()


def _check_ordered(low, high, what, names):
    wrong = (low > high) | (low == np.inf) | (high == -np.inf)
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(f"{what} {j} allows nothing: {names[0]} is {low[j]:g} and {names[1]} {high[j]:g}")


def _range(low, high):
    if low == high:
        return f"{low:g}"
    if low == -np.inf:
        return f"at most {high:g}"
    return f"at least {low:g}" if high == np.inf else f"{low:g} .. {high:g}"

"""A linear score under any loss and penalty as one conic program, which Clarabel solves: slow and obvious.

    min  penalty(w, b) + C sum_i s_i phi(y_i, z_i)        z = X w + b

in variables (w, b), sizes of both where the penalty is L1, and helpers of the losses, a few for each example.
"""

import clarabel
import numpy as np
import scipy.sparse as sp


class Program:
    """Blocks of variables, each with costs 1/2 q x^2 + c x, and rows that lie in cones."""

    def __init__(self):
        self.squares, self.costs, self.rows = [], [], []
        self.n = 0

    def variables(self, count, cost=0.0, square=0.0):
        """The numbers of new ones."""
        self.costs.append(np.broadcast_to(cost, count))
        self.squares.append(np.broadcast_to(square, count))
        self.n += count
        return np.arange(self.n - count, self.n)

    def add(self, cone, constant, *terms):
        """constant + sum of matrix @ x[numbers] lies in the cone; a matrix may be a factor."""
        self.rows.append((cone, np.atleast_1d(np.asarray(constant, float)), terms))

    def at_least_0(self, constant, *terms):
        self.add(clarabel.NonnegativeConeT(len(constant)), constant, *terms)

    def solve(self):
        matrices = [
            sum(self._spread(*term, len(constant)) for term in terms) for _, constant, terms in self.rows
        ]
        options = clarabel.DefaultSettings()
        options.verbose, options.max_threads = False, 1
        options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-10
        solver = clarabel.DefaultSolver(
            sp.diags_array(np.concatenate(self.squares), format="csc"), np.concatenate(self.costs),
            sp.csc_array(-sp.vstack(matrices)), np.concatenate([constant for _, constant, _ in self.rows]),
            [cone for cone, _, _ in self.rows], options,
        )  # fmt: skip
        return np.array(solver.solve().x)

    def _spread(self, matrix, numbers, height):
        matrix = matrix * np.eye(len(numbers)) if np.ndim(matrix) == 0 else np.asarray(matrix)
        place = sp.csr_array(
            (np.ones(len(numbers)), (np.arange(len(numbers)), numbers)), (len(numbers), self.n)
        )
        return sp.csr_array(matrix) @ place


def optimum(phi, X, y, c, penalty="l2", bias_scale=None):
    """(w, b) of the least penalty + sum_i c_i phi(y_i, z_i); phi a loss of oneslack.losses, read by its name.

    bias_scale   what b is multiplied by in the penalty: 0 where it is free, None where there is none
    """
    n, d = X.shape
    program, r = Program(), np.append(np.ones(d), [] if bias_scale is None else bias_scale)
    if bias_scale is not None:
        X = np.column_stack([X, np.ones(n)])
    w = program.variables(len(r), square=r**2 if penalty == "l2" else 0.0)
    if penalty == "l1":
        size = program.variables(len(r), cost=r)
        for sign in (-1.0, 1.0):
            program.at_least_0(np.zeros(len(r)), (1.0, size), (sign, w))
    _HELPERS[type(phi).__name__](program, phi, X, y, c, w)
    found = program.solve()[: len(r)]
    return found[:d], 0.0 if bias_scale is None else float(found[d])


def _hinge(program, phi, X, y, c, w, **cost):
    xi = program.variables(len(y), **(cost or {"cost": c}))
    program.at_least_0(-np.ones(len(y)), (1.0, xi), (y[:, None] * X, w))
    program.at_least_0(np.zeros(len(y)), (1.0, xi))


def _tube(program, phi, X, y, c, w, **cost):
    xi = program.variables(len(y), **(cost or {"cost": c}))
    for sign in (-1.0, 1.0):
        program.at_least_0(phi.epsilon - sign * y, (1.0, xi), (sign * X, w))
    program.at_least_0(np.zeros(len(y)), (1.0, xi))


def _pinball(program, phi, X, y, c, w):
    xi = program.variables(len(y), cost=c)
    for slope in (phi.quantile, phi.quantile - 1.0):
        program.at_least_0(-slope * y, (1.0, xi), (slope * X, w))


def _huber(program, phi, X, y, c, w):
    """min over e of 1/2 e^2 + delta |r - e|."""
    e, xi = program.variables(len(y), square=c), program.variables(len(y), cost=phi.delta * c)
    for sign in (-1.0, 1.0):
        program.at_least_0(-sign * y, (1.0, xi), (sign * X, w), (sign, e))


def _logistic(program, phi, X, y, c, w):
    """t >= log(1 + exp(-m)) where exp(-t) + exp(-m - t) <= 1."""
    n = len(y)
    t, parts = program.variables(n, cost=c), [program.variables(n) for _ in range(2)]
    program.at_least_0(np.ones(n), (-1.0, parts[0]), (-1.0, parts[1]))
    for i in range(n):
        for part, margin in zip(parts, (0.0 * X[i], y[i] * X[i]), strict=True):
            first, third = np.array([[-1.0], [0.0], [0.0]]), np.array([[0.0], [0.0], [1.0]])
            program.add(
                clarabel.ExponentialConeT(), [0.0, 1.0, 0.0], (first, t[i : i + 1]),
                (np.array([-margin, 0.0 * margin, 0.0 * margin]), w), (third, part[i : i + 1]),
            )  # fmt: skip


_HELPERS = {
    "Hinge": _hinge,
    "SquaredHinge": lambda *given: _hinge(*given, square=2.0 * given[4]),
    "Logistic": _logistic,
    "Tube": _tube,
    "SquaredTube": lambda *given: _tube(*given, square=2.0 * given[4]),
    "Pinball": _pinball,
    "Huber": _huber,
}

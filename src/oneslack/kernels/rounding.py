"""What rounding can have done to the bounds of a kernel problem: P rounded up, D rounded down.

u = 2^-53, gamma(k) = k u / (1 - k u): a sum of k products of floats, in any order, is off by at most gamma(k)
times the sum of their sizes (Higham 2002, section 3.1).  The kernel is the real one of the rows as they are
given, or the matrix as it is given, and definite; K~ are its values in float64, r_i = sqrt(K_ii).

values   |K~_ij - K_ij| <= eta r_i r_j,   and |K_ij| <= r_i r_j:

    precomputed, a function    eta = 0: the values are what is given
    linear                     gamma(d): |sum_k a_k b_k| is at most |a| |b|, term by term, too
    poly, t = g <a, b> + coef0 to the power p    |t~ - t| <= gamma(d + 4) sqrt(t_aa t_bb), so eta is
                               (1 + gamma(d + 4))^p - 1
    laplacian, rbf by differences    an exponent x is off by gamma(d + 6) x, and x exp(-x) < 1/2
    rbf by products            with z = sqrt(2 g) (x - centre), h = |z|^2 / 2 the exponent z_a z_b - h_a - h_b
                               is off by 3 gamma(d + 2) (h_a + h_b) for the z~ at hand, and as these are off
                               by gamma(4) |z|, by 4 gamma(5) (h_a + h_b) more; for all of them delta, and
                               eta = exp(delta) - 1
    and what exp and power themselves are off by

scores   f = K c over m coefficients:   |f_i - f~_i| <= E_i = (eta + gamma(m + 2)) r_i A,  A = sum_j r_j |c_j|

primal   1/2 c'f + C sum_i s_i H_i(f_i + b) with each hinge at the worst score within E_i: an example that is
         safely beyond the margin adds nothing.

dual     For (w*, b*) optimal, feasible duals with v' = sum_i phi_i c'_i and linear term l', and what is at
         hand of them, v = sum_i phi_i c_i with |c'_i - c_i| <= slack_i in each slot, |l' - l| <= e_l:

             min P >= l' - <v', w*> - <rho, b*> + 1/2 |w*|^2 >= l - e_l - 1/2 |v|^2 - e_v |w*| - |rho| |b*|

         with  e_v = sqrt(slots) sum_i slack_i r_i,  |w*| <= W = sqrt(2 P),  rho the imbalance sum_i c'_i, and
         |b*| <= 1 + max_i r_i W, as an optimal b can be taken where some y_i (f_i + b) = 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import expm1, fsum, log1p, sqrt
from typing import NamedTuple

import numpy as np

from ..certificate.rounding import SAFE, TINY, UNIT, gamma, rounded_up

#: exp and power are off by no more units.
FUNCTION = 8
#: Rows whose float64 inputs are held at a time.
SPAN = 65_536


def value_error(kernel, X) -> float:
    """eta, for float64 values of the kernel between the rows X (n, d)."""
    if callable(kernel.name) or kernel.is_precomputed:
        return 0.0
    d, of_function = X.shape[1], gamma(FUNCTION)
    if kernel.name == "linear":
        return gamma(d)
    if kernel.name == "poly":
        return SAFE * expm1(kernel.degree * log1p(gamma(d + 4)) + of_function)
    if kernel.name == "laplacian" or kernel.direct:
        return SAFE * (0.5 * gamma(d + 6) + of_function)
    delta = (3.0 * gamma(d + 2) + 4.0 * gamma(5)) * 2.0 * kernel.spread(X)
    return SAFE * expm1(delta + of_function)


class Scores(NamedTuple):
    """f~ (n, slots), without bias, how far off it is (n, slots), and r (n,), of some examples."""

    values: np.ndarray
    errors: np.ndarray
    roots: np.ndarray

    def take(self, rows) -> Scores:
        return Scores(*(part[rows] for part in self))


def lacks_duals(problem) -> str | None:
    """What this file does not know of a problem's duals, None where it knows all."""
    kind = getattr(problem.model, "kernel_duals", None)
    if kind is None:
        return f"the duals of a {type(problem.model).__name__}"
    return "intercepts for more than two classes at once" if kind == "simplex" and problem.intercept else None


def scores_of(problem, index, coefficients, rows=None) -> Scores:
    """The scores of the examples `rows`, all by default, in float64 from what was given: one pass."""
    kernel, X = replace(problem.kernel, dtype=np.float64), problem.X
    rows = np.arange(problem.n) if rows is None else rows
    right = kernel.inputs(X[index], index)
    values, roots = np.empty((len(rows), coefficients.shape[1])), _roots(kernel, X, rows)
    for lo in range(0, len(rows), SPAN):
        names = rows[lo : lo + SPAN]
        part = kernel.inputs(_rows(X, names), names)
        values[lo : lo + SPAN] = kernel.product(part, right, coefficients, problem.engine)
    problem.n_values += len(rows) * len(index)
    share = value_error(kernel, X) + gamma(len(index) + 2)
    sizes = SAFE * (_roots(kernel, X, index) @ np.abs(coefficients))
    # Below the normal numbers errors are no shares: each term may add TINY, times what it is multiplied by.
    tiny = TINY * (X.shape[1] + 1) * (1.0 + SAFE * np.abs(coefficients).sum(axis=0))
    return Scores(values, SAFE * (share * np.outer(roots, sizes) + tiny), roots)


def scores_of_both(problem, w, point) -> tuple[Scores, Scores]:
    """Of all examples, at w (without bias) and at a dual point: most vectors are vectors of both, and a value
    of the kernel is computed once."""
    used = np.flatnonzero(point.coefficients.any(axis=1))
    index, slots = np.union1d(w.index, used), problem.slots
    c = np.zeros((len(index), 2 * slots))
    c[np.searchsorted(index, w.index), :slots] = w.coefficients
    c[np.searchsorted(index, used), slots:] = point.coefficients[used]
    both = scores_of(problem, index, c)
    parts = (np.s_[:, :slots], np.s_[:, slots:])
    return tuple(Scores(both.values[part], both.errors[part], both.roots) for part in parts)


def _roots(kernel, X, rows):
    """r of the examples `rows`, rounded up."""
    parts = (rows[lo : lo + SPAN] for lo in range(0, len(rows), SPAN))
    squares = [kernel.diagonal(kernel.inputs(_rows(X, part), part)) for part in parts]
    return SAFE * np.sqrt(np.maximum(np.concatenate([np.empty(0), *squares]), 0.0))


def _rows(X, names):
    """X[names], names in order, without a copy where they are neighbours."""
    lo, hi = names[0], names[-1] + 1
    return X[lo:hi] if hi - lo == len(names) else X[names]


def primal_up(problem, w, scores=None) -> float:
    """At least P(w) of an expansion with each example once; `scores` where they are known."""
    scores = scores or scores_of(problem, w.index, w.coefficients)
    own = scores.take(w.index)
    square, error = _square(w.coefficients, own.values, own.errors)
    hinges, weights = _hinges_up(problem, scores, w.bias), problem.data.weights
    risk = problem.C * float(weights @ hinges) * (1.0 + gamma(problem.n + 4)) + TINY * problem.n
    return rounded_up(0.5 * square + risk, 0.5 * error + gamma(4) * (abs(square) + risk))


def _square(c, f, errors):
    """(c'f, how far off)."""
    terms = c * f
    size = float(np.abs(terms).sum())
    return float(terms.sum()), gamma(terms.size + 2) * size + SAFE * float((np.abs(c) * errors).sum())


def _hinges_up(problem, scores, bias):
    """(n,) hinges at the worst scores within their errors."""
    y, S = problem.data.y, scores.values + bias
    errors = scores.errors + gamma(4) * (1.0 + np.abs(scores.values) + np.abs(bias))
    if problem.model.kernel_duals == "box":
        return np.maximum(1.0 - y * S[:, 0] + SAFE * errors[:, 0], 0.0)
    rows, losses = np.arange(len(y)), problem.model.losses[y]
    truth, error = S[rows, y][:, None], errors[rows, y][:, None]
    above = losses + (S - truth) + SAFE * (errors + error + gamma(4) * losses)
    above[rows, y] = 0.0
    return above.max(axis=1)


@dataclass(frozen=True)
class DualPoint:
    """Duals as training leaves them, and how far they are from feasible ones.

    linear, linear_error   sum of alpha loss, and e_l
    coefficients   (n, slots) c
    slack          (n,)
    imbalance      |rho|, 0 without intercepts
    """

    linear: float
    linear_error: float
    coefficients: np.ndarray
    slack: np.ndarray
    imbalance: float = 0.0


def box_point(problem, alpha) -> DualPoint:
    """Of alpha (n,) in [0, fl(C s)]: where that is above C s, duals are too large by a unit."""
    y, weights = problem.data.y, problem.data.weights
    share = 0.0 if (weights == 1.0).all() else SAFE * UNIT
    total = fsum(alpha)
    imbalance = 0.0
    if problem.intercept:
        imbalance = SAFE * (abs(fsum(alpha * y)) + share * total)
    error = (UNIT + share) * total
    return DualPoint(total, SAFE * error, (alpha * y)[:, None], share * alpha, imbalance)


def simplex_coefficients(problem, shares) -> np.ndarray:
    """c (n, K) of shares (n, K): what the truth has is what the others lack, which is small without rounding
    where they are."""
    rows, y = np.arange(problem.n), problem.data.y
    c = -(problem.C * problem.data.weights)[:, None] * shares
    c[rows, y] = 0.0
    c[rows, y] = -c.sum(axis=1)
    return c


def simplex_point(problem, shares) -> DualPoint:
    """Of shares (n, K) >= 0 whose rows sum to 1, but for rounding.

    With T the sum of those of z != y, p_z / max(1, T) and the rest for y are feasible, and p_y is not looked
    at: it has neither loss nor coefficients of its own.
    """
    data, model = problem.data, problem.model
    c, losses = simplex_coefficients(problem, shares), model.losses[data.y]
    upper, given = problem.C * data.weights, c[np.arange(problem.n), data.y]
    slack = gamma(shares.shape[1] + 8) * given + SAFE * np.maximum(given - upper, 0.0)
    linear = problem.C * model.dual_loss(data, shares)
    error = gamma(shares.size + 8) * linear + float(slack @ losses.max(axis=1))
    return DualPoint(linear, SAFE * error, c, slack)


def point_of(problem, index, coefficients) -> DualPoint:
    """Of coefficients (m, slots) of examples that are those of feasible duals, but for rounding."""
    y, upper = problem.data.y[index], problem.C * problem.data.weights[index]
    if problem.model.kernel_duals == "box":
        alpha = np.zeros(problem.n)
        alpha[index] = np.clip(coefficients[:, 0] * y, 0.0, upper)
        return box_point(problem, alpha)
    shares = np.zeros((problem.n, problem.slots))
    shares[index] = np.maximum(-coefficients / upper[:, None], 0.0)  # 0 for the truth
    return simplex_point(problem, shares)


def dual_down(problem, point, upper, scores=None) -> float:
    """At most min P, where that is at most `upper`; `scores` of all examples at the point, where known."""
    used = np.flatnonzero(point.coefficients.any(axis=1))
    c = point.coefficients[used]
    own = scores.take(used) if scores else scores_of(problem, used, c, used)
    square, error = _square(c, own.values, own.errors)
    length = SAFE * sqrt(2.0 * max(upper, 0.0))
    charge = SAFE * sqrt(c.shape[1]) * float(point.slack[used] @ own.roots) * length
    if point.imbalance > 0.0:
        wide = replace(problem.kernel, dtype=np.float64)
        largest = float(_roots(wide, problem.X, np.arange(problem.n)).max())
        charge += SAFE * point.imbalance * (1.0 + largest * length)
    error = point.linear_error + 0.5 * error + charge
    return -rounded_up(0.5 * square - point.linear, error + gamma(4) * (abs(square) + point.linear))

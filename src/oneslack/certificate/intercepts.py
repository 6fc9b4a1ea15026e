"""Where the intercepts of the optimum are, though nothing penalises them.

The optimum's weights w* = w + d have |r d| <= radius (objective.ball_of).  Its intercepts b* = b + e are not
bound by strong convexity, but the risk grows as they move.  Every plane under the risk makes a minorant of P,
and P(w*, b*) <= upper, the P of the model.  So with the minorant's value T at (w, b),

    T - <q, d> + 1/2 |r d|^2 - <g, e>  <=  upper         q = v - grad reg(w),   (v, g) the plane's normal
    <g, e> + <q, d>  >=  -lack                           lack = upper - T                                  (1)

Which planes?  Those that touch the risk where an intercept of the model is lowered by t, or raised by t:
there g has a sign.  A small t has little `lack`, about g t / 2; a large t has a large g beside the noise of q
that comes from examples on a kink.  Any t is right; a few are tried.

Many classes have so many examples on kinks that planes say little of a class that is lowered.  Dual points of
the hinge rounded off are minorants, too; there only those examples move that the class's own t is about, and
all others have duals that balance.

Features may be counted from any centre c: (w, b) on x is (w, b + <w, c>) on x - c.  Of these intercepts,
e' = e + <c, d>, the same holds with q - c g' in place of q (a row for each feature, a column for each
intercept), and a score of the optimum differs by

    <d, x> + e = <d, x - c> + e'                   |<d, x - c>| <= radius |(x - c) / r|

The c that makes all q - c g' short is about the mean of the examples near the margin: with it features that
are all positive cost no more than others.

    one intercept    e' >= -(lack + radius |(q - c g) / r|) / g  where g > 0; an upper bound where g < 0
    K intercepts     of which only differences count: sum_k e'_k = 0.  The least and the largest e'_k are
                     linear programs over all of them.  Of their solution only multipliers m_j >= 0 are taken:

        e'_k = sum_j m_j <g_j, e'> + <u, e'> >= -sum_j m_j (lack_j + radius |(q_j - c g_j') / r|) - |u|_1 E

                     where u is what they leave of e'_k's own direction, and |e'_l| <= E for all l; from all k
                     together E follows.

All numbers are rounded outward as in rounding.py.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ..objective import inner
from .rounding import SAFE, TINY, SquaredExtent, gamma, norm_up

#: The first t is this share of how far the radius moves the score of an average example; later ones are
#: so much larger.
FIRST, FACTOR = 1.0 / 16.0, 4.0
#: The last t, beside the same and the size of a loss.
FARTHEST = 64.0
#: A bound this near to what the radius costs anyway is good enough.
ENOUGH = 0.25


class Intercepts(NamedTuple):
    """e'_k is from -below[k] to above[k], for all optima.

    below, above  (m,), one for each intercept; several are counted from their mean.  One of them may be below
                  0 where w is not the model's
    centre        c (d,)
    """

    below: np.ndarray
    above: np.ndarray
    centre: np.ndarray


class Tilt(NamedTuple):
    """<g, e> + <q, d> >= -lack.

    g        (m,), off by at most g_error, as a vector
    q_g      (d,): (q / r) g, or None where r is not the same for all intercepts
    q_length, q_error   |q / r|, and by how much q / r may be off
    own_lack  what `lack` is at the model itself, never below 0
    """

    g: np.ndarray
    q_g: np.ndarray | None
    lack: float
    q_length: float
    q_error: float
    g_error: float
    own_lack: float

    def beside(self, c, c_length):
        """At least |(q - c g') / r|, where c is counted in units of r."""
        cross, g_length = 0.0 if self.q_g is None else float(c @ self.q_g), norm_up(self.g)
        square = self.q_length**2 - 2.0 * cross + (c_length * g_length) ** 2
        size = (self.q_length + c_length * g_length) ** 2
        rounding = gamma(len(self.g) * (len(c) + 8) + 64) * size
        return SAFE * (sqrt(max(square + rounding, 0.0)) + self.q_error + c_length * self.g_error)


def intercept_bounds(problem, found, w, radius, error=0.0) -> Intercepts:
    """Of a problem of which the point `found` is known, and whose optimum has weights within `radius` of
    those of w; `error` is what the problem that was asked for may differ by."""
    upper = problem.upper(found, float(problem.primal(found)), 0.01 * radius * radius) + error
    m, length = problem.regulariser.n_free, _typical_length(problem)
    S = None if problem.scores is None else problem.scores(found)
    minorants = [partial(_plane, problem, found, S)]
    if m > 1 and problem.smooth is not None:
        minorants.append(partial(_class_duals, problem, S))
    regulariser, tilts = problem.regulariser, []
    places = [Place.of(regulariser, point) for point in (w, found)]
    around = partial(_tilt, regulariser, places, regulariser.gradient(w), upper)
    for minorant, k, sign in product(minorants, range(m), (1.0, -1.0)):
        tilts.append(_best_tilt(partial(around, minorant), problem.unit, radius, length, k, sign))
    tilts = [tilt for tilt in tilts if tilt is not None]
    c, charges = _centred(tilts, problem.n_params // m - 1, radius)
    below, above = (_one if m == 1 else _several)(tilts, charges, m)
    scale = regulariser.scale
    return Intercepts(below, above, c if scale is None else c * scale.reshape(-1, m)[:-1, 0])


def _typical_length(problem):
    """About the mean |x / r|."""
    extent, total = problem.extent, problem.weight / problem.C
    reach = extent.reach / (sqrt(total) if isinstance(extent, SquaredExtent) else total)
    return reach / problem.regulariser.weakest


def _best_tilt(tilt, unit, radius, length, k, sign):
    """The best of a few that bound intercept k from below (sign 1) or above (-1); None without."""
    best, least, moved = None, inf, radius * length
    t, last = max(FIRST * moved, 1e-9 * unit), FARTHEST * (moved + unit)
    while t <= last:
        found = tilt(k, sign * t)
        own = sign * found.g[k] - found.g_error
        if own > 0.0:
            cost = (found.own_lack + radius * (found.q_length + found.q_error)) / own
            if cost >= least:
                break
            best, least = found, cost
            # The centre of examples is not far from them.
            if found.own_lack <= ENOUGH * moved * own and found.q_length <= 2.0 * length * own:
                break
        t *= FACTOR
    return best


class Minorant(NamedTuple):
    """P(w, b) >= reg(w) + linear - <v, (w, b)>, but for what v and linear may be off."""

    v: np.ndarray
    linear: float
    v_error: float
    linear_error: float


def _plane(problem, w, S, k, t) -> Minorant:
    """That touches the risk where intercept k is lower by t; S are the scores at w, where there are some."""
    if S is not None:
        plane = problem.scores.cut(_shifted(S, k, t))
    else:
        shifted = w.copy()
        shifted[problem.regulariser.free[k]] -= t
        plane = problem.mean_cut(shifted)
    v, linear = problem.weight * plane.normal, problem.weight * plane.offset
    errors = problem.plane_errors(min(plane.offset, 0.0))
    v_error, linear_error = (problem.weight * error for error in errors)
    return Minorant(v, linear, v_error + gamma(4) * norm_up(v), linear_error + gamma(4) * abs(linear))


def _shifted(S, k, t):
    """Scores where intercept k is lower by t."""
    if S.ndim == 1:
        return S - t
    S = S.copy()
    S[:, k] -= t
    return S


def _class_duals(problem, S, k, t) -> Minorant:
    """Of K classes, by duals of the hinge rounded off by |t|."""
    shares, smooth, mu = problem.shares, problem.smooth, abs(t)
    # Lowered, a class gives more to others; raised, it gets more of them.
    moves = (problem.data.y == k) == (t > 0.0)
    balanced = shares.balanced(smooth.duals(S, mu)[0])
    P = np.where(moves[:, None], smooth.duals(_shifted(S, k, t), mu)[0], balanced)
    proof = shares.proof_at(shares.sum(P), shares.linear(P), P)
    v_error = proof.v_error * problem.regulariser.weakest + proof.free_error
    return Minorant(proof.v, proof.linear, v_error, proof.linear_error)


class Place(NamedTuple):
    """A point, its length and its penalty."""

    w: np.ndarray
    length: float
    regular: float

    @staticmethod
    def of(regulariser, w) -> Place:
        return Place(w, norm_up(w), regulariser.value(w))

    def lack(self, upper, minorant, v_length):
        """At least upper - T of a minorant."""
        v, linear, v_error, linear_error = minorant
        size = self.regular + abs(linear) + abs(upper) + v_length * self.length
        error = gamma(len(v) + 32) * size + linear_error + v_error * self.length + TINY * len(v)
        return upper - (self.regular + linear - inner(v, self.w)) + SAFE * error


def _tilt(regulariser, places, pull, upper, minorant, k, t) -> Tilt:
    """Of the minorant for intercept k that is lower by t, around the first of the places; the second is the
    model.  `pull` is the gradient of the regulariser."""
    minorant = minorant(k, t)
    v, v_length = minorant.v, norm_up(minorant.v)
    g, q = v[regulariser.free], v - pull
    q[regulariser.free] = 0.0
    q_error = (minorant.v_error + gamma(8) * (v_length + norm_up(pull))) / regulariser.weakest
    if regulariser.scale is not None:
        q /= regulariser.scale
        q_error += gamma(8) * norm_up(q)
    lack, own = (place.lack(upper, minorant, v_length) for place in places)
    q_g = q.reshape(-1, len(g))[:-1] @ g if _has_one_scale(regulariser) else None
    return Tilt(g, q_g, lack, norm_up(q), SAFE * q_error, SAFE * minorant.v_error, max(own, 0.0))


def _has_one_scale(regulariser):
    """Whether a feature has the same scale for all intercepts."""
    if regulariser.scale is None:
        return True
    scale = regulariser.scale.reshape(-1, regulariser.n_free)[:-1]
    return bool((scale == scale[:, :1]).all())


def _centred(tilts, d, radius):
    """(c in units of r, lack + radius |(q - c g') / r| of each tilt) of the best c by least squares."""
    c = np.zeros(d)
    if tilts and tilts[0].q_g is not None:
        # Tilts weigh by the size of g: that of a class with few examples is as good as others.
        weights = [1.0 / float(tilt.g @ tilt.g) for tilt in tilts]
        c = sum(weight * tilt.q_g for weight, tilt in zip(weights, tilts, strict=True)) / len(tilts)
    length = norm_up(c)
    charges = [(tilt.lack, SAFE * radius * tilt.beside(c, length)) for tilt in tilts]
    return c, np.array([lack + moved + gamma(4) * (abs(lack) + moved) for lack, moved in charges])


def _one(tilts, charges, m):
    bounds = {1.0: inf, -1.0: inf}
    for tilt, charge in zip(tilts, charges, strict=True):
        g = abs(tilt.g[0]) - (tilt.g_error if charge > 0.0 else -tilt.g_error)
        bound = charge / g
        bounds[float(np.sign(tilt.g[0]))] = bound + gamma(4) * abs(bound)
    return np.array([bounds[1.0]]), np.array([bounds[-1.0]])


def _several(tilts, charges, m):
    """By 2 m linear programs over the tilts."""
    unknown = np.full(m, inf), np.full(m, inf)
    if len(tilts) < m:
        return unknown
    sizes = np.array([np.abs(tilt.g).max() for tilt in tilts])
    G = np.array([tilt.g for tilt in tilts]) / sizes[:, None]
    charges, off = charges / sizes, np.array([tilt.g_error for tilt in tilts]) / sizes
    costs, rests = np.empty((2, m)), np.empty((2, m))
    for side, sign in enumerate((1.0, -1.0)):
        for k in range(m):
            direction = sign * (np.arange(m) == k)
            multipliers = _multipliers(direction, G, charges)
            if multipliers is None:
                return unknown
            rest = direction - multipliers @ G
            rest -= rest.mean()  # a part that is the same for all adds nothing, as the e'_k sum to 0
            cost, size = float(multipliers @ charges), float(multipliers @ np.abs(charges))
            costs[side, k] = cost + gamma(len(tilts) + 8) * size
            rounding = gamma(len(tilts) + m + 8) * (1.0 + float(multipliers @ np.abs(G).sum(axis=1)))
            rests[side, k] = SAFE * (np.abs(rest).sum() + sqrt(m) * float(multipliers @ off) + m * rounding)
    if rests.max() >= 0.5:
        return unknown
    largest = SAFE * np.abs(costs).max() / (1.0 - rests.max())
    return tuple(costs + SAFE * (rests * largest + gamma(4) * np.abs(costs)))


def _multipliers(direction, G, charges):
    """m >= 0 with m'G = direction, but for a constant and rounding, of least m'charges; None without."""
    from scipy.optimize import linprog

    n, m = G.shape
    # The constant is one more variable, of either sign.
    found = linprog(
        np.append(charges, 0.0), A_eq=np.column_stack([G.T, np.ones(m)]), b_eq=direction,
        bounds=[(0.0, None)] * n + [(None, None)], method="highs",
    )  # fmt: skip
    return np.maximum(found.x[:n], 0.0) if found.status == 0 else None

"""Newton steps of solvers/newton.py, many in one call: for data so small that calls cost more than the work.

Scores are found anew from each w; a point depends on where its call began and nothing else.  Letters as
there; r2 holds r_k^2 of the regulariser, 0 for a free weight (the last one, where there is an intercept), and
all sums are times C.
"""

import numpy as np

from .all_rows import add_squares, gather, project, short_dot
from .compiler import njit, register_jitable
from .scalar_loss import FUSED, charge, curvature, target, touched

#: What `newton_path` keeps of a point: the mu that it came with, P and D.
MU, PRIMAL, DUAL = range(3)
#: A diagonal that is less than this share of its column's is singular but for rounding.
SINGULAR = 1e-12
#: Squares whose diagonal falls below this share of its peak are summed up anew: rounding is a share of that.
CANCELLED = 1e-3


@njit(**FUSED)
def newton_path(phi, X, y, s, C, r2, prior, has_bias, w, start_mu, tol, rule, unit, W, path, p, v, dS):
    """Steps from w, which is changed, until the gap is `tol` or W is full, or a Newton step promises so
    little that the duals ahead may close it; rule = (FALL, LOOSE, AHEAD, tried, keeps) of solvers/newton.py:
    a Hessian is kept while steps with it leave at most the share `keeps` of what they promised.

    W[k], path[k] hold the points; p, v, dS the duals at the last one, their sum, and how the step from there
    changes the scores.  Returns the number of points, the last mu, and what the step promises where the duals
    ahead are worth a look, else 0.
    """
    n, d = y.shape[0], r2.shape[0]
    fall, loose, ahead, tried, keeps = rule
    S, c, g, direction = np.empty(n), np.empty(n), np.empty(d), np.empty(d)
    S_full, p_full, v_full, w_full = np.empty(n), np.empty(n), np.empty(d), np.empty(d)
    H, mu, weight = np.empty((d + d % 2, d + d % 2)), start_mu, 0.0
    h, change, squares, peak = np.zeros(n), np.empty(n), np.zeros(H.shape), np.zeros(d)
    promise, trust = np.inf, 0.0  # what the last step promised; the same of the last new Hessian
    for i in range(n):
        weight += C * s[i]
    k, is_new, enough = 0, True, 0.0
    is_known, is_full, linear, losses, error = False, True, 0.0, 0.0, 0.0
    while k < W.shape[0]:
        if not is_known:
            linear, losses, error = _look(phi, X, y, s, C, w, has_bias, mu, S, p, c, v)
        is_known = False
        regular, slack = _gradient(w, v, r2, prior, g)
        if is_new:
            primal = regular + losses
            dual = _dual(phi, X, y, s, C, r2, prior, has_bias, p, linear, v, c, direction)
            for j in range(d):  # a copy of slices would compile a message on shapes, for two seconds
                W[k, j] = w[j]
            path[k, MU], path[k, PRIMAL], path[k, DUAL] = mu, primal, dual
            enough = tol * abs(primal)
            if primal - dual <= enough:
                return k + 1, mu, 0.0
        before, is_kept = promise, False
        if keeps * trust > 0.0:
            promise = _step(H, g, direction)
            is_kept = promise <= keeps * before
        if not is_kept:
            _move_squares(phi, X, s, C, p, mu, has_bias, h, change, squares, peak)
            _factor(squares, r2, weight / unit, H)
            promise = _step(H, g, direction)
            # As in `Chord`: a Hessian that promised too much is not believed again.
            trust = promise if trust == 0.0 or promise <= max(keeps, 0.5) * trust else 0.0
        # Follow the path w(mu) loosely, as `descend` does.
        if is_new and min(slack, promise if error > 0.5 * enough else np.inf) <= loose * error:
            mu *= min(max(np.sqrt(0.4 * enough / max(error, 1e-300)), fall), 0.7)
            is_new, trust = False, 0.0
            continue
        if not 0.0 < promise < np.inf:
            return k + 1, mu, 0.0
        if error + promise <= ahead * enough and promise <= 0.1 * tried:
            project(X, direction, has_bias, dS)
            return k + 1, mu, promise
        k, is_new = k + 1, True
        if k == W.shape[0]:
            break
        first, second, start = 0.0, 0.0, linear + error
        for j in range(d):
            first += r2[j] * (w[j] - prior[j]) * direction[j]
            second += r2[j] * direction[j] * direction[j]
            start -= w[j] * v[j]
            w_full[j] = w[j] + direction[j]
        if is_full:  # so was the last step: a look at the end of this one is the next look, if it is taken
            linear, losses, error = _look(phi, X, y, s, C, w_full, has_bias, mu, S_full, p_full, c, v_full)
            slope, value = first + second, linear + error + first + 0.5 * second
            for j in range(d):
                slope -= v_full[j] * direction[j]
                value -= v_full[j] * w_full[j]
            is_known = is_full = _ends(slope, value, start, 0.5 * promise)
        if is_known:
            for j in range(d):
                w[j], v[j] = w_full[j], v_full[j]
            for i in range(n):
                S[i], p[i] = S_full[i], p_full[i]
            continue
        project(X, direction, has_bias, dS)
        t = search(phi, y, s, C, S, dS, mu, first, second, 2.0 * promise, start)
        is_full = t == 1.0
        for j in range(d):
            w[j] += t * direction[j]
    return W.shape[0], mu, 0.0


@register_jitable
def _look(phi, X, y, s, C, w, has_bias, mu, S, p, c, v):
    """S, p, c = C s p and v = sum_i c_i x_i at w.  Returns C times the sums of t p - charge, of the losses,
    and of what rounding off adds."""
    linear, total, error = 0.0, 0.0, 0.0
    project(X, w, has_bias, S)
    for i in range(y.shape[0]):
        p[i], kept, lost, rounding = touched(phi, y[i], S[i], mu)
        linear += s[i] * kept
        total += s[i] * lost
        error += s[i] * rounding
        c[i] = C * s[i] * p[i]
    gather(X, c, has_bias, v)
    return C * linear, C * total, C * error


@register_jitable
def _gradient(w, v, r2, prior, g):
    """g = r^2 (w - prior) - v; returns the regulariser, and what the gradient adds to the gap."""
    regular, slack = 0.0, 0.0
    for j in range(w.shape[0]):
        off = w[j] - prior[j]
        regular += 0.5 * r2[j] * off * off
        g[j] = r2[j] * off - v[j]
        slack += 0.5 * g[j] * g[j] / r2[j] if r2[j] > 0.0 else abs(g[j])
    return regular, slack


@register_jitable
def _dual(phi, X, y, s, C, r2, prior, has_bias, p, linear, v, c, room):
    """D at the duals p; with an intercept those of the heavier side are scaled down until they balance.
    `room` is as long as v, and overwritten like c."""
    if not has_bias:
        return linear + _least(r2, prior, v)
    up, down = 0.0, 0.0
    for i in range(y.shape[0]):
        if p[i] > 0.0:
            up += s[i] * p[i]
        else:
            down -= s[i] * p[i]
    common = min(up, down)
    if common <= 0.0:
        return 0.0 if up == down else -np.inf
    share_up, share_down, linear = common / up, common / down, 0.0
    for i in range(y.shape[0]):
        q = p[i] * (share_up if p[i] > 0.0 else share_down)
        c[i] = C * s[i] * q
        if q != 0.0:
            linear += s[i] * (target(phi, y[i]) * q - charge(phi, y[i], q, 1.0))
    gather(X, c, has_bias, room)
    return C * linear + _least(r2, prior, room)


@register_jitable
def _least(r2, prior, v):
    """min_w 1/2 |r (w - prior)|^2 - <v, w> over the penalised weights."""
    total = 0.0
    for j in range(v.shape[0]):
        if r2[j] > 0.0:
            total -= v[j] * (prior[j] + 0.5 * v[j] / r2[j])
    return total


@register_jitable
def _move_squares(phi, X, s, C, p, mu, has_bias, h, change, squares, peak):
    """squares: the Hessian of the losses where the duals are p, made of that whose examples weigh h by those
    that weigh otherwise now, where they are fewer.  `peak` is the largest that its diagonal has been since it
    was summed up, `change` as long as h."""
    d, changed, active = peak.shape[0], 0, 0
    for i in range(h.shape[0]):
        new = C * s[i] * curvature(phi, p[i], mu)
        change[i] = new - h[i]
        h[i] = new
        changed += change[i] != 0.0
        active += new != 0.0
    is_whole = changed >= active
    if not is_whole:
        add_squares(X, change, d, has_bias, squares)
        for j in range(d):
            is_whole |= squares[j, j] < CANCELLED * peak[j]
            peak[j] = max(peak[j], squares[j, j])
    if is_whole:
        squares[:, :] = 0.0
        add_squares(X, h, d, has_bias, squares)
        for j in range(d):
            peak[j] = squares[j, j]


@register_jitable
def _factor(squares, r2, per_unit, H):
    """H: the Cholesky factor of the Hessian whose part of the losses is `squares`.  A free weight without
    curvature is given a little."""
    d = r2.shape[0]
    for j in range(d):
        for k in range(j + 1):
            H[j, k] = squares[j, k]
        H[j, j] += r2[j] + 1e-13 * (1.0 + H[j, j])
        if r2[j] == 0.0:
            H[j, j] = max(H[j, j], 1e-4 * per_unit)
    for a in range(d):
        row = H[a]
        for b in range(a):
            row[b] = (row[b] - short_dot(row, H[b], b)) / H[b, b]
        # Singular but for rounding: a larger diagonal makes the step shorter, not wrong.
        row[a] = np.sqrt(max(row[a] - short_dot(row, row, a), SINGULAR * row[a]))


@register_jitable
def _step(H, g, x):
    """x: the Newton step from the gradient g, H being the factor; returns what it promises."""
    d, promise = x.shape[0], 0.0
    for a in range(d):
        x[a] = (-g[a] - short_dot(H[a], x, a)) / H[a, a]
    for a in range(d - 1, -1, -1):
        row = H[a]
        x[a] /= row[a]
        promise -= 0.5 * g[a] * x[a]
        for c in range(a):
            x[c] -= row[c] * x[a]
    return promise


@njit(**FUSED)
def search(phi, y, s, C, S, dS, mu, first, second, steepest, start):
    """t: there the slope of P_mu is at most a quarter of `steepest`, that at 0, and P_mu is not above its
    start.  The regulariser has the slope `first` at 0, and the curvature `second`; `start` are the losses
    there, rounded off."""
    enough, low, high, t = 0.25 * abs(steepest), 0.0, np.inf, 1.0
    for _ in range(50):
        slope, curving, value = _along(phi, y, s, C, S, dS, mu, first, second, t)
        if _ends(slope, value, start, enough):
            return t
        if slope < 0.0:
            low = t
        else:
            high = t
        t = t - slope / curving if curving > 0.0 else np.inf
        if not low < t < high:
            t = 0.5 * (low + high)
        if high == np.inf:
            t = min(min(t, 4.0 * low), 1000.0)
            if low >= 1000.0:
                return low
    return t


@register_jitable
def _ends(slope, value, start, enough):
    """Whether a search ends where the slope is that, and P_mu `value` less what it was at its start."""
    return abs(slope) <= enough and (slope <= 0.0 or value - start <= 1e-12 * abs(start))


@register_jitable
def _along(phi, y, s, C, S, dS, mu, first, second, t):
    """At t: the slope of P_mu, its curvature and, but for a constant, its value."""
    slope, curving, value = 0.0, 0.0, 0.0
    for i in range(y.shape[0]):
        z = S[i] + t * dS[i]
        p, kept, _, error = touched(phi, y[i], z, mu)
        slope -= s[i] * dS[i] * p
        curving += s[i] * dS[i] * dS[i] * curvature(phi, p, mu)
        value += s[i] * (kept - p * z + error)
    along = t * (first + 0.5 * t * second)
    return first + t * second + C * slope, second + C * curving, along + C * value

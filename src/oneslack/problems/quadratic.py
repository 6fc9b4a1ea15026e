"""Quadratic models of a risk in some features, and their minima under an L1 penalty.

    m(d, b) = - <a, z> + 1/2 sum_i h_i z_i^2 + sum_j damp_j d_j^2 / 2 + sum_j r_j |w_j + d_j|     z = X d + b

is minimised by coordinate descent, feature by feature (Friedman, Hastie & Tibshirani 2010).  Once that has
cost as much as the matrix sum_i h_i x_i x_i' (the Gram matrix) of the weights that still move, sweeps go on
over it, with exact steps between: so neither costs more than twice what the better one would have.  That
matrix is kept while curvatures change little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

#: Features of a Gram matrix, at most.
LARGEST_GRAM = 4096
#: What a Gram matrix costs, in numbers of a sweep over features: for each number of all examples, which are
#: picked from; for each product, of sparse features (whose rows differ in length) and of dense ones; for each
#: number of its own, sweeps included; and for each product of three weights that are not 0, in about ten
#: factors.
PICK, SPARSE, DENSE, PAIR, CUBE = 5.0, 0.6, 0.15, 20.0, 0.25
#: The share of sweeps that a model gets whose duals are not wanted.
LOOSE = 0.3
#: Dense features whose Gram matrix is made at once: it costs no more than some sweeps.
AT_ONCE = 64
#: The share of all curvature that may have changed before a Gram matrix is made anew.
STALE = 0.1
#: And how much smaller the worst subgradient has to be after a step with it.
NEARER = 0.01
#: Rows of a matrix product at a time.
BLOCK = 4096
#: Sweeps over a Gram matrix between exact solutions on the weights that are not 0: at least, and more by what
#: a factorisation of their matrix costs beside a sweep, or the calls around it, in numbers of a matrix.  How
#: often, and with how many weights at most.
FEW, FACTOR, CALLS, ROUNDS, LARGEST_FACTOR = 5, 24.0, 20_000, 60, 1000
#: What is added to their matrix, in terms of the mean of its diagonal: at least.
RIDGE = 1e-13


class Penalty(NamedTuple):
    """w (k,), where the model is of, r (k,) and which weights are held >= 0."""

    w: np.ndarray
    r: np.ndarray
    held: np.ndarray


class Aims(NamedTuple):
    """Subgradients are to fall to this share of the worst; with a Gram matrix, or where that is no more than
    `far`, to `tight`, so that the model's duals are nearly feasible.  Sweeps over features, at most."""

    share: float
    tight: float
    far: float
    sweeps: int


class Minimum(NamedTuple):
    """The step (d, b), z (n,), the model's duals there (n,), and whether they are nearly feasible."""

    d: np.ndarray
    b: float
    z: np.ndarray
    ahead: np.ndarray
    is_tight: bool


class Gram:
    """H = sum_i h_i x_i x_i' of the features `index` (k,), and sum_i h_i x_i."""

    def __init__(self, columns, index, h):
        self.index, self.h, self.total = index, h, float(h.sum())
        X, positive = columns.rows(index, h)
        self.H = np.zeros((len(index), len(index)))
        if sp.issparse(X):
            from .._jit.columns import gram

            gram(X.data, X.indices, X.indptr, positive, self.H)
        else:
            _add_squares(X, positive, self.H)
        self.cross = X.T @ positive

    def places(self, index):
        """(places in `index`, places here) of the features that are in both; both in order."""
        if len(index) == len(self.index) and np.array_equal(index, self.index):
            everything = np.arange(len(index))
            return everything, everything
        _, there, here = np.intersect1d(index, self.index, assume_unique=True, return_indices=True)
        return there, here

    def part(self, places):
        """(a copy of H, the sums) of some."""
        if len(places) == len(self.index):
            return self.H.copy(), self.cross
        return self.H[np.ix_(places, places)], self.cross[places]


class Known:
    """The last Gram matrix, which does for a while, and what sweeps over features were `spent` since; as it
    was, where a run is gone on with."""

    def __init__(self, start=None):
        self._index, self._h, self._worst, self.spent = start or (None, None, np.inf, 0.0)
        self._gram = None

    @property
    def start(self):
        """What another one starts from."""
        return self._index, self._h, self._worst, self.spent

    def gram(self, columns, h):
        """That which does for curvatures h, or None."""
        if self._index is None or np.abs(h - self._h).sum() > STALE * self._h.sum():
            return None
        if self._gram is None:
            self._gram = Gram(columns, self._index, self._h)
        return self._gram

    def keep(self, gram, worst):
        """A new one, from a point with such a worst subgradient."""
        self._gram, self._index, self._h, self._worst, self.spent = gram, gram.index, gram.h, worst, 0.0
        return gram

    def helps(self, worst) -> bool:
        """Whether the step before, with it, has come so much nearer that it may go on, from such a point."""
        last, self._worst = self._worst, worst
        return worst <= NEARER * last


def minimum(columns, a, h, penalty, damp, has_bias, aims, known) -> Minimum:
    """A step that is near the least m."""
    model = Model(columns, a, h, penalty, damp, has_bias, aims)
    is_at_once = not columns.is_sparse and len(columns.index) <= min(AT_ONCE, LARGEST_GRAM)
    if not is_at_once:
        columns.turned.view  # noqa: B018  sums are then those of features, whatever came before
    gram = known.gram(columns, h)
    if gram is None or not model.by_known(gram, known):
        active = np.arange(len(columns.index)) if is_at_once else model.by_features(known)
        if is_at_once or len(active):
            model.by_gram(Gram(columns, columns.index[active], h), known)
    return Minimum(model.d, model.b, model.z, -model.g, model.is_tight)


class Model:
    """m in some features, and where its minimum was looked for: d (k,), b, z (n,), and g = h z - a."""

    def __init__(self, columns, a, h, penalty, damp, has_bias, aims):
        self.columns, self.h, self.penalty, self.aims = columns, h, penalty, aims
        self.damp, self.has_bias = damp, has_bias
        self.d, self.b, self.z, self.g = np.zeros(len(columns.index)), 0.0, np.zeros(len(h)), -a
        self.worst, self.is_tight = None, False

    def by_features(self, known) -> np.ndarray:
        """Descend feature by feature; returns those that still move where a Gram matrix of them is due."""
        from .._jit.columns import descend_features

        columns, aims, k = self.columns, self.aims, len(self.d)
        n, size = columns.X.shape[0], float(columns.X.nnz if columns.is_sparse else columns.X.size)
        product = (SPARSE if columns.is_sparse else DENSE) / n if k <= LARGEST_GRAM else np.inf
        cost = product, PAIR, CUBE, PICK * size, known.spent
        limits = aims.share, aims.tight, aims.far, float(aims.sweeps), LOOSE, *cost
        active = np.empty(k, np.int64)
        X, index = columns.among(np.abs(self.h) + np.abs(self.g))  # others have no part in any sum
        self.b, self.worst, known.spent, count = descend_features(
            X, index, self.h, self.damp, *self.penalty, self.has_bias, self.d, self.g, active, limits
        )  # fmt: skip
        self.is_tight = self.worst <= aims.far
        if self.d.any() or self.b:
            self.z = columns.scores(self.d) + self.b
        return active[:count]

    def by_known(self, gram, known) -> bool:
        """Descend by an earlier Gram matrix, unless other features may move, or it was of little help."""
        w, r, held = self.penalty
        q = self.columns.adjoint(self.g)
        miss = violations(w, q, r, held)
        self.worst = float(miss.max(initial=0.0))
        there, here = gram.places(self.columns.index)
        moving = (w != 0.0) | (miss > 0.0)
        if not known.helps(self.worst) or np.count_nonzero(moving) > np.count_nonzero(moving[there]):
            return False
        self._descend(gram, there, here, q[there])
        return True

    def by_gram(self, gram, known):
        """Descend by a new one, to be kept."""
        there, here = gram.places(self.columns.index)
        q = self.columns.part(there).adjoint(self.g)
        if self.worst is None:
            w, r, held = (each[there] for each in self.penalty)
            self.worst = float(violations(w, q, r, held).max(initial=0.0))
        known.keep(gram, self.worst)
        self._descend(gram, there, here, q)

    def _descend(self, gram, there, here, q):
        w, r, held = (each[there] for each in self.penalty)
        old, damp = self.d[there], self.damp[there]
        H, cross = gram.part(here)
        diagonal = np.arange(len(H))
        H[diagonal, diagonal] += damp
        q += damp * old
        slope, total = float(self.g.sum()), gram.total
        has_bias = self.has_bias and total > 0.0
        if has_bias:
            H -= np.multiply.outer(cross / total, cross)
            q -= cross * (slope / total)
        change = np.zeros(len(H))
        enough = min(self.aims.share * self.worst, self.aims.tight)
        self.is_tight = descend(H, q, w + old, r, held, change, enough)
        more = -(slope + float(cross @ change)) / total if has_bias else 0.0
        dz = self.columns.part(there).scores(change) + more
        self.d[there] += change
        self.b, self.z, self.g = self.b + more, self.z + dz, self.g + gram.h * dz


def violations(w, q, r, held) -> np.ndarray:
    """How far 0 is from each subdifferential of q w + r |w|."""
    away = np.where(held, -q, np.abs(q)) - r
    return np.where(w != 0.0, np.abs(q + r * np.sign(w)), np.maximum(away, 0.0))


def descend(H, q, w, r, held, d, enough):
    """Sweeps over a matrix with exact steps between, from d = 0 with the gradient q, until no subgradient is
    further from 0 than `enough`; says whether that was reached."""
    from .._jit.columns import descend_gram

    k = len(q)
    face, sweeps = Face(), max(FEW, CALLS // max(k, 1) ** 2)
    for _ in range(ROUNDS):
        if descend_gram(H, q, w, r, held, d, sweeps, enough) <= enough:
            return True
        support = np.flatnonzero(w + d)
        sweeps = max(FEW + int(len(support) ** 2 / (FACTOR * k)), CALLS // k**2)
        step = None
        if 0 < len(support) <= LARGEST_FACTOR:
            u = (w + d)[support]
            step = face.step(H[np.ix_(support, support)], q[support] + r[support] * np.sign(u), u)
        if step is None:
            sweeps *= 10
            continue
        d[support] = np.where(u + step == 0.0, -w[support], d[support] + step)
        q += step @ H[support]  # H is symmetric, and its rows lie side by side
    return False


class Face:
    """Exact steps over the weights that are not 0, as far as they keep their signs; where their matrix is
    singular, or nearly, those of a proximal point method (Rockafellar 1976)."""

    def __init__(self):
        self.ridge = RIDGE

    def step(self, H, slope, u):
        """From weights u, of a model with this slope and matrix; None where there is none."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        diagonal = np.arange(len(H))
        ridged = H.copy()
        ridged[diagonal, diagonal] += self.ridge * H[diagonal, diagonal].mean()
        try:
            factor = cho_factor(ridged, overwrite_a=True, check_finite=False)
        except LinAlgError:
            self.ridge *= 100.0
            return None
        step = -cho_solve(factor, slope, check_finite=False)
        crosses = u * (u + step) < 0.0
        if not crosses.any():
            self.ridge = max(0.1 * self.ridge, RIDGE)
            return step
        cut = np.where(crosses, -u, step)
        if slope @ cut + 0.5 * (cut @ (H @ cut)) < 0.0:
            return cut
        ratio = u[crosses] / -step[crosses]
        step = step * ratio.min()
        first = np.flatnonzero(crosses)[ratio.argmin()]
        step[first] = -u[first]
        self.ridge *= 100.0 if ratio.min() < 0.1 else 1.0
        return step


def _add_squares(X, h, H):
    """H += X' diag(h) X, by blocks of rows."""
    root = np.sqrt(h)
    for lo in range(0, len(h), BLOCK):
        block = X[lo : lo + BLOCK] * root[lo : lo + BLOCK, None].astype(X.dtype)
        H += block.T @ block

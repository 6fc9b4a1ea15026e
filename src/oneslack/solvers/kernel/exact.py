"""Exact kernel training: the n-slack dual by blocks of examples.

    max_alpha  D = sum_iz alpha_iz loss_iz - 1/2 |w|^2      alpha_iz >= 0,  sum_z alpha_iz = C s_i
    w = sum_iz alpha_iz delta_i(z) = sum_i phi(x_i) c_i,    S = K c  for all examples

With S at hand, P - D is a sum over examples of what each one's dual lacks.  Each round draws q examples with
probabilities by what they lack (the q that lack most are often alike, and a block of them overshoots), solves
the dual over them alone (compiled steps on their q x q matrix), and adds to S the rows of K of
those that moved.  Rows are computed by blocked products.  Where a value is computed as fast as it is read
none is kept; else they are while `memory` allows, and the least recently used make room.
Every round ends with P and D of the whole problem, so the gap is a certificate.

With an intercept (two classes) the duals also balance, sum alpha_i y_i = 0: pairs move, one example whose
alpha_i y_i should rise with one where it should fall, and the bias is the best one for the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ...engines.threads import single_blas_thread
from ...kernels.blocks import spans
from ...kernels.expansion import Expansion
from ...kernels.rounding import box_point, scores_of, simplex_coefficients, simplex_point
from ...result import Step

#: Columns of the remembered rows that a thread adds at a time.
SPAN = 1024
#: Rounds without progress after which rounding is to blame.
PATIENCE = 50


@dataclass(frozen=True)
class ExactKernel:
    """Block ascent on the dual of a KernelProblem.

    block       examples of a round; None is 1024 where conjugate gradients solve them (two classes without
                intercept), else 512
    inner       a block is solved until its gap has fallen to this share
    max_passes  passes over a block at most
    seed        of the draws

    >>> import oneslack
    >>> from oneslack.datasets import make_checkers
    >>> X, y = make_checkers(200, random_state=0)
    >>> problem = oneslack.KernelProblem(oneslack.Binary(2), oneslack.Kernel("rbf", gamma=10.0), X, y, C=1.0)
    >>> result = oneslack.solve(problem, oneslack.ExactKernel())
    >>> result.certified and result.gap <= 1e-3
    True
    """

    block: int | None = None
    inner: float = 0.1
    max_passes: int = 100
    seed: int = 0

    name = "exact_kernel"
    needs = ("kernel", "single rows", "kernel duals")
    certifies = True

    def steps(self, problem, start=None, tol=1e-3):
        duals = _duals_of(problem)
        rows = _rows_of(problem, self.block or duals.block)
        rng = np.random.default_rng(self.seed)
        before = start if start and "duals" in start else None
        if before:
            duals.values[:], rng.bit_generator.state = before["duals"], before["rng"]
            best, idle = before["best"], before["idle"]
            fresh = _fresh(problem, duals.coefficients())
            S = fresh.values.copy()
        else:
            S, best, idle = np.zeros((problem.n, problem.slots)), -np.inf, 0
            fresh = _fresh(problem, duals.coefficients())
        while True:
            bias = duals.bias(S)
            c = duals.coefficients()
            norm2 = float(np.einsum("ij,ij", c, S))
            if norm2 < 0.0:
                problem.see_square(norm2, float(np.abs(c * S).sum()))
            dual = duals.linear() - 0.5 * norm2
            primal = 0.5 * norm2 + problem.weight * problem.risk_at(S + bias)
            gap = primal - dual
            if gap <= tol * primal and fresh is None:
                # Rounding adds up in S: the certificate is of scores computed anew.
                fresh = _fresh(problem, c)
                S = fresh.values.copy()
                continue
            if before is None:
                idle = 0 if dual > best else idle + 1
                best = max(best, dual)
                state = {"duals": duals.values, "best": best, "idle": idle}
                yield Step(
                    w=_expansion(c, bias), dual=dual, primal=primal, n_cuts=int(c.any(axis=1).sum()),
                    stalled=idle >= PATIENCE, proof=partial(_proof, duals.point, duals.values, fresh),
                    state=lambda state=state: {**state, "rng": rng.bit_generator.state},
                )  # fmt: skip
            before = None  # that step was taken before
            chosen = duals.choose(S, bias, rows.capacity, rng)
            change = duals.ascend(chosen, rows.between(chosen), S[chosen], self.inner, self.max_passes)
            moved = change.any(axis=1)
            rows.add(chosen[moved], change[moved], S)
            fresh = None


def _proof(point, values, fresh):
    """Of the duals as they were, with their scores: Ctrl-C may come in the middle of the next step."""
    return point(values), fresh


def _fresh(problem, c):
    """Scores in float64, whatever the kernel's precision: float32 values are good enough to get there, not to
    prove it."""
    used = np.flatnonzero(c.any(axis=1))
    return scores_of(problem, used, c[used])


def _expansion(c, bias):
    used = np.flatnonzero(c.any(axis=1))
    return Expansion(used, c[used], bias.copy())


def _duals_of(problem):
    if problem.model.kernel_duals == "box":
        return (_Pairs if problem.intercept else _Box)(problem)
    return _Simplex(problem)


def _rows_of(problem, block):
    return (ComputedRows if problem.kernel.is_quicker_than_memory(problem.inputs) else RowCache)(
        problem, block
    )


class ComputedRows:
    """Rows of K, computed in each round and added while they are in the processor's cache."""

    def __init__(self, problem, block):
        self.problem, self.capacity = problem, min(block, problem.n)

    def between(self, index) -> np.ndarray:
        """K among the examples `index`."""
        return _among(self.problem, index)

    def add(self, index, change, S):
        """S += K(all, index) change."""
        S += self.problem.product(None, index, change)


class RowCache:
    """Rows of K, kept while there is room."""

    def __init__(self, problem, block):
        self.problem, n = problem, problem.n
        room = int(min(problem.memory // (n * problem.kernel.itemsize), n))
        self.capacity = max(min(block, room, n), min(2, n))
        self.rows = np.empty((max(room, self.capacity), n), problem.kernel.dtype)
        self.slot_of = np.full(n, -1)
        self.owner = np.full(len(self.rows), -1)
        self.stamp = np.zeros(len(self.rows), int)
        self.now = 0

    def slots(self, index) -> np.ndarray:
        """Where the rows `index` are, after those that were missing have been computed."""
        self.now += 1
        known = self.slot_of[index]
        self.stamp[known[known >= 0]] = self.now
        missing = index[known < 0]
        if len(missing):
            free = np.argpartition(self.stamp, len(missing) - 1)[: len(missing)]
            free.sort()
            evicted = self.owner[free]
            self.slot_of[evicted[evicted >= 0]] = -1
            self.owner[free], self.slot_of[missing], self.stamp[free] = missing, free, self.now
            self._compute(missing, free)
        return self.slot_of[index]

    def _compute(self, index, slots):
        problem = self.problem
        problem.n_values += len(index) * problem.n
        problem.kernel.write_rows(
            problem.inputs.take(index), problem.inputs, self.rows, slots, problem.engine
        )

    def between(self, index) -> np.ndarray:
        """K among the examples `index`: computed anew where that is quicker than picking it from the rows,
        where each value is a miss of the cache."""
        if self.problem.kernel.is_quick(self.problem.inputs):
            return _among(self.problem, index)
        return self.rows[self.slots(index)[:, None], index]

    def add(self, index, change, S):
        """S += K(all, index) change."""
        from ..._jit.kernel_dual import add_rows

        slots, narrow = self.slots(index), change.astype(self.rows.dtype)

        def add(span):
            if change.shape[1] == 1:
                add_rows(self.rows, slots, change[:, 0], S[:, 0], *span)
            else:
                S[slice(*span)] += self.rows[slots, slice(*span)].T @ narrow

        with single_blas_thread():
            self.problem.engine.map(add, spans(len(S), SPAN))


def _among(problem, index):
    """K among the examples `index`, computed."""
    part = problem.inputs.take(index)
    with single_blas_thread():
        return problem.kernel.values(part, part)


class _Box:
    """Two classes: values alpha_i in [0, C s_i]."""

    block = 1024

    def __init__(self, problem):
        self.problem, self.y, self.upper = problem, problem.data.y, problem.C * problem.data.weights
        self.values = np.zeros(problem.n)

    def point(self, values):
        """What duals prove (kernels/rounding.py)."""
        return box_point(self.problem, values)

    def bias(self, S):
        return np.zeros(1)

    def coefficients(self):
        return (self.values * self.y)[:, None]

    def linear(self):
        return float(self.values.sum())

    def choose(self, S, bias, q, rng):
        from ..._jit.kernel_dual import box_gaps

        gaps = np.empty(len(self.y))
        box_gaps(self.y, self.upper, self.values, S[:, 0] + bias[0], gaps)
        return _drawn(gaps, q, rng)

    def ascend(self, chosen, Q, S, share, max_passes):
        from ..._jit.kernel_dual import box_block

        # Conjugate gradients go on to gain where passes of coordinate steps no longer do.
        return self._run(box_block, chosen, Q, S, share, 4 * max_passes)

    def _run(self, block, chosen, Q, S, share, limit):
        alpha, y = self.values[chosen], self.y[chosen]
        block(Q, y, self.upper[chosen], alpha, np.ascontiguousarray(S[:, 0]), share, limit)
        change = (alpha - self.values[chosen]) * y
        self.values = _changed(self.values, chosen, alpha)
        return change[:, None]


class _Pairs(_Box):
    """Two classes with an intercept: sum alpha_i y_i = 0."""

    block = 512

    def bias(self, S):
        """The b that minimises the hinges: each example's slope begins or ends at b = y_i - S_i."""
        turn = self.y - S[:, 0]
        order = np.argsort(turn, kind="stable")
        rises = np.cumsum(self.upper[order])
        at = np.searchsorted(rises, self.upper[self.y > 0].sum() * (1 - 1e-12))
        return turn[order[min(at, len(order) - 1)]][None]

    def choose(self, S, bias, q, rng):
        value = self.y - S[:, 0]
        positive, low, high = self.y > 0, self.values > 0, self.values < self.upper
        rise = np.where(np.where(positive, high, low), value, -np.inf)
        fall = np.where(np.where(positive, low, high), -value, -np.inf)
        worst = [int(np.argmax(rise)), int(np.argmax(fall))]
        rising = _drawn(np.maximum(rise - bias[0], 0.0), q // 2 - 1, rng)
        falling = _drawn(np.maximum(fall + bias[0], 0.0), q // 2 - 1, rng)
        return np.unique(np.concatenate([worst, rising, falling]))

    def ascend(self, chosen, Q, S, share, max_passes):
        from ..._jit.kernel_dual import pair_block

        return self._run(pair_block, chosen, Q, S, share, max_passes * len(chosen))


class _Simplex:
    """Many classes: row i of the values, on the simplex, shares C s_i among the outputs."""

    block = 512

    def __init__(self, problem):
        self.problem, self.model, self.data, self.C = problem, problem.model, problem.data, problem.C
        self.upper = problem.C * problem.data.weights
        self.losses = problem.model.losses
        self.values = np.zeros((problem.n, problem.slots))
        self.values[np.arange(problem.n), self.data.y] = 1.0

    def point(self, values):
        """What duals prove (kernels/rounding.py)."""
        return simplex_point(self.problem, values)

    def bias(self, S):
        return np.zeros(S.shape[1])

    def coefficients(self):
        return simplex_coefficients(self.problem, self.values)

    def linear(self):
        return self.C * self.model.dual_loss(self.data, self.values)

    def choose(self, S, bias, q, rng):
        from ..._jit.kernel_dual import simplex_gaps

        gaps = np.empty(len(self.upper))
        simplex_gaps(self.data.y, self.upper, self.losses, self.values, S, gaps)
        return _drawn(gaps, q, rng)

    def ascend(self, chosen, Q, S, share, max_passes):
        from ..._jit.kernel_dual import simplex_block

        P, upper = self.values[chosen], self.upper[chosen]
        S = np.asfortranarray(S)  # steps run along the examples
        simplex_block(Q, self.data.y[chosen], upper, self.losses, P, S, share, max_passes)
        change = -upper[:, None] * (P - self.values[chosen])
        self.values = _changed(self.values, chosen, P)
        return change


def _changed(values, chosen, new):
    """A copy with new values: those of the last step stay what they were."""
    values = values.copy()
    values[chosen] = new
    return values


def _drawn(lack, q, rng):
    """Sorted indices of at most q examples that lack something, drawn by how much; one where none does."""
    lacking = np.flatnonzero(lack > 0)
    if len(lacking) > q:
        # The q largest of log(odds) + Gumbel noise are a draw without replacement.  The square root was
        # measured: in proportion to the lack itself a round overshoots, with equal odds it wastes places.
        keys = 0.5 * np.log(lack[lacking]) + rng.gumbel(size=len(lacking))
        lacking = np.sort(lacking[np.argpartition(keys, -q)[-q:]]) if q > 0 else lacking[:0]
    return lacking if len(lacking) else np.zeros(1, int)

"""Conformance of blocks and fast extensions: a block says what its examples say one by one.

Each extension of protocols.py that a model has is held against its own definition:

    scores    S(w) is linear, `adjoint` is its transpose, `risk`, `cut` and `slope` agree with decode
    duals     D(p) <= P(w) for every w, and balanced shares touch no free weight
    smooth    values, slopes and curvatures are those of one convex function
    passes    the point and the value of the duals are kept up to date; a stopped pass goes on
"""

from __future__ import annotations

import numpy as np

from ..data.rows import Shard
from ..problems.in_memory import Problem, lacks
from .model import ModelError, agree

_DUALS = ("coefficients", "dual_loss", "balance")
_SMOOTH = ("smooth_duals", "smooth_slope", "smooth_hessian")

#: Half of the step of a difference quotient.
STEP = 1e-5


def check_extensions(model, X, Y, examples, weights, seed) -> tuple[str, ...]:
    """Check what the model has; return the names of its extensions."""
    rng = np.random.default_rng(seed)
    check = _Block(model, X, Y, examples, weights, rng)
    extensions = []
    if check.problem.scores is not None:
        extensions.append("scores")
        check.scores()
        check.examples_of_a_shard()
        check.along()
    check.risk_and_cuts()
    check.any_subset()
    if extensions and not lacks(model, _DUALS):
        extensions.append("duals")
        if not lacks(model, _SMOOTH):
            extensions.append("smooth")
            check.smooth()
        if hasattr(model, "dual_passes"):
            extensions.append("dual passes")
            check.dual_passes()
    return tuple(extensions)


class _Block:
    def __init__(self, model, X, Y, examples, weights, rng):
        self.model, self.X, self.Y, self.rng = model, X, Y, rng
        self.examples, self.weights = examples, weights
        self.n = len(examples)
        self.s = rng.uniform(0.5, 1.5, self.n)
        self.s[: self.n // 4] = 0.0
        self.problem = Problem(model, X, Y, sample_weight=self.s)
        # (weights, n): the truth is a candidate, also of a decoder that is not exact
        self.hinges = np.maximum([example.hinges for example in examples], 0.0).T
        self.risks = self.hinges @ self.s / self.s.sum()

    def fail(self, method, problem):
        raise ModelError(f"{type(self.model).__name__}.{method}: {problem}")

    def equal(self, method, one, what, two, other, number=None):
        """Two numbers that should be the same."""
        if not agree(one, two):
            where = f"examples 0 to {self.n - 1}" if number is None else f"example {number}"
            self.fail(f"{method}, {where}", f"{what} {one:.9g}, but {other} {two:.9g}")

    def below(self, method, one, what, two, other):
        if one > two and not agree(one, two):
            self.fail(f"{method}, examples 0 to {self.n - 1}", f"{what} {one:.9g}, above {other} {two:.9g}")

    # Any model.

    def risk_and_cuts(self):
        """The block's risk is the mean of the hinges; its plane touches there and lies under it."""
        method = "risk and cut" if self.problem.scores is not None else "decode"
        exact = getattr(self.model, "exact", True)
        for w, risk in zip(self.weights, self.risks, strict=True):
            plane = self.problem.mean_cut(w)
            at_w = self.problem.risk(w) - plane.excess
            self.equal(method, at_w, "the block's risk is", risk, "one by one it is")
            self.equal(method, plane.value(w), "the block's plane has", risk, "the risk is")
            for other, at_other in zip(self.weights if exact else (), self.risks, strict=False):
                self.below(method, plane.value(other), "at another w the plane has", at_other, "the risk of")

    def any_subset(self):
        """Some examples in another order: the same hinges."""
        index = self.rng.permutation(self.n)[: max(1, self.n // 2)]
        s = self.rng.uniform(0.5, 1.5, len(index))
        part = Problem(self.model, _take(self.X, index), _take(self.Y, index), sample_weight=s)
        for w, hinges in zip(self.weights, self.hinges, strict=True):
            expected = float(hinges[index] @ s / s.sum())
            what = f"the risk of {len(index)} of them in another order is"
            found = part.risk(w) if part.scores is not None else part.mean_cut(w).value(w)
            self.equal("pack", found, what, expected, "one by one it is")

    # Scores.

    def scores(self):
        """Linear in w, filled where the shard is, with `adjoint` as the transpose."""
        problem = self.problem
        for v, w in zip(self.weights, self.weights[1:] + self.weights[:1], strict=True):
            S, combined = problem.scores(w), problem.scores(v - 2.0 * w)
            expected = problem.scores(v) - 2.0 * S
            for i, number in zip(*_first_difference(combined, expected), strict=True):
                one, two = combined[i].flat[number], expected[i].flat[number]
                self.equal("scores", one, "at v - 2 w it is", two, "by linearity", i)
            c = self.rng.normal(size=S.shape)
            one, two = float(problem.scores.adjoint(c) @ w), float(np.sum(c * S))
            self.equal("adjoint", one, "<adjoint(c), w> is", two, "<c, scores(w)> is")

    def examples_of_a_shard(self):
        """risk, cut and scores of one row; nothing is written outside the shard."""
        model, data = self.model, self.problem.data
        for w, hinges in zip(self.weights, self.hinges, strict=True):
            S = self.problem.scores(w)
            for i in range(self.n):
                shard, expected = Shard(i, i + 1), self.s[i] * hinges[i]
                row = np.full_like(S, np.nan)
                model.scores(data, shard, w, row)
                self._only_row("scores", row, i)
                self.equal("risk", model.risk(data, shard, S), "it is", expected, "by decode", i)
                row = np.full_like(S, np.nan)
                offset = model.cut(data, shard, S, row)
                self._only_row("cut", row, i)
                value = offset - float(np.sum(row[i] * S[i]))
                self.equal("cut", value, "its value is", expected, "by decode", i)

    def _only_row(self, method, filled, i):
        known = np.isfinite(filled.reshape(self.n, -1))
        if not known[i].all() or np.delete(known, i, axis=0).any():
            rows = np.flatnonzero(known.any(axis=1))
            self.fail(f"{method}, example {i}", f"it filled {len(rows)} rows, expected row {i} alone")

    def along(self):
        """On a line the risk is convex: its slope lies between the difference quotients."""
        model, data = self.model, self.problem.data
        for (S, dS), t in zip(self._lines(), self.rng.uniform(0, 1, len(self.weights)), strict=False):
            for i in range(self.n):
                shard = Shard(i, i + 1)
                low, middle, high = (model.risk(data, shard, S + (t + h) * dS) for h in (-STEP, 0.0, STEP))
                _, value, slope = model.along(data, shard, S, dS, t)
                self.equal("along", value, "its value is", middle, "by risk", i)
                left, right = (middle - low) / STEP, (high - middle) / STEP
                self._between("along", slope, left, right, i)

    def _between(self, method, slope, left, right, i):
        slack = 1e-5 * (1.0 + abs(left) + abs(right))
        if not left - slack <= slope <= right + slack:
            nearest = left if abs(slope - left) < abs(slope - right) else right
            self.fail(f"{method}, example {i}", f"the slope is {slope:.6g}, by differences {nearest:.6g}")

    def _lines(self):
        """(S, dS) from each w to the next."""
        scores = [self.problem.scores(w) for w in self.weights]
        return [(S, T - S) for S, T in zip(scores, scores[1:] + scores[:1], strict=True)]

    # Duals.

    def duals(self, method, shares):
        """Weak duality, at every w; no component along the free weights."""
        problem, model = self.problem, self.model
        dual = problem.shares.value(shares)
        for w in self.weights:
            self.below(method, dual, "the dual value is", problem.primal(w), "a primal value of")
        balanced = problem.scores.adjoint(
            model.coefficients(problem.data, model.balance(problem.data, shares))
        )
        for k in () if problem.regulariser.free is None else problem.regulariser.free:
            self.equal("balance", balanced[k], f"free weight {k} has", 0.0, "balanced duals have")

    def smooth(self):
        """The smoothed hinge: its parts fit together, and slope and curvature are its derivatives."""
        data = self.problem.data
        for k, (S, dS) in enumerate(self._lines()):
            mu = (0.01, 0.5, 4.0)[k % 3]
            value, shares, hinge = self._smoothed(S, mu)
            expected = self.s.sum() * self.risks[k]
            self.equal("smooth_duals", hinge, "the hinge sum is", expected, "the risk is")
            self.below("smooth_duals", expected, "the hinge sum is", value, "the smoothed one of")
            self.duals("smooth_duals", shares)
            slope, curvature = self._sum(self.model.smooth_slope, S, dS, 0.0, mu)
            low, high = (self._smoothed(S + h * dS, mu)[0] for h in (-STEP, STEP))
            middle = float(np.sum(dS * -self.model.coefficients(data, shares)))
            self.equal("smooth_slope", slope, "it is", middle, "by the duals")
            self._between("smooth_slope", slope, (value - low) / STEP, (high - value) / STEP, 0)
            v = self.weights[(k + 1) % len(self.weights)] - self.weights[k]
            H = np.sum(self.problem.scores.map_rows(self.model.smooth_hessian, shares, mu), axis=0)
            H = np.tril(H) + np.tril(H, -1).T
            self.equal("smooth_hessian", float(v @ H @ v), "v'Hv is", curvature, "smooth_slope has")

    def _sum(self, function, *arguments):
        return np.sum(self.problem.scores.map_rows(function, *arguments), axis=0)

    def _smoothed(self, S, mu):
        """(smoothed hinge sum, shares, hinge sum) at S."""
        shares = np.empty_like(S)
        loss, hinge, error = self._sum(self.model.smooth_duals, S, mu, shares)
        data = self.problem.data
        self.equal(
            "dual_loss", self.model.dual_loss(data, shares), "it is", loss, "smooth_duals returned"
        )  # fmt: skip
        return loss - np.sum(self.model.coefficients(data, shares) * S) + error, shares, hinge

    def dual_passes(self):
        """A few passes: point and value follow the duals, the dual never falls, a copy goes on alike."""
        problem, model = self.problem, self.model
        free = problem.regulariser.free
        rate = 0.0 if free is None else float(problem.data.norm2.mean()) or 1.0
        passes, copy = (model.dual_passes(problem.data, problem.C, 1) for _ in range(2))
        last = -np.inf
        for _ in range(5):
            passes.run(rate)
            shares = passes.shares
            point = problem.C * problem.scores.adjoint(model.coefficients(problem.data, shares))
            self._same_point("dual_passes", passes.point, point, free)
            loss = problem.C * model.dual_loss(problem.data, shares)
            self.equal("dual_passes", passes.linear(), "linear() is", loss, "dual_loss has")
            self.duals("dual_passes", shares)
            dual = passes.linear() - problem.regulariser.value(passes.point)
            if free is None:
                self.below("dual_passes", last, "the dual value was", dual, "after a pass")
            last = dual
            passes.reopen(problem.scores(passes.point))
            copy.restore({key: np.copy(value) for key, value in passes.state().items()})
        passes.run(rate)
        copy.run(rate)
        self._same_point("dual_passes, restored", copy.point, passes.point, None)

    def _same_point(self, method, one, two, free):
        for k in range(self.problem.n_params):
            if free is None or k not in free:
                self.equal(method, one[k], f"weight {k} of the point is", two[k], "its duals have")


def _first_difference(A, B):
    """Where two arrays of one row an example differ most: ([row], [place in the row])."""
    difference = np.abs(A - B).reshape(len(A), -1)
    i, j = np.unravel_index(np.argmax(difference), difference.shape)
    return [int(i)], [int(j)]


def _take(values, index):
    """values[index], also of a list."""
    return values[index] if hasattr(values, "shape") else [values[i] for i in index]

"""Sampled cuts: one-slack cutting planes for kernels, each plane from a few examples.

With a kernel, w = sum_k a_k g_k lives in the span of the planes' examples.  An exact plane has all n of them,
so a round would cost n^2 values of the kernel.  Yu & Joachims (2008) sample r examples a plane:

constant  (Algorithm 2)  The plane is that of r examples drawn from all; nothing else is looked at.  A round
          costs r values of the kernel for each example in the planes, whatever n is.
linear    (Algorithm 3)  The worst outputs of all n examples are found from stored scores A_k = K g_k.  The
          plane keeps the exact loss; its normal is that of r of the examples that lack margin.  A round costs
          n r values, for the scores of the new plane; P is exact, and decides when to stop.

Three things are added to Algorithm 3, the first two free of charge as all scores are known:

line_search  The best point is kept, the line to the QP's solution is searched exactly, and the next plane
             is taken a little beyond the best point (as in `OneSlack`).  While steps are short, the QP is
             pulled to the best point (Kiwiel's proximal bundle): half the rounds, measured on Checkers.
touch        The offset is chosen so that the sampled plane has the exact risk at the point w' where it is
             taken:  R(w') - <g, w - w'>  instead of  b - <g, w>.  Its error at w is <g - g_exact, w - w'>: it
             shrinks as w' comes near the optimum, where the paper's is of the size of |w| and asks for
             samples until one is violated.
spread       The samples are spread over the examples instead of drawn by themselves: cut_samples.py.

In constant time, where planes are taken at the QP's own solution, that is far off for hundreds of rounds with
many examples (a large weight C n).  With `line_search` the line is searched on `checked` examples that are
drawn once: their scores cost one product with each new plane.  Planes are drawn from all examples, so they
know little of the checked ones, and P on these is an honest estimate.  It stops when P has gained no more
than epsilon in the last 5 `patience` rounds, or is within epsilon of the planes.

The dual over sampled planes only estimates a lower bound.  `best_duals` turns the same rounds into a
true one: the exact planes that were sampled from are remembered (as which output of which example), and
the QP over them gives a feasible point of the n-slack dual.
"""

from __future__ import annotations

from collections import deque
from copy import copy
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from ...kernels.rounding import dual_down, lacks_duals, point_of, primal_up
from ...result import Step
from ..simplex_qp import solve_simplex_qp
from .cut_samples import sampler_of
from .sampled_line import Search
from .sampled_planes import SampledPlanes, narrow

#: Samples that are drawn at most until one is violated.
TRIES = 50
#: The strongest pull to the best point; in constant time planes of few examples are rough, and a stronger one
#: was seen to end all progress.
MOST_PULL, MOST_PULL_CONSTANT = 20.0, 10.0
#: Rounds, for each of `patience`, over which a searched run in constant time must gain.
HORIZON = 5


@dataclass(frozen=True)
class SampledCuts:
    """Cutting planes from sampled examples, for a KernelProblem.

    scheme       "linear" or "constant"
    sample_size  examples of a plane
    patience     constant: samples in a row that must not be violated; with line_search, a fifth of the rounds
                 that must gain
    line_search, touch, spread   see above; all False are the paper's algorithms
    checked      constant: examples on which lines are searched
    drop_after   rounds without weight after which a plane is dropped
    beyond, exact_line, inner   as in OneSlack

    >>> import oneslack
    >>> from oneslack.datasets import make_checkers
    >>> X, y = make_checkers(200, random_state=0)
    >>> problem = oneslack.KernelProblem(oneslack.Binary(2), oneslack.Kernel("rbf", gamma=10.0), X, y, C=1.0)
    >>> oneslack.solve(problem, oneslack.SampledCuts("linear", sample_size=100), epsilon=0.01).certified
    False
    """

    scheme: str = "linear"
    sample_size: int = 400
    patience: int = 4
    line_search: bool = True
    touch: bool = True
    spread: bool = True
    checked: int = 10_000
    drop_after: int = 20
    beyond: float = 0.02
    exact_line: float = 0.01
    inner: float = 0.1
    seed: int = 0

    name = "sampled_cuts"

    @property
    def needs(self):
        return ("kernel", "single rows") if self.scheme == "constant" else ("kernel",)

    @property
    def label(self):
        """What a sentence calls it."""
        return f"SampledCuts({self.scheme!r})"

    certifies = False

    def __post_init__(self):
        if self.scheme not in ("linear", "constant"):
            raise ValueError(f"scheme={self.scheme!r} is not known; use 'linear' or 'constant'")
        if min(self.sample_size, self.patience, self.checked) < 1:
            raise ValueError("sample_size, patience and checked must be at least 1")

    def steps(self, problem, start=None, tol=1e-3):
        rng, before = np.random.default_rng(self.seed), None
        planes = SampledPlanes(problem, self.drop_after)
        kind = [self.scheme, self.line_search]
        if start and start.get("kind") == kind:
            before = {name: copy(value) for name, value in start.items()}  # as arrays are written over
            planes = SampledPlanes.of_state(before["planes"])
            planes.engine, planes.drop_after = problem.engine, self.drop_after
            rng.bit_generator.state = before["rng"]
            problem.n_values = max(problem.n_values, before["n_values"])
        state = partial(state_of, kind, problem, planes, rng)
        if self.scheme == "constant":
            steps = constant_searched if self.line_search else constant_plain
            return steps(self, problem, planes, rng, tol, before, state)
        draw = partial(sampler_of(problem, self.sample_size, self.spread), rng)
        steps = self._searched if self.line_search else self._plain
        return steps(problem, planes, draw, before, state)

    # Linear time.

    def _plain(self, problem, planes, draw, before, state):
        """Algorithm 3: the plane at the QP's own solution."""
        S = np.empty((problem.n, problem.slots))
        gap = before and before["gap"]
        while True:
            if gap is not None:
                planes.solve(self.inner * gap)
                planes.drop_idle()
            planes.scores_of(planes.a, planes.bias, S)
            c, loss = problem.cut_at(S)
            risk = loss - float(np.sum(c * S))
            model = planes.model_value(planes.a, planes.bias)
            primal = 0.5 * float(planes.a @ planes.gram @ planes.a) + problem.weight * risk
            planes.best = planes.a
            w, dual = planes.expansion(planes.a, planes.bias), planes.dual
            self._add(problem, planes, draw, S, planes.bias, c, loss, risk, model)
            gap = max(primal - dual, 1e-9 * primal)
            yield Step(
                w=w, dual=dual, primal=primal, n_cuts=len(planes), violation=risk - model,
                state=partial(state, gap=gap),
            )  # fmt: skip

    def _searched(self, problem, planes, draw, before, state):
        """Algorithm 3 with the best point kept and the line from it searched."""
        search = Search(self, problem, planes, MOST_PULL, before=before)
        if before is None:
            c, loss = problem.cut_at(search.S)
            primal = problem.weight * loss
            self._add(problem, planes, draw, search.S, search.bias, c, loss, loss, 0.0)
        else:
            primal = before["primal"]
        while True:
            if search.drop_idle():
                primal = 0.5 * float(planes.best @ planes.gram @ planes.best)
                primal += problem.weight * problem.risk_at(search.S)
            gap = max(primal - planes.dual, 1e-9 * primal)
            primal, point = search.step(primal, gap, self.inner * gap)
            S = search.point_S
            c, loss = problem.cut_at(S)
            risk = loss - float(np.sum(c * S))
            model = planes.model_value(point, search.point_bias)
            self._add(problem, planes, draw, S, search.point_bias, c, loss, risk, model)
            # The best point is not where the plane is taken: what it may still lack says the papers' rule.
            yield Step(
                w=planes.expansion(planes.best, search.bias), dual=planes.dual, primal=primal,
                n_cuts=len(planes), violation=(primal - planes.dual) / problem.weight,
                state=partial(state, **search.state("S", "bias", "length", "pull"), primal=primal),
            )  # fmt: skip

    def _add(self, problem, planes, draw, S, bias, c, loss, risk, model):
        """Sample the exact cut c at scores S and add it; `model` is what the planes say there."""
        lacking = np.flatnonzero(c.any(axis=1))
        nodes, rest = np.split(lacking, [np.searchsorted(lacking, problem.n_nodes)])
        free = c.sum(axis=0)
        for _ in range(TRIES):
            support, coefficients = draw(nodes, c, self.sample_size)
            # What is not scored by the kernel costs nothing, and is taken as it is.
            support = np.concatenate([support, rest])
            coefficients = np.concatenate([coefficients, c[rest]])
            at_point = float(np.sum(coefficients * (S[support] - bias))) + float(free @ bias)
            if self.touch or loss - at_point > model or risk <= model:
                break
        offset = risk + at_point if self.touch else loss
        scores = narrow(problem.product(None, support, coefficients))
        inner = planes.inner_with(support, coefficients)
        own = float(np.sum(scores[support] * coefficients))
        exact = (sp.csr_array(c[lacking]), lacking, loss, free)
        planes.add(support, coefficients, offset, free, np.append(inner, own), scores, exact)


def state_of(kind, problem, planes, rng, **others) -> dict:
    """What a run of this kind goes on from: planes, random numbers, what was paid, and what its loop adds."""
    own = {"kind": kind, "planes": planes.state(), "rng": rng.bit_generator.state}
    return own | {"n_values": problem.n_values, **others}


# Constant time.


def constant_plain(solver, problem, planes, rng, tol, before, state):
    """The violation reported is the largest of the last `patience` samples."""
    last = deque(before["last"] if before else (), maxlen=solver.patience)
    while True:
        rows = draw(rng, problem.n, solver.sample_size)
        A = _scores_by_plane(problem, planes, rows)
        S = np.tensordot(planes.a, A, 1) + planes.bias
        c, loss = problem.cut_at(S, rows)
        risk = loss - float(np.sum(c * S))
        last.append(risk - planes.model_value(planes.a, planes.bias))
        w, dual, n_cuts = planes.expansion(planes.a, planes.bias), planes.dual, len(planes)
        settled = len(last) == solver.patience
        violation = max(last) if settled else None
        primal = None
        if settled and tol > 0 and problem.weight * violation <= tol * dual:
            primal = dual + problem.weight * max(violation, 0.0)  # by the samples' word
        _add(problem, planes, rows, c, loss, A)
        planes.solve(solver.inner * max(tol, 1e-3) * max(planes.dual, 1e-6 * planes.weight))
        planes.best = planes.a
        planes.drop_idle()
        yield Step(
            w=w, dual=dual, primal=primal, n_cuts=n_cuts, violation=violation,
            state=partial(state, last=list(last)),
        )  # fmt: skip


def constant_searched(solver, problem, planes, rng, tol, before, state):
    """The violation reported is what the last rounds have gained, or the gap where that is smaller."""
    checked = before["checked"] if before else draw(rng, problem.n, solver.checked)
    search = Search(solver, problem, planes, MOST_PULL_CONSTANT, checked, before)
    course = before["course"] if before else [problem.weight * problem.risk_at(search.S, checked)]
    primal, course = course[-1], deque(course, maxlen=HORIZON * solver.patience + 1)
    while True:
        search.drop_idle()
        rows = draw(rng, problem.n, solver.sample_size)
        A = _scores_by_plane(problem, planes, rows)
        c, loss = problem.cut_at(np.tensordot(planes.point, A, 1) + search.point_bias, rows)
        _add(problem, planes, rows, c, loss, A, checked)
        gap = max(primal - planes.dual, 1e-3 * primal)
        primal, planes.point = search.step(primal, gap, 0.1 * solver.inner * gap)
        course.append(primal)
        violation = _lack(course, primal, planes.dual) / problem.weight
        yield Step(
            w=planes.expansion(planes.best, search.bias), dual=planes.dual, n_cuts=len(planes),
            primal=primal if tol > 0 else None, violation=violation,
            state=partial(
                state, checked=checked, **search.state("S", "length", "pull", "bias", "point_bias"),
                course=list(course),
            ),
        )  # fmt: skip


def draw(rng, n, size):
    """Sorted examples, all of them where there are no more."""
    return np.arange(n) if n <= size else np.sort(rng.choice(n, size, replace=False))


def _lack(course, primal, dual):
    """What may still be won: as much as the last rounds have brought, or the gap."""
    gap = primal - dual
    return gap if len(course) < course.maxlen else min(course[0] - primal, gap)


def _scores_by_plane(problem, planes, rows):
    """(m, r, slots): what each plane says of the examples `rows`."""
    offsets = np.cumsum([0, *map(len, planes.supports)])
    index = np.concatenate(planes.supports)
    problem.n_values += len(rows) * len(index)
    return problem.kernel.grouped_product(
        problem.inputs.take(rows), problem.inputs.take(index), np.concatenate(planes.coefficients), offsets,
        problem.engine,
    )  # fmt: skip


def _add(problem, planes, rows, c, loss, A, checked=None):
    """The plane of the examples `rows` alone; A are the other planes' scores of them."""
    inner = np.tensordot(A, c, 2)
    lacking = np.flatnonzero(c.any(axis=1))
    support, coefficients = rows[lacking], c[lacking]
    own = 0.0
    if len(support):
        own = float(np.sum(coefficients * problem.product(support, support, coefficients)))
    scores = None
    if checked is not None:
        scores = narrow(problem.product(checked, support, coefficients))
    planes.add(support, coefficients, loss, c.sum(axis=0), np.append(inner, own), scores)


# What is proven.


def best_duals(problem, planes, budget):
    """(examples (m,), coefficients (m, slots), value) of a feasible point of the n-slack dual, from the exact
    planes behind the sampled ones in use; None where it would cost more than `budget` values of the kernel.

    The exact plane k is a mean over all examples, so a_k spreads over them by at most C s_i a_k / weight
    each: any a >= 0 with sum a = weight is feasible.
    """
    used = [k for k in np.flatnonzero(planes.a > 0) if planes.exact[k] is not None]
    if not used:
        return np.empty(0, int), np.empty((0, problem.slots)), 0.0
    union = np.unique(np.concatenate([planes.exact[k][1] for k in used]))
    slots, m = problem.slots, len(used)
    # Multiplying a value by m slots coefficients costs as much as a value when these are about fifty.
    if len(union) ** 2 * (1 + m * slots / 50) > budget:
        return None
    c = np.zeros((len(union), m, slots))
    for j, k in enumerate(used):
        rows, lacking, _, _ = planes.exact[k]
        c[np.searchsorted(union, lacking), j] = rows.toarray()
    flat = c.reshape(len(union), -1)
    A = problem.product(union, union, flat).reshape(len(union), m, slots)
    gram = np.zeros((m + 1, m + 1))
    gram[1:, 1:] = np.tensordot(c, A, ([0, 2], [0, 2]))
    gram = 0.5 * (gram + gram.T)
    offsets = np.array([0.0, *(planes.exact[k][2] for k in used)])
    F = np.vstack([np.zeros(slots), *(planes.exact[k][3] for k in used)]) if problem.intercept else None
    start = np.append(planes.weight, np.zeros(m))
    solution = solve_simplex_qp(gram, offsets, planes.weight, start, F, 1e-6 * planes.weight)
    return union, np.einsum("imz,m->iz", c, solution.a[1:]), solution.value


def proven_bounds(problem, w, planes, budget) -> tuple[float, float] | None:
    """(P(w) rounded up, a lower bound of min P rounded down), where each costs no more than about `budget`
    values of the kernel and the duals of the problem are known; else None."""
    if lacks_duals(problem) or problem.n * len(w.index) > 2 * budget:
        return None
    found = best_duals(problem, planes, budget)
    if found is None:
        return None
    index, c, _ = found
    upper = primal_up(problem, w)
    point = point_of(problem, index, c)
    return upper, dual_down(problem, point, upper)

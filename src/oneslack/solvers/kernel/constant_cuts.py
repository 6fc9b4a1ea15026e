"""Sampled cuts in constant time: each plane is that of r examples drawn from all (Algorithm 2).

A round costs r values of the kernel for each example in the planes, whatever n is.

plain     Yu & Joachims (2008) take the plane at the QP's own solution, which with many examples (a large
          weight C n) is far off for hundreds of rounds.
searched  The best point is kept, and the line to the QP's solution is searched exactly on `checked` examples
          that are drawn once: their scores cost one product with each new plane.  Planes are drawn from all
          examples, so they know little of the checked ones, and P on these is an honest estimate.  While
          steps are short, the QP is pulled to the best point (Kiwiel's proximal bundle).  Stops when P has
          gained no more than epsilon in the last 5 `patience` rounds, or is within epsilon of the planes.
"""

from __future__ import annotations

from collections import deque
from functools import partial

import numpy as np

from ...result import Step
from .sampled_line import Search
from .sampled_planes import narrow

#: The strongest pull: planes of few examples are rough, and a stronger one was seen to end all progress.
MOST_PULL = 10.0
#: Rounds, for each of `patience`, over which a searched run must gain.
HORIZON = 5


def state_of(kind, problem, planes, rng, **others) -> dict:
    """What a run of this kind goes on from: planes, random numbers, what was paid, and what its loop adds."""
    own = {"kind": kind, "planes": planes.state(), "rng": rng.bit_generator.state}
    return own | {"n_values": problem.n_values, **others}


def plain_steps(solver, problem, planes, rng, tol, before, state):
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


def searched_steps(solver, problem, planes, rng, tol, before, state):
    """The violation reported is what the last rounds have gained, or the gap where that is smaller."""
    checked = before["checked"] if before else draw(rng, problem.n, solver.checked)
    search = Search(solver, problem, planes, MOST_PULL, checked, before)
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

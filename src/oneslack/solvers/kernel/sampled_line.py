"""The line from the best point of sampled planes to the QP's solution, and how far to go on it."""

from __future__ import annotations

from ..line import minimise_on_line


class SampledLine:
    """P from the best point (t = 0) to the QP's solution (t = 1) and on, by scores S + t dS of all examples,
    or of the examples `rows`."""

    def __init__(self, problem, planes, S, dS, rows=None):
        self.problem, self.S, self.dS = problem, S, dS
        self.data = problem.part(rows)
        step = planes.target - planes.best
        toward = planes.gram @ step
        self.start = 0.5 * float(planes.best @ planes.gram @ planes.best)
        self.first, self.second = float(planes.best @ toward), float(step @ toward)
        self.seen = {}

    def _look(self, t):
        if t not in self.seen:
            self.seen[t] = self.problem.along(self.S, self.dS, t, self.data)
        return self.seen[t]

    def value(self, t):
        return (
            self.start + t * self.first + 0.5 * t * t * self.second + self.problem.weight * self._look(t)[0]
        )

    def slope(self, t):
        return self.first + t * self.second + self.problem.weight * self._look(t)[1]


def step_on(line, primal, enough, length):
    """(t, P there): the best t, or 0 where none is better; `length` guesses how far to look."""
    t, _ = minimise_on_line(line, primal, enough, hi=length)
    if t > 0 and line.value(t) < primal:
        return t, line.value(t)
    return 0.0, primal


def aim(planes, tol, pull, number):
    """Solve the QP of round `number`, pulled or not.  A pulled one says little of the dual, so that now and
    then the plain one is solved, too."""
    if not pull:
        return planes.solve(tol)
    if number % 5 == 0:
        planes.raise_dual(tol)
    return planes.solve_pulled(tol, pull)


def pull_after(t, pull, most):
    """How strongly to hold the next solution near the best point: more after a short step, less after a long
    one.  The numbers were measured on Checkers and Covertype."""
    if t < 0.1:
        return min(1.5 * pull + 0.5, most)
    return 0.5 * pull if t > 0.5 else pull


def ahead_of(t, beyond):
    """Where the next plane is taken: a little beyond the best point; at the QP's solution after no step."""
    return t + beyond * (1.0 - t) if t else 1.0

"""The line from the best point of sampled planes to the QP's solution, and steps on it."""

from __future__ import annotations

import numpy as np

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


class Search:
    """Steps of the best point, `planes.best`.

    S, bias      its scores, of all examples or of the examples `rows`, and intercepts
    point_S, point_bias   those of the point where the next plane is taken
    length       how far to look on the next line
    pull         how strongly the next solution is held near the best point, `most` at most
    """

    def __init__(self, solver, problem, planes, most, rows=None, before=None):
        self.S = np.zeros((problem.n if rows is None else len(rows), problem.slots))
        self.bias = self.point_bias = np.zeros(problem.slots)
        self.length, self.pull = 1.0, 0.0
        if before is not None:
            vars(self).update({name: before[name] for name in vars(self).keys() & before.keys()})
        self.dS = np.empty_like(self.S)
        self.solver, self.problem, self.planes, self.most, self.rows = solver, problem, planes, most, rows

    def state(self, *names):
        return {name: getattr(self, name) for name in names}

    def drop_idle(self):
        """Whether planes were forgotten: then the scores are those of the others."""
        dropped = self.planes.drop_idle() is not None
        if dropped:
            self.planes.scores_of(self.planes.best, self.bias, self.S)
        return dropped

    def step(self, primal, gap, tol):
        """Solve the QP to `tol` and go to the best point of the line: (P there, where to take the next plane,
        in terms of the planes)."""
        planes, S, dS = self.planes, self.S, self.dS
        self._aim(tol)
        planes.scores_of(planes.target, planes.bias, dS)
        dS -= S
        line = SampledLine(self.problem, planes, S, dS, self.rows)
        t, _ = minimise_on_line(line, primal, self.solver.exact_line * gap, hi=self.length)
        if t > 0 and line.value(t) < primal:
            primal = line.value(t)
        else:
            t = 0.0
        # More pull after a short step, less after a long one: measured on Checkers and Covertype.
        if t < 0.1:
            self.pull = min(1.5 * self.pull + 0.5, self.most)
        elif t > 0.5:
            self.pull = 0.5 * self.pull
        self.length = min(max(t, 0.01), 1.0)
        # A little beyond the best point; at the QP's solution after no step.
        ahead = t + self.solver.beyond * (1.0 - t) if t else 1.0
        way, turn = planes.target - planes.best, planes.bias - self.bias
        self.point_S, self.point_bias = S + ahead * dS, self.bias + ahead * turn
        point = planes.best + ahead * way
        planes.best, self.bias = planes.best + t * way, self.bias + t * turn
        S += t * dS
        return primal, point

    def _aim(self, tol):
        """Solve the QP, pulled or not.  A pulled one says little of the dual, so that now and then the plain
        one is solved, too."""
        if not self.pull:
            self.planes.solve(tol)
            return
        if self.planes.n_added % 5 == 0:
            self.planes.raise_dual(tol)
        self.planes.solve_pulled(tol, self.pull)

"""Dual coordinate ascent by workers, each on the duals of its own examples, all at the same time.

    D(alpha) = sum_k l_k(alpha_k) - 1/2 |sum_k v_k|^2      v_k = sum of alpha delta over worker k's examples

In a round every worker starts from the same v and ascends, by passes over its own examples, what is safe to
ascend while the others do the same (Ma et al. 2015, CoCoA+):

    l_k(alpha_k + d_k) - <v, dv_k> - sigma/2 |dv_k|^2

so that a step moves the worker's own point sigma times as far as v.
With sigma = K, the number of workers, all changes may be added.  Examples of different workers that share few
features get in each other's way less than that: sigma is fitted to what the last round has shown, between 1
and K.  Of each worker's change the share 0 <= t_k <= 1 is taken: all of it where that raises D nearly as much
as the best shares, else the t_k that maximise D, a small box-constrained quadratic.  D never falls.

That alone is slow at the end: where worker 1 wants w to go one way and worker 2 the other way, each corrects
what it sees by a small move of all its examples together, and the moves cancel.  What they should do is to
move each example by its own error.  So after every third round comes a second step, in which each example
takes its own exact step at the same w, again with a share t_k for each worker.  On rcv1_like(50_000) with two
workers this brings the gap to 1e-3 in 18 rounds; without it, it is 1.4e-3 after 60.

The certificate is that of one machine: D at the duals; P at the lowest point of the line from the best w so
far to v, which costs one pass over all the data.  An intercept is treated as in `DualCD`: its multiplier
belongs to the driver.  A worker that dies loses its duals: they begin at those of the last checkpoint again,
or at 0, and v is summed up anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engines.sums import unpacked
from ...objective import squared_norm
from ..dual_cd import BIAS_RATE
from ..line import Line, minimise_on_line
from .cuts import AskedBounds, TeamCuts
from .team import SEPARATE, Bounds, next_sigma, regain, shares_to_take, team_steps

#: Rounds from one step of single examples to the next.
LEANING = 3


@dataclass(frozen=True)
class DistributedDual:
    """Dual coordinate ascent on a problem in parts (problems/parts/problem.py).

    seed    of the order in which examples are visited
    passes  passes of a worker over its examples between two meetings, at most

    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [-0.5, 0.0]]), [1, 1, -1, -1]
    >>> problem = oneslack.SplitProblem(oneslack.Binary(2), X, y, C=1.0, engine=oneslack.ThreadCrews(2))
    >>> with problem.engine:
    ...     result = oneslack.solve(problem, oneslack.DistributedDual(), tol=1e-4)
    >>> result.gap <= 1e-4
    True
    """

    seed: int = 0
    passes: int = 1

    name = "distributed_dual"
    needs = ("weights", "squares", "parts", "plain", "dual steps")

    def steps(self, problem, start=None, tol=1e-3):
        if problem.passes is not None:
            duals = TeamDuals(problem, self.seed, self.passes)
            return team_steps(problem, duals, LineBounds(problem, duals, tol), start)
        duals = TeamCuts(problem, self.seed)
        return team_steps(problem, duals, AskedBounds(problem, duals, tol), start)


class LineBounds(Bounds):
    """Where there are scores: P is minimised on the line from the best w to v.  With an intercept, whose
    value the running gaps say nothing of, in every round."""

    best_S = None

    def __init__(self, problem, duals, tol):
        super().__init__(problem, duals, tol)
        if len(duals.bias):
            self.limit = 1

    def _search(self):
        problem, w, S = self.problem, self.duals.point(), self.duals.scores()
        dual = self.duals.balanced_value() if len(self.duals.bias) else self.duals.value
        if self.w is None:
            start, start_S = np.zeros_like(w), problem.scores(np.zeros_like(w))
        else:
            start, start_S = self.w, problem.scores(self.w) if self.best_S is None else self.best_S
        line = Line(problem, start, start_S, w - start, S - start_S)
        at_zero = line.value(0.0) if self.w is None else self.primal
        t, _ = minimise_on_line(line, at_zero, 0.01 * max(self.tol, 1e-12) * abs(dual))
        found = line.point(t)
        if self._take(found.w, found.primal if t > 0 else at_zero, dual):
            self.best_S = found.S
        return True


class TeamDuals:
    """What the driver knows of all workers' duals: v, sum alpha loss, and the intercept's multiplier.

    passes  passes of a worker over its examples in a round, at most
    """

    def __init__(self, problem, seed, passes=1):
        self.problem, self.seed, self.engine, self.passes = problem, seed, problem.engine, passes
        self.v, self.linear = np.zeros(problem.n_params), 0.0
        self.n_workers = len(problem.parts)
        self.sigma = float(self.n_workers)
        self.bias = self.imbalance = np.zeros(problem.regulariser.n_free)
        self.rate = BIAS_RATE * (problem.stiffness * problem.mean or 1.0) if len(self.bias) else 0.0
        self.gap, self.active, self.n_rounds = np.inf, problem.n, 0
        self._S = None
        self._kept = {}  # the workers' duals when the state was last asked for

    @property
    def value(self) -> float:
        """D, without regard to a balance that intercepts need."""
        return self.linear - 0.5 * squared_norm(self.v)

    def point(self):
        """w at v."""
        w = self.v.copy()
        if len(self.bias):
            w[self.problem.regulariser.free] = self.bias
        return w

    def scores(self):
        """Those at this point; nobody is asked for them yet."""
        if self._S is None:
            self._S = self.problem.scores(self.point())
        return self._S

    def begin(self):
        self.engine.ask("dual_begin", self.seed)

    def step(self) -> bool:
        """A round of all workers, some of them after a step of single examples, all at the same w; False
        where a worker came back without its duals."""
        is_leaning = self.n_rounds and self.n_rounds % LEANING == 0
        if is_leaning and self._met("dual_lean", self.v, self.scores()) is None:
            return False
        return self._round()

    def _round(self) -> bool:
        bias = self.bias if len(self.bias) else 0.0
        found = self._met("dual_round", self.v, bias, self.sigma, self.sigma * self.rate, self.passes)
        if found is None:
            return False
        best, self.gap, self.active = found
        self.n_rounds += 1
        self.sigma = next_sigma(self.sigma, best, self.n_workers)
        self.bias = self.bias + self.rate * self.imbalance
        return True

    def _met(self, method, *arguments):
        """Take the shares of the workers' changes that raise D most: (best common step, sum of the running
        gaps, active examples), or None where a worker has lost its duals."""
        separate = self.n_workers <= SEPARATE
        answers, self._S = self.problem.changes(method, separate, *arguments), None
        if answers is None:
            self._recover()
            return None
        V = np.array([unpacked(answer[0]) for answer in answers])
        R = np.array([answer[2] if len(self.bias) else () for answer in answers])
        linear = np.array([answer[1] for answer in answers])
        b = linear - V @ self.v - R @ self.bias
        G = V @ V.T + self.rate * (R @ R.T)
        steps = shares_to_take(G, b)
        if (steps != 1.0).any():  # a charge is no share of that of the whole change
            self.linear = float(sum(self._settle(steps, separate)))
        else:
            self.linear += float(linear.sum())
        self.v += steps @ V
        self.imbalance = self.imbalance + steps @ R
        self.bias = self.bias + self.rate * (steps @ R)
        best = b.sum() / G.sum() if G.sum() > 0.0 else 1.0
        rest = answers[0][3:] if len(answers) == 1 else np.sum([answer[3:] for answer in answers], axis=0)
        return best, *rest

    def _settle(self, steps, separate):
        if separate:
            return self.engine.ask_each("dual_settle", steps.tolist())
        return self.engine.ask("dual_settle", float(steps[0]))

    def _recover(self):
        """Take back what was not agreed upon, and sum up what is there."""
        self.engine.ask("dual_settle", 0.0)
        regain(self.problem, self.seed, self._kept)
        v, self.linear, imbalance = self.problem.total_duals("dual_sum", self.seed)
        self.v = np.array(v)  # a worker's own may not be written to
        self.imbalance = imbalance if len(self.bias) else self.imbalance

    def balanced_value(self) -> float:
        """D at duals that balance exactly; no bound where a worker has lost them."""
        balanced = self._balanced()
        return -np.inf if balanced is None else self.problem.regulariser.dual(*balanced[:2])

    def _balanced(self):
        """(v, sum alpha loss) of the balanced duals, and their flow; None where a worker has lost them."""
        flow = self.problem.total_duals("dual_balance")
        found = None if flow is None else self.problem.total_duals("dual_balanced", flow[0])
        return None if found is None else (*found, flow[0])

    def proof(self):
        """The dual point, summed up anew; None where a worker has lost its duals."""
        found = self._balanced() if len(self.bias) else self.problem.total_duals("dual_sum")
        return None if found is None else self.problem.proof_of_sums(*found[: 3 if len(self.bias) else 2])

    def state(self):
        own = {name: np.copy(getattr(self, name)) for name in ("v", "bias", "imbalance")}
        workers = {}
        for state in self.engine.ask("dual_state"):
            workers |= state
        self._kept = workers
        numbers = {name: getattr(self, name) for name in ("linear", "sigma", "gap", "active", "n_rounds")}
        return own | numbers | {"workers": workers}

    def restore(self, state):
        for name, value in state.items():
            if name != "workers":
                setattr(self, name, value.copy() if isinstance(value, np.ndarray) else value)
        self._kept = state["workers"]
        self.engine.ask("dual_begin", self.seed, self._kept)
        if len(state["workers"]) < self.n_workers:  # v counts duals that were lost
            self._recover()

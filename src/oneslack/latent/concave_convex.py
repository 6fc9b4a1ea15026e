"""Fill in what is not known (latent values, labels), train, and again: the concave-convex procedure.

    L(w) = 1/2 |r (w - prior)|^2 + C sum_i s_i ( max_{y,h} [loss(y_i, y, h) + <w, psi(x_i, y, h)>]
                                                 - max_h <w, psi(x_i, y_i, h)> )

is a difference of convex functions.  With the latent values h_i of the truths held fixed it becomes a
convex P(w; h), which lies above L everywhere and touches it where every h_i is best.  So from h best at w,
any w' with P(w'; h) <= P(w; h) has L(w') <= P(w'; h) <= P(w; h) = L(w): a round of completing and training
never raises L (Yuille & Rangarajan 2003; Felzenszwalb et al. 2010; Yu & Joachims 2009; Ramanan 2013, A.4 and
A.5).  Labels that are not known are latent values, too: then h is an output that agrees with what is known of
y_i, and the loss counts only that.

What is reached depends on the start: several may be tried.  Rounds go on from the duals and remembered cuts
of the last one, moved to the new truths (memory/moved_cuts.py), where the solver keeps them, and from its w
otherwise.  The gap of a round is that of its convex problem; no bound is known of L itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .. import driver
from .._jit.clock import now
from ..problems.in_memory import Problem
from ..problems.per_example import failure, joint_row
from ..result import Result, Status

#: Statuses of a training that has come to its end.
_DONE = (Status.CONVERGED, Status.EPSILON, Status.INFERENCE, Status.STALLED, Status.ROUNDING)


@dataclass(frozen=True)
class Round:
    """One round of completing and training.

    objective  L(w) at its beginning; inf where there was no w yet, an upper bound of L while annealing
    convex     P(w; h) at its end
    gap        relative duality gap that its convex problem was solved to
    changed    completions that differ from the last round's
    """

    start: int
    number: int
    objective: float
    convex: float
    gap: float
    changed: int
    annealed: bool
    seconds: float


@dataclass(frozen=True)
class Path:
    """Where one start has led: w, L(w), the truths completed at w, the Result of the last convex problem.
    On the way there the truths are those that w was trained with, and the objective is a bound of L(w)."""

    w: np.ndarray
    objective: float
    truths: list
    result: Result
    rounds: list


class Rounds:
    """The concave-convex procedure on one set of examples.

    Parameters
    ----------
    model : CompletedStructural or CompletedBinary (models/latent.py)
    X, Y : inputs, and truths as model.truth gives them
    problem_options : what Problem takes beside them
    solver, tol, ... : `training` for driver.solve
    max_rounds, outer_tol : rounds of a start at most, and the share of L that a round must bring to go on
    annealing : first rounds that complete at weights with noise, less from round to round
    on_round : each called with a Round; a true answer stops
    """

    #: Statuses after which the next round may begin.
    goes_on = (*_DONE, Status.TIME_LIMIT, Status.MAX_ITER)

    def __init__(
        self, model, X, Y, problem_options, training, *, max_rounds=50, outer_tol=1e-3, annealing=0,
        time_limit=None, on_round=(),
    ):  # fmt: skip
        self.model, self.X, self.Y = model, X, Y
        self.problem_options, self.training = problem_options, training
        self.max_rounds, self.outer_tol, self.annealing = max_rounds, outer_tol, annealing
        self.time_limit, self.on_round = time_limit, on_round
        self.begin, self.stopped, self.interrupted = now(), False, False

    # Several starts.

    def best_of(self, n_starts, seed, truths=None) -> tuple[Path, list[Round]]:
        """The best of several starts: the given truths first, then those completed at random weights."""
        best, rounds = None, []
        for start in range(n_starts):
            rng = np.random.default_rng([seed, start])
            path = self.run(start, None if truths is None or start else list(truths), rng)
            rounds += path.rounds if path else []
            if best is None or (path and path.objective < best.objective):
                best = path
            if self.stopped or self._left() == 0.0:
                break
        if best is None:
            raise KeyboardInterrupt  # before there was a model
        return best, rounds

    # One start.

    def run(self, start, truths, rng=None, w=None) -> Path | None:
        """As far as it comes: Ctrl-C may also fall between two trainings."""
        path = None
        try:
            for path in self._paths(start, truths, rng, w):
                self.interrupted |= path.result.status is Status.INTERRUPTED
        except KeyboardInterrupt:
            self.interrupted = self.stopped = True
        return path

    def _paths(self, start, truths, rng, w):
        """Yield the path after each round, and at its end; no truths are those completed at w, and no w is a
        random one, to complete at and no more."""
        result, state, rounds = None, {}, []
        if truths is None:
            truths = self._complete(rng.normal(size=self.model.n_params) if w is None else w)
        last, old = np.inf, None
        for number in range(self.max_rounds):
            annealed = number < self.annealing
            if number:
                truths = self._complete(w, rng if annealed else None, 1.0 - number / max(self.annealing, 1))
            changed = self._changed(truths, old)
            problem = self._problem(truths)
            with problem.engine:
                w = None if w is None else problem.regulariser.feasible(w)
                objective = np.inf if w is None else problem.primal(w)
                ends = number > self.annealing and (
                    not len(changed) or last - objective <= self.outer_tol * abs(objective)
                )
                if ends or self.stopped or (number and self._left() == 0.0):
                    yield Path(w, objective, truths, result, rounds)
                    return
                state = self._carried(state, problem, old, truths, changed)
                result = self._solve(problem, w, state)
            state, improved = result.state, result.primal < objective
            if not improved:
                result = replace(result, w=w, primal=objective)
            w = result.w
            rounds.append(self._told(Round(
                start, number, objective, result.primal, result.gap, len(changed), annealed,
                now() - self.begin,
            )))  # fmt: skip
            self.stopped |= result.status not in self.goes_on
            last, old = objective, truths
            yield Path(w, result.primal, truths, result, rounds)
            if not improved and number >= self.annealing:
                return
        truths = self._complete(w)
        problem = self._problem(truths)
        with problem.engine:
            yield Path(w, problem.primal(w), truths, result, rounds)

    def _solve(self, problem, w, state):
        left = self._left()
        start = dict(state) if w is None else {"w": w, **state}
        return driver.solve(
            problem,
            start=start or None,
            time_limit=None if left is None else max(left, 1e-9),
            **self.training,
        )

    def _told(self, entry):
        wishes = [callback(entry) for callback in self.on_round]
        self.stopped |= any(wishes)
        return entry

    def _left(self):
        """Seconds that are left, None for no limit."""
        if self.time_limit is None:
            return None
        return max(self.time_limit - (now() - self.begin), 0.0)

    def conclude(self, path, said) -> Result:
        """The path's Result, and what is `said` of its rounds.  It is not certified, as the bound is one for
        these completions only."""
        n_rounds, result = len(path.rounds), path.result
        rounds = f"{n_rounds} round{'s' * (n_rounds > 1)}"
        # The best start need not be the one that was cut short.
        status = Status.INTERRUPTED if self.interrupted else result.status
        seconds = now() - self.begin
        reason = f"{result.reason}; {said.format(rounds)}"
        return replace(result, status=status, certified=False, reason=reason, seconds=seconds, state={})

    # What is completed: here latent values of single examples.

    def _changed(self, truths, old):
        """Which truths differ from the last ones."""
        return [i for i in range(len(truths)) if old is None or not _same(truths[i], old[i])]

    def _carried(self, state, problem, old, truths, changed):
        """What a solver may go on from in a problem with other truths."""
        if old is None or "store" not in state:
            return {}
        moves = [self._feature(i, truths[i]) - self._feature(i, old[i]) for i in changed]
        moves = sp.vstack(moves, format="csr") if moves else sp.csr_array((0, problem.n_params))
        metric = problem.regulariser.curvature
        from ..memory.moved_cuts import move_cuts

        store = move_cuts(state["store"], changed, moves, None if metric is None else 1.0 / metric)
        return {} if store is None else {"cuts": (store, 1.0)}

    def _feature(self, i, truth):
        row = joint_row(self.model, self.X[i], truth)
        return row if sp.issparse(row) else sp.csr_array(row[None])

    def _problem(self, truths):
        return Problem(self.model, self.X, truths, **self.problem_options)

    def _complete(self, w, rng=None, heat=0.0):
        """All truths with their best latent values at w; with `rng`, each at weights of its own nearby."""
        spread = heat * float(np.sqrt(np.mean(w**2))) if rng is not None else 0.0
        truths = []
        for i, (x, y) in enumerate(zip(self.X, self.Y, strict=True)):
            near = w if rng is None else w + spread * rng.normal(size=len(w))
            try:
                truths.append(self.model.complete(near, x, y))
            except Exception as error:
                raise failure(i, error) from error
        return truths


def solve_latent(model, X, Y, problem_options, training, *, n_starts=1, seed=0, truths=None, **options):
    """(Path, rounds): the best of several starts, and the rounds of all."""
    procedure = Rounds(model, X, Y, problem_options, training, **options)
    path, rounds = procedure.best_of(n_starts, seed, truths)
    said = "{} of completing and training"
    if n_starts > 1:
        said += f", the best of {len({entry.start for entry in rounds})} starts"
    return replace(path, result=procedure.conclude(path, said)), rounds


def _same(a, b) -> bool:
    """Whether two truths are the same, which may hold arrays."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_same(*pair) for pair in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)


# Labels that are not known.


class Filled:
    """A model on packed data with all labels filled in: it packs to these."""

    def __init__(self, model, data):
        self._model, self._data = model, data

    def pack(self, X, Y, weights=None):
        return self._data

    def __getattr__(self, name):
        return getattr(self._model, name)


class LabelRounds(Rounds):
    """Truths are the labels of all examples, in one array; rounds go on from w alone."""

    goes_on = _DONE

    def __init__(self, problem_of, model, data, training, time_limit):
        super().__init__(model, None, None, None, dict(training, keep_state=False), time_limit=time_limit)
        self.problem_of, self.data = problem_of, data

    def _changed(self, labels, old):
        return np.flatnonzero(labels != old)  # all where there are no old ones

    def _carried(self, state, problem, old, truths, changed):
        return {}

    def _problem(self, labels):
        return self.problem_of(Filled(self.model, self.data.completed(labels)))

    def _complete(self, w, rng=None, heat=0.0):
        """The best labels of all examples that agree with those known."""
        return np.concatenate([self.model.complete_batch(self.data, shard, w) for shard in self.data.shards])


def solve_completed(problem_of, model, data, w, *, time_limit=None, **training) -> Result:
    """Rounds of filling in labels and training, from w (n_params,) on.

    problem_of : problem_of(model) -> Problem on the examples that `data` holds
    model : offers `complete_batch(data, shard, w)`
    data : packed, with outputs known in part: `completed(labels)` fills them in
    training : as `driver.solve` takes it; interrupt is "return"
    """
    procedure = LabelRounds(problem_of, model, data, training, time_limit)
    path = procedure.run(0, None, w=w)
    if path is None:
        raise KeyboardInterrupt  # before there was a model
    return procedure.conclude(path, "unknown labels were filled in, in {}")

"""Choosing the C of a linear classifier, below the estimator.

X and y are checked, and the labels coded, once.  Each fold then is a problem of its own (problem.py) that is
solved for one C after the other: by Newton steps (solvers/newton_path.py), or by dual passes that begin at
the duals of the last C, to the little precision that held-out scores need.  Folds run in threads; the search
ends early where larger C only fit worse (tuning_rule.py).
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .tuning_rule import Turn, best_of

#: The relative gap to which dual passes train the models of a search.
DUAL_TOL = 3e-2


@dataclass(frozen=True)
class Found:
    """What a search has found; rows of candidates that were not tried are NaN.

    scores  (candidates, folds) mean score of held-out examples
    gaps    (candidates,) how far the models may be from their optimum, as shares of it; the largest of a fold
    best    number of the best candidate
    losses  (candidates, folds) mean loss of held-out examples, where it is known
    """

    scores: np.ndarray
    gaps: np.ndarray
    best: int
    losses: np.ndarray | None = None


def folds_for(estimator, X, y, splits) -> list[QuickFold] | None:
    """The folds (train, test) of a search for C, or None where the estimator must be asked itself."""
    from sklearn.base import clone

    from .estimators.linear_model import INPUT
    from .estimators.parameters import check_parameters
    from .estimators.quick_checks import checked_input
    from .estimators.targets import encode
    from .rows import as_rows

    if not _is_plain(estimator):
        return None
    check_parameters(estimator)
    estimator = clone(estimator)
    X, y = checked_input(estimator, X, y, order="C", **INPUT)
    X, (classes, codes) = as_rows(X), encode(y)
    if len(classes) > 2 and estimator.multi_class == "ovr":
        return None
    if any(len(np.unique(codes[train])) < len(classes) for train, _ in splits):
        return None
    folds = [QuickFold(estimator, X, classes, codes, *split) for split in splits]
    path = path_for(folds[0].problem, estimator)
    for fold in folds:
        fold.path = path
    return folds if path else None


def _is_plain(estimator):
    """Whether it is a classifier whose training is asked for nothing but a gap."""
    from .estimators.linear_svc import LinearSVC
    from .split.new import wants_parts

    if type(estimator) is not LinearSVC or wants_parts(estimator.solver):
        return False
    return estimator.epsilon is None and estimator.time_limit is None


class QuickFold:
    """One split: a path of models on its training rows, judged by its held-out rows.

    Rows are copied when they are first needed, so that other folds need not wait.
    """

    def __init__(self, estimator, X, classes, codes, train, test):
        self.estimator, self.X, self.classes, self.codes = estimator, X, classes, codes
        self.train, self.test = train, test
        self.path = None

    @cached_property
    def problem(self):
        from .estimators.weight_terms import linear_terms
        from .problem import Problem

        task, X = self._task(self.train)
        model, targets, weights = next(iter(task.models()))
        terms = linear_terms(self.estimator, task)[0]
        return Problem(model, X, targets, sample_weight=weights, n_jobs=1, **terms)

    @cached_property
    def held_out(self):
        task, X = self._task(self.test)
        model, targets, weights = next(iter(task.models()))
        if weights is not None and not weights.any():
            weights = None  # a fold of a class that counts nothing has a score nevertheless
        return self.problem.on(model.pack(X, targets, weights))

    def _task(self, index):
        """Some rows as the estimator trains on them: the task, and their features."""
        from .estimators.targets import example_weights

        X, codes = self.X[index], self.codes[index]
        weights = example_weights(X, self.classes, codes, self.estimator.class_weight)
        return self.estimator._task(X, self.classes, codes, weights), X

    def judged(self, Cs):
        """Yield (right (examples,), losses (examples,), gap) of the held-out rows for each C."""
        y = self.held_out.data.y
        for w, gap in self.path(self.problem, Cs):
            S = self.held_out.scores(w)
            if S.ndim == 1:
                right, losses = (S > 0) == (y > 0), np.maximum(1.0 - y * S, 0.0)
            else:
                right = S.argmax(axis=1) == y
                losses = (S + self.problem.model.losses[y]).max(axis=1) - S[np.arange(len(y)), y]
            yield right, self.held_out.data.weights * losses, gap


def path_for(problem, estimator):
    """path(problem, Cs) that yields (w, gap) for each C, by the solver that the estimator would use; None
    where that has no path of its own."""
    from .estimators.parameters import seed_of
    from .solvers.choose import choose_solver
    from .solvers.dual_cd import DualCD
    from .solvers.newton import Newton
    from .solvers.newton_path import newton_path

    solver, _ = choose_solver(problem, estimator.solver, seed_of(estimator.random_state))
    if type(solver) is Newton:
        return lambda problem, Cs: newton_path(problem, Cs, solver.seed)
    if type(solver) is DualCD:
        return lambda problem, Cs: _dual_path(problem, Cs, solver, estimator.max_iter)
    return None


def _dual_path(problem, Cs, solver, max_iter):
    from .driver import solve

    start, before = None, None
    for C in Cs:
        here = problem.on(problem.data, C=C)
        start = start and solver.at_other_C(start, C / before)
        result = solve(here, solver, tol=DUAL_TOL, max_iter=max_iter, start=start)
        start, before = result.state, C
        yield result.w, result.gap


def climb(folds, Cs, pool, on_candidate=None, stops_early=True) -> Found:
    """Train all folds up the values of C, in the threads of a pool.

    A fold goes on to the next C while others are at the last one, but where that may have been the last.
    When the search ends is decided by whole rows in their order: the number of threads changes nothing.
    """
    paths = [fold.judged(Cs) for fold in folds]
    rows = [[None] * len(folds) for _ in Cs]
    turn, n_whole, end = Turn(), 0, len(Cs)
    running, ready = {}, [(0, k) for k in range(len(folds))]
    while True:
        ahead = n_whole + (0 if stops_early and turn.may_be_over else 1)
        for j, k in [one for one in ready if one[0] < end and one[0] <= ahead]:
            ready.remove((j, k))
            running[pool.submit(next, paths[k])] = (j, k)
        if not running:
            return _found(rows[:end], len(Cs))
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            j, k = running.pop(future)
            rows[j][k] = future.result()
            ready.append((j + 1, k))
            if on_candidate:
                on_candidate({"C": float(Cs[j])}, k, rows[j][k][2])
        while n_whole < end and None not in rows[n_whole]:
            right, losses, _ = _joined(rows[n_whole])
            n_whole += 1
            if turn.is_over(right, losses) and stops_early:
                end = n_whole


def _joined(row):
    """(right, losses, gap) of one candidate over all folds."""
    right, losses, gaps = zip(*row)
    return np.concatenate(right), np.concatenate(losses), max(gaps)


def _found(rows, n_candidates):
    right, losses, gaps = zip(*map(_joined, rows))
    scores = np.full((n_candidates, len(rows[0])), np.nan)
    means, all_gaps = scores.copy(), np.full(n_candidates, np.nan)
    scores[: len(rows)] = [[one[0].mean() for one in row] for row in rows]
    means[: len(rows)] = [[one[1].mean() for one in row] for row in rows]
    all_gaps[: len(rows)] = gaps
    return Found(scores, all_gaps, best_of(right, losses), means)

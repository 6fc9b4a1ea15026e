"""Choosing the C of a linear classifier without a fit of the estimator for each.

X and y are checked, and the labels coded, once.  Each fold then is a problem of its own (problem.py) that is
solved for one C after the other: by Newton steps (solvers/newton_path.py), or by dual passes that begin at
the duals of the last C, to the little precision that held-out scores need.  Where Newton's path does not get
there, the model of that C is trained from scratch; what is then still too far from its optimum is said in one
warning.  Folds run in threads; the search ends early where larger C only fit worse (tuning_rule.py).
"""

from __future__ import annotations

import warnings
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .errors import Interrupted
from .tuning_rule import Turn, best_of

#: A certified relative gap at which models can be compared.
COMPARABLE = 3e-2


@dataclass(frozen=True)
class Found:
    """What a search has found; rows of candidates that were not tried are NaN.

    scores  (candidates, folds) mean score of held-out examples
    gaps    (candidates,) how far the models may be from their optimum, as shares of it; the largest of a fold
    best    number of the best candidate
    unfinished  (candidates,) whether a training ended before it was as near to its optimum as it should be
    losses  (candidates, folds) mean loss of held-out examples, where it is known
    """

    scores: np.ndarray
    gaps: np.ndarray
    best: int
    unfinished: np.ndarray
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
        from .estimators.targets import check_weights
        from .estimators.weight_terms import linear_terms
        from .problem import Problem

        task, X = self._task(self.train)
        if task.weights is not None:
            check_weights(task.weights)
        model, targets, weights = next(iter(task.models()))
        terms = linear_terms(self.estimator, task)[0]
        return Problem(model, X, targets, sample_weight=weights, n_jobs=1, **terms)

    @cached_property
    def held_out(self):
        """The problem of the held-out rows, and what their losses count (examples,).  Apart, as the rows have
        scores even where none of them counts."""
        task, X = self._task(self.test)
        model, targets, weights = next(iter(task.models()))
        here = self.problem.on(model.pack(X, targets))
        return here, np.ones(here.n) if weights is None else weights

    @cached_property
    def class_weights(self):
        """(classes,) by the training rows, also for the held-out ones; None where all are 1."""
        from .estimators.targets import weights_of_classes

        given, codes = self.estimator.class_weight, self.codes[self.train]
        return None if given is None else weights_of_classes(given, self.classes, codes, None)

    def _task(self, index):
        """Some rows as the estimator trains on them: the task, and their features."""
        X, codes = self.X[index], self.codes[index]
        weights = None if self.class_weights is None else self.class_weights[codes]
        return self.estimator._task(X, self.classes, codes, weights), X

    def judged(self, Cs, stop):
        """Yield (right (examples,), losses (examples,), gap, reached) of the held-out rows for each C."""

        def obey(row):
            if stop.is_set():  # Ctrl-C reaches the main thread alone
                raise KeyboardInterrupt

        held_out, weights = self.held_out
        y = held_out.data.y
        for w, gap, reached in self.path(self.problem, Cs, [obey]):
            S = held_out.scores(w)
            if S.ndim == 1:
                right, losses = (S > 0) == (y > 0), np.maximum(1.0 - y * S, 0.0)
            else:
                right = S.argmax(axis=1) == y
                losses = (S + self.problem.model.losses[y]).max(axis=1) - S[np.arange(len(y)), y]
            yield right, weights * losses, gap, reached


def path_for(problem, estimator):
    """path(problem, Cs, callbacks) that yields (w, gap, whether that is near enough) for each C, by the
    solver that the estimator would use; None where that has no path of its own."""
    from .estimators.parameters import seed_of
    from .solvers.choose import choose_solver
    from .solvers.dual_cd import DualCD
    from .solvers.newton import Newton

    solver, _ = choose_solver(problem, estimator.solver, seed_of(estimator.random_state))
    options = {"solver": solver, "max_iter": estimator.max_iter}
    if type(solver) is Newton:
        return lambda problem, Cs, callbacks: _newton_path(problem, Cs, callbacks=callbacks, **options)
    if type(solver) is DualCD:
        return lambda problem, Cs, callbacks: _dual_path(problem, Cs, callbacks=callbacks, **options)
    return None


def _newton_path(problem, Cs, solver, **options):
    """Steps along C; a model of its own, with a certificate, where they end too far from the optimum."""
    from .driver import solve
    from .solvers.newton_path import ENOUGH, newton_path

    for C, (w, gap) in zip(Cs, newton_path(problem, Cs, solver.seed, options["max_iter"]), strict=True):
        if gap <= ENOUGH:
            yield w, gap, True
            continue
        here = problem.on(problem.data, C=C)
        result = solve(here, solver, tol=ENOUGH, keep_state=False, **options)
        yield result.w, result.gap, result.status.ok or result.gap <= COMPARABLE


def _dual_path(problem, Cs, solver, **options):
    """Passes from the duals of the last C.  Where these end too far from the optimum, passes from scratch do
    so too: measured on raw features, they were farther."""
    from .driver import solve

    start, before = None, None
    for C in Cs:
        here = problem.on(problem.data, C=C)
        start = start and solver.at_other_C(start, C / before)
        result = solve(here, solver, tol=COMPARABLE, start=start, **options)
        start, before = result.state, C
        yield result.w, result.gap, result.status.ok


def climb(folds, Cs, pool, stop, on_candidate=None, stops_early=True) -> Found:
    """Train all folds up the values of C, in the threads of a pool, until the event `stop`.

    A fold goes on to the next C while others are at the last one, but where that may have been the last.
    When the search ends is decided by whole rows in their order: the number of threads changes nothing.
    """
    rows = [[None] * len(folds) for _ in Cs]
    try:
        end = _climbed(rows, [fold.judged(Cs, stop) for fold in folds], Cs, pool, on_candidate, stops_early)
    except KeyboardInterrupt as stopped:
        end = next((j for j, row in enumerate(rows) if None in row), len(Cs))
        raise Interrupted(_found(rows[:end], len(Cs)) if end else None) from stopped
    return _found(rows[:end], len(Cs))


def _climbed(rows, paths, Cs, pool, on_candidate, stops_early):
    """Fill the rows; the answer is how many of them count."""
    turn, n_whole, end = Turn(), 0, len(Cs)
    running, ready = {}, [(0, k) for k in range(len(paths))]
    while True:
        ahead = n_whole + (0 if stops_early and turn.may_be_over else 1)
        for j, k in [one for one in ready if one[0] < end and one[0] <= ahead]:
            ready.remove((j, k))
            running[pool.submit(next, paths[k])] = (j, k)
        if not running:
            return end
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            j, k = running.pop(future)
            rows[j][k] = future.result()
            ready.append((j + 1, k))
            if on_candidate:
                on_candidate({"C": float(Cs[j])}, k, rows[j][k][2])
        while n_whole < end and None not in rows[n_whole]:
            right, losses, *_ = _joined(rows[n_whole])
            n_whole += 1
            if turn.is_over(right, losses) and stops_early:
                end = n_whole


def _joined(row):
    """(right, losses, gap, reached) of one candidate over all folds."""
    right, losses, gaps, reached = zip(*row)
    return np.concatenate(right), np.concatenate(losses), max(gaps), all(reached)


def _found(rows, n_candidates):
    right, losses, gaps, reached = zip(*map(_joined, rows))
    scores = np.full((n_candidates, len(rows[0])), np.nan)
    means, all_gaps = scores.copy(), np.full(n_candidates, np.nan)
    unfinished = np.zeros(n_candidates, bool)
    scores[: len(rows)] = [[one[0].mean() for one in row] for row in rows]
    means[: len(rows)] = [[one[1].mean() for one in row] for row in rows]
    all_gaps[: len(rows)], unfinished[: len(rows)] = gaps, np.logical_not(reached)
    return Found(scores, all_gaps, best_of(right, losses), unfinished, means)


def warn_if_unfinished(found, Cs):
    """One ConvergenceWarning, at the caller's line, that names all C whose models cannot be compared."""
    if not found.unfinished.any():
        return
    from sklearn.exceptions import ConvergenceWarning

    from .errors import users_level

    names = ", ".join(f"{C:g}" for C, is_open in zip(Cs, found.unfinished, strict=True) if is_open)
    largest = found.gaps[found.unfinished].max()
    warnings.warn(
        f"the models for C = {names} stopped at relative gaps of up to {largest:.2g}, too far from their "
        "optimum for their scores to be compared: scale the features, raise max_iter, or leave these C out.",
        ConvergenceWarning,
        stacklevel=users_level(),
    )

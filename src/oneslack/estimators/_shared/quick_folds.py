"""Choosing the C of a linear classifier without a fit of the estimator for each.

X and y are checked, and the labels coded, once.  Each fold then is a problem of its own that is solved for
one C after the other: by Newton steps (solvers/newton_path.py), or by dual passes that begin at the duals of
the last C, to the little precision that held-out scores need.  Where Newton's path does not get there, the
model of that C is trained from scratch.  Folds go up the values of C together (selection/climb.py).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.base import clone

from ...data.rows import as_rows
from ...driver import solve
from ...problems.in_memory import Problem
from ...solvers.choose import choose_solver
from ...solvers.dual_cd import DualCD
from ...solvers.dual_newton import DualNewton
from ...solvers.newton import Newton
from ...solvers.newton_path import ENOUGH, newton_path
from .given import check_parameters, check_weights, checked_input, encode, seed_of, weights_of_classes
from .weight_terms import linear_terms

#: A certified relative gap at which models can be compared.
COMPARABLE = 3e-2


def folds_for(estimator, X, y, splits) -> list[QuickFold] | None:
    """The folds (train, test) of a search for C, or None where the estimator must be asked itself."""
    from ...problems.new import wants_parts

    is_plain = (
        estimator.epsilon is None and estimator.time_limit is None and not wants_parts(estimator.solver)
    )
    is_plain = is_plain and estimator.penalty == "l2" and not estimator._penalises_intercept
    if not is_plain:  # a training that is asked for more than a gap
        return None
    check_parameters(estimator)
    estimator = clone(estimator)
    X, y = checked_input(estimator, X, y)
    X, (classes, codes) = as_rows(X), encode(y)
    if estimator._is_ovr(len(classes)):
        return None
    if any(len(np.unique(codes[train])) < len(classes) for train, _ in splits):
        return None
    folds = [QuickFold(estimator, X, classes, codes, *split) for split in splits]
    path = path_for(folds[0].problem, estimator)
    for fold in folds:
        fold.path = path
    return folds if path else None


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
        given, codes = self.estimator.class_weight, self.codes[self.train]
        return None if given is None else weights_of_classes(given, self.classes, codes, None)

    def _task(self, index):
        """Some rows as the estimator trains on them: the task, and their features."""
        X, codes = self.X[index], self.codes[index]
        weights = None if self.class_weights is None else self.class_weights[codes]
        return self.estimator._task(X.shape[1], self.classes, codes, weights), X

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
    solver, _ = choose_solver(problem, estimator.solver, seed_of(estimator.random_state))
    options = {"solver": solver, "max_iter": estimator.max_iter}
    if solver.name in (Newton.name, DualNewton.name):
        return lambda problem, Cs, callbacks: _newton_path(problem, Cs, callbacks=callbacks, **options)
    if solver.name == DualCD.name:
        return lambda problem, Cs, callbacks: _dual_path(problem, Cs, callbacks=callbacks, **options)
    return None


def _newton_path(problem, Cs, solver, **options):
    """Steps along C; a model of its own, with a certificate, where they end too far from the optimum."""
    for C, (w, gap) in zip(Cs, newton_path(problem, Cs, solver.seed, options["max_iter"]), strict=True):
        if gap <= ENOUGH:
            yield w, gap, True
            continue
        here = problem.with_C(C)
        result = solve(here, solver, tol=ENOUGH, keep_state=False, **options)
        yield result.w, result.gap, result.status.ok or result.gap <= COMPARABLE


def _dual_path(problem, Cs, solver, **options):
    """Passes from the duals of the last C.  Where these end too far from the optimum, passes from scratch do
    so too: measured on raw features, they were farther."""
    start, before = None, None
    for C in Cs:
        here = problem.with_C(C)
        start = start and solver.at_other_C(start, C / before)
        result = solve(here, solver, tol=COMPARABLE, start=start, **options)
        start, before = result.state, C
        yield result.w, result.gap, result.status.ok

"""One way to fit: check -> encode -> problem -> solve -> store.

    check, encode    given.py: parameters, examples, labels and weights
    problem          `problem_of`: on this machine, unless the estimator has an engine
    solve            `solve_all`: one problem or several, in turn, within one time limit
    store            the certificate, and what the estimator's own `store(results)` keeps

An estimator hands `_solve` its jobs: functions that solve a problem each, made one after the other.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import hypot, sqrt
from types import SimpleNamespace as Point
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from ... import driver
from ..._jit.clock import now
from ...certificate.rounding import rounded_down, rounded_up, sum_down, sum_up
from ...data.rows import as_numpy, as_rows
from ...errors import Interrupted, users_level
from ...memory.several import Results
from ...objective import relative_gap
from ...problems.in_memory import Problem
from ...result import Result, Status
from .callbacks import CallbackSupportMixin
from .given import check_parameters, check_validation, checked_input, given_terms, is_shards, seed_of
from .reported import Exported, PlainLines, Reported, open_end
from .scoring import LinearScores
from .settled import BoundsScores

#: Numbers of a matrix, times the square of the number of intercepts, that nobody waits for.
MUCH_WORK = 3e7


@dataclass(frozen=True)
class Watch:
    """Who watches a fit, and where it is written down: what `fit` takes beside the examples."""

    callbacks: Any = ()
    checkpoint: Any = None
    resume: bool = False
    validation: Any = None

    def folder(self):
        """A CheckpointFolder, or None."""
        if self.checkpoint is None:
            if self.resume:
                raise ValueError("resume=True needs a checkpoint: where the training was written down")
            return None
        from ...memory.checkpoint import CheckpointFolder

        if isinstance(self.checkpoint, CheckpointFolder):
            return self.checkpoint
        return CheckpointFolder(self.checkpoint, resume=self.resume)

    def refuse_checkpoint(self, why):
        """Raise where the training is one that cannot be written down."""
        if self.checkpoint is not None:
            raise ValueError(f"{why}, which cannot be written down; drop checkpoint")


class Fitted(Reported, CallbackSupportMixin, BaseEstimator):
    """An estimator with a certificate, and the course of its training.

    Attributes
    ----------
    objective_, dual_objective_ : float
        Bounds of the optimum from above (at this model) and below; sums where there are several problems.
    duality_gap_ : float
        (objective_ - dual_objective_) / objective_.
    n_iter_ : int
        Steps taken; of the problem that took most, where there are several.
    result_ : Result
        With the status and the trace of the training; several problems have theirs in `result_.parts`.
    """

    #: Set by whoever fits on the same data again and again (selection/path.py): they are not compared.
    _data_key = None

    def _keep(self, given):
        """What a constructor does: `given` are its locals, the parameters."""
        vars(self).update((name, value) for name, value in given.items() if name != "self")

    def _solve(self, jobs, store, data, watch, *, training=None, key=None, columns=None):
        """Solve, store, and have the last word.

        jobs      yields functions job(**options) -> Result, `options` being what `driver.solve` takes
        store     store(results) keeps what was learned; not called where training fails
        data      (X, y, sample_weight) as they were given, for scikit-learn's callbacks
        training  those options, where they are not `_training()`
        key       of the problem for a later warm start, or None: then no state is kept
        columns   the matrix of features, or None where there is none
        """
        folder = watch.folder()
        options = {"keep_state": key is not None} | (self._training() if training is None else training)
        if watch.validation is not None:
            from ..validation import watched

            options["validated"] = watched(self, store, watch)
        with fit_progress(self, watch.callbacks, *data) as callbacks:
            results = solve_all(jobs, folder, callbacks=callbacks, **options)
            self._store_certificate(results, key)
            store(results)
        if watch.validation is not None:
            options["validated"].note(self)
        if folder is not None and folder is not watch.checkpoint and _all_reached(results):
            folder.remove()
        conclude(self, columns, results)
        return self

    def _training(self):
        """How `solve` is to be called, by the parameters; `conclude` raises what it returns on Ctrl-C."""
        return {
            "solver": getattr(self, "solver", "auto"),
            "tol": self.tol,
            "epsilon": self._stopping_epsilon(),
            "max_iter": self.max_iter,
            "time_limit": self.time_limit,
            "seed": seed_of(getattr(self, "random_state", None)),
            "interrupt": "return",
        }

    def _stopping_epsilon(self):
        """The papers' rule to stop by, or None."""
        return self.epsilon

    def _store_certificate(self, results, key):
        self.objective_ = sum_up([result.primal for result in results])
        # Risks and norms are never negative: 0 is a bound, whatever the solver has proved.
        self.dual_objective_ = sum_down([max(result.dual, 0.0) for result in results])
        self.duality_gap_ = relative_gap(self.objective_, self.dual_objective_)
        self.n_iter_ = max(result.n_iter for result in results)
        self._radii = [result.radius for result in results]
        if key is None:
            results = [replace(result, state={}) if result.state else result for result in results]
        self.result_ = results[0] if len(results) == 1 else Results(results)
        self._fitted_on = key
        self.__dict__.pop("validation_scores_", None)  # of an earlier fit


class Task:
    """What a linear estimator learns: labels as problems on the same X, and their results as weight rows.

    models()     yields (model, Y, weights) of each problem
    n_problems, n_features
    flat(coef, intercept)   the w of each problem: the inverse of `rows`
    identity()   (values, arrays) that make it this task and no other, beside X and C
    classes      (K,) or None, for a warm start: those of the last fit must be the same
    """

    n_problems = 1

    def rows(self, results):
        """(coef (rows, d), intercept (rows,)) of problems whose w has d weights and perhaps a bias."""
        w, d = np.array([result.w for result in results]), self.n_features
        return w[:, :d].copy(), w[:, d].copy() if w.shape[1] > d else np.zeros(len(w))

    def rounding(self, result, problem):
        """What P at the rows, and the optimum, may differ by from the result's."""
        return 0.0, 0.0


class LinearModel(BoundsScores, LinearScores, Exported, Fitted):
    """An estimator whose scores are X coef_' + intercept_.

    Attributes
    ----------
    n_features_in_ : int
        Number d of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where X has them.
    """

    #: How X and y are checked, beside what `checked_input` does.
    _input: ClassVar = {}
    #: Numbers of a matrix up to which it is kept for bounds of the intercept.
    _keeps_up_to = 1_000_000

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X, y, watch, sample_weight=None, **given):
        """`fit` of them all; `_encoded` makes a task of what is given, and X as it is learned from."""
        check_parameters(self)
        if (getattr(self, "penalty", "l2"), getattr(self, "dual", "auto")) != ("l2", "auto"):
            from .like_liblinear import check_combination

            check_combination(getattr(self, "penalty", "l2"), getattr(self, "_loss", self.loss), self.dual)
        if is_shards(X) and hasattr(self, "_sharded_task"):
            from .sharded_tasks import prepare

            prepare(self, X, y, sample_weight)
            return self._train(self._sharded_task(X), X, None, None, watch)
        if isinstance(self.C, str) and self.C == "auto":
            from .auto_C import fit_with_best_C

            return fit_with_best_C(self, X, y, sample_weight, watch, given.get("groups"))
        X, y = checked_input(self, X, y, **self._input)
        sample_weight = as_numpy(sample_weight)
        X = as_rows(X)
        if self._penalises_intercept:
            from .like_liblinear import with_constant

            X = with_constant(X)
        task, rows = self._encoded(X, y, sample_weight, **given)
        return self._train(task, rows, y, sample_weight, watch)

    @property
    def _penalises_intercept(self) -> bool:
        """Whether the intercept is a weight like others, as LIBLINEAR's is (like_liblinear.py)."""
        return bool(getattr(self, "penalize_intercept", False) and self.fit_intercept)

    @property
    def _has_free_intercept(self) -> bool:
        return bool(getattr(self, "fit_intercept", False)) and not self._penalises_intercept

    def _train(self, task, X, y, sample_weight, watch):
        """Solve the task and store what was learned."""
        check_validation(watch.validation, task.n_problems)
        terms, starts, key = [{}] * task.n_problems, [None] * task.n_problems, None
        rounding, columns = task.rounding, None if is_shards(X) else X
        if self._penalises_intercept or given_terms(self):
            from .weight_terms import linear_terms

            terms = linear_terms(self, task)
        if self._penalises_intercept:
            from . import like_liblinear

            rounding = partial(like_liblinear.rounding, self)
        if self.warm_start:
            from .warm_start import fingerprint, starts_of

            key = self._data_key or fingerprint(X, task, terms)
            starts = starts_of(self, task, key)

        def jobs():
            for (model, targets, weights), more, start in zip(task.models(), terms, starts, strict=True):
                problem = problem_of(self, model, X, targets, sample_weight=weights, **more)
                yield partial(solved, problem, start=start, finish=partial(restated, rounding))

        def store(results):
            if task.classes is not None:
                self.classes_ = task.classes
            self._store(task, X, *self._rows(task, results))
            self._note_optimum(task, columns, results)
            self.__dict__.pop("_kept", None)  # portions of `partial_fit` before

        return self._solve(jobs(), store, (X, y, sample_weight), watch, key=key, columns=columns)

    def _store(self, task, X, coef, intercept):
        """Keep what was learned, and whatever follows from it and X."""
        self.coef_, self.intercept_ = coef, intercept

    def _rows(self, task, results):
        """(coef, intercept) of their w."""
        coef, intercept = task.rows(results)
        if self._penalises_intercept:
            from .like_liblinear import split

            coef, intercept = split(coef)
        return coef, intercept

    def _note_optimum(self, task, X, results):
        """Keep what bounds of the optimum need; X is None where it is not all that was learned from."""
        self._intercepts = self._scale_rows = self._examples = self._middle = None
        if any(result.middle is not None for result in results):
            self._middle = self._rows(task, [Point(w=r.w if r.middle is None else r.middle) for r in results])
        rows, d = self.coef_.shape if self.coef_.ndim == 2 else (1, self.coef_.size)
        if given_terms(self):
            from .weight_terms import scale_rows

            self._scale_rows = scale_rows(self, (rows, d))
        if X is None or not self._has_free_intercept:
            return
        m = rows // task.n_problems  # intercepts of a problem: the work grows with their square
        if getattr(X, "nnz", X.size) <= (self._keeps_up_to if m == 1 else MUCH_WORK / m**2):
            self._examples = task, X


# Problems and their results.


def problem_of(estimator, model, X, Y, *, sample_weight=None, **options):
    """The problem of a model, here or where the estimator's engine is.  Of shards Y and weights are functions
    of rows, or None."""
    engine, solver, C = getattr(estimator, "engine", None), estimator.solver, estimator.C
    C = estimator.C_ if isinstance(C, str) else C
    options |= {"n_jobs": estimator.n_jobs}
    if getattr(estimator, "penalty", "l2") == "l1":
        from .like_liblinear import l1_problem

        return l1_problem(estimator, model, X, Y, sample_weight=sample_weight, **options)
    if is_shards(X) and engine in (None, "threads"):
        from ...problems.on_disk import ShardedProblem

        return ShardedProblem(model, X, C, code=Y, weigh=sample_weight, **options)
    options["sample_weight"] = sample_weight
    # A plain fit knows nothing of workers.
    if engine in (None, "threads") and getattr(solver, "name", solver) != "distributed_dual":
        return Problem(model, X, Y, C, **options)
    from ...problems.new import new_problem

    return new_problem(model, X, Y, C, engine=engine, solver=solver, **options)


def solved(problem, start=None, finish=None, **options) -> Result:
    """The job of one problem; finish(problem, result) may restate its certificate."""
    with problem.engine:
        result = driver.solve(problem, start=start, **options)
        return finish(problem, result, options["tol"]) if finish else result


def solve_all(jobs, folder=None, *, time_limit, max_iter, **options) -> list[Result]:
    """What each job gives; `time_limit` is for all of them together."""
    results, begin = [], now()
    for number, job in enumerate(jobs):
        if time_limit is not None:
            options["time_limit"] = max(time_limit - (now() - begin), 1e-9)
        if folder is not None:
            options |= {"checkpoint": folder.of(number), "resume": folder.resume}
        results.append(job(max_iter=max_iter, **options))
        if results[-1].status is Status.INTERRUPTED:
            max_iter = 1  # Ctrl-C is for all classes: the others get what one step gives
    return results


def restated(rounding, problem, result, tol) -> Result:
    """The certificate of what is stored and was asked for, which rounding may have moved."""
    primal_error, dual_error = rounding(result, problem)
    if not result.certified or not (primal_error or dual_error):
        return result
    primal, dual = rounded_up(result.primal, primal_error), rounded_down(result.dual, dual_error)
    is_spoilt = result.status is Status.CONVERGED and relative_gap(primal, dual) > tol
    more = primal - result.primal + result.dual - dual
    return replace(
        result, primal=primal, dual=dual, status=Status.ROUNDING if is_spoilt else result.status,
        rounding=result.rounding + more, radius=rounded_up(hypot(result.radius, sqrt(2.0 * more)), more),
    )  # fmt: skip


def _all_reached(results):
    return all(result.status in (Status.CONVERGED, Status.EPSILON) for result in results)


# Before, while and after.


@contextmanager
def fit_progress(estimator, callbacks, X, y, sample_weight=None):
    """Yield the callbacks for `solve`, each of which gets a TraceRow: those given, lines for `verbose`, steps
    of scikit-learn's callbacks for steps of the solver."""
    callbacks = list(callbacks)
    if estimator.verbose:
        callbacks.append(PlainLines(int(estimator.verbose)))
    if not getattr(estimator, "_skl_callbacks", None):
        yield callbacks
        return
    metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
    data = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
    # The number of steps is not known: the gap decides.
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(**data)

    def step_done(row):
        step = context.subcontext(task_name="step")
        step.call_on_fit_task_begin(**data)
        return step.call_on_fit_task_end(**data)

    yield [*callbacks, step_done]
    context.call_on_fit_task_end(**data, reconstruction_attributes=lambda: _learned(estimator))


def _learned(estimator):
    names = ("coef_", "intercept_", "classes_", "thresholds_")
    return {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}


def conclude(model, X, results):
    """The last word of a fit, when all is stored: Interrupted after Ctrl-C, and a ConvergenceWarning at the
    caller's line unless every problem reached what was asked for.  X is the matrix of features, or None where
    there is none."""
    if any(result.status is Status.INTERRUPTED for result in results):
        raise Interrupted(model.result_)
    # Of an inconsistent one the driver has told.
    open_ends = [r for r in results if not (r.status.ok or r.status is Status.INCONSISTENT)]
    if not open_ends:
        return
    text = open_end(model, open_ends, len(results), X)
    warnings.warn(text, ConvergenceWarning, stacklevel=users_level())

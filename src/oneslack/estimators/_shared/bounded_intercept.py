"""Where the intercept of the optimum is: the examples are needed once more (certificate/intercepts.py).

A fit does not pay for that.  A small matrix is kept until somebody asks; a large one would take memory that
is the user's, so that `bound_intercept` takes it again.  Copies and files hold what was found, no examples.
"""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...certificate.intercepts import Intercepts, intercept_bounds
from ...certificate.rounding import SAFE
from ...data.rows import as_rows
from ...problems.in_memory import Problem
from .described import described
from .given import INPUT, given_terms, is_shards, validated

#: Objectives that differ by a larger share, and not by a share of what a risk of 1 is, are of other examples.
SAME, NOTHING = 1e-6, 1e-10


class NotSettled(ValueError):
    """Nothing is known of how near the optimum is; says why."""


@described
class BoundsIntercept:
    """An estimator whose intercept is not penalised.

    _radii       of each problem (Result.radius), or None
    _middle      (coef, intercept) that the radii are around, where these are not the model's (Result.middle)
    _examples    (task, X) while they are kept
    _intercepts  what was found: below and above (rows,), centre (problems, d)
    _scale_rows  the parameter `scale`, of the shape of coef_, where it is given
    """

    _radii = _middle = _examples = _intercepts = _scale_rows = None

    def bound_intercept(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find out where the intercept of the optimum is, for `certain` and `decision_bounds`.

        An intercept is not penalised, so that the gap alone does not say how far it is from the best; the
        examples do.  They are kept until somebody asks where they are few; where they are more than a million
        numbers, this takes them again.  It costs a few passes over them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or shards
            The examples that `fit` got; y and sample_weight as well.

        Returns
        -------
        self : the same estimator
            What was found is saved with it.

        Examples
        --------
        >>> import oneslack
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> model = oneslack.LinearSVC().fit(X, y).bound_intercept(X, y)
        >>> model.certain([[-5.0]]).tolist()
        [True]
        """
        check_is_fitted(self)
        self._refuse_unsettled()
        if not self._has_free_intercept:
            return self
        self._find_intercepts(*self._task_again(X, y, sample_weight))
        return self

    def _task_again(self, X, y, sample_weight):
        if is_shards(X):
            return self._sharded_task(X), X
        X, y = validated(self, X, y, order="C", reset=False, **INPUT, **self._input)
        return self._encoded(as_rows(X), y, sample_weight)

    def _intercepts_again(self, X: Any, y: Any, sample_weight: Any = None) -> Intercepts:
        """What `bound_intercept` finds, whatever the objective is on these examples; nothing changes."""
        known = self._intercepts
        self._find_intercepts(*self._task_again(X, y, sample_weight), are_believed=True)
        found, self._intercepts = self._intercepts, known
        return found

    def __getstate__(self):
        # Whoever copies a model wants the model, not its examples.
        self._look_at_examples()
        state = super().__getstate__()
        state.pop("_examples", None)
        return state

    def _look_at_examples(self):
        """Find what they say while they are here, for a copy or a file without them."""
        if self._examples is not None and self._why_unsettled() is None:
            with suppress(ValueError):  # of parameters that changed since: nothing is known of those
                self._find_intercepts(*self._examples)

    def _known_intercepts(self) -> Intercepts | None:
        """None where the weights say all."""
        if not self._has_free_intercept:
            return None
        if self._intercepts is None and self._examples is not None:
            self._find_intercepts(*self._examples)
        if self._intercepts is None:
            raise NotSettled(
                "the intercept is not penalised, so that its bounds need the training examples, which were "
                "not kept: call bound_intercept(X, y) with them once"
            )
        return self._intercepts

    def _find_intercepts(self, task, X, are_believed=False):
        found, total, rounding = [], 0.0, 0.0
        weights = task.flat(np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_))
        middles = task.flat(*self._around())
        problems = self._problems_again(task, X)
        for problem, w, middle, radius in zip(problems, weights, middles, self._radii, strict=True):
            with problem.engine:
                asked = SimpleNamespace(w=w, primal=float(problem.primal(w)))
                error = SAFE * sum(task.rounding(asked, problem))
                found.append(intercept_bounds(problem, w, middle, radius, error))
            total += asked.primal
            rounding += NOTHING * problem.weight * problem.unit
        if not are_believed and not abs(total - self.objective_) <= SAME * abs(self.objective_) + rounding:
            raise ValueError(
                f"the objective of the model is {total:.6g} on these examples, and {self.objective_:.6g} on "
                "those it was trained on; give bound_intercept what fit got, with the same parameters"
            )
        below, above, centre = zip(*found, strict=True)
        below, above, side = np.concatenate(below), np.concatenate(above), getattr(task, "side", 1)
        if side < 0:  # the scores of the task are those of the model, negated
            below, above = above, below
        self._intercepts = Intercepts(below, above, side * np.array(centre))
        self._examples = None

    def _around(self):
        """(coef (rows, d), intercept (rows,)) that the radii are around; free intercepts, and thresholds, are
        the model's."""
        coef, intercept = self.coef_, self.intercept_
        if self._middle is not None:
            coef = self._middle[0]
            if self._penalises_intercept:
                intercept = self._middle[1]
        return np.atleast_2d(coef), np.atleast_1d(intercept)

    def _problems_again(self, task, X):
        terms, C = [{}] * task.n_problems, self.C_ if isinstance(self.C, str) else self.C
        if given_terms(self):
            from .weight_terms import linear_terms

            terms = linear_terms(self, task)
        for (model, y, weights), more in zip(task.models(), terms, strict=True):
            if is_shards(X):
                from ...problems.on_disk import ShardedProblem

                yield ShardedProblem(model, X, C, code=y, weigh=weights, n_jobs=self.n_jobs, **more)
            else:
                yield Problem(model, X, y, C, sample_weight=weights, n_jobs=self.n_jobs, **more)

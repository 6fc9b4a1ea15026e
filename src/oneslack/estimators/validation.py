"""A validation set: examples that training is stopped by, and never learns from."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..memory.validated import Validated
from ..result import Result, Status, Trace


class Validation:
    """Examples with a measure, which a `fit(..., validation=...)` is stopped by.

    The model with the best score is kept, as soon as `patience` looks in turn found no better one, or the gap
    asked for is reached.  Its certificate is its own: `objective_` is that of the weights that are kept.

    Parameters
    ----------
    X, y : as `fit` takes them
    scoring : str, callable or None, default=None
        A scorer of scikit-learn, "phrase_f1", "token_accuracy", or a function scoring(model, X, y), larger is
        better; None for the estimator's `score`.
    patience : int, default=10
        So many looks without a better score end the training.
    every : int, default=1
        Look at every so many steps.
    groups : array-like of shape (n,) or None
        The queries of a RankSVM's examples.

    Examples
    --------
    >>> import oneslack
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> held_out = oneslack.Validation(X[400:], y[400:], scoring="f1")
    >>> model = oneslack.LinearSVC(solver="one_slack").fit(X[:400], y[:400], validation=held_out)
    >>> model.best_validation_score_ == max(score for step, score in model.validation_scores_)
    True
    """

    def __init__(
        self, X: Any, y: Any, *, scoring: Any = None, patience: int = 10, every: int = 1, groups: Any = None,
    ) -> None:  # fmt: skip
        for name, value in (("patience", patience), ("every", every)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number from 1 on; got {value!r}")
        self.X, self.y, self.scoring, self.groups = X, y, scoring, groups
        self.patience, self.every = patience, every

    def __repr__(self):
        return f"Validation(scoring={self.scoring!r}, patience={self.patience}, every={self.every})"

    def watch(self, estimator, store) -> Validated:
        """What `solve` takes; store(results) makes a model of weights."""
        return Validated(partial(self._score, estimator, store), self.patience, self.every)

    def _score(self, estimator, store, w):
        store([_result_at(w)])
        if self.scoring is None:
            more = {} if self.groups is None else {"groups": self.groups}
            return estimator.score(self.X, self.y, **more)
        return self._scorer(estimator)(estimator, self.X, self.y)

    def _scorer(self, estimator):
        from ..selection.subjects import scorer_for

        if callable(self.scoring):
            return self.scoring
        return scorer_for(estimator, self.scoring, self.y, getattr(estimator, "pos_label", None))


def watched(estimator, store, watch) -> Validated:
    """What `solve` takes, of the Watch of a fit."""
    watch.refuse_checkpoint("validation keeps an earlier model")
    return validation_of(watch.validation).watch(estimator, store)


def validation_of(given) -> Validation | None:
    """What `fit` is given: None, a Validation, or (X, y)."""
    if given is None or isinstance(given, Validation):
        return given
    if isinstance(given, tuple | list) and len(given) == 2:
        return Validation(*given)
    raise ValueError("validation must be (X, y) or an oneslack.Validation")


def _result_at(w):
    """A Result that claims nothing, for `store`."""
    return Result(w, float("inf"), float("-inf"), Status.STOPPED, False, Trace(), 0, 0.0, "")

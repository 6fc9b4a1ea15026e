"""Choosing C by cross-validation, cheaply.

Linear classifiers that are judged by their score go a way of their own (climb.py).  All others: in
each fold the candidates are trained along a path of rising C, every one from where the last one ended
(path.py), first to a loose certified gap.  Then only those are trained on, from where they
stopped, that may still win: a candidate is left behind when, over the folds, its score is below that of the
best by more than two standard errors of the difference.  The others go on to the precision that the
estimator asks for.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from numbers import Integral
from threading import Event
from typing import Any

import numpy as np

from .._jit.clock import now
from ..engines.threads import count_jobs, single_blas_thread
from ..errors import Interrupted
from .climb import Found, climb, warn_if_unfinished
from .path import continued, grid_of, same_data
from .subjects import chosen_rows, core_of, named, scorer_for

#: The relative gap of the first look at a candidate, where the estimator asks for less.
LOOSE = 0.05
#: Standard errors of the difference from the best beyond which a candidate is left behind.
BEHIND = 2.0
#: Candidates that the repr of a search shows.
SHOWN = 20


@dataclass(frozen=True, repr=False)
class Tuning:
    """What a search has found.

    candidates  [{"C": ..., ...}] in the order of the search
    scores      (candidates, folds) at the precision that a candidate was trained to; NaN where it was not,
                as larger C had ceased to help, or as the search was interrupted
    gaps        (candidates,) largest relative gap over the folds: larger where a candidate was left behind;
                certified, but for `LinearSVC` by Newton's method, whose own estimate it mostly is
    best        number of the best candidate; of equals the one with the smallest C
    model       trained on all the data with the best parameters, or None
    seconds     for all of it
    abandoned   (candidates,) True where a first look, to a looser gap, left a candidate clearly behind the
                best: it was not trained on, and `rows` gives no score for it
    losses      (candidates, folds) of held-out examples, where these decide between equal scores; else None
    unfinished  (candidates,) True where a training ended before it reached the gap that the search asked for,
                by max_iter or for rounding: such scores say little
    """

    candidates: list
    scores: np.ndarray
    gaps: np.ndarray
    best: int
    model: object = field(repr=False)
    seconds: float
    losses: np.ndarray | None
    unfinished: np.ndarray
    abandoned: np.ndarray | None = None

    def __repr__(self) -> str:
        """The best candidate, and a line for each."""
        lines = [f"<Tuning: best {_words(self.best_params)}, of {len(self.candidates)} candidates>"]
        for k, row in enumerate(self.rows()[:SHOWN]):
            score = "abandoned" if self.abandoned[k] else "not tried"
            if np.isfinite(row["score"]):
                score = f"{row['score']:.4f} ± {row['deviation']:.4f}"
            lines.append(f"  {_words(self.candidates[k])}: {score}" + ("  best" if k == self.best else ""))
        return "\n".join(lines + (["  ..."] if len(self.candidates) > SHOWN else []))

    @property
    def best_params(self) -> dict:
        return self.candidates[self.best]

    @property
    def best_C(self) -> float:
        return self.best_params["C"]

    @property
    def mean(self) -> np.ndarray:
        """(candidates,): mean score over the folds."""
        return self.scores.mean(axis=1)

    @property
    def deviation(self) -> np.ndarray:
        """(candidates,): standard deviation over the folds."""
        return self.scores.std(axis=1)

    def rows(self) -> list[dict]:
        """One dict a candidate: its parameters, score, deviation and gap, and loss where it is known."""
        columns = {"score": self.mean, "deviation": self.deviation, "gap": self.gaps}
        if self.losses is not None:
            columns["loss"] = self.losses.mean(axis=1)
        rows = [
            params | {name: float(values[k]) for name, values in columns.items()}
            for k, params in enumerate(self.candidates)
        ]
        for k in np.flatnonzero(self.abandoned):
            rows[k] |= {"score": np.nan, "deviation": np.nan}
        return rows


def tune(
    estimator: Any, X: Any, y: Any, C: Any = None, *, grid: Any = None, cv: Any = 5, scoring: Any = None,
    groups: Any = None, pos_label: Any = None, n_jobs: int | None = None, refit: bool = True,
    stop_early: bool = True, on_candidate: Any = None,
) -> Tuning:  # fmt: skip
    """Choose C, and other parameters, by cross-validation.

    The best candidate has the highest mean score.  For `LinearSVC` with its own score, scores that cannot be
    told apart count as equal, and the loss of the held-out examples decides (docs/tune.md).

    Parameters
    ----------
    estimator : an estimator with a parameter `C`, or a Pipeline that ends in one; it is not changed
    X, y : what its `fit` takes, with rows that can be chosen by an index array; Sentences for a tagger
    C : array-like of positive numbers, default 10 values from 1e-3 to 100
    grid : dict from other parameters to the values to try, as {"gamma": [0.1, 1.0]}
    cv : folds, or a splitter of scikit-learn
    scoring : a scorer of scikit-learn or its name; None for the estimator's own `score`
    groups : array-like (n,), the query of each row for `RankSVM`; queries stay whole
    pos_label : of two classes the one that "f1", "precision", "recall", "jaccard" and "average_precision"
        look for; None for the rule of `MetricSVC`
    n_jobs : folds that are trained at the same time, None for all cores; one where the estimator's `engine`
        is a cluster
    refit : whether to train on all the data with what was found
    stop_early : whether `LinearSVC` leaves out larger C once the loss of held-out examples has clearly risen
        for two of them; their scores are NaN
    on_candidate : called with (params, fold, gap) after each training; `gap` is the relative gap it reached

    Returns
    -------
    Tuning
        Ctrl-C raises Interrupted, whose `result` is that of the candidates that all folds are done with, or
        None where there are none; its `model` is None until the search is over.

    Examples
    --------
    >>> import oneslack
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = oneslack.tune(oneslack.LinearSVC(), X / X.max(axis=0), y, C=[0.01, 1.0, 10.0], cv=3)
    >>> found.best_C in (1.0, 10.0), found.model.C == found.best_C
    (True, True)
    """
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import GroupKFold, check_cv

    start = now()
    core = core_of(estimator)
    candidates = _candidates(grid_of(C), grid or {})
    if is_classifier(estimator) and isinstance(cv, Integral):
        _check_classes(y, cv)
    if groups is not None and isinstance(cv, Integral):
        cv = GroupKFold(cv)
    scorer = scorer_for(estimator, scoring, y, pos_label)
    splits = list(check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y, groups))
    folds, Cs = None, [one["C"] for one in candidates]
    if not grid and scoring in (None, "accuracy") and _is_local(estimator):
        # Some have paths over C that are faster than fits.
        folds = getattr(estimator, "_folds_of_paths", lambda *_: None)(X, y, splits)
    n_threads = count_jobs(n_jobs) if _is_local(estimator) else 1
    model = None

    def told(found):
        abandoned = np.zeros(len(candidates), bool) if found.abandoned is None else found.abandoned
        seconds, columns = now() - start, (found.losses, found.unfinished, abandoned)
        return Tuning(candidates, found.scores, found.gaps, found.best, model, seconds, *columns)

    try:
        with _threads(n_threads) as (pool, stop):
            if folds:
                found = climb(folds, Cs, pool, stop, on_candidate, stop_early)
            else:
                rest = (scorer, on_candidate, stop)
                folds = [Fold(k, estimator, X, y, groups, *split, *rest) for k, split in enumerate(splits)]
                found = _race(candidates, folds, pool, core.tol)
    except Interrupted as stopped:
        raise Interrupted(stopped.result and told(stopped.result)) from stopped
    if found.losses is not None:  # all others are fits, which warn of themselves
        warn_if_unfinished(found, Cs)
    if refit:
        model = clone(estimator).set_params(**named(estimator, candidates[found.best]))
        try:
            model.fit(X, y, **({} if groups is None else {"groups": groups}))
        except Interrupted as stopped:
            raise Interrupted(told(found)) from stopped
    return told(found)


@contextmanager
def _threads(count):
    """(pool, stop): an error or Ctrl-C in the search sets `stop`, by which what still runs ends soon."""
    stop = Event()
    # A context around all threads: each fit has one of its own, and they end in any order.
    with single_blas_thread(), ThreadPoolExecutor(count) as pool:
        try:
            yield pool, stop
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _is_local(estimator) -> bool:
    """Whether it trains in threads of this process: a cluster serves one training at a time."""
    return getattr(estimator, "engine", None) in (None, "threads")


def _check_classes(y, folds):
    """Each class must be in every fold."""
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    if counts.min() < folds:
        rarest = classes[counts.argmin()]
        raise ValueError(
            f"the class {rarest!s} has {counts.min()} examples, fewer than the {folds} folds; use fewer "
            "folds, or leave rare classes out"
        )


def _candidates(Cs, grid):
    """Rising C for each combination of the other parameters; equals are won by the first."""
    return [
        dict(zip(grid, values)) | {"C": float(C)}
        for values in product(*(list(choice) for choice in grid.values()))
        for C in Cs
    ]


def _race(candidates, folds, pool, tol):
    """All to a loose gap, then those that may win to `tol`."""
    running = np.arange(len(candidates))

    def train(precision):
        chosen = [(int(k), candidates[k]) for k in running]
        list(pool.map(lambda fold: fold.train(chosen, precision), folds))
        found = _table(folds, len(candidates))
        if np.isnan(found[..., 0]).any():
            raise ValueError("a score is not a number; use fewer folds, or another scorer")
        return found

    try:
        if tol < LOOSE:
            running = running[may_win(train(LOOSE)[..., 0])]
        return _best_of(train(tol), running)
    except KeyboardInterrupt as stopped:
        found = _table(folds, len(candidates))
        running = np.array([k for k in running if not np.isnan(found[k]).any()], int)
        raise Interrupted(_best_of(found, running) if len(running) else None) from stopped


def _table(folds, n_candidates):
    """(candidates, folds, 3) of what the folds have found so far: score, gap, whether that was reached."""
    nothing = (np.nan, np.nan, True)
    return np.array([[fold.found.get(k, nothing) for fold in folds] for k in range(n_candidates)], float)


def _best_of(found, running) -> Found:
    """The best of the candidates `running`; the others are only told of."""
    scores, gaps, reached = found[..., 0], found[..., 1].max(axis=1), found[..., 2].all(axis=1)
    abandoned = ~np.isnan(scores).any(axis=1)
    abandoned[running] = False
    best = int(running[np.argmax(scores[running].mean(axis=1))])
    return Found(scores, gaps, best, ~reached, abandoned=abandoned)


def may_win(scores) -> np.ndarray:
    """Which candidates are not clearly behind the best, by their scores (m, folds)."""
    best = scores[np.argmax(scores.mean(axis=1))]
    behind = best - scores
    error = behind.std(axis=1, ddof=1) / np.sqrt(scores.shape[1]) if scores.shape[1] > 1 else np.inf
    return behind.mean(axis=1) <= BEHIND * error


class Fold:
    """One split, with a model for each candidate that waits where it stopped.

    found  {candidate: (score, gap, whether it was reached)}
    """

    def __init__(self, number, estimator, X, y, groups, train, test, scorer, on_candidate, stop):
        self.number, self.estimator, self.scorer, self.on_candidate = number, estimator, scorer, on_candidate
        self.stop, self.found = stop, {}
        self.X, self.y = chosen_rows(X, train), chosen_rows(y, train)
        self.X_test, self.y_test = chosen_rows(X, test), chosen_rows(y, test)
        self.fit_terms = {} if groups is None else {"groups": np.asarray(groups)[train]}
        self.score_terms = {} if groups is None else {"groups": np.asarray(groups)[test]}
        self.continues = "warm_start" in estimator.get_params(deep=False)
        self.models = {}

    def train(self, chosen, tol):
        """Find out about the candidates [(number, params)], trained to `tol`."""
        last = None
        for k, params in chosen:
            last = self._trained(k, params, last, tol)
            core = core_of(last)
            reached = all(result.status.ok for result in core._results())
            score = self.scorer(last, self.X_test, self.y_test, **self.score_terms)
            self.found[k] = (score, core.duality_gap_, reached)
            if self.on_candidate:
                self.on_candidate(params, self.number, core.duality_gap_)

    @property
    def _watch(self):
        """A user's own `fit` may not take callbacks."""
        from sklearn.utils.validation import has_fit_parameter

        return {"callbacks": [self._obey]} if has_fit_parameter(self.estimator, "callbacks") else {}

    def _obey(self, row):
        """Ctrl-C reaches the main thread alone."""
        if self.stop.is_set():
            raise KeyboardInterrupt

    def _trained(self, k, params, last, tol):
        from sklearn.base import clone

        options = {"tol": tol, "n_jobs": 1}
        if not self.continues:
            model = clone(self.estimator).set_params(**named(self.estimator, params | options))
            return model.fit(self.X, self.y, **self.fit_terms, **self._watch)
        before = self.models.get(k)
        if before is None:
            before = last if _only_C_differs(last, params) else clone(self.estimator)
        model = continued(before, **params, **options)
        with same_data(model):
            model.fit(self.X, self.y, **self.fit_terms, **self._watch)
        self.models[k] = model
        return model


def _words(params) -> str:
    return ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in params.items())


def _only_C_differs(model, params):
    mine = model.get_params(deep=False) if model is not None else None
    return mine is not None and all(
        mine[name] is value or np.array_equal(mine[name], value)
        for name, value in params.items()
        if name != "C"
    )

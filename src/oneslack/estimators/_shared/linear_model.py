"""What the estimators with linear scores share: training, certificate, scores, file."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ...result import Status
from .callbacks import CallbackSupportMixin, fit_progress
from .certified import Certified
from .convergence import conclude
from .sharded_tasks import is_shards
from .tasks import solve_all
from .warm_start import fingerprint, starts_of
from .weight_terms import linear_terms

#: Rows that are scored at once when X must be widened to float64.
BLOCK = 8192
#: How X is taken: as it is, where that is possible.
INPUT = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class LinearModel(Certified, CallbackSupportMixin, BaseEstimator):
    """An estimator whose scores are X coef_' + intercept_."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _train(self, task, X, y, sample_weight=None):
        """Solve the task and store what was learned."""
        terms = linear_terms(self, task)
        key = None
        if self.warm_start:
            key = self._data_key or fingerprint(X, task, terms)
        starts = starts_of(self, task, key) if self.warm_start else [None] * task.n_problems
        with fit_progress(self, X, y, sample_weight) as callbacks:
            results = solve_all(
                task,
                X,
                starts,
                C=self.C,
                n_jobs=self.n_jobs,
                callbacks=callbacks,
                keeping=self._keeping,
                terms=terms,
                engine=getattr(self, "engine", None),
                keep_state=self.warm_start,
                **self._training(),
            )
            if task.classes is not None:
                self.classes_ = task.classes
            self._store(task, X, *task.rows(results))
            self._store_certificate(results, key)
        self.__dict__.pop("_kept", None)  # portions of `partial_fit` before
        conclude(self, None if is_shards(X) else X, results)
        return self

    def _learn_portion(self, task, X, y, sample_weight, memory):
        """`partial_fit`: see partial_fits.py."""
        from ...data.bytes import in_bytes
        from .partial_fits import learn

        room = in_bytes(memory) / task.n_problems
        kept = getattr(self, "_kept", [None] * task.n_problems)
        terms, options, results, after = linear_terms(self, task), self._training(), [], []
        with fit_progress(self, X, y, sample_weight) as callbacks:
            for k, (model, targets, weights) in enumerate(task.models()):
                portion = (X, targets, np.ones(len(targets)) if weights is None else weights)
                result, remembered = learn(
                    kept[k], model, self.C, portion, room, n_jobs=self.n_jobs, callbacks=callbacks,
                    terms=terms[k], **options,
                )  # fmt: skip
                results.append(result)
                after.append(remembered)
                if result.status is Status.INTERRUPTED:
                    options["max_iter"] = 1  # as in solve_all
            self._kept = after
            self._store(task, X, *task.rows(results))
            self._store_certificate(results, None)
        self.n_seen_, self.n_forgotten_ = after[0].n_seen, max(one.n_forgotten for one in after)
        conclude(self, X, results)
        return self

    def _store(self, task, X, coef, intercept):
        """Keep what was learned, and whatever follows from it and X."""
        self.coef_, self.intercept_ = coef, intercept

    def _shapes(self):
        """The learned arrays and their shapes, for reading a file."""
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        return {"coef": (rows, self.n_features_in_), "intercept": (rows,)}

    def _scores(self, X):
        """(n, rows) of new examples."""
        check_is_fitted(self)
        if is_shards(X):
            return np.concatenate([self._scores(shard.X) for shard in X])
        X = validate_data(self, X, reset=False, **INPUT)
        return products(X, np.atleast_2d(self.coef_).T) + self.intercept_


def products(X, W):
    """X @ W in float64, without a float64 copy of all X."""
    if X.dtype == W.dtype:
        return np.asarray(X @ W)
    out = np.empty((X.shape[0], W.shape[1]))
    for low in range(0, len(out), BLOCK):
        rows = X[low : low + BLOCK]
        out[low : low + BLOCK] = rows.astype(np.float64) @ W
    return out

"""LinearSVC: linear classification, binary and multi-class, with a certificate."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import driver
from ..models import Binary, Multiclass
from ..problem import Problem
from ..solvers.choose import BY_NAME
from .callbacks import CallbackSupportMixin, fit_progress, with_callbacks
from .saving import classes_from_file, classes_to_file


class LinearSVC(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Linear support vector classification that says how far it is from the optimum.

    Minimises 1/2 |w|^2 + C sum_i s_i hinge_i to a certified relative duality gap.  Two classes: the
    hinge max(0, 1 - y (<w, x> + b)).  More: Crammer and Singer's max_z (loss(y, z) + score_z) -
    score_y, or one problem a class ("ovr").  The intercept is not penalised.

    Parameters
    ----------
    C : weight of the sum of the hinges, as in scikit-learn and LIBLINEAR
    tol : relative duality gap to stop at
    epsilon : stop by the papers' rule instead: no constraint violated by more (mean loss)
    solver : "auto", "dual_cd", "newton" or "one_slack"
    multi_class : "crammer_singer" or "ovr"
    loss : "hinge", or a cost matrix (K, K) with cost[true, predicted], rows and columns in the
        order of the sorted classes
    fit_intercept : whether to learn an intercept
    class_weight : None, "balanced" or a dict from class to weight
    n_jobs : threads; None for all cores
    max_iter : steps of the solver
    time_limit : seconds of training
    warm_start : go on from the last fit's weights
    random_state : seed of the order of examples
    verbose : print the closing gap

    Attributes
    ----------
    coef_ : (1, d) or (K, d)
    intercept_ : (1,) or (K,)
    classes_ : (K,)
    n_iter_ : steps taken
    objective_, dual_objective_ : bounds of the optimum, from above and below
    duality_gap_ : relative: the model is at most this share above the optimum
    result_ : Result with the trace (a list of them for "ovr")

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import oneslack
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = oneslack.LinearSVC().fit(X, y)
    >>> model.duality_gap_ <= 1e-3
    True
    """

    def __init__(
        self,
        C=1.0,
        *,
        tol=1e-3,
        epsilon=None,
        solver="auto",
        multi_class="crammer_singer",
        loss="hinge",
        fit_intercept=True,
        class_weight=None,
        n_jobs=None,
        max_iter=100_000,
        time_limit=None,
        warm_start=False,
        random_state=None,
        verbose=0,
    ):
        self.C = C
        self.tol = tol
        self.epsilon = epsilon
        self.solver = solver
        self.multi_class = multi_class
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from X (n, d), dense or sparse, and labels y (n,) of any type."""
        self._check_parameters()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32],
            accept_large_sparse=True, order="C",
        )  # fmt: skip
        check_classification_targets(y)
        previous = getattr(self, "classes_", None) if self.warm_start else None
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has only one class ({self.classes_[0]!r}); classification needs at least two"
            )
        weights = self._weights(X, codes, sample_weight)
        same = previous is not None and np.array_equal(previous, self.classes_)
        start = self._start(X) if same else None
        with fit_progress(self, X, y) as callbacks:
            self._store(*self._train(X, codes, weights, start, callbacks))
        return self

    def _train(self, X, codes, weights, start, callbacks):
        """(coef (K, d), intercept (K,), results) of the one or several problems."""
        K, d = len(self.classes_), X.shape[1]
        cost = None if isinstance(self.loss, str) else np.asarray(self.loss, dtype=float)
        solve = partial(self._solve, callbacks=callbacks)
        if K == 2:
            y = np.where(codes == 1, 1.0, -1.0)
            if cost is not None:
                # A cost on two classes is a weight: the hinge of an example scales with it.
                cost = Multiclass(d, 2, losses=cost).losses
                weights = weights * np.where(codes == 1, cost[1, 0], cost[0, 1])
            return self._solve_binary(solve, X, [y], weights, start)
        if self.multi_class == "ovr":
            if cost is not None:
                raise ValueError('a cost matrix needs multi_class="crammer_singer"')
            targets = (np.where(codes == k, 1.0, -1.0) for k in range(K))
            return self._solve_binary(solve, X, targets, weights, start)
        model = Multiclass(d, K, bool(self.fit_intercept), cost)
        w = None if start is None else np.vstack([start[0].T, start[1]])[: model.n_params // K]
        result = solve(model, X, codes, weights, None if w is None else w.ravel())
        W = result.w.reshape(-1, K)
        return W[:d].T.copy(), W[d].copy() if self.fit_intercept else np.zeros(K), [result]

    def _solve_binary(self, solve, X, targets, weights, start):
        model = Binary(X.shape[1], bool(self.fit_intercept))
        results = []
        for k, y in enumerate(targets):
            w = None
            if start is not None:
                w = np.append(start[0][k], start[1][k])[: model.n_params]
            results.append(solve(model, X, y, weights, w))
        w = np.array([result.w for result in results])
        d = X.shape[1]
        intercept = w[:, d] if self.fit_intercept else np.zeros(len(w))
        return w[:, :d], intercept, results

    def _solve(self, model, X, y, weights, start, callbacks):
        problem = Problem(model, X, y, self.C, sample_weight=weights, n_jobs=self.n_jobs)
        with problem.engine:
            return driver.solve(
                problem, self.solver, tol=self.tol, epsilon=self.epsilon, max_iter=self.max_iter,
                time_limit=self.time_limit, start=start, seed=self._seed(),
                callbacks=callbacks,
            )  # fmt: skip

    def _store(self, coef, intercept, results):
        self.coef_, self.intercept_ = coef, intercept
        self.result_ = results[0] if len(results) == 1 else results
        self.objective_ = sum(result.primal for result in results)
        self.dual_objective_ = sum(result.dual for result in results)
        gap = self.objective_ - self.dual_objective_
        self.duality_gap_ = float(gap / self.objective_) if self.objective_ > 0 else 0.0
        self.n_iter_ = max(result.n_iter for result in results)
        worst = max(results, key=lambda result: result.gap)
        if not worst.status.ok:
            warnings.warn(
                f"stopped at a relative duality gap of {worst.gap:.2e}, not {self.tol:.0e}: "
                f"{worst.status.advice}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def decision_function(self, X):
        """Scores (n,) for two classes, (n, K) for more; the highest wins."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores.ravel() if len(self.coef_) == 1 else scores

    def predict(self, X):
        """The class of each row, (n,)."""
        scores = self.decision_function(X)
        index = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]

    def save(self, path):
        """Write the model with its certificate to one safe file (see `oneslack.load`)."""
        from .. import __version__
        from ..formats import save_model

        check_is_fitted(self)
        classes_header, arrays = classes_to_file(self.classes_)
        header = {
            "kind": "LinearSVC",
            "oneslack": __version__,
            "n_features": int(self.n_features_in_),
            "classes": classes_header,
            "parameters": self._plain_parameters(),
            "certificate": {
                "primal": float(self.objective_),
                "dual": float(self.dual_objective_),
                "relative_gap": float(self.duality_gap_),
                "n_iter": int(self.n_iter_),
            },
        }
        if hasattr(self, "feature_names_in_"):
            header["feature_names"] = [str(name) for name in self.feature_names_in_]
        save_model(path, header, {"coef": self.coef_, "intercept": self.intercept_, **arrays})

    @classmethod
    def _from_file(cls, header, arrays):
        parameters = dict(header["parameters"])
        if "loss" in arrays:
            parameters["loss"] = arrays["loss"]
        model = cls(**parameters)
        model.coef_, model.intercept_ = arrays["coef"], arrays["intercept"]
        model.classes_ = classes_from_file(header["classes"], arrays)
        model.n_features_in_ = int(header["n_features"])
        if "feature_names" in header:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        certificate = header["certificate"]
        model.objective_ = certificate["primal"]
        model.dual_objective_ = certificate["dual"]
        model.duality_gap_ = certificate["relative_gap"]
        model.n_iter_ = certificate["n_iter"]
        rows = 1 if len(model.classes_) == 2 else len(model.classes_)
        if model.coef_.shape != (rows, model.n_features_in_) or len(model.intercept_) != rows:
            raise ValueError(f"weights have shape {model.coef_.shape}")
        return model

    def _plain_parameters(self):
        """The parameters that JSON can hold; class weights and costs are spent in the weights."""
        plain = (bool, int, float, str, type(None))
        return {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params(deep=False).items()
            if isinstance(value, (*plain, np.generic))
        }

    def _weights(self, X, codes, sample_weight):
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if sample_weight is not None and not (weights >= 0).all():
            bad = int(np.flatnonzero(~(weights >= 0))[0])
            raise ValueError(f"sample_weight must be >= 0; example {bad} has {weights[bad]!r}")
        if self.class_weight is not None:
            per_class = compute_class_weight(
                self.class_weight, classes=self.classes_, y=self.classes_[codes]
            )
            weights = weights * per_class[codes]
        if not weights.any():
            raise ValueError("all sample weights are zero: there is nothing to learn from")
        return weights

    def _start(self, X):
        if getattr(self, "coef_", None) is None or self.coef_.shape[1] != X.shape[1]:
            return None
        return self.coef_, self.intercept_

    def _seed(self):
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(self.random_state.randint(2**31 - 1))

    def _check_parameters(self):
        for name, low, strict in (("C", 0, True), ("tol", 0, False)):
            value = getattr(self, name)
            fine = isinstance(value, Real) and np.isfinite(value)
            if not fine or value < low or (strict and value == low):
                bound = "positive" if strict else ">= 0"
                raise ValueError(f"{name} must be a {bound} number; got {value!r}")
        if self.solver != "auto" and self.solver not in BY_NAME:
            raise ValueError(
                f"solver={self.solver!r} is not known; use one of {', '.join(['auto', *BY_NAME])}"
            )
        if self.multi_class not in ("crammer_singer", "ovr"):
            raise ValueError(
                f"multi_class={self.multi_class!r} is not known; use 'crammer_singer' or 'ovr'"
            )
        if isinstance(self.loss, str) and self.loss != "hinge":
            raise ValueError(f"loss={self.loss!r} is not known; use 'hinge' or a cost matrix")

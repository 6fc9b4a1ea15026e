"""LinearSVC: linear classification, binary and multi-class, with a certificate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..rows import as_rows
from .callbacks import CallbackSupportMixin, fit_progress, with_callbacks
from .convergence import warn_if_stopped_early
from .parameters import check_parameters, cost_matrix, seed_of
from .saving import to_file
from .targets import encode, example_weights
from .training import Task, solve_all
from .warm_start import fingerprint, starts_of

#: Rows that are scored at once when X must be widened to float64.
BLOCK = 8192


class LinearSVC(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Linear support vector classification that says how far it is from the optimum.

    Minimises 1/2 |w|^2 + C sum_i s_i hinge_i to a certified relative duality gap.  Two classes: the
    hinge max(0, 1 - y (<w, x> + b)).  More: Crammer and Singer's max_z (loss(y, z) + score_z) -
    score_y, or one binary problem a class ("ovr").  The intercept b is not penalised: it is a free
    variable of the problem, and the certificate holds for duals that balance exactly.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the sum of the hinges, as in scikit-learn and LIBLINEAR.
    tol : float, default=1e-3
        Relative duality gap (P - D) / P to stop at: the optimum lies within this share below the objective.
    epsilon : float or None, default=None
        Stop by the cutting-plane papers' rule instead: no constraint is violated by more (mean loss).
    solver : {"auto", "dual_cd", "newton", "one_slack"} or a solver, default="auto"
        "auto" chooses by the shape of the data; `result_.reason` says why.
    multi_class : {"crammer_singer", "ovr"}, default="crammer_singer"
        One problem for all classes, or one a class against the rest.
    loss : "hinge" or array-like of shape (K, K), default="hinge"
        A matrix gives the cost of each mistake, cost[true, predicted], rows and columns in the order of
        `classes_`.  More than two classes: the cost is the margin asked for.  Two classes: the hinge of
        an example is multiplied by its cost, as by a weight.
    fit_intercept : bool, default=True
        Whether to learn an intercept.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the examples of a class; "balanced" gives all classes the same sum.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.  The result is the same for any number.
    max_iter : int, default=100_000
        Steps of the solver.
    time_limit : float or None, default=None
        Seconds of training; the best model so far is kept, with its gap.
    warm_start : bool, default=False
        Begin at the last fit.  The very same problem (X, y, weights, C) goes on where it stopped, for
        example with a smaller tol; other data with the same classes and features start from the last
        weights, which helps "newton" and "one_slack" ("dual_cd" then starts anew).  Keeps the solver's
        state in `result_`.
    random_state : int, RandomState or None, default=None
        Seed of the order in which examples are visited; None is 0, so equal fits are equal.
    verbose : int, default=0
        1 prints a line when the gap has closed by a fifth, 2 one for each step.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (K,)
        Zeros without an intercept; with "crammer_singer" they sum to zero.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    objective_, dual_objective_ : float
        Bounds of the optimum from above (at this model) and below; sums over the classes for "ovr".
    duality_gap_ : float
        (objective_ - dual_objective_) / objective_.
    n_iter_ : int
        Steps taken, for "ovr" of the class that took most.
    result_ : Result, or list of K Results for "ovr"
        With the status and the trace of the training.
    n_features_in_ : int
        Number d of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where X has them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import oneslack
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = oneslack.LinearSVC().fit(X, y)
    >>> bool(model.duality_gap_ <= 1e-3)
    True
    >>> bool(model.score(X, y) > 0.95)
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

    def __getstate__(self):
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_row_callbacks"}

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            float32 and float64, C-ordered or CSR, are used as they are.
        y : array-like of shape (n,)
            Labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples; 2 counts as often as two equal examples.

        Returns
        -------
        self : LinearSVC
        """
        check_parameters(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        X = as_rows(X)  # once, not in each problem of "ovr"
        classes, codes = encode(y)
        weights = example_weights(X, classes, codes, self.class_weight, sample_weight)
        task = self._task(X, classes, codes, weights)
        key = fingerprint(X, task, self.C) if self.warm_start else None
        starts = [None] * task.n_problems
        if self.warm_start:
            starts = starts_of(self, task, classes, key)
        with fit_progress(self, X, y, sample_weight) as callbacks:
            results = solve_all(
                task, X, starts, C=self.C, n_jobs=self.n_jobs, max_iter=self.max_iter,
                time_limit=self.time_limit, solver=self.solver, tol=self.tol, epsilon=self.epsilon,
                seed=seed_of(self.random_state), callbacks=callbacks,
            )  # fmt: skip
            self._store(task, classes, results, key)
        warn_if_stopped_early(self, X, results)
        return self

    def _task(self, X, classes, codes, weights):
        cost = cost_matrix(self.loss, classes)
        K = len(classes)
        one_vs_rest = self.multi_class == "ovr" and K > 2
        if one_vs_rest and cost is not None:
            raise ValueError(
                "a cost matrix needs multi_class='crammer_singer' when there are more than two classes"
            )
        return Task(codes, K, X.shape[1], bool(self.fit_intercept), weights, cost, one_vs_rest)

    def _store(self, task, classes, results, key):
        self.classes_ = classes
        self.coef_, self.intercept_ = task.rows(results)
        self.objective_ = float(sum(result.primal for result in results))
        # Hinges and norms are never negative: 0 is a bound, whatever the solver has proved.
        self.dual_objective_ = float(sum(max(result.dual, 0.0) for result in results))
        gap = max(self.objective_ - self.dual_objective_, 0.0)
        self.duality_gap_ = gap / self.objective_ if self.objective_ > 0 else 0.0
        self.n_iter_ = max(result.n_iter for result in results)
        if key is None:
            results = [replace(result, state={}) for result in results]
        self.result_ = results if task.n_problems > 1 else results[0]
        self._fitted_on = key

    def decision_function(self, X):
        """Scores of the classes; the highest wins.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        scores : ndarray of shape (n,) for two classes, (n, K) for more
            For two classes the score of `classes_[1]`: positive where it wins.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = _products(X, self.coef_.T) + self.intercept_
        return scores.ravel() if len(self.coef_) == 1 else scores

    def predict(self, X):
        """The class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        y : ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        index = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]

    def save(self, path):
        """Write the model with its certificate to one safe file; `oneslack.load` reads it.

        Parameters
        ----------
        path : str or path
            The file appears whole or not at all.
        """
        from ..formats import save_model

        check_is_fitted(self)
        save_model(path, *to_file(self))


def _products(X, W):
    """X @ W in float64, without a float64 copy of all X."""
    if X.dtype == W.dtype:
        return np.asarray(X @ W)
    out = np.empty((X.shape[0], W.shape[1]))
    for low in range(0, len(out), BLOCK):
        rows = X[low : low + BLOCK]
        out[low : low + BLOCK] = rows.astype(np.float64) @ W
    return out

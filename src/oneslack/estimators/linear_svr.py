"""LinearSVR: linear regression with a tube, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..models.regression import Regression
from ..rows import as_rows
from .callbacks import with_callbacks
from .class_task import binary_rows
from .linear_model import INPUT, LinearModel
from .parameters import _choice, _number, check_parameters
from .targets import check_weights


@dataclass(frozen=True)
class RegressionTask:
    """One regression problem: targets (n,), weights (n,) or None.

    With an intercept the targets are taken from their median, which changes nothing but where the intercept
    is counted from: sums stay exact where targets are large beside their differences.
    """

    targets: np.ndarray
    weights: np.ndarray | None
    n_features: int
    epsilon: float
    intercept: bool
    classes = None
    n_problems = 1

    @cached_property
    def centre(self) -> float:
        return _median(self.targets, self.weights) if self.intercept else 0.0

    def models(self):
        model = Regression(self.n_features, self.epsilon, self.intercept)
        yield model, self.targets - self.centre, self.weights

    def rows(self, results):
        coef, intercept = binary_rows(results, self.n_features)
        return coef, intercept + self.centre

    def flat(self, coef, intercept):
        return list(np.column_stack([coef, intercept - self.centre]) if self.intercept else coef)

    def identity(self):
        return ("regression", self.epsilon, self.intercept), [self.targets, self.weights]


def _median(y, weights):
    """A point with half of the weight on either side."""
    if weights is None:
        return float(np.median(y))
    order = np.argsort(y, kind="stable")
    sums = np.cumsum(weights[order])
    return float(y[order[np.searchsorted(sums, 0.5 * sums[-1])]])


class LinearSVR(RegressorMixin, LinearModel):
    """Linear support vector regression that says how far it is from the optimum.

    Minimises 1/2 |w|^2 + C sum_i s_i max(0, |y_i - <w, x_i> - b| - epsilon) to a certified relative duality
    gap.  The intercept b is not penalised.  With epsilon=0 it is regression to the median.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the sum of the losses, as in scikit-learn and LIBLINEAR.
    epsilon : float, default=0.0
        Half the width of the tube: an error up to it costs nothing.  In the unit of y.
    tol : float, default=1e-3
        Relative duality gap (P - D) / P to stop at: the optimum lies within this share below the objective.
    solver : {"auto", "dual_cd", "newton", "one_slack"} or a solver, default="auto"
        "auto" chooses by the shape of the data; `result_.reason` says why.
    loss : {"epsilon_insensitive"}, default="epsilon_insensitive"
        The loss above; the squared one is not offered.
    fit_intercept : bool, default=True
        Whether to learn an intercept.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.  The result is the same for any number.
    max_iter : int, default=100_000
        Steps of the solver.
    time_limit : float or None, default=None
        Seconds of training; the best model so far is kept, with its gap.
    warm_start : bool, default=False
        Begin at the last fit.  The very same problem goes on where it stopped, for example with a smaller
        tol; other data with the same features start from the last weights, which helps "newton" and
        "one_slack" ("dual_cd" then starts anew).  Keeps the solver's state in `result_`.
    random_state : int, RandomState or None, default=None
        Seed of the order in which examples are visited; None is 0, so equal fits are equal.
    verbose : int, default=0
        1 prints a line when the gap has closed by a fifth, 2 one for each step.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weights of the features.
    intercept_ : float
        0 without an intercept.
    objective_, dual_objective_ : float
        Bounds of the optimum from above (at this model) and below.
    duality_gap_ : float
        (objective_ - dual_objective_) / objective_.
    n_iter_ : int
        Steps taken.
    result_ : Result
        With the status and the trace of the training; the last of its weights is the intercept, counted
        from the median of y.
    n_features_in_ : int
        Number d of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where X has them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import oneslack
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = oneslack.LinearSVR(C=100.0, epsilon=5.0).fit(X, y)
    >>> bool(model.duality_gap_ <= 1e-3)
    True
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    _checks: ClassVar = {
        "epsilon": lambda value: _number("epsilon", value, "a number >= 0", lambda epsilon: epsilon >= 0),
        "loss": lambda value: _choice("loss", value, ("epsilon_insensitive",)),
    }

    def __init__(
        self,
        C=1.0,
        *,
        epsilon=0.0,
        tol=1e-3,
        solver="auto",
        loss="epsilon_insensitive",
        fit_intercept=True,
        n_jobs=None,
        max_iter=100_000,
        time_limit=None,
        warm_start=False,
        random_state=None,
        verbose=0,
    ):
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.solver = solver
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            float32 and float64, C-ordered or CSR, are used as they are.
        y : array-like of shape (n,)
            Targets: real numbers.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples; 2 counts as often as two equal examples.

        Returns
        -------
        self : LinearSVR
        """
        check_parameters(self)
        X, y = validate_data(self, X, y, y_numeric=True, order="C", **INPUT)
        X, y = as_rows(X), np.asarray(y, dtype=np.float64)
        weights = None
        if sample_weight is not None:
            weights = check_weights(_check_sample_weight(sample_weight, X, dtype=np.float64))
        task = RegressionTask(y, weights, X.shape[1], float(self.epsilon), bool(self.fit_intercept))
        return self._train(task, X, y, sample_weight)

    def _stopping_epsilon(self):
        return None  # epsilon is the tube here

    def _store(self, task, X, coef, intercept):
        self.coef_, self.intercept_ = coef[0], float(intercept[0])

    def _shapes(self):
        return {"coef": (self.n_features_in_,), "intercept": ()}

    def predict(self, X):
        """The target of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        y : ndarray of shape (n,)
        """
        return self._scores(X).ravel()

"""OrdinalSVC: classes with an order, by ranking and thresholds."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from ..data.rows import as_rows
from ._shared.callbacks import with_callbacks
from ._shared.linear_model import INPUT, LinearModel, products
from ._shared.parameters import check_parameters
from ._shared.targets import encode, example_weights
from ._shared.thresholds import best_thresholds
from .rank_svm import RankTask


class OrdinalSVC(ClassifierMixin, LinearModel):
    """Ordinal regression: one score, cut into ordered classes.

    The weights are those of RankSVM on the class numbers: examples of a higher class should score above
    those of a lower one.  The thresholds are then fitted to the training scores, with the least sum of
    |predicted - true| class numbers.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the mean pair hinge times the number of examples (see RankSVM).
    tol : float, default=1e-3
        Relative duality gap (P - D) / P to stop at.
    epsilon : float or None, default=None
        Stop by the cutting-plane papers' rule instead: no constraint is violated by more.
    solver : {"auto", "one_slack"} or a solver, default="auto"
        How to solve it.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the examples of a class, for the ranking and for the thresholds.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.  The result is the same for any number.
    max_iter : int, default=100_000
        Steps of the solver.
    time_limit : float or None, default=None
        Seconds of training; the best model so far is kept, with its gap.
    warm_start : bool, default=False
        Begin at the last fit: the same problem goes on where it stopped.
    verbose : int, default=0
        1 prints a line when the gap has closed by a fifth, 2 one for each step.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weights of the features.
    thresholds_ : ndarray of shape (K - 1,)
        An example is of class k when its score lies above k of them.
    classes_ : ndarray of shape (K,)
        The labels, sorted: this is their order.
    objective_, dual_objective_ : float
        Bounds of the ranking problem's optimum from above (at this model) and below.
    duality_gap_ : float
        (objective_ - dual_objective_) / objective_.
    n_iter_ : int
        Steps taken.
    result_ : Result
        With the status and the trace of the training.
    n_features_in_ : int
        Number d of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where X has them.

    Examples
    --------
    >>> import oneslack
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = oneslack.OrdinalSVC().fit(X, [1, 1, 2, 2, 3, 3])
    >>> model.predict([[0.2], [2.5], [9.0]]).tolist()
    [1, 2, 3]
    """

    def __init__(
        self,
        C=1.0,
        *,
        tol=1e-3,
        epsilon=None,
        solver="auto",
        class_weight=None,
        n_jobs=None,
        max_iter=100_000,
        time_limit=None,
        warm_start=False,
        verbose=0,
    ):
        self.C = C
        self.tol = tol
        self.epsilon = epsilon
        self.solver = solver
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # classes without an order are not for one score
        return tags

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            float32 and float64, C-ordered or CSR, are used as they are.
        y : array-like of shape (n,)
            Labels whose sorted order is the order of the classes: numbers, best.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples.

        Returns
        -------
        self : OrdinalSVC
        """
        check_parameters(self)
        X, y = validate_data(self, X, y, order="C", **INPUT)
        X = as_rows(X)
        classes, codes = encode(y)
        weights = example_weights(X, classes, codes, self.class_weight, sample_weight)
        if weights is not None and len(np.unique(codes[weights > 0])) < 2:
            raise ValueError("only one class has examples of positive weight; an order needs at least two")
        return self._train(RankTask(codes, None, weights, X.shape[1], classes), X, y, sample_weight)

    def _store(self, task, X, coef, intercept):
        self.coef_, self.intercept_ = coef[0], 0.0
        scores = products(X, self.coef_[:, None]).ravel()
        self.thresholds_ = best_thresholds(scores, task.targets, len(task.classes), task.weights)

    def _shapes(self):
        return {"coef": (self.n_features_in_,), "intercept": (), "thresholds": (len(self.classes_) - 1,)}

    def rank_scores(self, X):
        """The one score of each row that the thresholds cut.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        scores : ndarray of shape (n,)
        """
        return self._scores(X).ravel()

    def decision_function(self, X):
        """Scores of the classes; the highest wins.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        scores : ndarray of shape (n,) for two classes, (n, K) for more
            With f the score of a row, k f - (t_1 + ... + t_k) for class k, which is largest where f lies
            between t_k and t_k+1; for two classes f - t_1.
        """
        f = self.rank_scores(X)
        if len(self.classes_) == 2:
            return f - self.thresholds_[0]
        sums = np.append(0.0, np.cumsum(self.thresholds_))
        return np.outer(f, np.arange(len(sums))) - sums

    def predict(self, X):
        """The class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        y : ndarray of shape (n,)
        """
        scores = self.rank_scores(X)
        return self.classes_[np.searchsorted(self.thresholds_, scores, side="left")]

"""OrdinalSVC: classes with an order, by ranking and thresholds."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import LinearModel, Watch
from ._shared.given import C_or_auto, encode, example_weights
from ._shared.scoring import products
from ._shared.thresholds import best_thresholds
from .rank_svm import RankTask


@described
class OrdinalSVC(ClassifierMixin, LinearModel):
    """Ordinal regression: one score, cut into ordered classes.

    The weights are those of RankSVM on the class numbers: examples of a higher class should score above
    those of a lower one.  The thresholds are then fitted to the training scores, with the least sum of
    |predicted - true| class numbers.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the mean pair hinge times the number of examples (see RankSVM).
        "auto" is what `oneslack.tune` finds; then it is in the attribute `C_`.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the examples of a class, for the ranking and for the thresholds.

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

    Examples
    --------
    >>> import oneslack
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = oneslack.OrdinalSVC().fit(X, [1, 1, 2, 2, 3, 3])
    >>> model.predict([[0.2], [2.5], [9.0]]).tolist()
    [1, 2, 3]
    """

    _checks: ClassVar = {"C": C_or_auto}

    def __init__(
        self, C: float | str = 1.0, *, tol: float = 1e-3, epsilon: float | None = None, solver: Any = "auto",
        class_weight: Any = None, n_jobs: int | None = None, max_iter: int = 100_000,
        time_limit: float | None = None, warm_start: bool = False, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # classes without an order are not for one score
        return tags

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from examples.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels whose sorted order is the order of the classes: numbers, best.

        Returns
        -------
        self : OrdinalSVC
        """
        return self._fit(X, y, Watch(callbacks, checkpoint, resume, validation), sample_weight)

    def _encoded(self, X, y, sample_weight):
        classes, codes = encode(y)
        weights = example_weights(X, classes, codes, self.class_weight, sample_weight)
        if weights is not None and len(np.unique(codes[weights > 0])) < 2:
            raise ValueError("only one class has examples of positive weight; an order needs at least two")
        return RankTask(codes, None, weights, X.shape[1], classes), X

    def _store(self, task, X, coef, intercept):
        self.coef_, self.intercept_ = coef[0], 0.0
        scores = products(X, self.coef_[:, None]).ravel()
        self.thresholds_ = best_thresholds(scores, task.targets, len(task.classes), task.weights)

    def _shapes(self):
        return {"coef": (self.n_features_in_,), "intercept": (), "thresholds": (len(self.classes_) - 1,)}

    def rank_scores(self, X: Any) -> np.ndarray:
        """The one score of each row that the thresholds cut.

        Returns
        -------
        scores : ndarray of shape (n,)
        """
        return self._scores(X).ravel()

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes; the highest wins.

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

    def certain(self, X: Any) -> np.ndarray:
        """Which predictions are settled: the exact optimum's score lies between the same thresholds.

        The thresholds are those of this model.  They are fitted to scores after the training, and are no
        part of the problem that has an optimum.

        Returns
        -------
        settled : ndarray of shape (n,) of bool

        Examples
        --------
        >>> import oneslack
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
        >>> model = oneslack.OrdinalSVC(tol=1e-6).fit(X, [1, 1, 2, 2, 3, 3])
        >>> model.certain([[0.2], [2.5], [9.0]]).tolist()
        [True, True, True]
        """
        lower, upper = (np.searchsorted(self.thresholds_, scores) for scores in self.decision_bounds(X))
        return lower == upper

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row.

        Returns
        -------
        y : ndarray of shape (n,)
        """
        scores = self.rank_scores(X)
        return self.classes_[np.searchsorted(self.thresholds_, scores, side="left")]

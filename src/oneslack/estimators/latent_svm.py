"""LatentSVM: two classes, with a latent value that no example tells."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..checks.latent import check_members
from ..models.latent import CompletedBinary
from ..problems.per_example import failure
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Watch
from ._shared.given import check_parameters, checked_sizes
from ._shared.latent import Latent


@described
class LatentSVM(ClassifierMixin, Latent):
    """Two classes where a positive example has a latent value that nobody has marked: the place of
    an object, the start of a motif.

    Minimises 1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i max_h <w, phi(x_i, h)>) by rounds: the latent values of
    the positives are completed, then the convex problem is solved in which a positive must score at least 1
    at that value and a negative at most -1 at all (Felzenszwalb et al. 2010; Ramanan 2013, A.4).  See
    docs/latent.md.

    Parameters
    ----------
    model : a latent binary model
        With `n_params`, `feature(x, h)` and `best(w, x)`, the h of the highest <w, feature(x, h)>.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted; the second is the positive one.

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> class Peak:
    ...     n_params = 2
    ...     def feature(self, x, h):
    ...         return np.array([x[h], 1.0])
    ...     def best(self, w, x):
    ...         return int(np.argmax(w[0] * x))
    >>> X = [np.array([0.0, 3.0, 1.0]), np.array([2.5, 0.0, 0.0]), np.array([1.0, 0.5, 0.8]), np.zeros(3)]
    >>> svm = oneslack.LatentSVM(Peak(), C=10.0).fit(X, [1, 1, 0, 0])
    >>> svm.predict(X).tolist(), svm.predict_latent(X)[:2]
    ([1, 1, 0, 0], [1, 0])
    """

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, H: Any = None, *, callbacks: Any = ()) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : sequence of n inputs, as the model understands them
        y : array-like of shape (n,)
            Labels of two kinds; the one that sorts last is the positive one.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples.
        H : sequence of n latent values or None
            Where the first start begins; those of negatives are not looked at.

        Returns
        -------
        self : LatentSVM
        """
        check_parameters(self)
        check_members(self.model, CompletedBinary.needs, type(self).__name__)
        y = np.asarray(y)
        sample_weight = checked_sizes(X, sample_weight, Y=y, H=H)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) != 2:
            raise ValueError(f"y holds {len(classes)} classes, expected 2")
        completed = CompletedBinary(self.model, self._has_sparse_features(X[0]))
        truths = [completed.truth(code, None if H is None else H[i]) for i, code in enumerate(codes)]
        return self._fit(completed, X, truths, H, sample_weight, Watch(callbacks), classes_=classes)

    def _has_sparse_features(self, x):
        try:
            return sp.issparse(self.model.feature(x, self.model.best(np.zeros(self.model.n_params), x)))
        except Exception as error:
            raise failure(0, error) from error

    def predict_latent(self, X: Any) -> list[Any]:
        """The best latent value of each input.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        values : list
        """
        check_is_fitted(self)
        return [self.model.best(self.coef_, x) for x in X]

    def decision_function(self, X: Any) -> np.ndarray:
        """The score at the best latent value; positive where `classes_[1]` wins.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        scores : ndarray of shape (n,)
        """
        completed = CompletedBinary(self.model)
        values = self.predict_latent(X)
        return np.array([completed.score(self.coef_, x, (h,)) for x, h in zip(X, values, strict=True)])

    def predict(self, X: Any) -> np.ndarray:
        """The class of each input.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        y : ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]

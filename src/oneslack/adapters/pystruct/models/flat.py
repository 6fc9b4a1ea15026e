"""BinaryClf and MultiClassClf: outputs without structure."""

from __future__ import annotations

import numpy as np

from .base import StructuredModel, labels_of
from .translated import Translated


class BinaryClf(StructuredModel):
    """Two classes -1 and 1: psi(x, y) = y x / 2, no intercept.

    Parameters
    ----------
    n_features : int or None
        None: as the data have.

    Examples
    --------
    >>> import numpy as np
    >>> BinaryClf(2).inference(np.array([1.0, -2.0]), np.array([1.0, 1.0]))
    -1
    """

    def __init__(self, n_features=None):
        self.size_joint_feature, self.n_states, self.inference_calls = n_features, 2, 0

    def initialize(self, X, Y):
        self._take_size("size_joint_feature", np.shape(X)[1], "features")

    def __repr__(self):
        return f"{type(self).__name__}, n_features: {self.size_joint_feature}"

    def joint_feature(self, x, y):
        if y not in (-1, 1):
            raise ValueError(f"y has to be either -1 or +1, got {y!r}")
        return y * x / 2.0

    def batch_joint_feature(self, X, Y, Y_true=None):
        return (X * np.asarray(Y)[:, None] / 2.0).sum(axis=0)

    def inference(self, x, w, relaxed=None):
        self.inference_calls += 1
        return int(self.batch_inference(x, w))

    def batch_inference(self, X, w, relaxed=None):
        return np.where(np.dot(X, w) >= 0, 1, -1)

    def loss_augmented_inference(self, x, y, w, relaxed=None):
        self.inference_calls += 1
        return int(self.batch_loss_augmented_inference(x, y, w))

    def batch_loss_augmented_inference(self, X, Y, w, relaxed=None):
        # The wrong label earns 1, and <w, psi> is half of <w, x>.
        return np.where(np.dot(X, w) - Y >= 0, 1, -1)

    def batch_loss(self, Y, Y_hat):
        return np.asarray(Y) != np.asarray(Y_hat)

    def max_loss(self, y):
        return 1

    def _translated(self, X, Y):
        from ....models import Binary

        n = self.size_joint_feature
        return Translated(Binary(n), np.asarray(X, float), np.asarray(Y), np.arange(n))


class MultiClassClf(StructuredModel):
    """Classes 0 .. n_classes-1 by Crammer and Singer, no intercept.

    Parameters
    ----------
    n_features, n_classes : int or None
        None: as the data have.
    class_weight : array-like of shape (n_classes,) or None
        What a mistake costs, by the true class.
    rescale_C : bool, default=False
        Whether class weights multiply C, as LIBLINEAR's do, instead of the loss alone.

    Examples
    --------
    >>> import numpy as np
    >>> clf = MultiClassClf(n_features=1, n_classes=2)
    >>> int(clf.inference(np.array([2.0]), np.array([0.0, 1.0]))), clf.size_joint_feature
    (1, 2)
    """

    def __init__(self, n_features=None, n_classes=None, class_weight=None, rescale_C=False):
        self.n_states, self.n_features, self.rescale_C = n_classes, n_features, rescale_C
        self.class_weight, self.inference_calls = class_weight, 0
        self._set_sizes()

    def _set_sizes(self):
        if None not in (self.n_states, self.n_features):
            self.size_joint_feature = self.n_states * self.n_features
            self._set_class_weight()

    def initialize(self, X, Y):
        self._take_size("n_features", np.shape(X)[1], "features")
        self._take_size("n_states", labels_of(Y), "classes")
        self._set_sizes()

    def __repr__(self):
        return f"{type(self).__name__}(n_features={self.n_features}, n_classes={self.n_states})"

    def joint_feature(self, x, y, y_true=None):
        """psi(x, y); with rescale_C times the weight of the true class."""
        psi = np.zeros((self.n_states, self.n_features))
        psi[y] = x * self._factor(y_true)
        return psi.ravel()

    def batch_joint_feature(self, X, Y, Y_true=None):
        total = np.zeros((self.n_states, self.n_features))
        np.add.at(total, np.asarray(Y), X * np.reshape(self._factor(Y_true), (-1, 1)))
        return total.ravel()

    def _factor(self, y_true):
        if not self.rescale_C:
            return 1.0
        if y_true is None:
            raise ValueError("rescale_C is true, but joint_feature was not told the true class")
        return self.class_weight[y_true]

    def inference(self, x, w, relaxed=None, return_energy=False):
        self.inference_calls += 1
        return _best(self._scores(x, w), return_energy)

    def loss_augmented_inference(self, x, y, w, relaxed=None, return_energy=False):
        self.inference_calls += 1
        return _best(self._scores(x, w) + self._margins(y), return_energy)

    def batch_inference(self, X, w, relaxed=None):
        return self._scores(X, w).argmax(axis=-1)

    def batch_loss_augmented_inference(self, X, Y, w, relaxed=None):
        return (self._scores(X, w) + self._margins(np.asarray(Y))).argmax(axis=-1)

    def _scores(self, X, w):
        return np.dot(X, np.reshape(w, (self.n_states, -1)).T)

    def _margins(self, Y):
        """(..., n_classes): what an output earns beside its score."""
        others = np.arange(self.n_states) != np.asarray(Y)[..., None]
        return others if self.rescale_C else others * self.class_weight[Y][..., None]

    def loss(self, y, y_hat):
        return self.class_weight[y] * (y != y_hat)

    def batch_loss(self, Y, Y_hat):
        return self.class_weight[np.asarray(Y)] * (np.asarray(Y) != np.asarray(Y_hat))

    def max_loss(self, y):
        return self.class_weight[y]

    def _translated(self, X, Y):
        from ....models import Multiclass

        K, d, Y = self.n_states, self.n_features, np.asarray(Y)
        weights = np.ones(K) if self.rescale_C else self.class_weight
        losses = weights[:, None] * (1.0 - np.eye(K))
        order = np.arange(d * K).reshape(d, K).T.ravel()
        sample_weight = self.class_weight[Y] if self.rescale_C else None
        return Translated(Multiclass(d, K, losses=losses), np.asarray(X, float), Y, order, sample_weight)


def _best(scores, return_energy):
    best = scores.argmax()
    return (best, scores[best]) if return_energy else best

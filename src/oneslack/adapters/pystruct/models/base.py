"""StructuredModel: what a model of PyStruct's kind has, and what a user's own inherits.

A model of your own has `joint_feature(x, y)` (or `psi`, as it was called once), `inference(x, w)`,
`loss_augmented_inference(x, y, w)`, `loss(y, y_hat)` and `size_joint_feature`; the learners train it with
oneslack's solvers.  With `exact = False` it says that inference may miss the best output: then the lower
bound of the certificate stays true, and the upper one is an estimate.
"""

from __future__ import annotations

import numpy as np


class StructuredModel:
    """Base class of models with PyStruct's methods.

    Examples
    --------
    >>> import numpy as np
    >>> class Sign(StructuredModel):
    ...     size_joint_feature = 1
    ...     def joint_feature(self, x, y): return y * x / 2
    ...     def inference(self, x, w, relaxed=None): return 1 if w @ x > 0 else -1
    ...     def loss_augmented_inference(self, x, y, w, relaxed=None): return 1 if w @ x > y else -1
    >>> Sign().batch_inference(np.array([[1.0], [-2.0]]), np.array([1.0]))
    [1, -1]
    """

    #: Number of weights; set by `__init__` or `initialize`.
    size_joint_feature = None
    #: Calls of inference so far.
    inference_calls = 0

    def __repr__(self):
        return f"{type(self).__name__}, size_joint_feature: {self.size_joint_feature}"

    def initialize(self, X, Y):
        """Learn sizes from the examples."""

    # What a user writes.

    def joint_feature(self, x, y):
        """psi(x, y), of shape (size_joint_feature,)."""
        if type(self).psi is StructuredModel.psi:
            raise NotImplementedError(f"{type(self).__name__} needs joint_feature(x, y)")
        return self.psi(x, y)

    def psi(self, x, y):
        """`joint_feature`, as it was called before PyStruct 0.2."""
        return self.joint_feature(x, y)

    @property
    def size_psi(self):
        """`size_joint_feature`, as it was called before PyStruct 0.2."""
        return self.size_joint_feature

    @size_psi.setter
    def size_psi(self, size):
        self.size_joint_feature = size

    def inference(self, x, w, relaxed=None, constraints=None):
        """argmax_z <w, psi(x, z)>."""
        raise NotImplementedError(f"{type(self).__name__} needs inference(x, w)")

    def loss_augmented_inference(self, x, y, w, relaxed=None):
        """argmax_z <w, psi(x, z)> + loss(y, z)."""
        raise NotImplementedError(
            f"{type(self).__name__} needs loss_augmented_inference(x, y, w): without it no learner can see "
            "which output is worst"
        )

    def loss(self, y, y_hat):
        """Labels that differ, each at the price of its class where there is a class_weight."""
        if isinstance(y_hat, tuple):
            return self.continuous_loss(y, y_hat[0])
        return np.sum(self._prices(y) * (np.asarray(y) != np.asarray(y_hat)))

    def continuous_loss(self, y, y_hat):
        """The loss of marginals (..., n_states)."""
        right = np.take_along_axis(np.asarray(y_hat, float), np.asarray(y)[..., None], axis=-1)[..., 0]
        return np.sum(self._prices(y) * (1.0 - right))

    def max_loss(self, y):
        """The largest loss that there may be."""
        return np.sum(np.broadcast_to(self._prices(y), np.shape(y)))

    def _prices(self, y):
        weights = getattr(self, "class_weight", None)
        return 1 if weights is None else np.asarray(weights)[y]

    # Many examples.

    def batch_joint_feature(self, X, Y, Y_true=None):
        """The sum of psi(x, y)."""
        total = np.zeros(self.size_joint_feature)
        for x, y in zip(X, Y, strict=True):
            total += self.joint_feature(x, y)
        return total

    def batch_inference(self, X, w, relaxed=None, constraints=None):
        """`inference` of each x."""
        if constraints:
            return [self.inference(x, w, relaxed=relaxed, constraints=c) for x, c in zip(X, constraints)]
        return [self.inference(x, w, relaxed=relaxed) for x in X]

    def batch_loss_augmented_inference(self, X, Y, w, relaxed=None):
        """`loss_augmented_inference` of each x."""
        return [self.loss_augmented_inference(x, y, w, relaxed=relaxed) for x, y in zip(X, Y, strict=True)]

    def batch_loss(self, Y, Y_hat):
        """`loss` of each y."""
        return [self.loss(y, y_hat) for y, y_hat in zip(Y, Y_hat, strict=True)]

    # What our own models share.

    def _take_size(self, name, found, things):
        """Set a size that was left to the data; a ValueError where it is another one."""
        given = getattr(self, name)
        if given is not None and given != found:
            raise ValueError(f"Expected {given} {things}, got {found}")
        setattr(self, name, found)

    def _check_size_w(self, w):
        if np.shape(w) != (self.size_joint_feature,):
            raise ValueError(f"w has shape {np.shape(w)}, expected ({self.size_joint_feature},)")

    def _set_class_weight(self):
        count = getattr(self, "n_labels", None) or self.n_states
        if count is None:
            return
        if self.class_weight is None:
            self.class_weight, self.uniform_class_weight = np.ones(count), True
            return
        weights = np.asarray(self.class_weight, float)
        if weights.shape != (count,):
            raise ValueError(
                f"class_weight has shape {weights.shape}, expected one weight a class: ({count},)"
            )
        if not hasattr(self, "uniform_class_weight"):
            self.uniform_class_weight = False
        self.class_weight = weights


def labels_of(Y):
    """How many different labels there are in all."""
    return len(np.unique(np.concatenate([np.ravel(y) for y in Y])))

"""LatentStructuralSVM: any model with latent values beside its outputs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks.latent import check_members
from ..models.latent import CompletedStructural
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Watch
from ._shared.given import check_parameters, checked_sizes
from ._shared.latent import Latent


@described
class LatentStructuralSVM(Latent):
    """Structural support vector machine with latent values beside the outputs.

    Minimises 1/2 |w|^2 + C sum_i s_i (max_{y,h} [loss(y_i, y) + <w, psi(x_i, y, h)>]
    - max_h <w, psi(x_i, y_i, h)>) by rounds: the latent values of the truths are completed, then the convex
    problem is solved in which they are fixed (Yu & Joachims 2009; Ramanan 2013, A.5).  See docs/latent.md.

    Parameters
    ----------
    model : a latent structural model
        With `n_params`, `joint_feature(x, y, h)`, `loss(y, y_hat)` (or `loss(y, y_hat, h_hat)`),
        `decode(w, x, y=None)`, which gives a pair (output, latent value), and `complete(w, x, y)`, the best
        latent value of the output y.

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> class Halves:  # a class is two half-lines; which one an x belongs to is latent
    ...     n_params = 8
    ...     def joint_feature(self, x, y, h):
    ...         psi = np.zeros((2, 2, 2))
    ...         psi[y, h] = x, 1.0
    ...         return psi.ravel()
    ...     def loss(self, y, y_hat):
    ...         return float(y != y_hat)
    ...     def decode(self, w, x, y=None):
    ...         scores = w.reshape(4, 2) @ [x, 1.0]
    ...         if y is not None:
    ...             scores[2 * (1 - y) : 2 * (1 - y) + 2] += 1.0
    ...         return divmod(int(scores.argmax()), 2)
    ...     def complete(self, w, x, y):
    ...         return int((w.reshape(2, 2, 2)[y] @ [x, 1.0]).argmax())
    >>> X, Y = [-2.0, -1.8, -0.1, 0.1, 1.9, 2.0], [1, 1, 0, 0, 1, 1]
    >>> svm = oneslack.LatentStructuralSVM(Halves(), C=10.0, n_starts=5).fit(X, Y)
    >>> svm.predict(X)
    [1, 1, 0, 0, 1, 1]
    """

    @with_callbacks
    def fit(self, X: Any, Y: Any, sample_weight: Any = None, H: Any = None, *, callbacks: Any = ()) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X, Y : sequences of n inputs and n outputs, as the model understands them
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples.
        H : sequence of n latent values or None
            Where the first start begins.

        Returns
        -------
        self : LatentStructuralSVM
        """
        check_parameters(self)
        check_members(self.model, CompletedStructural.needs, type(self).__name__)
        sample_weight = checked_sizes(X, sample_weight, Y=Y, H=H)
        completed = CompletedStructural(self.model)
        truths = [completed.truth(y, None if H is None else H[i]) for i, y in enumerate(Y)]
        return self._fit(completed, X, truths, H, sample_weight, Watch(callbacks))

    def predict(self, X: Any) -> list[Any]:
        """The best output of each input.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        outputs : list
        """
        return [y for y, _ in self.predict_latent(X)]

    def predict_latent(self, X: Any) -> list[Any]:
        """The best output of each input with its latent value.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        pairs : list of (output, latent value)
        """
        check_is_fitted(self)
        return [self.model.decode(self.coef_, x) for x in X]

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """1 - mean loss of the predictions.

        Parameters
        ----------
        X, Y : sequences of inputs and outputs
        sample_weight : array-like of shape (n,) or None

        Returns
        -------
        score : float
        """
        completed = CompletedStructural(self.model)
        losses = [completed.loss((y, None), z) for y, z in zip(Y, self.predict_latent(X), strict=True)]
        return 1.0 - float(np.average(losses, weights=sample_weight))

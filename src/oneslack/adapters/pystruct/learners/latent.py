"""LatentSSVM and SubgradientLatentSSVM: complete the latent states, train, and again.

With the states of the truths held fixed the objective is convex, and lies above the one without (see
latent/concave_convex.py): each round is a training with a certificate of its own; what is reached in the end
depends on the first states, and no bound of it is known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from .dual_steps import SubgradientSSVM


def rounds(model, X, Y, H, train, most):
    """Yield after each training on states H, then completed at its w; ends when no state changes.

    train(H, first) -> w
    """
    w = None
    for number in range(most):
        if number:
            completed = [model.latent(x, y, w) for x, y in zip(X, Y, strict=True)]
            if not any(np.any(new != old) for new, old in zip(completed, H, strict=True)):
                return
            H = completed
        w = train(H, number == 0)
        yield number


def base_score(model, Y, Y_hat):
    """1 - the sum of the losses of labels / the largest that it may be."""
    losses = [model.base_loss(y, z) for y, z in zip(Y, Y_hat, strict=True)]
    most = [np.sum(np.broadcast_to(model._prices(y), np.shape(y))) for y in Y]
    return 1.0 - float(np.sum(losses)) / float(np.sum(most))


class LatentSSVM(BaseEstimator):
    """Rounds of completing and training, with any learner for the convex part.

    Parameters
    ----------
    base_ssvm : a learner
        With a latent model.
    latent_iter : int, default=5
        Rounds, at most.
    logger : callable or None
        Called with (learner, round).

    Attributes
    ----------
    w : ndarray of shape (size_joint_feature,)
    H_init_ : first states
    result_ : Result
        Of the last round: `dual` and `primal` are those of the states completed last, and `certified` is
        False, as there may be better states.

    Examples
    --------
    >>> import numpy as np
    >>> from oneslack.adapters.pystruct.models import LatentGraphCRF
    >>> from oneslack.adapters.pystruct.learners import OneSlackSSVM
    >>> none = np.empty((0, 2), int)
    >>> X = [(np.array([[x]]), none) for x in (-2.0, -1.5, 0.1, 1.5, 2.0)]
    >>> Y = [np.array([y]) for y in (1, 1, 0, 1, 1)]
    >>> X = [(np.hstack([x, np.ones((1, 1))]), e) for x, e in X]
    >>> svm = LatentSSVM(OneSlackSSVM(LatentGraphCRF(n_states_per_label=[1, 2]), C=100.0))
    >>> svm.fit(X, Y).score(X, Y)
    1.0
    """

    def __init__(self, base_ssvm, latent_iter=5, logger=None):
        self.base_ssvm, self.latent_iter, self.logger = base_ssvm, latent_iter, logger

    def fit(self, X, Y, H_init=None, initialize=True):
        """Learn from examples; H_init are first states.

        Returns
        -------
        self : LatentSSVM
        """
        if initialize:
            self.model.initialize(X, Y)
        H = self.model.init_latent(X, Y) if H_init is None else H_init
        self.H_init_ = H
        H = [np.asarray(h).astype(int) for h in H]

        def train(H, first):
            options = {} if first or not self._goes_on() else {"warm_start": "soft"}
            return self.base_ssvm.fit(X, H, initialize=False, **options).w

        for number in rounds(self.model, X, Y, H, train, self.latent_iter):
            if self.logger is not None:
                self.logger(self, number)
        self.result_ = replace(self.base_ssvm.result_, certified=False, radius=np.inf)
        return self

    def _goes_on(self):
        from inspect import signature

        return "warm_start" in signature(self.base_ssvm.fit).parameters

    def predict(self, X):
        """Labels."""
        return [self.model.label_from_latent(h) for h in self.base_ssvm.predict(X)]

    def predict_latent(self, X):
        """States."""
        return self.base_ssvm.predict(X)

    def score(self, X, Y):
        """1 - the sum of the losses of labels / the largest that it may be."""
        return base_score(self.model, Y, self.predict(X))

    @property
    def model(self):
        """The base learner's."""
        return self.base_ssvm.model

    @model.setter
    def model(self, model):
        self.base_ssvm.model = model

    @property
    def w(self):
        """The base learner's."""
        return self.base_ssvm.w

    @w.setter
    def w(self, w):
        self.base_ssvm.w = w

    @property
    def C(self):
        """The base learner's."""
        return self.base_ssvm.C

    @C.setter
    def C(self, C):
        self.base_ssvm.C = C

    @property
    def n_jobs(self):
        """The base learner's."""
        return self.base_ssvm.n_jobs

    @property
    def verbose(self):
        """The base learner's."""
        return self.base_ssvm.verbose


class SubgradientLatentSSVM(SubgradientSSVM):
    """The same with first states completed at the `w` that is there, and by k-means where there is none.

    Parameters
    ----------
    model, max_iter, C, ...
        As for `SubgradientSSVM`; max_iter also bounds the rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from oneslack.adapters.pystruct.models import LatentGraphCRF
    >>> X = [(np.array([[x]]), np.empty((0, 2), int)) for x in (-2.0, 2.0)]
    >>> Y = [np.array([0]), np.array([1])]
    >>> svm = SubgradientLatentSSVM(LatentGraphCRF(n_states_per_label=1), C=10.0)
    >>> svm.fit(X, Y).score(X, Y)
    1.0
    """

    def __init__(
        self, model, max_iter=100, C=1.0, verbose=0, momentum=0.0, learning_rate="auto", n_jobs=1,
        show_loss_every=0, decay_exponent=1, decay_t0=10, break_on_no_constraints=True, logger=None,
        averaging=None,
    ):  # fmt: skip
        super().__init__(
            model, max_iter, C, verbose, momentum, learning_rate, n_jobs, show_loss_every, decay_exponent,
            break_on_no_constraints, logger, decay_t0=decay_t0, averaging=averaging,
        )  # fmt: skip

    def fit(self, X, Y, H_init=None, warm_start=False, initialize=True):
        """Learn from examples; H_init are first states.

        Returns
        -------
        self : SubgradientLatentSSVM
        """
        self._initialize(X, Y, initialize)
        if H_init is None and getattr(self, "w", None) is not None:
            H_init = [self.model.latent(x, y, self.w) for x, y in zip(X, Y, strict=True)]
        elif H_init is None:
            H_init = self.model.init_latent(X, Y)

        def train(H, first):
            return SubgradientSSVM.fit(self, X, H, initialize=False).w

        for _ in rounds(self.model, X, Y, [np.asarray(h).astype(int) for h in H_init], train, self.max_iter):
            pass
        self.result_ = replace(self.result_, certified=False, radius=np.inf)
        return self

    def predict(self, X):
        """Labels."""
        return [self.model.label_from_latent(h) for h in self.predict_latent(X)]

    def predict_latent(self, X):
        """States."""
        return super().predict(X)

    def score(self, X, Y):
        """1 - the sum of the losses of labels / the largest that it may be."""
        return base_score(self.model, Y, self.predict(X))

"""StructuredPerceptron: Collins (2002).  It minimises nothing, so that it has no certificate."""

from __future__ import annotations

import numpy as np

from .base import BaseSSVM


class StructuredPerceptron(BaseSSVM):
    """Adds psi(x, y) - psi(x, y_hat) for each wrong output, until none is wrong.

    Parameters
    ----------
    model, max_iter, verbose, n_jobs, logger
        As for `BaseSSVM`.
    batch : bool, default=False
        Whether weights change once a pass.
    decay_exponent, decay_t0 : float
        The rate of pass t is (t + decay_t0) ** decay_exponent.
    average : bool or int, default=False
        Whether weights are averaged: from pass 0 (True), from a pass on, or over the last pass (-1).

    Examples
    --------
    >>> import numpy as np
    >>> from oneslack.adapters.pystruct.models import BinaryClf
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), np.array([1, 1, -1])
    >>> StructuredPerceptron(BinaryClf()).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self, model, max_iter=100, verbose=0, batch=False, decay_exponent=0, decay_t0=10, average=False,
        n_jobs=1, logger=None,
    ):  # fmt: skip
        super().__init__(model, max_iter, verbose=verbose, n_jobs=n_jobs, logger=logger)
        self.batch, self.average = batch, average
        self.decay_exponent, self.decay_t0 = decay_exponent, decay_t0

    def fit(self, X, Y, initialize=True):
        """Learn from examples.

        Returns
        -------
        self : StructuredPerceptron
        """
        self._initialize(X, Y, initialize)
        # True is 1 to Python, but means from the beginning.
        first = np.inf if self.average is False else 0 if self.average is True else self.average
        if first < -1:
            raise ValueError(f"average must be a bool, a pass to begin at, or -1; got {self.average}")
        self.w, mean, count = np.zeros(self.model.size_joint_feature), 0.0, 0
        self.loss_curve_ = []
        most = float(np.sum([self.model.max_loss(y) for y in Y]))
        for t in range(self.max_iter):
            mean, count = (0.0, 0) if first == -1 else (mean, count)
            loss, averaged = 0.0, []
            for loss_here, w in self._pass(X, Y, (t + self.decay_t0) ** self.decay_exponent):
                loss += loss_here
                averaged.append(w)
            for w in averaged if t >= first else ():
                count += 1
                mean = (1.0 - 1.0 / count) * mean + w / count
            self.loss_curve_.append(loss / most)
            if self.logger is not None:
                self.logger(self, t)
            if loss == 0:
                break
        if self.average is not False:
            self.w = mean if count else np.zeros_like(self.w)
        return self

    def _pass(self, X, Y, rate):
        """Go over the examples; yield the loss and the weights to be averaged."""
        w, losses = self.w.copy(), 0.0
        for x, y in zip(X, Y, strict=True):
            y_hat = self.model.inference(x, w if self.batch else self.w)
            loss = float(self.model.loss(y, y_hat))
            losses += loss
            if loss:
                self.w = self.w + rate * (self.model.joint_feature(x, y) - self.model.joint_feature(x, y_hat))
            if not self.batch:
                yield loss, self.w
        if self.batch:
            yield losses, self.w

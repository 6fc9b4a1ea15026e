"""LinearSVR: linear regression with a tube, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_sample_weight

from ..certificate.rounding import gamma
from ..data.rows import as_numpy, as_rows
from ..losses import Tube, loss_of, names
from ..models import Linear, Regression
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import LinearModel, Task, Watch
from ._shared.given import INPUT, C_or_auto, check_parameters, check_weights, choice, number, validated
from ._shared.reported import Sharded


@dataclass(frozen=True)
class RegressionTask(Task):
    """One regression problem: targets (n,), weights (n,) or None.

    With an intercept the targets are taken from their median, which changes nothing but where the intercept
    is counted from: sums stay exact where targets are large beside their differences.
    """

    targets: np.ndarray
    weights: np.ndarray | None
    n_features: int
    phi: Any
    intercept: bool
    #: Where the targets are taken from instead.
    origin: float | None = None
    classes = None

    @cached_property
    def centre(self) -> float:
        if self.origin is not None:
            return self.origin
        return _median(self.targets, self.weights) if self.intercept else 0.0

    @property
    def model(self):
        d, phi = self.n_features, self.phi
        is_tube = isinstance(phi, Tube)
        return Regression(d, phi.epsilon, self.intercept) if is_tube else Linear(d, phi, self.intercept)

    def models(self):
        yield self.model, self.targets - self.centre, self.weights

    def rows(self, results):
        coef, intercept = super().rows(results)
        return coef, intercept + self.centre

    def rounding(self, result, problem):
        """Targets from the centre, and an intercept to it."""
        if not self.intercept or self.centre == 0.0:
            return 0.0, 0.0
        C, risk = problem.C, max(result.primal, 0.0) / problem.C
        targets = gamma(2) * C * problem.extent.primal_size(0.0, risk)
        moved = gamma(2) * abs(result.w[-1] + self.centre)
        if self.phi.steepest == np.inf:  # (r + e)^2 - r^2, by Cauchy and Schwarz
            total = problem.weight / C
            return targets + C * (2.0 * moved * np.sqrt(total * risk) + total * moved**2), targets
        return targets + self.phi.steepest * problem.weight * moved, targets

    def flat(self, coef, intercept):
        return list(np.column_stack([coef, intercept - self.centre]) if self.intercept else coef)

    def identity(self):
        return ("regression", repr(self.phi), self.intercept), [self.targets, self.weights]


class ShardedRegressionTask(RegressionTask):
    """The same of targets in shards; `targets` are some of them."""

    def models(self):
        yield self.model, self._from_centre, None

    def _from_centre(self, rows):
        return np.asarray(rows.y, dtype=np.float64) - self.centre


def _median(y, weights):
    """A point with half of the weight on either side."""
    if weights is None:
        middle = len(y) // 2
        return float(np.partition(y, middle)[middle])
    order = np.argsort(y, kind="stable")
    sums = np.cumsum(weights[order])
    return float(y[order[np.searchsorted(sums, 0.5 * sums[-1])]])


@described
class LinearSVR(RegressorMixin, Sharded, LinearModel):
    """Linear support vector regression that says how far it is from the optimum.

    Minimises 1/2 |w|^2 + C sum_i s_i max(0, |y_i - <w, x_i> - b| - epsilon), or with another loss, to a
    certified relative duality gap.  The intercept b is not penalised.  With epsilon=0 it is regression to the
    median.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the sum of the losses, as in scikit-learn and LIBLINEAR.  "auto" is what `oneslack.tune`
        finds; then it is in the attribute `C_`.
    epsilon : float, default=0.0
        Half the width of the tube: an error up to it costs nothing.  In the unit of y.
    solver : {"auto", "dual_cd", "newton", "dual_newton", "one_slack", "streaming"} or a solver, \
            default="auto"
        "auto" chooses by the shape of the data; `result_.reason` says why.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "pinball", "huber"}, \
default="epsilon_insensitive"
        The loss above or its square, that of a quantile, or Huber's; docs/losses.md draws them.
    quantile : float, default=0.5
        Of the "pinball" loss: the share of targets that should lie below the prediction.
    delta : float, default=1.0
        Of the "huber" loss: the error beyond which it is linear.  In the unit of y.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weights of the features.
    intercept_ : float
        0 without an intercept.
    result_ : Result
        With the status and the trace of the training; the last of its weights is the intercept, counted
        from the median of y.

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
        "C": C_or_auto,
        "epsilon": number("a number >= 0", lambda epsilon: epsilon >= 0),
        "loss": choice(names(False)),
        "quantile": number("a number between 0 and 1", lambda quantile: 0 < quantile < 1),
        "delta": number("a positive number", lambda delta: delta > 0),
    }
    _input: ClassVar = {"y_numeric": True}

    def __init__(
        self, C: float | str = 1.0, *, epsilon: float = 0.0, tol: float = 1e-3, solver: Any = "auto",
        loss: str = "epsilon_insensitive", quantile: float = 0.5, delta: float = 1.0,
        dual: bool | str = "auto", fit_intercept: bool = True, intercept_scaling: float = 1.0,
        penalize_intercept: bool = False, prior: Any = None, scale: Any = None, nonnegative: Any = None,
        n_jobs: int | None = None, max_iter: int = 100_000, time_limit: float | None = None,
        warm_start: bool = False, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, callbacks: Any = (),
        checkpoint: Any = None, resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or what `oneslack.formats.open_shards` gives
            float32 and float64, C-ordered or CSR, are used as they are.  Shards are read from disk within the
            memory of `solver=oneslack.Streaming("2GB")`; they hold y and sample_weight themselves.
        y : array-like of shape (n,)
            Targets: real numbers.

        Returns
        -------
        self : LinearSVR
        """
        return self._fit(X, y, Watch(callbacks, checkpoint, resume, validation), sample_weight)

    def _encoded(self, X, y, sample_weight, origin=None):
        weights = None
        if sample_weight is not None:
            weights = check_weights(_check_sample_weight(sample_weight, X, dtype=np.float64))
        return RegressionTask(np.asarray(y, dtype=np.float64), weights, *self._shape(X), origin), X

    def _sharded_task(self, shards, weighed=True):
        from ._shared.sharded_tasks import some_targets

        return ShardedRegressionTask(some_targets(shards), None, *self._shape(shards))

    def _shape(self, X):
        d = X.n_features if hasattr(X, "n_features") else X.shape[1]
        return d, loss_of(self.loss, self), self._has_free_intercept

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, memory: Any = "100MB", callbacks: Any = (),
    ) -> Self:  # fmt: skip
        """Learn from one more portion of examples.

        The bounds are of all portions as long as `n_forgotten_` is 0; `LinearSVC.partial_fit` tells what they
        are later, and which solvers do.

        Parameters
        ----------
        memory : int or str, default="100MB"
            Bytes of the examples that are remembered from call to call.

        Returns
        -------
        self : LinearSVR
            With `n_seen_` and `n_forgotten_`, numbers of examples.
        """
        from ._shared.partial_fits import learn_portion

        check_parameters(self)
        if self.C == "auto" or self.warm_start or self._penalises_intercept:
            raise ValueError("partial_fit knows no C='auto', warm_start and penalize_intercept=True")
        is_first = not hasattr(self, "_kept")
        X, y = validated(self, X, y, y_numeric=True, order="C", reset=is_first, **INPUT)
        weights = np.ones(len(y)) if sample_weight is None else as_numpy(sample_weight)
        task, X = self._encoded(as_rows(X), y, weights, None if is_first else self._origin)
        self._origin = task.centre
        return learn_portion(self, task, X, y, sample_weight, memory, callbacks)

    def _stopping_epsilon(self):
        return None  # epsilon is the tube here

    def _store(self, task, X, coef, intercept):
        self.coef_, self.intercept_ = coef[0], float(intercept[0])

    def predict(self, X: Any) -> np.ndarray:
        """The target of each row.

        Returns
        -------
        y : ndarray of shape (n,)
        """
        return self._scores(X).ravel()

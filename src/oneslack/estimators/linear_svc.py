"""LinearSVC: linear classification, binary and multi-class, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..certificate.rounding import gamma
from ..data.rows import as_rows
from ..losses import Hinge, loss_of
from ..models import Binary, Linear, Multiclass
from ._shared.callbacks import with_callbacks
from ._shared.costs import cost_matrix
from ._shared.described import described
from ._shared.fitting import LinearModel, Task, Watch
from ._shared.given import INPUT, C_or_auto, check_parameters, encode, example_weights, validated
from ._shared.reported import Sharded
from ._shared.scoring import Classifies
from ._shared.settled import SettlesClasses

HINGE = Hinge()


@dataclass(frozen=True)
class ClassTask(Task):
    """Models with their coded labels: one for two classes, or with the hinge of Crammer and Singer; or one
    a class against the rest ("ovr").

    phi      the loss of one score, of two classes or one against the rest

    classes  (K,) the labels
    codes    (n,) 0 .. K-1
    weights  (n,) or None
    cost     (K, K) or None
    """

    classes: np.ndarray
    codes: np.ndarray
    n_features: int
    intercept: bool
    weights: np.ndarray | None = None
    cost: np.ndarray | None = None
    one_vs_rest: bool = False
    phi: Any = HINGE

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def is_binary(self) -> bool:
        return self.n_classes == 2 or self.one_vs_rest

    @property
    def n_problems(self) -> int:
        return self.n_classes if self.n_classes > 2 and self.one_vs_rest else 1

    def models(self):
        d, K = self.n_features, self.n_classes
        if not self.is_binary:
            yield Multiclass(d, K, self.intercept, self.cost), self._targets(), self._weights()
            return
        # Two classes: a cost scales the hinge of its class, as a weight does.
        costs = None if self.cost is None else np.array([self.cost[0, 1], self.cost[1, 0]])
        weights = self._weights(costs)
        is_hinge = isinstance(self.phi, Hinge)
        model = Binary(d, self.intercept) if is_hinge else Linear(d, self.phi, self.intercept)
        for k in [1] if K == 2 else range(K):
            yield model, self._targets(k), weights

    def _targets(self, k=None):
        """The codes, or 1 for class k and -1 for the others."""
        return self.codes if k is None else np.where(self.codes == k, 1.0, -1.0)

    def _weights(self, costs=None):
        """(n,) or None, times the costs of their classes."""
        if costs is None:
            return self.weights
        return costs[self.codes] if self.weights is None else self.weights * costs[self.codes]

    def rows(self, results) -> tuple[np.ndarray, np.ndarray]:
        if self.is_binary:
            return super().rows(results)
        K, d = self.n_classes, self.n_features
        W = results[0].w.reshape(-1, K)
        # All K intercepts may rise together without effect: let them sum to zero.
        return W[:d].T.copy(), W[d] - W[d].mean() if self.intercept else np.zeros(K)

    def rounding(self, result, problem):
        """Intercepts that are moved to sum to zero."""
        if self.is_binary or not self.intercept:
            return 0.0, 0.0
        moved = gamma(self.n_classes + 2) * float(np.abs(result.w[-self.n_classes :]).max())
        return 2.0 * problem.weight * moved, 0.0

    def flat(self, coef, intercept) -> list[np.ndarray]:
        W = np.column_stack([coef, intercept]) if self.intercept else coef
        return list(W) if self.is_binary else [W.T.ravel()]

    def identity(self):
        values = (self.n_classes, self.intercept, self.one_vs_rest, repr(self.phi))
        return values, [self.codes, self.weights, self.cost]


def _is_logistic(model):
    if isinstance(model.loss, str) and model.loss == "logistic":
        return True
    raise AttributeError(
        "predict_proba needs loss='logistic'; CalibratedClassifierCV calibrates other scores"
    )


@described
class LinearSVC(SettlesClasses, Classifies, Sharded, LinearModel):
    """Linear support vector classification that says how far it is from the optimum.

    Minimises 1/2 |w|^2 + C sum_i s_i loss_i to a certified relative duality gap.  Two classes: the
    hinge max(0, 1 - y (<w, x> + b)), its square or the logistic loss.  More: Crammer and Singer's
    max_z (loss(y, z) + score_z) - score_y, or one binary problem a class ("ovr").  The intercept b is
    not penalised: it is a free variable of the problem, and the certificate holds for duals that balance
    exactly.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the sum of the hinges, as in scikit-learn and LIBLINEAR.  "auto" is what `oneslack.tune`
        finds; then it is in the attribute `C_`.
    solver : {"auto", "dual_cd", "newton", "dual_newton", "one_slack", "streaming"} or a solver, \
            default="auto"
        "auto" chooses by the shape of the data; `result_.reason` says why.
    multi_class : {"auto", "crammer_singer", "ovr"}, default="auto"
        More than two classes: one problem for all of them, with the hinge alone, or one a class against the
        rest.  "auto" is "crammer_singer" for the hinge, else "ovr".
    penalty : {"l2", "l1"}, default="l2"
        1/2 |w|^2, or sum_k |w_k|, which makes most weights 0 (squared hinge and logistic loss).
    loss : {"auto", "hinge", "squared_hinge", "logistic"} or array-like of shape (K, K), default="auto"
        The loss of an example; docs/losses.md draws them.  "auto" is the hinge, and with penalty="l1", which
        needs a loss without kinks, its square.  A matrix gives the cost of each mistake,
        cost[true, predicted], rows and columns in the order of `classes_`.  More than two classes: the cost
        is the margin asked for.  Two classes: the hinge of an example is multiplied by its cost, as by a
        weight.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (K,)
        Zeros without an intercept; with "crammer_singer" they sum to zero.
    classes_ : ndarray of shape (K,)
        The labels, sorted.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import oneslack
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = oneslack.LinearSVC().fit(X, y)
    >>> bool(model.duality_gap_ <= 1e-3)
    True
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _checks: ClassVar = {"C": C_or_auto}

    def __init__(
        self, C: float | str = 1.0, *, tol: float = 1e-3, epsilon: float | None = None, solver: Any = "auto",
        multi_class: str = "auto", loss: Any = "auto", penalty: str = "l2", dual: bool | str = "auto",
        fit_intercept: bool = True, intercept_scaling: float = 1.0, penalize_intercept: bool = False,
        class_weight: Any = None, prior: Any = None, scale: Any = None, nonnegative: Any = None,
        n_jobs: int | None = None, engine: Any = None, max_iter: int = 100_000,
        time_limit: float | None = None, warm_start: bool = False, random_state: Any = None, verbose: int = 0,
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
            Labels: text, whole numbers or booleans.

        Returns
        -------
        self : LinearSVC
        """
        return self._fit(X, y, Watch(callbacks, checkpoint, resume, validation), sample_weight)

    def _encoded(self, X, y, sample_weight):
        classes, codes = encode(y)
        weights = example_weights(X, classes, codes, self.class_weight, sample_weight)
        return self._task(X.shape[1], classes, codes, weights), X

    def _sharded_task(self, shards, weighed=True):
        from ._shared.sharded_tasks import class_task

        return class_task(self, shards, weighed)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, memory: Any = "100MB",
        callbacks: Any = (),
    ) -> Self:  # fmt: skip
        """Learn from one more portion of examples.

        `objective_` and `dual_objective_` are of the problem with the examples of all portions as long as
        `n_forgotten_` is 0.  Later the lower bound still is, as examples are forgotten in a way that never
        raises the objective; `objective_` is then that of what is remembered, and `duality_gap_` the gap of
        that smaller problem: no certificate.  Duals are needed of single examples: for a `solver` without
        them, "dual_cd" or "newton" is chosen as by "auto".

        Parameters
        ----------
        classes : array-like of shape (K,) or None
            All labels that there will be, at the first call; None for those of the first y.
        memory : int or str, default="100MB"
            Bytes of the examples that are remembered from call to call.

        Returns
        -------
        self : LinearSVC
            With `n_seen_` and `n_forgotten_`, numbers of examples (for "ovr" of the class that forgot most).
        """
        from ._shared.partial_fits import learn_portion

        check_parameters(self)
        if self.penalty == "l1":
            raise ValueError("partial_fit knows no penalty='l1', whose w is no sum of examples; use fit")
        if self._penalises_intercept:
            raise ValueError("partial_fit knows no penalize_intercept=True; use fit")
        is_first = not hasattr(self, "_kept")
        X, y = validated(self, X, y, order="C", reset=is_first, **INPUT)
        known = self._classes_of_portions(y, classes, is_first)
        codes = np.searchsorted(known, y)
        if (codes == len(known)).any() or (known[np.minimum(codes, len(known) - 1)] != y).any():
            raise ValueError("y has a label that is not among the classes of the first call to partial_fit")
        weights = example_weights(X, known, codes, self.class_weight, sample_weight)
        self.classes_ = known
        task = self._task(X.shape[1], known, codes, weights)
        return learn_portion(self, task, as_rows(X), y, sample_weight, memory, callbacks)

    def _classes_of_portions(self, y, classes, is_first):
        if self.C == "auto" or isinstance(self.class_weight, str) or self.warm_start:
            raise ValueError("partial_fit knows no C='auto', class_weight='balanced' and warm_start")
        if not is_first:
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError("classes are not those of the first call to partial_fit")
            return self.classes_
        known = encode(y)[0] if classes is None else np.unique(classes)
        if len(known) < 2:
            raise ValueError("partial_fit needs at least two classes; name all of them at the first call")
        return known

    def _folds_of_paths(self, X, y, splits):
        """For `tune`: folds that go up all C on a path each; None where every C must be a fit."""
        from ._shared.quick_folds import folds_for

        return folds_for(self, X, y, splits) if type(self) is LinearSVC else None

    @property
    def _loss(self):
        """The loss, or what "auto" stands for."""
        if not isinstance(self.loss, str) or self.loss != "auto":
            return self.loss
        return "squared_hinge" if self.penalty == "l1" else "hinge"

    def _task(self, d, classes, codes, weights, kind=ClassTask, **more):
        loss = self._loss
        cost = None if isinstance(loss, str) else cost_matrix(loss, classes)
        phi = HINGE if cost is not None or loss == "hinge" else loss_of(loss, self)
        one_vs_rest = self._is_ovr(len(classes))
        if one_vs_rest and cost is not None:
            raise ValueError(
                "a cost matrix needs multi_class='crammer_singer' when there are more than two classes"
            )
        if len(classes) > 2 and not one_vs_rest and not isinstance(phi, Hinge):
            raise ValueError(
                f"multi_class='crammer_singer' is a hinge of {len(classes)} classes; for "
                f"loss={loss!r} use multi_class='ovr', one problem a class"
            )
        intercept = self._has_free_intercept
        return kind(classes, codes, d, intercept, weights, cost, one_vs_rest, phi, **more)

    def _is_ovr(self, n_classes) -> bool:
        """Whether there is one problem a class."""
        is_plain = not isinstance(self._loss, str) or self._loss == "hinge"
        return n_classes > 2 and (self.multi_class == "ovr" or (self.multi_class == "auto" and not is_plain))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes; the highest wins.

        Returns
        -------
        scores : ndarray of shape (n,) for two classes, (n, K) for more
            For two classes the score of `classes_[1]`: positive where it wins.
        """
        scores = self._scores(X)
        return scores.ravel() if len(self.coef_) == 1 else scores

    @available_if(_is_logistic)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, where the loss is the logistic one.

        For more than two classes those of one against the rest, divided by their sum.

        Returns
        -------
        shares : ndarray of shape (n, K)
        """
        from scipy.special import expit

        shares = expit(self._scores(X))
        if shares.shape[1] == 1:
            return np.hstack([1.0 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        return np.divide(shares, total, out=np.full_like(shares, 1.0 / shares.shape[1]), where=total > 0)

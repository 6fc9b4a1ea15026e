"""RankSVM: scores that put items in order, inside each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from ..metrics import ordered_pairs
from ..models.ranking.model import Grouped, Ranking
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import LinearModel, Task, Watch
from ._shared.given import C_or_auto, check_weights
from .kernel_features import KernelFeatures, basis_for


@dataclass(frozen=True)
class RankTask(Task):
    """One ranking problem.

    targets (n,), groups (n,) of codes or None, weights (n,) or None; classes where the targets are their
    codes; basis of the features, where these are not the columns of the input
    """

    targets: np.ndarray
    groups: np.ndarray | None
    weights: np.ndarray | None
    n_features: int
    classes: np.ndarray | None = None
    basis: KernelFeatures | None = None

    def models(self):
        yield Ranking(self.n_features), Grouped(self.targets, self.groups), self.weights

    def flat(self, coef, intercept):
        return list(coef)

    def identity(self):
        return "ranking", [self.targets, self.groups, self.weights]


@described
class RankSVM(RegressorMixin, LinearModel):
    """Learn to rank: an item should score above each item of its group with a lower target.

    Minimises 1/2 |w|^2 + C S R(w), where R is the mean over all pairs (i, j) of a group with
    target_i > target_j of the hinge max(0, 1 - (f_i - f_j)), pair (i, j) counting s_i s_j, and S is the
    sum of the sample weights (the number of examples without them).  So C weighs the mean loss as often
    as there are examples, as it does for LinearSVC.  Targets may be grades, classes or real numbers; one
    step costs n log n whatever they are.  Two different targets train the area under the ROC curve.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the mean pair hinge times the number of examples.
        "auto" is what `oneslack.tune` finds; then it is in the attribute `C_`.
    random_state : int, RandomState or None, default=None
        Seed of the draw of the basis; None is 0, so equal fits are equal.

    Attributes
    ----------
    coef_ : ndarray of shape (d,), or (k,) with a kernel
        Weights of the features, or of the k basis functions; a constant would change no order, so there is no
        intercept.
    basis_ : KernelFeatures or None
        From rows to the features that `coef_` weighs, where there is a kernel.

    Examples
    --------
    >>> import oneslack
    >>> X = [[1.0, 0.0], [0.0, 1.0], [3.0, 1.0], [0.0, 2.0]]
    >>> model = oneslack.RankSVM().fit(X, [2, 1, 5, 3], groups=["a", "a", "b", "b"])
    >>> model.rank(X, groups=["a", "a", "b", "b"]).tolist()
    [1, 2, 1, 2]
    >>> model.score(X, [2, 1, 5, 3], groups=["a", "a", "b", "b"])
    1.0
    """

    _checks: ClassVar = {"C": C_or_auto}
    _input: ClassVar = {"y_numeric": True, "ensure_min_samples": 2}

    def __init__(
        self, C: float | str = 1.0, *, tol: float = 1e-3, epsilon: float | None = None, solver: Any = "auto",
        kernel: Any = None, gamma: float | str = "scale", degree: float = 3, coef0: float = 0.0,
        n_basis: int = 500, n_jobs: int | None = None, engine: Any = None, max_iter: int = 100_000,
        time_limit: float | None = None, warm_start: bool = False, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(
        self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, *, callbacks: Any = (),
        checkpoint: Any = None, resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from items with targets.

        Parameters
        ----------
        y : array-like of shape (n,)
            Targets, larger is better: grades or real numbers.
        groups : array-like of shape (n,) or None
            The query of each item: only items of the same one are compared.  Numbers or text, in any order.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0; a pair weighs the product.

        Returns
        -------
        self : RankSVM
        """
        return self._fit(X, y, Watch(callbacks, checkpoint, resume, validation), sample_weight, groups=groups)

    def _encoded(self, X, y, sample_weight, groups):
        weights = None if sample_weight is None else check_weights(_check_sample_weight(sample_weight, X))
        basis = basis_for(self)
        if basis is not None:
            X = basis.fit(X).transform(X)
        return RankTask(y, group_codes(groups, len(y)), weights, X.shape[1], basis=basis), X

    def _store(self, task, X, coef, intercept):
        self.coef_, self.intercept_, self.basis_ = coef[0], 0.0, task.basis

    def _shapes(self):
        width = self.n_features_in_ if self.basis_ is None else len(self.basis_.mapping_)
        return {"coef": (width,), "intercept": ()}

    def _inputs(self, X):
        X = super()._inputs(X)
        return X if self.basis_ is None else self.basis_.transform(X)

    def predict(self, X: Any) -> np.ndarray:
        """The score of each row; larger comes first.

        Returns
        -------
        scores : ndarray of shape (n,)
        """
        return self._scores(X).ravel()

    def rank(self, X: Any, groups: Any = None) -> np.ndarray:
        """The place of each row inside its group: 1 for the highest score; equal scores by row.

        Returns
        -------
        places : ndarray of shape (n,) of int
        """
        scores = self.predict(X)
        codes = group_codes(groups, len(scores))
        if codes is None:
            codes = np.zeros(len(scores), int)
        order = np.lexsort((-scores, codes))
        first = np.flatnonzero(np.append(True, codes[order][1:] != codes[order][:-1]))
        lengths = np.diff(np.append(first, len(order)))
        places = np.empty(len(order), int)
        places[order] = np.arange(len(order)) - np.repeat(first, lengths) + 1
        return places

    def certain(self, X: Any, groups: Any = None) -> np.ndarray:
        """Which places are settled: the exact optimum would rank the row at the same place of its group.

        So it is where its score and that of any other row of the group stay apart, however the optimum's
        scores lie within their bounds (`decision_bounds`).

        Returns
        -------
        settled : ndarray of shape (n,) of bool

        Examples
        --------
        >>> import oneslack
        >>> X = [[1.0, 0.0], [0.0, 1.0], [3.0, 1.0], [0.0, 2.0]]
        >>> model = oneslack.RankSVM(tol=1e-6).fit(X, [2, 1, 5, 3], groups=["a", "a", "b", "b"])
        >>> model.certain(X, groups=["a", "a", "b", "b"]).tolist()
        [True, True, True, True]
        """
        lower, upper = self.decision_bounds(X)
        codes = group_codes(groups, len(lower))
        codes = np.zeros(len(lower), int) if codes is None else codes
        order = np.lexsort((lower, codes))
        lower, upper, codes = lower[order], upper[order], codes[order]
        # Whether all rows of the group that begin lower end lower, too.
        apart = np.ones(len(order), bool)
        for group in np.split(np.arange(len(order)), np.flatnonzero(np.diff(codes)) + 1):
            apart[group[1:]] = lower[group[1:]] > np.maximum.accumulate(upper[group])[:-1]
        settled = np.empty(len(order), bool)
        settled[order] = apart & np.append(apart[1:], True)
        return settled

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """The fraction of pairs in order, of all pairs of a group with different targets.

        Returns
        -------
        share : float
            Pairs of equal scores count half; 1 where there is no pair.
        """
        scores = self.predict(X)
        y = column_or_1d(y)
        if len(y) != len(scores):
            raise ValueError(f"X has {len(scores)} rows but y has {len(y)} targets")
        return ordered_pairs(y, scores, group_codes(groups, len(y)))


def group_codes(groups, n):
    """Groups of any one type as numbers 0, 1, ... (n,), or None."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n,):
        message = f"groups have shape {groups.shape}, expected ({n},): one for each row of X"
        if groups.ndim == 1 and groups.dtype.kind in "iu" and groups.sum() == n:
            message += (
                "; sizes of groups that stand together, as LightGBM takes them, become groups by"
                " np.repeat(np.arange(len(sizes)), sizes)"
            )
        raise ValueError(message)
    try:
        missing = np.flatnonzero(groups != groups)
        codes = np.unique(groups, return_inverse=True)[1]
    except TypeError:
        names = " and ".join(sorted({type(group).__name__ for group in groups.tolist()}))
        raise ValueError(f"groups hold {names}; use text or numbers, all of one type") from None
    if len(missing):
        raise ValueError(f"row {missing[0]}: the group is {groups[missing[0]]}")
    return codes

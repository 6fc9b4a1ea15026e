"""KernelFeatures: a kernel for every linear model, by basis functions."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..engines.threads import Threads
from ._shared.described import described
from ._shared.given import ANY_KERNEL, INPUT, check_parameters, seed_of, validated
from ._shared.kernel_inputs import fitted_kernel
from ._shared.reported import Exported

#: The parameters that say what the kernel is.
KERNEL = ("kernel", "gamma", "degree", "coef0")


@described
class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Exported, BaseEstimator):
    """Features z(x) with <z(a), z(b)> near k(a, b), exact for the examples B of a basis.

    A linear model on z is the best model with the kernel in the span of B, with the same norm: its objective
    bounds that of the whole kernel problem from above, and its certificate is one of the span.  Put it before
    RankSVM, LinearSVR, MetricSVC, or any other linear model.

    Parameters
    ----------
    kernel, gamma, degree, coef0 : as for KernelSVC
        "precomputed" is not for this.
    n_basis : int, default=500
        Examples of the basis; fewer are taken where they explain all.
    choice : {"random", "pivoted"}, default="random"
        "pivoted": each the one that the others explain least, of ten times as many drawn at random.
    random_state : int, RandomState or None, default=None
        Seed of the draw; None is 0, so equal fits are equal.

    Attributes
    ----------
    components_ : ndarray or CSR matrix of shape (k, d)
        The rows of the basis B.
    mapping_ : ndarray of shape (k, k)
        z(x) = k(x, B) @ mapping_.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)

    Examples
    --------
    >>> from oneslack import KernelFeatures
    >>> from oneslack.datasets import make_checkers
    >>> X, y = make_checkers(200, random_state=0)
    >>> KernelFeatures(gamma=2.0, n_basis=50).fit_transform(X).shape
    (200, 50)
    """

    _checks: ClassVar = {"kernel": ANY_KERNEL}

    def __init__(
        self, kernel: Any = "rbf", gamma: float | str = "scale", degree: float = 3, coef0: float = 0.0, *,
        n_basis: int = 500, choice: Any = "random", n_jobs: int | None = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_basis = n_basis
        self.choice = choice
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the basis.

        Parameters
        ----------
        y : ignored

        Returns
        -------
        self : KernelFeatures
        """
        from ..solvers.kernel.basis_functions import choose_basis

        check_parameters(self)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("KernelFeatures needs rows, but kernel='precomputed'; use KernelSVC")
        X = validated(self, X, order="C", **INPUT)
        self._kernel = fitted_kernel(self, X)
        inputs = self._kernel.inputs(X)
        index, self.mapping_ = choose_basis(
            self._kernel, inputs, self.n_basis, self.choice, seed_of(self.random_state)
        )
        self.components_ = X[index]
        self._n_features_out = len(index)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of rows.

        Returns
        -------
        Z : ndarray of shape (n, k)
        """
        from ..solvers.kernel.basis_functions import mapped

        check_is_fitted(self)
        X = validated(self, X, reset=False, **INPUT)
        B = self._kernel.inputs(self.components_)
        Z = np.empty((X.shape[0], B.rows.shape[0]), self._kernel.dtype)
        with Threads(self.n_jobs) as engine:
            for lo in range(0, X.shape[0], 65_536):  # inputs are copies
                part = self._kernel.inputs(X[lo : lo + 65_536])
                Z[lo : lo + 65_536] = mapped(self._kernel, part, B, self.mapping_, engine)
        return Z


def basis_for(model) -> KernelFeatures | None:
    """What the parameters `kernel`, `gamma`, ..., `n_basis` of an estimator ask for, not fitted; None without
    a kernel."""
    if model.kernel is None:
        return None
    names = (*KERNEL, "n_basis", "n_jobs", "random_state")
    return KernelFeatures(**{name: getattr(model, name) for name in names})

"""StructuralSVM: any model, trained by any solver."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import OneslackError
from ..models.chain import Chain
from ..problems.in_memory import lacks
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Fitted, Watch, problem_of, solved
from ._shared.given import check_parameters, checked_sizes, given_terms
from ._shared.kernel_inputs import check_takes_kernel, on_basis, through
from ._shared.partial_labels import check_is_here, solve_partly_labelled
from .kernel_features import basis_for

#: What training and predicting ask of a model.
NEEDS = ("n_params", "joint_feature", "loss", "decode")


@described
class StructuralSVM(Fitted):
    """Structural support vector machine for a model of your own, or a built-in one.

    Minimises 1/2 |w|^2 + C sum_i s_i H_i(w) to a certified relative duality gap, with
    H_i = max_z loss(y_i, z) - <w, psi(x_i, y_i) - psi(x_i, z)>, or the loss times (1 - <w, ...>) where the
    slack is rescaled.  The model has `n_params`, `joint_feature(x, y)`, `loss(y, y_hat)` and
    `decode(w, x, y=None)`; see docs/write_your_own_model.md.

    Parameters
    ----------
    model : a model
        What is a good output.
    rescaling : {"margin", "slack"}, default="margin"
        How the loss enters; "slack" needs `decode_slack(w, x, y)` of the model.
    solver : {"auto", "one_slack", "n_slack", "dual_cd"} or a solver, default="auto"
        "auto" chooses; `result_.reason` says why.
    cache_size : int, default=10
        Cuts that "one_slack" remembers of each example, and makes the most of before it asks the decoder
        again; 0 for none.
    kernel : {"rbf", "poly", "linear", "laplacian"}, callable or None, default=None
        Score by a kernel instead of linearly, where the model weighs the `n_features` columns of its inputs
        (Binary, Multiclass, Chain, or a dataclass of your own): by basis functions, see `KernelFeatures`.
        The certificate is then that of the span of the basis.
    prior : array-like, dict or None, default=None
        Where the weights are drawn to instead of 0: of shape (n_params,), or by groups, as pairs
        (index, value), or a dict from the names of the model's `blocks`.
    n_jobs : int or None, default=None
        Processes for a decoder written in Python, threads for a compiled one; None or -1 for all cores.
        The result is the same for any number.
    warm_start : bool, default=False
        Begin at the weights of the last fit ("one_slack"; the others begin anew).

    Attributes
    ----------
    coef_ : ndarray of shape (n_params,)
        The weights w; with a kernel those of the model with as many features as the basis has functions.
    basis_ : KernelFeatures or None
        From rows to the features that `coef_` weighs, where there is a kernel.
    result_ : Result
        With the status and the trace of the training; `certified` is False where the model says that its
        decoder is not exact (`exact = False`): `dual_objective_` is a true bound then, too, but `objective_`
        may be too low.

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [0, 1, 1]
    >>> svm = oneslack.StructuralSVM(oneslack.Multiclass(2, 2), C=10.0).fit(X, y)
    >>> svm.predict(X), svm.score(X, y)
    ([0, 1, 1], 1.0)
    """

    _saving = "structural"

    def __init__(
        self, model: Any, C: float | str = 1.0, *, rescaling: str = "margin", solver: Any = "auto",
        tol: float = 1e-3, epsilon: float | None = None, cache_size: int = 10, kernel: Any = None,
        gamma: float | str = "scale", degree: float = 3, coef0: float = 0.0, n_basis: int = 500,
        prior: Any = None, scale: Any = None, nonnegative: Any = None, n_jobs: int | None = None,
        engine: Any = None, max_iter: int = 100_000, time_limit: float | None = None,
        warm_start: bool = False, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(
        self, X: Any, Y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from examples.

        Parameters
        ----------
        X, Y : sequences of n inputs and n outputs
            Anything that the model understands.  A Chain takes labels of -1 that are not known: they are
            filled in with the best labels as training goes on (see `oneslack.latent.concave_convex`); then
            the certificate is that of the labels filled in last, and `result_.certified` is False.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples.

        Returns
        -------
        self : StructuralSVM
        """
        check_parameters(self)
        self._check_model()
        basis = basis_for(self)
        if basis is not None:
            check_takes_kernel(self.model, self.kernel)
            X = through(basis, X, self.model.n_features)
        model = on_basis(self.model, basis)
        sample_weight = checked_sizes(X, sample_weight, Y=Y)
        watch = Watch(callbacks, checkpoint, resume, validation)

        def store(results):
            self.coef_, self.basis_ = results[0].w, basis

        jobs = self._jobs(model, X, Y, sample_weight, watch)
        return self._solve(jobs, store, (X, Y, sample_weight), watch, key=self._data_key)

    def _jobs(self, model, X, Y, sample_weight, watch):
        names = ("rescaling", "cache_size")
        options = {name: getattr(self, name) for name in names} | given_terms(self)
        options["sample_weight"] = sample_weight
        w = getattr(self, "coef_", None) if self.warm_start else None
        if w is not None and w.shape != (model.n_params,):
            w = None
        if isinstance(model, Chain) and model.pack(X, Y, None).truth is None:
            check_is_here(self.engine, watch)
            options["n_jobs"] = self.n_jobs
            yield partial(solve_partly_labelled, model, X, Y, self.C, problem_options=options, start=w)
            return
        is_same = w is not None and self._data_key is not None and self._fitted_on is not None
        problem = problem_of(self, model, X, Y, **options)
        yield partial(solved, problem, start=self.result_ if is_same else w)

    def _check_model(self):
        if isinstance(self.model, type) or lacks(self.model, NEEDS):
            raise TypeError(_what_is_wrong(self.model))

    def predict(self, X: Any) -> list[Any]:
        """The best output of each input.

        Returns
        -------
        outputs : list
        """
        check_is_fitted(self)
        model, X = self._on_basis(X)
        return [model.decode(self.coef_, x) for x in X]

    def _on_basis(self, X):
        """(model, X) that the weights are of."""
        basis = getattr(self, "basis_", None)
        return on_basis(self.model, basis), X if basis is None else through(basis, X)

    def predict_topk(self, X: Any, k: int) -> list[list[Any]]:
        """The k best outputs of each input, where the model has `decode_topk(w, x, k)`.

        Returns
        -------
        outputs : list
            What the model's `decode_topk` gives, for each input.
        """
        check_is_fitted(self)
        if not hasattr(self.model, "decode_topk"):
            raise OneslackError(f"{type(self.model).__name__} has no decode_topk(w, x, k)")
        model, X = self._on_basis(X)
        return [model.decode_topk(self.coef_, x, k) for x in X]

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """1 - mean loss of the predictions.

        Returns
        -------
        score : float
        """
        losses = [self.model.loss(y, z) for y, z in zip(Y, self.predict(X), strict=True)]
        return 1.0 - float(np.average(losses, weights=sample_weight))


def _what_is_wrong(model):
    if isinstance(model, type):
        return f"model is the class {model.__name__}; give an object of it, such as {model.__name__}(...)"
    missing = ", ".join(lacks(model, NEEDS))
    return f"StructuralSVM needs more than {type(model).__name__} offers: it lacks {missing}"

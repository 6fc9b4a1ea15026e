"""StructuralSVM: any model, trained by any solver."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import driver
from ..errors import OneslackError
from ..models.chain import Chain
from ..problems.in_memory import lacks
from ..problems.new import new_problem
from ._shared.callbacks import CallbackSupportMixin, fit_progress, with_callbacks
from ._shared.certified import Certified
from ._shared.convergence import conclude
from ._shared.kernel_inputs import check_takes_kernel, on_basis, through
from ._shared.kernel_parameters import BASIS_CHECKS
from ._shared.parameters import check_parameters
from ._shared.partial_labels import check_is_here, solve_partly_labelled
from ._shared.targets import checked_sizes
from ._shared.weight_terms import given_terms
from .kernel_features import basis_for

#: What training and predicting ask of a model.
NEEDS = ("n_params", "joint_feature", "loss", "decode")


class StructuralSVM(Certified, CallbackSupportMixin, BaseEstimator):
    """Structural support vector machine for a model of your own, or a built-in one.

    Minimises 1/2 |w|^2 + C sum_i s_i H_i(w) to a certified relative duality gap, with
    H_i = max_z loss(y_i, z) - <w, psi(x_i, y_i) - psi(x_i, z)>, or the loss times (1 - <w, ...>) where the
    slack is rescaled.  The model has `n_params`, `joint_feature(x, y)`, `loss(y, y_hat)` and
    `decode(w, x, y=None)`; see docs/write_your_own_model.md.

    Parameters
    ----------
    model : a model
        What is a good output.
    C : float, default=1.0
        Weight of the sum of the hinges.
    rescaling : {"margin", "slack"}, default="margin"
        How the loss enters; "slack" needs `decode_slack(w, x, y)` of the model.
    solver : {"auto", "one_slack", "n_slack", "dual_cd"} or a solver, default="auto"
        "auto" chooses; `result_.reason` says why.
    tol : float, default=1e-3
        Relative duality gap (P - D) / P to stop at.
    epsilon : float or None, default=None
        Stop by the cutting-plane papers' rule instead: no constraint is violated by more (mean loss).
    cache_size : int, default=10
        Cuts that "one_slack" remembers of each example, to ask them before the decoder; 0 for none. Whether
        that pays is measured by the clock where the decoder is written in Python, so that another run may
        take other steps to the same gap; `solver=OneSlack(cache_size=10)` decides without a clock.
    kernel : {"rbf", "poly", "linear", "laplacian"}, callable or None, default=None
        Score by a kernel instead of linearly, where the model weighs the `n_features` columns of its inputs
        (Binary, Multiclass, Chain, or a dataclass of your own): by basis functions, see `KernelFeatures`.
        The certificate is then that of the span of the basis.
    gamma, degree, coef0 : as for KernelSVC
    n_basis : int, default=500
        Rows of the basis.
    prior : array-like, dict or None, default=None
        Where the weights are drawn to instead of 0: of shape (n_params,), or by groups, as pairs
        (index, value), or a dict from the names of the model's `blocks`.
    scale : float, array-like, dict or None, default=None
        How strongly: 1/2 sum_k (scale_k (w_k - prior_k))^2 instead of 1/2 |w|^2.  Given likewise, or as one
        number.
    nonnegative : bool, array-like, list of names or None, default=None
        Weights held >= 0: True for all, a mask, numbers of weights, or names as for `prior`.
    n_jobs : int or None, default=None
        Processes for a decoder written in Python, threads for a compiled one; None or -1 for all cores.
        The result is the same for any number.
    engine : {"threads", "ray"}, Ray or None, default=None
        Where to train: this machine's cores, or a Ray cluster (docs/scaling.md); `Ray(...)` says which.
    max_iter : int, default=100_000
        Steps of the solver.
    time_limit : float or None, default=None
        Seconds of training; the best model so far is kept, with its gap.
    warm_start : bool, default=False
        Begin at the weights of the last fit ("one_slack"; the others begin anew).
    random_state : int, RandomState or None, default=None
        Seed of the order in which examples are visited.
    verbose : int, default=0
        1 prints a line when the gap has closed by a fifth, 2 one for each step.

    Attributes
    ----------
    coef_ : ndarray of shape (n_params,)
        The weights w; with a kernel those of the model with as many features as the basis has functions.
    basis_ : KernelFeatures or None
        From rows to the features that `coef_` weighs, where there is a kernel.
    objective_, dual_objective_ : float
        Bounds of the optimum from above (at this model) and below.
    duality_gap_ : float
        (objective_ - dual_objective_) / objective_.
    n_iter_ : int
        Steps taken.
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

    _checks = BASIS_CHECKS
    _saving = "structural"

    def __init__(
        self,
        model,
        C=1.0,
        *,
        rescaling="margin",
        solver="auto",
        tol=1e-3,
        epsilon=None,
        cache_size=10,
        kernel=None,
        gamma="scale",
        degree=3,
        coef0=0.0,
        n_basis=500,
        prior=None,
        scale=None,
        nonnegative=None,
        n_jobs=None,
        engine=None,
        max_iter=100_000,
        time_limit=None,
        warm_start=False,
        random_state=None,
        verbose=0,
    ):
        self.model = model
        self.C = C
        self.rescaling = rescaling
        self.solver = solver
        self.tol = tol
        self.epsilon = epsilon
        self.cache_size = cache_size
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_basis = n_basis
        self.prior = prior
        self.scale = scale
        self.nonnegative = nonnegative
        self.n_jobs = n_jobs
        self.engine = engine
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, Y, sample_weight=None):
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
        problem = self._problem(model, X, Y, sample_weight)
        w = getattr(self, "coef_", None) if self.warm_start else None
        if w is not None and w.shape != (problem.n_params,):
            w = None
        with fit_progress(self, X, Y, sample_weight) as callbacks, problem.engine:
            if isinstance(model, Chain) and getattr(problem.data, "truth", problem) is None:
                result = solve_partly_labelled(
                    model, X, Y, self.C, self._training(), callbacks, start=w,
                    sample_weight=sample_weight, **self._options(),
                )  # fmt: skip
            else:
                is_same = w is not None and self._data_key is not None and self._fitted_on is not None
                start = self.result_ if is_same else w
                result = driver.solve(
                    problem, callbacks=callbacks, start=start, keep_state=self._data_key is not None,
                    **self._training(), **self._keeping(),
                )  # fmt: skip
            self.coef_, self.basis_ = result.w, basis
            self._store_certificate([result], self._data_key)
        conclude(self, None, [result])
        return self

    def _check_model(self):
        if isinstance(self.model, type) or lacks(self.model, NEEDS):
            raise TypeError(_what_is_wrong(self.model))

    def _problem(self, model, X, Y, sample_weight):
        sample_weight = checked_sizes(X, sample_weight, Y=Y)
        if isinstance(model, Chain) and self.engine is not None and model.pack(X, Y, None).truth is None:
            check_is_here(self.engine)
        where = {"engine": self.engine, "solver": self.solver}
        return new_problem(
            model, X, Y, self.C, sample_weight=sample_weight, **where, **self._options()
        )  # fmt: skip

    def _options(self):
        """What Problem takes beside the examples."""
        names = ("rescaling", "cache_size", "n_jobs")
        return {name: getattr(self, name) for name in names} | given_terms(self)

    def predict(self, X):
        """The best output of each input.

        Parameters
        ----------
        X : sequence of inputs

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

    def predict_topk(self, X, k):
        """The k best outputs of each input, where the model has `decode_topk(w, x, k)`.

        Parameters
        ----------
        X : sequence of inputs
        k : int

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

    def score(self, X, Y, sample_weight=None):
        """1 - mean loss of the predictions.

        Parameters
        ----------
        X, Y : sequences of inputs and outputs
        sample_weight : array-like of shape (n,) or None

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

"""KernelSVC: classification with kernels, exact or at scale."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..engines.threads import Threads
from ..kernels.mercer import Inputs
from ..objective import radius_of
from ..problems.kernel import MEMORY, KernelProblem
from ..solvers.choose_kernel import SAMPLE_SIZE, method_for, solver_of
from ._shared.auto_C import fit_with_best_C
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Fitted, Watch, solved
from ._shared.given import (
    ANY_KERNEL,
    INPUT,
    C_or_auto,
    check_parameters,
    checked_input,
    encode,
    example_weights,
    validated,
)
from ._shared.kernel_inputs import WIDE, fitted_kernel
from ._shared.kernel_settled import KernelBounds
from ._shared.reported import Exported
from ._shared.scoring import Classifies
from ._shared.settled import SettlesClasses
from .linear_svc import ClassTask

#: The papers' epsilon, by which sampled schemes stop.
EPSILON = 1e-3
#: Values of the kernel that a certificate may always cost.
CERTIFICATE = 1e8


@described
class KernelSVC(SettlesClasses, KernelBounds, Classifies, Exported, Fitted):
    """Support vector classification with a kernel, for a hundred or a million examples.

    Minimises 1/2 |w|^2 + C sum_i s_i hinge_i over w in the kernel's feature space.  Two classes: the hinge
    max(0, 1 - y f(x)).  More: Crammer and Singer's max_z (1[z != y] + f_z) - f_y, or one binary problem a
    class ("ovr").

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the sum of the hinges, as in scikit-learn's SVC.
        "auto" is what `oneslack.tune` finds; then it is in the attribute `C_`.
    kernel : {"rbf", "poly", "linear", "laplacian", "precomputed"} or callable, default="rbf"
        A callable gets two blocks of rows and returns their matrix.  "precomputed": X is that matrix.
        Either must be positive semi-definite; where it is seen not to be, nothing is certified.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly" and "laplacian"; "scale" is 1 / (d var(X)), where rows count by their
        sample_weight; "auto" is 1 / d.
    degree, coef0 : float, default=3 and 0.0
        Of "poly": (gamma <a, b> + coef0)^degree.
    method : {"auto", "exact", "linear", "constant", "basis"}, default="auto"
        "exact": the dual by blocks, with a certificate.  "linear": cuts of sampled examples, scores of all n
        in each round.  "constant": cuts of samples alone, in a time that does not depend on n.  "basis": the
        span of `n_basis` examples.  "auto" takes "exact" while an eighth of the kernel matrix fits into
        `memory`, then "linear", and "constant" from 400,000 examples on.
    sample_size : int or None, default=None
        Examples of a sampled cut; None is 400 for "linear" and 1000 for "constant".
    n_basis : int, default=500
        Basis functions of "basis".
    tol : float, default=1e-3
        "exact", "basis": relative duality gap (P - D) / P to stop at.
    epsilon : float or None, default=None
        Stop when no one-slack constraint is violated by more (mean loss).  "linear" and "constant" always
        stop by it: None is 0.001 there, as in the paper.
    fit_intercept : bool, default=False
        Learn an intercept, which is not penalised.  Most kernels need none.  Not for "exact" with
        "crammer_singer".
    memory : float, default=2**31
        Bytes that training may hold in kernel values or features.
    random_state : int, RandomState or None, default=None
        Seed of all samples; None is 0, so equal fits are equal.

    Attributes
    ----------
    support_ : ndarray of shape (m,)
        Numbers of the support vectors among the training examples.
    support_vectors_ : ndarray or CSR matrix of shape (m, d)
        Their rows; without columns for "precomputed".
    dual_coef_ : ndarray of shape (1, m) or (K, m)
        The scores of a row x are dual_coef_ @ k(support_vectors_, x) + intercept_.
    intercept_ : ndarray of shape (1,) or (K,)
    classes_ : ndarray of shape (K,)
    objective_, dual_objective_, duality_gap_ : float
        P at this model, a lower bound of its minimum, and (P - D) / P.  The bound is true where
        `certified_`; else it is an estimate ("linear" and "constant": by sampled cuts; "basis": a bound for
        the span only).  For "constant" on many examples P, too, is estimated from a part of them.
    objective_error_ : float
        Standard error of `objective_` where it is estimated, else 0.
    certified_ : bool
    reduction_error_ : float
        After `reduce`: what it may have changed.
    method_ : str
        The method taken.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)

    Examples
    --------
    >>> import oneslack
    >>> from oneslack.datasets import make_checkers
    >>> X, y = make_checkers(1000, random_state=0)
    >>> model = oneslack.KernelSVC(C=10, gamma=10).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.certified_
    (True, True)
    """

    _checks: ClassVar = {"kernel": ANY_KERNEL, "C": C_or_auto}
    _saving = "kernel"

    def __init__(
        self, C: float | str = 1.0, kernel: Any = "rbf", gamma: float | str = "scale", degree: float = 3,
        coef0: float = 0.0, *, method: str = "auto", sample_size: int | None = None, n_basis: int = 500,
        tol: float = 1e-3, epsilon: float | None = None, fit_intercept: bool = False,
        multi_class: str = "crammer_singer", class_weight: Any = None, memory: Any = MEMORY,
        n_jobs: int | None = None, max_iter: int = 100_000, time_limit: float | None = None,
        random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False,
    ) -> Self:  # fmt: skip
        """Learn from examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d); (n, n) for "precomputed"

        Returns
        -------
        self : KernelSVC
        """
        check_parameters(self)
        if self.C == "auto":
            return fit_with_best_C(self, X, y, sample_weight, Watch(callbacks, checkpoint, resume))
        X, y = checked_input(self, X, y)
        classes, codes = encode(y)
        weights = example_weights(X, classes, codes, self.class_weight, sample_weight)
        ovr = self._is_ovr(len(classes))
        task = ClassTask(classes, codes, 0, bool(self.fit_intercept), weights, None, ovr)
        method = self._method(X.shape[0])
        self._check_method(method, task)
        kernel = fitted_kernel(self, X, sample_weight)

        def store(results):
            # Only now, so that a fit that fails leaves the last model whole.
            self.method_, self._kernel, self.classes_ = method, kernel, classes
            self.objective_error_ = float(np.linalg.norm([result.primal_error for result in results]))
            self._store_expansion(X, [result.w.merged() for result in results])
            vars(self).pop("reduction_error_", None)  # of the last model
            self.certified_ = all(result.certified for result in results)

        training = self._training() | {"epsilon": self._stopping_epsilon(method), "keep_state": True}
        training["solver"] = solver_of(method, training["seed"], self.sample_size, self.n_basis)
        watch = Watch(callbacks, checkpoint, resume)
        jobs = self._jobs(task, X, kernel)
        return self._solve(jobs, store, (X, y, sample_weight), watch, training=training)

    def _is_ovr(self, n_classes) -> bool:
        """Whether there is one problem a class."""
        return self.multi_class == "ovr" and n_classes > 2

    def _method(self, n):
        if self.method != "auto":
            return self.method
        return method_for(n, 8 if n <= WIDE else 4, self.memory)

    def _check_method(self, method, task):
        if method == "exact" and self.fit_intercept and not task.is_binary:
            raise ValueError(
                "method='exact' has no intercepts with multi_class='crammer_singer'; use fit_intercept=False "
                "or multi_class='ovr'"
            )

    def _stopping_epsilon(self, method=None):
        sampled = (method or getattr(self, "method_", self.method)) in SAMPLE_SIZE
        return EPSILON if sampled and self.epsilon is None else self.epsilon

    def _jobs(self, task, X, kernel):
        first = None
        for model, y, weights in task.models():
            problem = KernelProblem(
                model, kernel, X, y, self.C, intercept=self.fit_intercept, sample_weight=weights,
                memory=self.memory, n_jobs=self.n_jobs,
            )  # fmt: skip
            first = first or problem
            if "indefinite" in vars(first):  # the rows of all classes are the same
                problem.indefinite = first.indefinite
            yield partial(solved, problem, finish=_with_certificate)

    def _store_expansion(self, X, expansions):
        """One expansion for all scores."""
        support = np.unique(np.concatenate([w.index for w in expansions]))
        columns = []
        for w in expansions:
            c = np.zeros((len(support), w.coefficients.shape[1]))
            c[np.searchsorted(support, w.index)] = w.coefficients
            columns.append(c)
        self.support_ = support
        self.dual_coef_ = np.hstack(columns).T.copy()
        self.intercept_ = np.concatenate([w.bias for w in expansions])
        self.support_vectors_ = np.empty((len(support), 0)) if self._kernel.is_precomputed else X[support]

    # Scores.

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes; the highest wins.  Works in blocks: memory does not grow with n m.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d); (n, training examples) for "precomputed"

        Returns
        -------
        scores : ndarray of shape (n,) for two classes, (n, K) for more
        """
        check_is_fitted(self)
        X = validated(self, X, reset=False, **INPUT)
        scores = np.empty((X.shape[0], len(self.dual_coef_)))
        vectors, c = self._vectors(), self.dual_coef_.T
        with Threads(self.n_jobs) as engine:
            # Inputs are copies: a part of the rows at a time bounds what they take.
            for lo in range(0, X.shape[0], 65_536):
                part = self._kernel.inputs(X[lo : lo + 65_536])
                scores[lo : lo + 65_536] = self._kernel.product(part, vectors, c, engine)
        scores += self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _vectors(self) -> Inputs:
        return self._kernel.inputs(self.support_vectors_, self.support_)

    def reduce(self, bound: float = 1e-2, max_vectors: int | None = None) -> Any:
        """Use fewer support vectors, with scores that change by at most `bound` sqrt(k(x, x)) at any x.

        Parameters
        ----------
        bound : float
        max_vectors : int or None
            Stop at so many, whatever the error.

        Returns
        -------
        self : KernelSVC
            `reduction_error_` is the largest change there can be, as a factor of sqrt(k(x, x)).  The
            objective and its bound are still those of the whole expansion.
        """
        from ..kernels.shrink_expansion import shrink

        check_is_fitted(self)
        if self._kernel.is_precomputed:
            raise ValueError("reduce needs the support vectors; a precomputed kernel does not have them")
        with Threads(self.n_jobs) as engine:
            chosen, c, lost = shrink(
                self._kernel, self._vectors(), self.dual_coef_.T, bound, max_vectors, engine
            )
        self.reduction_error_ = lost + getattr(self, "reduction_error_", 0.0)
        self.support_, self.support_vectors_ = self.support_[chosen], self.support_vectors_[chosen]
        self.dual_coef_ = c.T.copy()
        return self


def _with_certificate(problem, result, tol):
    """For sampled cuts true bounds in place of estimates, where they cost little beside the training."""
    from ..solvers.kernel.sampled_cuts import proven_bounds
    from ..solvers.kernel.sampled_planes import SampledPlanes

    state = result.state
    if "planes" not in state:
        return result
    planes = SampledPlanes.of_state(state["planes"])
    if not any(planes.exact):  # "constant" knows no exact planes
        return result
    budget = max(0.25 * state["n_values"], CERTIFICATE)
    bounds = proven_bounds(problem, result.w.merged(), planes, budget)
    if bounds is None:
        return result
    radius = radius_of(bounds[0] - bounds[1]) if problem.certified else np.inf
    return replace(result, primal=bounds[0], dual=bounds[1], certified=problem.certified, radius=radius)

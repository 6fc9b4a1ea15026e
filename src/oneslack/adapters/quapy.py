"""QuaPy's SVM-perf quantifiers, trained in this process: no patch, no compiler, no temporary files.

`SVMperf` has the parameters of `quapy.classification.svmperf.SVMperf` and the optimum of the program
behind it.  `install()` puts it in that class's place, so that `newSVMQ()` and the others work.

SVM-perf minimises 1/2 |w|^2 + C xi, where xi = max_{y'} Delta(y') - (100 / n) sum_{y'_i != y_i} y_i f_i, with
losses in percent: Delta = 100 loss, so xi = 100 R and C here is 100 C / n in `Problem`, which counts C n R.
Three things follow its source:

- The bias is the weight of one more feature of value 1, and penalised like the others.
- "kld" and "01" are not in percent: Delta is the divergence itself, and 1 for any error, 1/100 of what the
  other losses suggest.  Dividing a loss by 100 gives the w, divided by 100, of a C that is 100 times as
  large; the predictions are the same.
- Only outputs with a loss are searched (`mistakes_only` of PrevalenceLoss).

And two do not: "q" of an output with q = r = 0, which the program divides 0 by 0 for and never finds, is 0;
and training stops at a relative duality gap instead of a constraint violated by 0.1.
"""

from __future__ import annotations

import importlib
import logging
import sys
from contextlib import ExitStack
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..driver import solve
from ..estimators._shared.fitting import conclude
from ..estimators._shared.given import encode
from ..problems.in_memory import Problem
from .perf_losses import MODELS
from .programs.training import with_constant

_INPUT = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class SVMperf(ClassifierMixin, BaseEstimator):
    """A linear classifier of two classes that trains for a loss of the whole sample, as SVM-perf does.

    Parameters
    ----------
    svmperf_base, host_folder : ignored
        QuaPy's folders of programs and of files: there are none.
    C : float, default=0.01
        SVM-perf's C: the weight of 100 R.
    verbose : bool, default=False
        Logs what came out.
    loss : str, default="01"
        "01", "error", "f1", "q", "qacc", "qf1", "qgm", "kld", "nkld", "mae" or "mrae".
    bias : float, default=1.0
        The value of the feature whose weight is the bias, penalised; 0 for none.
    tol : float, default=1e-3
        Relative duality gap to stop at.
    max_iter : int, default=100_000
        Steps of the solver.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, d) and (1,)
    classes_ : ndarray of shape (2,)
        The second is the positive one.
    objective_, dual_objective_, duality_gap_ : float
        The certificate: the optimum lies between the first two, in SVM-perf's units.
    result_ : Result

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from oneslack.adapters.quapy import SVMperf
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SVMperf(loss="mae", C=10.0).fit(X / X.max(axis=0), y)
    >>> bool(abs(model.predict(X / X.max(axis=0)).mean() - y.mean()) < 0.02)
    True
    """

    valid_losses = tuple(MODELS)
    #: Training stops by `tol` alone.
    epsilon = None

    def __init__(
        self,
        svmperf_base=None,
        C=0.01,
        verbose=False,
        loss="01",
        host_folder=None,
        *,
        bias=1.0,
        tol=1e-3,
        max_iter=100_000,
        n_jobs=None,
    ):
        self.svmperf_base = svmperf_base
        self.C = C
        self.verbose = verbose
        self.loss = loss
        self.host_folder = host_folder
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X, y):
        """Learn from examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
            Labels of two classes.

        Returns
        -------
        self : SVMperf
        """
        self._check()
        X, y = validate_data(self, X, y, order="C", **_INPUT)
        classes, codes = encode(y)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported: SVM-perf's losses know two classes, and y has "
                f"{len(classes)}. For more, use quapy's OneVsAllAggregative"
            )
        n, d = X.shape
        extended = with_constant(X, self.bias)
        model = MODELS[self.loss](n_features=extended.shape[1])
        signs = np.where(codes == 1, 1.0, -1.0)
        problem = Problem(model, extended, signs, 100.0 * self.C / n, n_jobs=self.n_jobs)
        with problem.engine:
            result = solve(problem, tol=self.tol, max_iter=self.max_iter, interrupt="return")
        self.classes_ = classes
        self.coef_ = result.w[None, :d].copy()
        self.intercept_ = self.bias * result.w[d:] if self.bias else np.zeros(1)
        self._store_certificate(result)
        if self.verbose:
            logging.getLogger(__name__).info("loss %s: %s", self.loss, result)
        conclude(self, X, [result])
        return self

    def _check(self):
        if self.loss not in MODELS:
            raise ValueError(f"loss={self.loss!r} is not known; use one of {', '.join(MODELS)}")
        if not _is_number(self.C) or self.C <= 0:
            raise ValueError(f"C must be a positive number; got {self.C!r}")
        if not _is_number(self.bias) or self.bias < 0:
            raise ValueError(f"bias must be a number >= 0; got {self.bias!r}")

    def _store_certificate(self, result):
        self.result_ = result
        self.objective_, self.dual_objective_ = result.primal, max(result.dual, 0.0)
        gap = max(self.objective_ - self.dual_objective_, 0.0)
        self.duality_gap_ = gap / self.objective_ if self.objective_ > 0 else 0.0
        self.n_iter_ = result.n_iter

    def decision_function(self, X, y=None):
        """Scores (n,) of new examples, above 0 for `classes_[1]`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : ignored
            QuaPy's signature.

        Returns
        -------
        scores : ndarray of shape (n,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_INPUT)
        return np.asarray(X @ self.coef_[0]) + self.intercept_[0]

    def predict(self, X):
        """The class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        y : ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(value)


# In QuaPy's place.

#: What stood under the name SVMperf in QuaPy's modules.
_replaced = {}


def install():
    """Let QuaPy use this module's SVMperf for its own; `uninstall()` or the end of a `with` undoes it.

    Returns
    -------
    undo : context manager
        `with install(): ...`, or leave it alone.
    """
    try:
        theirs = importlib.import_module("quapy.classification.svmperf").SVMperf
        importlib.import_module("quapy.method.aggregative")  # has a name of its own for the class
    except ImportError as error:
        raise ImportError("QuaPy is not installed; pip install 'oneslack[quapy]'") from error
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "quapy" and vars(module).get("SVMperf") is theirs is not SVMperf:
            _replaced[name] = theirs
            module.SVMperf = SVMperf
    undo = ExitStack()
    undo.callback(uninstall)
    return undo


def uninstall():
    """Give QuaPy its own SVMperf back; nothing happens where it was never replaced."""
    while _replaced:
        name, theirs = _replaced.popitem()
        sys.modules[name].SVMperf = theirs

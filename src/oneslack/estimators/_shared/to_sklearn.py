"""Fitted estimators as fitted estimators of scikit-learn, with the same predictions.

    scores X W' + b, two classes or more     LinearSVC; LogisticRegression where they are log-odds
    ... of labels, or log-odds of more       OneVsRestClassifier of those
    numbers <w, x> + b                       LinearSVR; QuantileRegressor, SGDRegressor, LinearRegression
    k(x, B) c + b                            SVC; OneVsRestClassifier of those for more than two classes
    z(x) = k(x, B) M                         Nystroem

The learned arrays are set, nothing is trained.  Parameters say of the problem what scikit-learn's can say, so
that a clone that is fitted anew solves the same problem, or the nearest that is known there.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn import linear_model, svm
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.validation import check_is_fitted

#: The kernels that LIBSVM computes itself; others are functions to it.
OF_LIBSVM = ("linear", "poly", "rbf", "precomputed")


def exported(model):
    """The estimator of scikit-learn for a fitted model."""
    check_is_fitted(model)
    for kind in type(model).__mro__:
        if kind.__name__ in BY_NAME:
            return BY_NAME[kind.__name__](model)
    raise TypeError(f"scikit-learn has nothing like {type(model).__name__}")


def _with_inputs(estimator, model, **learned):
    """The estimator, as if fitted on what the model was fitted on."""
    estimator.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        estimator.feature_names_in_ = model.feature_names_in_.copy()
    vars(estimator).update(learned)
    return estimator


def _C_of(model):
    return getattr(model, "C_", model.C)


def _scaling(model):
    """There an intercept is always penalised."""
    return float(getattr(model, "intercept_scaling", 1.0)) if model._penalises_intercept else 1.0


# Linear scores.


def _linear_svc(model):
    if isinstance(model.loss, str) and model.loss == "logistic":
        return _logistic(model)
    is_ovr = len(model.classes_) == 2 or model._is_ovr(len(model.classes_))
    given = {
        "loss": model._loss if isinstance(model._loss, str) else "hinge",
        "multi_class": "ovr" if is_ovr else "crammer_singer",
        "class_weight": model.class_weight,
        "penalty": model.penalty,
    }
    return _classifier(model, model.coef_, model.intercept_, model.fit_intercept, **given)


def _metric_svc(model):
    if not model.multilabel_:
        return _classifier(model, model.coef_, model.intercept_, model.fit_intercept, loss="hinge")
    rows = zip(model.coef_, model.intercept_, strict=True)
    parts = [
        _classifier(
            model, w[None], np.array([b]), model.fit_intercept, classes=np.array([0, 1]), loss="hinge"
        )
        for w, b in rows
    ]
    return _one_vs_rest(model, parts, np.eye(len(parts), dtype=int))


def _ordinal_svc(model):
    """Class k scores k f(x) - (t_1 + ... + t_k), which is largest where f(x) lies between t_k and t_k+1."""
    sums = np.append(0.0, np.cumsum(model.thresholds_))
    steps = np.arange(len(sums), dtype=float)
    coef, intercept = np.outer(steps, model.coef_), -sums
    if len(sums) == 2:
        coef, intercept = coef[1:], intercept[1:]
    return _classifier(model, coef, intercept, True, loss="hinge")


def _classifier(model, coef, intercept, fit_intercept, classes=None, **given):
    given |= {"C": _C_of(model), "fit_intercept": bool(fit_intercept), "intercept_scaling": _scaling(model)}
    estimator = svm.LinearSVC(**given)
    return _with_inputs(
        estimator, model, classes_=(model.classes_ if classes is None else classes).copy(), coef_=coef.copy(),
        intercept_=np.array(intercept, dtype=float), n_iter_=int(model.n_iter_),
    )  # fmt: skip


def _logistic(model):
    if len(model.coef_) == 1:
        return _log_odds(model, model.coef_, model.intercept_, model.classes_)
    rows = zip(model.coef_, model.intercept_, strict=True)
    parts = [_log_odds(model, w[None], np.array([b]), np.array([0, 1])) for w, b in rows]
    return _one_vs_rest(model, parts, model.classes_)


def _log_odds(model, coef, intercept, classes):
    given = {"C": _C_of(model), "fit_intercept": bool(model.fit_intercept)}
    if model.penalty == "l1":
        has_ratio = linear_model.LogisticRegression().penalty == "deprecated"  # from scikit-learn 1.8 on
        given |= {"solver": "saga"} | ({"l1_ratio": 1.0} if has_ratio else {"penalty": "l1"})
    estimator = linear_model.LogisticRegression(class_weight=model.class_weight, **given)
    return _with_inputs(
        estimator, model, classes_=classes.copy(), coef_=coef.copy(), intercept_=intercept.copy(),
        n_iter_=np.array([model.n_iter_], np.int32),
    )  # fmt: skip


def _one_vs_rest(model, parts, y):
    """One estimator a class, or a label where y is a matrix."""
    estimator = OneVsRestClassifier(type(parts[0])(**parts[0].get_params(deep=False)))
    binarizer = LabelBinarizer(sparse_output=True).fit(y)
    return _with_inputs(
        estimator, model, estimators_=parts, label_binarizer_=binarizer, classes_=binarizer.classes_
    )


# Numbers.


def _linear_svr(model):
    C, intercept = _C_of(model), bool(model.fit_intercept)
    if model.loss == "pinball":
        estimator = linear_model.QuantileRegressor(quantile=model.quantile, fit_intercept=intercept)
    elif model.loss == "huber":
        estimator = linear_model.SGDRegressor("huber", epsilon=model.delta, fit_intercept=intercept)
    else:
        given = {"loss": model.loss, "fit_intercept": intercept, "intercept_scaling": _scaling(model)}
        estimator = svm.LinearSVR(C=C, epsilon=model.epsilon, **given)
    # LIBLINEAR's and SGD's is an array of one number.
    b = model.intercept_ if model.loss == "pinball" else np.array([model.intercept_])
    return _with_inputs(estimator, model, coef_=model.coef_.copy(), intercept_=b, n_iter_=int(model.n_iter_))


def _rank_svm(model):
    scores = linear_model.LinearRegression(fit_intercept=False)
    scores.coef_, scores.intercept_, scores.n_features_in_ = model.coef_.copy(), 0.0, len(model.coef_)
    if model.basis_ is None:
        return _with_inputs(scores, model)
    first = _with_inputs(_kernel_features(model.basis_), model)
    return Pipeline([("nystroem", first), ("linearregression", scores)])


# Kernels.


def _kernel_svc(model):
    C = model.C
    rows = zip(model.dual_coef_, model.intercept_, strict=True)
    if len(model.classes_) == 2:
        return _expansion(model, *next(rows), model.classes_, C)
    return _one_vs_rest(
        model, [_expansion(model, c, b, np.array([0, 1]), C) for c, b in rows], model.classes_
    )


def _expansion(model, c, b, classes, C):
    """SVC with the scores sum_j c_j k(x_j, x) + b.  LIBSVM sorts support vectors by their class, and counts
    the first class as the positive one."""
    kernel = model._kernel
    name = _function_of(kernel)
    support = np.flatnonzero(c)
    support = support[np.argsort(c[support] > 0, kind="stable")]
    estimator = svm.SVC(
        C=C, kernel=name, gamma=kernel.gamma, class_weight=model.class_weight, coef0=kernel.coef0,
        degree=int(kernel.degree) if name == "poly" else 3,
    )  # fmt: skip
    vectors, index = model.support_vectors_[support], model.support_[support].astype(np.int32)
    is_sparse = sp.issparse(vectors) and not callable(name)
    shape = (int(index.max(initial=0)) + 1, model.n_features_in_)
    if kernel.is_precomputed:
        vectors, shape = np.empty((0, 0)), (model.n_features_in_,) * 2
    elif callable(name):  # k(x, B), and all of B are support vectors
        estimator._BaseLibSVM__Xfit = vectors
        vectors, index, shape = np.empty((0, 0)), np.arange(len(support), dtype=np.int32), vectors.shape
    else:
        vectors = vectors.astype(np.float64, copy=False)
    duals = c[None, support]
    n_first = int(np.sum(c[support] <= 0))
    return _with_inputs(
        estimator, model, classes_=classes.copy(), class_weight_=np.ones(2), support_=index,
        support_vectors_=vectors, dual_coef_=sp.csr_matrix(duals) if is_sparse else duals,
        intercept_=np.array([b]), _dual_coef_=sp.csr_matrix(-duals) if is_sparse else -duals,
        _intercept_=np.array([-b]), _n_support=np.array([n_first, len(support) - n_first], np.int32),
        _probA=np.empty(0), _probB=np.empty(0), _effective_probability=False, fit_status_=0,
        shape_fit_=shape, _sparse=is_sparse, n_iter_=np.array([model.n_iter_], np.int32),
        _num_iter=np.array([model.n_iter_], np.int32),
        _gamma=0.0 if kernel.is_precomputed or callable(name) else float(kernel.gamma),
    )  # fmt: skip


def _function_of(kernel):
    """The kernel as SVC takes it: a name where LIBSVM computes it, else a function of two blocks of rows."""
    if kernel.name == "laplacian":
        return partial(laplacian_kernel, gamma=kernel.gamma)
    if kernel.name == "poly" and not float(kernel.degree).is_integer():
        return partial(polynomial_kernel, degree=kernel.degree, gamma=kernel.gamma, coef0=kernel.coef0)
    return kernel.name


def _kernel_features(model):
    kernel = model._kernel
    if callable(kernel.name):
        raise ValueError(
            "Nystroem calls a function for each pair of rows, KernelFeatures for blocks of them; use a named "
            "kernel"
        )
    given = {} if kernel.name == "linear" else {"gamma": kernel.gamma}
    if kernel.name == "poly":
        given |= {"degree": float(kernel.degree), "coef0": kernel.coef0}
    estimator = Nystroem(
        kernel.name, n_components=len(model.mapping_), random_state=model.random_state, **given
    )
    return _with_inputs(
        estimator, model, components_=model.components_, normalization_=model.mapping_.T.copy(),
        _n_features_out=len(model.mapping_),
    )  # fmt: skip


#: By the name of an estimator, or of a class it is derived from.
BY_NAME = {
    "LinearSVC": _linear_svc,
    "LinearSVR": _linear_svr,
    "MetricSVC": _metric_svc,
    "OrdinalSVC": _ordinal_svc,
    "RankSVM": _rank_svm,
    "KernelSVC": _kernel_svc,
    "KernelFeatures": _kernel_features,
}

"""Agreement with LIBLINEAR at high precision: binary hinge (-s 3) and Crammer-Singer (-s 4).

LIBLINEAR reports no bound, so its w is put into the objective, written out here, and must fall into our
certified bracket.
"""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from oneslack import Binary, DualCD, Multiclass, Newton, OneSlack, Problem, Status, solve

liblinear = pytest.importorskip("liblinear.liblinearutil")

TOL = 1e-6


def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), 2 * y - 1


def digits():
    X, y = load_digits(return_X_y=True)
    return MinMaxScaler().fit_transform(X)[:400], y[:400]


def random_binary():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 15)) * (rng.random((200, 15)) < 0.3)
    return X, np.where(X @ rng.normal(size=15) + rng.normal(size=200) > 0, 1, -1)


def random_multiclass():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 8))
    return X, (X @ rng.normal(size=(8, 4)) + 2 * rng.normal(size=(150, 4))).argmax(axis=1)


def iris_binary():
    X, y = iris()
    return X, np.where(y == 1, 1, -1)


# LIBLINEAR stops after 1000 passes: these are problems where that is enough for it.
PROBLEMS = [
    (iris_binary, 1.0), (breast_cancer, 0.003), (breast_cancer, 0.03), (random_binary, 0.01),
    (random_binary, 1.0), (iris, 0.1), (iris, 10.0), (digits, 0.1),
    (random_multiclass, 0.01), (random_multiclass, 1.0),
]  # fmt: skip


def hinge_objective(W, X, y, C):
    """P from its definition: W (d,) binary, W (d, K) Crammer-Singer."""
    scores = X @ W
    if W.ndim == 1:
        hinge = np.maximum(1 - y * scores, 0)
    else:
        truth = scores[np.arange(len(y)), y]
        hinge = (scores + (np.arange(W.shape[1]) != y[:, None])).max(axis=1) - truth
    return 0.5 * np.sum(W**2) + C * hinge.sum()


@cache
def reference(data, C):
    """P at LIBLINEAR's w."""
    X, y = data()
    binary = set(np.unique(y)) == {-1, 1}
    options = f"-s {3 if binary else 4} -c {C} -e 1e-9 -q"
    model = liblinear.train(y.astype(float), sp.csr_matrix(X), options)
    labels = model.get_labels()
    columns = [
        model.get_decfun_coef(j, label) for label in range(len(labels)) for j in range(1, X.shape[1] + 1)
    ]
    W = np.array(columns).reshape(len(labels), -1)
    if binary:  # the weights are those of the first label
        return hinge_objective(W[labels.index(1)], X, y, C)
    return hinge_objective(W[np.argsort(labels)].T, X, y, C)


@pytest.mark.parametrize("solver", [OneSlack(), DualCD(), Newton()], ids=lambda solver: solver.name)
@pytest.mark.parametrize(("data", "C"), PROBLEMS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_the_bracket_holds_liblinears_optimum(data, C, solver):
    X, y = data()
    binary = set(np.unique(y)) == {-1, 1}
    model = Binary(X.shape[1]) if binary else Multiclass(X.shape[1], y.max() + 1)
    result = solve(Problem(model, X, y, C), solver, tol=TOL)
    assert result.status is Status.CONVERGED
    assert result.gap <= TOL
    W = result.w if binary else result.w.reshape(X.shape[1], -1)
    assert result.primal == pytest.approx(hinge_objective(W, X, y, C), rel=1e-10)
    theirs = reference(data, C)
    assert result.dual <= theirs * (1 + 1e-12)
    assert result.primal == pytest.approx(theirs, rel=1e-5)

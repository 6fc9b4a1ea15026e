"""Optima of every loss, penalty and intercept against those of others, by an objective written out here.

P at the weights that another solver found is no less than the optimum, so no less than our lower bound; and
our own P is no more than it by 1e-6.
"""

from functools import cache

import numpy as np
import pytest
from losses.conic import optimum
from sklearn.linear_model import HuberRegressor, LogisticRegression, QuantileRegressor

import oneslack
from oneslack.losses import loss_of, names
from oneslack.models.linear.scalar import Linear

NEAR = 1e-6
C, SCALING = 0.7, 3.0
EPSILON, QUANTILE, DELTA = 0.4, 0.8, 0.9
N, D = 80, 5
INTERCEPTS = ("none", "free", "penalised")
#: Losses without kinks; those of classes are LinearSVC's, all of them L1Problem's.
SMOOTH = ("squared_hinge", "logistic", "squared_epsilon_insensitive", "huber")
CASES = [(loss, "l2", kind) for loss in (*names(True), *names(False)) for kind in INTERCEPTS]
CASES += [
    (loss, "l1", kind) for loss in SMOOTH for kind in INTERCEPTS if loss in names(True) or kind != "penalised"
]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) + np.array([1.0, 0.0, -0.5, 0.0, 0.0])
NUMBERS = X @ np.array([1.0, -2.0, 0.0, 0.5, 0.0]) + 1.5 + RNG.normal(size=N)
SIDES = np.where(NUMBERS > 1.0, 1.0, -1.0)
WEIGHTS = RNG.uniform(0.2, 2.0, N)


def targets(loss):
    return SIDES if loss in names(True) else NUMBERS


def losses(loss, z):
    """phi (n,), written out."""
    y = targets(loss)
    r, m = y - z, y * z
    far = np.maximum(np.abs(r) - EPSILON, 0.0)
    return {
        "hinge": np.maximum(0.0, 1.0 - m),
        "squared_hinge": np.maximum(0.0, 1.0 - m) ** 2,
        "logistic": np.logaddexp(0.0, -m),
        "epsilon_insensitive": far,
        "squared_epsilon_insensitive": far**2,
        "pinball": np.where(r > 0, QUANTILE * r, (QUANTILE - 1.0) * r),
        "huber": np.where(np.abs(r) <= DELTA, r**2 / 2, DELTA * np.abs(r) - DELTA**2 / 2),
    }[loss]


def objective(case, w, b, C=C, s=WEIGHTS):
    """P."""
    loss, penalty, intercept = case
    v = np.append(w, b / SCALING if intercept == "penalised" else 0.0)
    size = np.abs(v).sum() if penalty == "l1" else v @ v / 2
    return size + C * s @ losses(loss, X @ w + b)


@cache
def ours(case, C, weighted):
    """(lower bound, P) of a model that is certified to 1e-8."""
    loss, penalty, intercept = case
    given = {"sample_weight": WEIGHTS if weighted else None}
    if penalty == "l1" and loss in names(False):
        model = Linear(D, phi_of(loss), intercept == "free")
        result = oneslack.solve(oneslack.L1Problem(model, X, NUMBERS, C, **given), tol=1e-8)
        return result.dual, result.primal
    if loss in names(True):
        kind, form = oneslack.LinearSVC, {"penalty": penalty}
    else:
        kind, form = oneslack.LinearSVR, {"epsilon": EPSILON, "quantile": QUANTILE, "delta": DELTA}
    form |= {"fit_intercept": intercept != "none", "penalize_intercept": intercept == "penalised"}
    model = kind(C, loss=loss, intercept_scaling=SCALING, tol=1e-8, **form).fit(X, targets(loss), **given)
    return model.dual_objective_, model.objective_


def phi_of(loss):
    return loss_of(loss, oneslack.LinearSVR(epsilon=EPSILON, quantile=QUANTILE, delta=DELTA))


def agree(case, w, b, C=C, weighted=False):
    lower, upper = ours(case, C, weighted)
    theirs = objective(case, w, b, C, WEIGHTS if weighted else np.ones(N))
    assert lower <= theirs * (1 + 1e-12)
    assert upper == pytest.approx(theirs, rel=NEAR)


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_clarabel(case):
    loss, penalty, intercept = case
    scale = {"none": None, "free": 0.0, "penalised": 1.0 / SCALING}[intercept]
    found = optimum(phi_of(loss), X, targets(loss), C * WEIGHTS, penalty, scale)
    agree(case, *found, weighted=True)


#: LIBLINEAR's solvers, -s, and whether they can leave the intercept free, -R.
LIBLINEAR = {
    0: ("logistic", "l2", True), 1: ("squared_hinge", "l2", False), 2: ("squared_hinge", "l2", True),
    3: ("hinge", "l2", False), 5: ("squared_hinge", "l1", True), 6: ("logistic", "l1", True),
    7: ("logistic", "l2", False), 11: ("squared_epsilon_insensitive", "l2", True),
    12: ("squared_epsilon_insensitive", "l2", False), 13: ("epsilon_insensitive", "l2", False),
}  # fmt: skip


@pytest.mark.parametrize(
    ("number", "intercept"),
    [(number, kind) for number in LIBLINEAR for kind in INTERCEPTS if kind != "free" or LIBLINEAR[number][2]],
)
def test_liblinear(number, intercept):
    liblinear = pytest.importorskip("liblinear.liblinearutil")
    loss, penalty, _ = LIBLINEAR[number]
    C = 0.05 if number in (3, 13) else 0.7  # where 1000 passes, which end it, are enough
    options = f"-s {number} -c {C} -e 1e-9 -p {EPSILON} -q"
    options += {"none": "", "free": " -B 1 -R", "penalised": f" -B {SCALING}"}[intercept]
    model = liblinear.train(targets(loss), X, options)
    label = model.get_labels().index(1) if loss in names(True) else 0
    w = np.array([model.get_decfun_coef(k, label) for k in range(1, D + 1)])
    b = 0.0 if intercept == "none" else model.get_decfun_bias(label)
    agree((loss, penalty, intercept), w, b, C)


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_logistic_regression(intercept):
    model = LogisticRegression(C=C, fit_intercept=intercept == "free", tol=1e-12, solver="newton-cholesky")
    model.fit(X, SIDES, sample_weight=WEIGHTS)
    agree(
        ("logistic", "l2", intercept),
        model.coef_[0],
        model.intercept_[0] if intercept == "free" else 0.0,
        weighted=True,
    )


#: By the names that ReHLine knows; it has no intercept but as the weight of a column.
REHLINE = {
    "hinge": {"name": "svm"}, "squared_hinge": {"name": "squared svm"},
    "epsilon_insensitive": {"name": "svr", "epsilon": EPSILON}, "pinball": {"name": "QR", "qt": QUANTILE},
    "huber": {"name": "huber", "tau": DELTA},
}  # fmt: skip


@pytest.mark.parametrize("intercept", ["none", "penalised"])
@pytest.mark.parametrize("loss", REHLINE)
def test_rehline(loss, intercept):
    rehline = pytest.importorskip("rehline")
    rows = X if intercept == "none" else np.column_stack([X, np.full(N, SCALING)])
    model = rehline.plqERM_Ridge(REHLINE[loss], C=C, tol=1e-9, max_iter=1_000_000)
    w = model.fit(rows, targets(loss), sample_weight=WEIGHTS).coef_
    agree((loss, "l2", intercept), w[:D], 0.0 if intercept == "none" else SCALING * w[D], weighted=True)


def test_huber_regressor():
    """Its problem has a scale sigma, too: sum_i sigma + sigma H((y_i - z_i) / sigma) + alpha |w|^2, where
    H(t) = t^2 up to epsilon and 2 epsilon |t| - epsilon^2 beyond.  With delta = epsilon sigma

        sigma H(r / sigma) = 2 / sigma phi(r)

    so at its sigma the rest of it is 2 alpha (1/2 |w|^2 + C sum_i phi), C = 1 / (alpha sigma).
    """
    alpha, epsilon = 0.3, 1.35
    theirs = HuberRegressor(alpha=alpha, epsilon=epsilon, tol=1e-10, max_iter=10_000).fit(X, NUMBERS)
    C, delta = 1.0 / (alpha * theirs.scale_), epsilon * theirs.scale_
    ours = oneslack.LinearSVR(C, loss="huber", delta=delta, tol=1e-9).fit(X, NUMBERS)
    r = np.abs(NUMBERS - theirs.predict(X))
    assert 0 < (r > delta).sum() < N
    risk = np.where(r <= delta, r**2 / 2, delta * r - delta**2 / 2).sum()
    assert ours.objective_ == pytest.approx(theirs.coef_ @ theirs.coef_ / 2 + C * risk, rel=NEAR)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_quantile_regressor():
    """Its penalty is L1, so it is the same problem without one, where C is large."""
    theirs = QuantileRegressor(quantile=QUANTILE, alpha=0.0).fit(X, NUMBERS)
    least = losses("pinball", theirs.predict(X)).sum()
    C = 1e7
    ours = oneslack.LinearSVR(C, loss="pinball", quantile=QUANTILE, tol=1e-7).fit(X, NUMBERS)
    assert losses("pinball", ours.predict(X)).sum() == pytest.approx(least, rel=NEAR)
    assert ours.dual_objective_ <= C * least + theirs.coef_ @ theirs.coef_ / 2
    assert C * least <= ours.objective_ * (1 + 1e-9)

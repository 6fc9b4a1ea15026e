"""IntegerProgramme: its certificate recomputed, hidden costs found, files, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import minimize

import oneslack
from oneslack import IntegerCosts, IntegerProgramme, Programme
from oneslack.models.programme import Truth

HIDDEN = np.array([1.0, -0.5, 2.0])


def programmes(n, seed=0, m=6):
    """Knapsacks, solved by hidden costs that are below 0 for what is wanted."""
    rng = np.random.default_rng(seed)
    X = [Programme(rng.normal(size=(m, 3)), rng.integers(1, 5, size=(2, m)), ub=8) for _ in range(n)]
    return X, [IntegerCosts(3).decode(HIDDEN, x) for x in X]


def objective(w, X, Y, C):
    """P by all solutions."""
    model, total = IntegerCosts(3), 0.5 * w @ w
    for x, y in zip(X, Y, strict=True):
        truth = Truth(y, x.weights)
        own = model.joint_feature(x, y) @ w
        total += C * max(model.loss(truth, z) + model.joint_feature(x, z) @ w - own for z in model.outputs(x))
    return total


def optimum(X, Y, C):
    """The least P, by a QP over all solutions that knows nothing of ours: SLSQP with a slack a programme."""
    model, n = IntegerCosts(3), len(X)
    rows, losses = [], []
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        for z in model.outputs(x):
            rows.append(np.append(model.joint_feature(x, y) - model.joint_feature(x, z), np.eye(n)[i]))
            losses.append(model.loss(Truth(y, x.weights), z))
    A, b = np.array(rows), np.array(losses)
    start = np.append(np.zeros(3), np.full(n, b.max()))
    found = minimize(
        lambda v: 0.5 * v[:3] @ v[:3] + C * v[3:].sum(), start,
        jac=lambda v: np.append(v[:3], np.full(n, C)),
        constraints={"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
        method="SLSQP", options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    return found.fun


@pytest.mark.parametrize("given", [{}, {"mip_gap": 0.5}, {"solver": "one_slack"}])
def test_the_certificate_holds(given):
    X, Y = programmes(5)
    model = IntegerProgramme(C=0.5, tol=1e-5, **given).fit(X, Y)
    assert model.result_.certified
    assert model.duality_gap_ <= 1e-5
    assert objective(model.coef_, X, Y, 0.5) <= model.objective_ * (1 + 1e-12)
    best = optimum(X, Y, 0.5)
    assert model.dual_objective_ <= best * (1 + 1e-6)
    assert model.objective_ >= best * (1 - 1e-6)


def test_a_search_without_time_is_certified_all_the_same():
    """HiGHS may find nothing; the truth is a solution, and the relaxation a bound."""
    X, Y = programmes(3)
    model = IntegerProgramme(C=0.5, mip_time_limit=1e-9, tol=1e-9).fit(X, Y)
    assert model.result_.certified
    assert model.result_.status.name == "INFERENCE"
    assert model.result_.inference > 0.0
    assert model.dual_objective_ <= optimum(X, Y, 0.5) * (1 + 1e-6)
    assert objective(model.coef_, X, Y, 0.5) <= model.objective_ * (1 + 1e-12)


def test_hidden_costs_are_found():
    X, Y = programmes(40)
    X_test, Y_test = programmes(40, seed=1)
    model = IntegerProgramme(C=1.0).fit(X, Y)
    assert model.coef_ @ HIDDEN >= 0.97 * np.linalg.norm(model.coef_) * np.linalg.norm(HIDDEN)
    assert model.score(X_test, Y_test) > 0.9
    costs = model.costs(X_test[:1])[0]
    assert np.array_equal(costs, X_test[0].features @ model.coef_)


def test_weights_of_the_loss_and_of_examples_count():
    X, Y = programmes(4)
    heavy = [Programme(x.features, x.A, x.lb, x.ub, weights=2.0) for x in X]
    plain = IntegerProgramme(C=0.5, tol=1e-6).fit(X, Y)
    # H with twice the loss is 2 H(w / 2): with twice the C, P(w) = 4 times that of the others at w / 2.
    other = IntegerProgramme(C=1.0, tol=1e-6).fit(heavy, Y)
    assert other.objective_ == pytest.approx(4.0 * plain.objective_, rel=3e-6)
    twice = IntegerProgramme(C=0.5, tol=1e-6).fit(X, Y, sample_weight=[2, 2, 2, 2])
    once = IntegerProgramme(C=1.0, tol=1e-6).fit(X, Y)
    assert twice.objective_ == pytest.approx(once.objective_, rel=3e-6)


def test_saved_and_loaded(tmp_path):
    X, Y = programmes(4)
    model = IntegerProgramme(C=0.5, mip_gap=0.1).fit(X, Y)
    model.save(tmp_path / "model")
    loaded = oneslack.load(tmp_path / "model")
    assert isinstance(loaded, IntegerProgramme)
    assert np.array_equal(loaded.coef_, model.coef_)
    assert loaded.get_params() == model.get_params()
    assert all(np.array_equal(a, b) for a, b in zip(loaded.predict(X), model.predict(X), strict=True))


def test_what_is_refused():
    X, Y = programmes(2)
    fit = IntegerProgramme().fit
    with pytest.raises(TypeError, match=r"example 0: x is a ndarray, expected a oneslack\.Programme"):
        fit([X[0].features], Y[:1])
    with pytest.raises(ValueError, match=r"example 1: y has shape \(2,\), expected \(6,\)"):
        fit(X, [Y[0], [0, 1]])
    with pytest.raises(ValueError, match="example 0: the solution breaks its programme: constraint 0 is"):
        fit(X, [np.ones(6), Y[1]])
    with pytest.raises(ValueError, match=r"variable 0 is 0\.5, expected a whole number"):
        fit(X, [np.full(6, 0.5) * np.eye(6)[0], Y[1]])
    with pytest.raises(ValueError, match="example 1: the programme has 1 features, expected 3"):
        fit([X[0], Programme(np.ones((6, 1)))], Y)
    free = Programme(X[0].features, X[0].A, X[0].lb, X[0].ub, weights=0)
    with pytest.raises(ValueError, match="example 0: no variable has a weight in the loss"):
        fit([free], Y[:1])
    with pytest.raises(ValueError, match="mip_gap must be a number >= 0"):
        IntegerProgramme(mip_gap=-1).fit(X, Y)
    model = fit(X, Y)
    never = Programme(np.ones((2, 3)), [[1, 1]], lb=3)
    with pytest.raises(ValueError, match="example 0: no solution obeys the constraints"):
        model.predict([never])

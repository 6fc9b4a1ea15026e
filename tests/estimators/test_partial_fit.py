"""partial_fit: what its bounds are bounds of, whatever is forgotten."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from oneslack import Linear, LinearSVC, LinearSVR, Multiclass, Problem
from oneslack.estimators._shared.merging import merge
from oneslack.losses import (
    Hinge,
    Huber,
    Logistic,
    Pinball,
    SquaredHinge,
    SquaredTube,
    Tube,
    names,
)

N, D = 600, 5
NUMBERS = names(False)
#: Losses of two classes and of numbers; three classes have the hinge.
KINDS = [*names(True), "three", *NUMBERS]
ALL = [Hinge(), SquaredHinge(), Logistic(), Tube(0.3), SquaredTube(0.3), Pinball(0.8), Huber(0.5)]
each_kind = pytest.mark.parametrize("kind", KINDS)


def examples(kind, sparse=False):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, D))
    scores = X @ rng.normal(size=(D, 3)) + rng.normal(size=(N, 3))
    if kind in NUMBERS:
        y = scores[:, 0] + 4.0
    else:
        y = scores.argmax(axis=1) if kind == "three" else np.where(scores[:, 0] > 0.3, "in", "out")
    return sp.csr_array(X) if sparse else X, y, rng.uniform(0.5, 2.0, N)


def estimator(kind, **parameters):
    parameters = {"C": 0.5, "tol": 1e-4, **parameters}
    if kind in NUMBERS:
        return LinearSVR(loss=kind, epsilon=0.2, quantile=0.7, delta=0.5, **parameters)
    return LinearSVC(loss="hinge" if kind == "three" else kind, **parameters)


def in_portions(model, X, y, weights=None, size=100, **options):
    """Learn portion by portion; the bounds after each."""
    bounds = []
    for lo in range(0, N, size):
        part = slice(lo, lo + size)
        sample_weight = None if weights is None else weights[part]
        model.partial_fit(X[part], y[part], sample_weight=sample_weight, **options)
        bounds.append((model.dual_objective_, model.objective_))
    return np.array(bounds)


@pytest.mark.parametrize("solver", ["dual_cd", "newton"])
@pytest.mark.parametrize("sparse", [False, True])
@each_kind
def test_with_room_for_all_it_is_the_problem_of_all(kind, sparse, solver):
    X, y, weights = examples(kind, sparse)
    model, whole = estimator(kind, solver=solver), estimator(kind, tol=1e-6)
    in_portions(model, X, y, weights)
    whole.fit(X, y, sample_weight=weights)
    assert (model.n_seen_, model.n_forgotten_) == (N, 0)
    assert model.dual_objective_ <= whole.objective_ * (1 + 1e-9)
    assert whole.dual_objective_ * (1 - 1e-9) <= model.objective_ <= whole.objective_ * (1 + 2e-4)
    assert model.duality_gap_ <= 1e-4


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("solver", ["dual_cd", "newton"])
@each_kind
def test_the_lower_bound_holds_whatever_is_forgotten(kind, solver, intercept):
    X, y, weights = examples(kind)
    options = {"solver": solver, "fit_intercept": intercept}
    for memory in ("8KB", "3KB"):
        model = estimator(kind, **options)
        bounds = in_portions(model, X, y, weights, memory=memory)
        assert model.n_forgotten_ > N // 4
        assert len(model._kept[0].y) - model._kept[0].n_merged < N // 2
        for k, (dual, _) in enumerate(bounds):
            seen = slice(0, 100 * (k + 1))
            whole = estimator(kind, **options).fit(X[seen], y[seen], sample_weight=weights[seen])
            assert dual <= whole.objective_ * (1 + 1e-9)
        # It is a good one, and so is the model.
        assert bounds[-1, 0] >= (0.8 if kind == "logistic" else 0.9) * whole.dual_objective_
        assert model.score(X, y) >= whole.score(X, y) - 0.15 * max(abs(whole.score(X, y)), 1.0)


@each_kind
def test_a_portion_never_lowers_the_bound(kind):
    X, y, _ = examples(kind)
    dual = in_portions(estimator(kind, tol=1e-6), X, y, memory="4KB")[:, 0]
    assert (np.diff(dual) >= -1e-6 * dual[1:]).all()


@pytest.mark.parametrize("phi", ALL, ids=str)
@pytest.mark.parametrize("intercept", [False, True])
def test_merged_examples_lie_under_all_of_them(phi, intercept):
    """At any w, and with the same sum of duals; what D loses is known."""
    rng = np.random.default_rng(0)
    X, s, p = rng.normal(size=(50, 4)), rng.uniform(0.5, 2.0, 50), rng.random(50) * min(phi.steepest, 3.0)
    y = np.where(rng.random(50) > 0.5, 1.0, -1.0) if phi.has_sides else rng.normal(size=50)
    p = y * p if phi.has_sides else rng.choice([-1.0, 1.0], 50) * p
    p = np.clip(p, *phi.bounds(y, 1.0))
    whole, small, merged = _merged(Linear(4, phi, intercept), X, y, s, p)
    np.testing.assert_allclose(_sum(whole, p), _sum(small, merged), rtol=1e-10, atol=1e-12)
    lost = whole.shares.linear(p) - small.shares.linear(merged)
    if phi.steepest == np.inf or phi.stiffest == np.inf:
        assert lost == pytest.approx(0.0, abs=1e-10)
    assert -1e-10 <= lost <= 0.7 * float(s @ np.abs(p))
    assert small.n <= 16
    for size in (0.1, 1.0, 10.0):
        for _ in range(50):
            w = size * rng.normal(size=4 + intercept)
            assert small.primal(w) <= whole.primal(w) * (1 + 1e-12)


def test_merged_examples_of_classes_leave_the_dual_as_it_was():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50)
    X, s = rng.normal(size=(50, 4)), rng.uniform(0.5, 2.0, 50)
    whole, small, merged = _merged(Multiclass(4, 3, True), X, y, s, P)
    np.testing.assert_allclose(_sum(whole, P), _sum(small, merged), rtol=1e-10)
    assert whole.shares.linear(P) == pytest.approx(small.shares.linear(merged), rel=1e-10)
    w = rng.normal(size=15)
    assert small.primal(w) <= whole.primal(w)


def _merged(model, X, y, s, shares):
    whole = Problem(model, X, y, 0.7, sample_weight=s)
    rows, targets, weights, merged = (
        np.concatenate(part) for part in zip(*merge(model, whole.data, shares), strict=True)
    )
    return whole, Problem(model, rows, targets, 0.7, sample_weight=weights), merged


def _sum(problem, shares):
    return problem.scores.adjoint(problem.model.coefficients(problem.data, shares))


def test_one_problem_a_class():
    X, y, _ = examples("three")
    model, whole = LinearSVC(0.5, multi_class="ovr"), LinearSVC(0.5, multi_class="ovr").fit(X, y)
    in_portions(model, X, y, memory="300KB")
    assert model.n_forgotten_ == 0
    assert model.dual_objective_ <= whole.objective_
    assert whole.dual_objective_ <= model.objective_
    model = LinearSVC(0.5, multi_class="ovr")
    assert in_portions(model, X, y, memory="9KB")[-1, 0] <= whole.objective_
    assert model.n_forgotten_ > N // 4


def test_classes_are_named_at_the_first_call():
    X, y, _ = examples("three")
    model = LinearSVC().partial_fit(X[y < 2], y[y < 2], classes=[2, 1, 0])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.shape == (3, D)
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match="y has a label that is not among the classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="classes are not those of the first call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="X has 4 features, but LinearSVC is expecting 5"):
        model.partial_fit(X[:, :4], y)


def test_a_fit_begins_anew_and_portions_survive_a_pickle():
    X, y, _ = examples("hinge")
    model = LinearSVC().partial_fit(X[:300], y[:300])
    other = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[300:], y[300:])
    other.partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    model.fit(X[:100], y[:100])
    assert model.partial_fit(X[:50], y[:50]).n_seen_ == 50


def test_what_portions_cannot_have_is_refused():
    X, y, _ = examples("three")
    with pytest.raises(ValueError, match="partial_fit knows no C='auto', class_weight='balanced'"):
        LinearSVC(class_weight="balanced").partial_fit(X, y)


def test_a_solver_without_duals_is_replaced():
    X, y, _ = examples("hinge")
    assert LinearSVC(solver="one_slack").partial_fit(X, y).result_.solver == "newton"


def test_one_class_in_the_first_portion_needs_the_others_names():
    X, y, _ = examples("hinge")
    with pytest.raises(ValueError, match="y has only one class"):
        LinearSVC().partial_fit(X[y == "in"], y[y == "in"])
    model = LinearSVC().partial_fit(X[y == "in"], y[y == "in"], classes=["in", "out"])
    assert set(clone(model).fit(X, y).predict(X)) == {"in", "out"}


@each_kind
def test_without_the_forgotten_examples_nothing_is_certified(kind):
    X, y, _ = examples(kind)
    model = estimator(kind)
    in_portions(model, X, y)
    assert model._is_certified()
    model = estimator(kind)
    in_portions(model, X, y, memory="3KB")
    assert model.n_forgotten_ > 0
    assert not model._is_certified()


def test_all_may_be_forgotten_and_nothing_merged():
    X, y, _ = examples("epsilon_insensitive")
    X = np.tile(X, 40)  # not one row fits into 1 KB
    for rows in (X, sp.csr_array(X)):
        model = LinearSVR(epsilon=100.0, fit_intercept=False).partial_fit(rows, y, memory="1KB")
        assert model.n_forgotten_ == N
        assert model._kept[0].X.shape == (0, 40 * D)
        model.epsilon = 0.1
        assert model.partial_fit(rows, y).objective_ > 0.0


def interrupted(*arguments):
    """Steps of a solver, of which not even the first ends."""
    raise KeyboardInterrupt
    yield


@pytest.mark.parametrize("solver", ["dual_cd", "newton"])
@each_kind
def test_ctrl_c_in_the_first_step_loses_no_portion(kind, solver, monkeypatch):
    from oneslack import DualCD, Newton

    X, y, _ = examples(kind)
    whole = estimator(kind, tol=1e-6).fit(X, y)
    for lost in (0, 2):
        model = estimator(kind, solver=solver)
        for k in range(3):
            part = slice(200 * k, 200 * (k + 1))
            with monkeypatch.context() as patch:
                if k == lost:
                    patch.setattr(DualCD, "steps", interrupted)
                    patch.setattr(Newton, "steps", interrupted)
                with pytest.raises(KeyboardInterrupt) if k == lost else nullcontext():
                    model.partial_fit(X[part], y[part])
        assert model.n_seen_ == N
        model.partial_fit(X[:1], y[:1], sample_weight=[1e-9])
        assert model.dual_objective_ <= whole.objective_ * (1 + 1e-6)
        assert whole.dual_objective_ * (1 - 1e-6) <= model.objective_ <= whole.objective_ * (1 + 2e-4)

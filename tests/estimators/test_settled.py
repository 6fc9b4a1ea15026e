"""What is said of the optimum holds: its scores lie within the bounds, and what is certain it predicts."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few

import oneslack
from oneslack import KernelSVC, LinearSVC, LinearSVR, MetricSVC, OrdinalSVC, RankSVM
from oneslack.objective import middle_radius, radius_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

COST = [[0.0, 1.0, 3.0], [0.5, 0.0, 1.0], [2.0, 1.0, 0.0]]
LOSSES = ("hinge", "squared_hinge", "logistic")
NUMBERS = ("epsilon_insensitive", "squared_epsilon_insensitive", "pinball", "huber")
CASES = (
    [
        (LinearSVC, 2, {"loss": loss, **intercept})
        for loss in LOSSES
        for intercept in (
            {},
            {"fit_intercept": False},
            {"penalize_intercept": True, "intercept_scaling": 3.0},
            {"scale": [0.5, 2.0, 1.0], "prior": [0.3, 0.0, -0.2], "nonnegative": [0]},
        )
    ]
    + [
        (LinearSVC, 2, {"solver": solver, "fit_intercept": free})
        for solver in ("newton", "dual_cd", "one_slack", "dual_newton")
        for free in (False, True)
    ]
    + [(LinearSVC, 2, {"class_weight": {0: 3.0, 1: 0.5}}), (LinearSVC, 2, {"scale": 0.2})]
    + [
        (LinearSVC, 3, {**given, "fit_intercept": free})
        for given in (
            {},
            {"loss": COST},
            {"scale": [0.5, 2.0, 1.0], "prior": [0.1, 0.2, 0.3]},
            {"scale": [[0.5, 2.0, 1.0], [1.0, 1.0, 1.0], [3.0, 1.0, 0.7]], "nonnegative": True},
            {"multi_class": "ovr"},
            {"loss": "squared_hinge"},
            {"loss": "logistic"},
        )
        for free in (False, True)
    ]
    + [(LinearSVR, 0, {"loss": loss, "fit_intercept": free}) for loss in NUMBERS for free in (False, True)]
    + [(LinearSVR, 0, {"epsilon": 0.5, "scale": 2.0, "nonnegative": True})]
    + [(LinearSVR, 0, {"epsilon": 0.5, "penalize_intercept": True})]
    + [(OrdinalSVC, 4, {}), (RankSVM, 4, {}), (RankSVM, 4, {"kernel": "rbf", "n_basis": 7})]
    + [(MetricSVC, 2, {"metric": metric}) for metric in ("error", "f1", "roc_auc", "prbep")]
    + [(MetricSVC, 3, {"metric": "f1"}), (MetricSVC, 2, {"metric": "f1", "fit_intercept": False})]
)
NAMES = [f"{kind.__name__}-{n}-{'-'.join(f'{k}={v}' for k, v in given.items())}" for kind, n, given in CASES]


def drawn(seed, n_outputs):
    """(X (n, 3), y, weights or None, rows to predict)."""
    rng = np.random.default_rng([seed, n_outputs])
    n = int(rng.integers(6, 60))
    X = rng.normal(size=(n, 3)) * rng.uniform(0.3, 3.0) + rng.choice([0.0, 3.0])
    rule = X @ rng.normal(size=3) + rng.normal(size=n) * rng.choice([0.0, 0.5, 2.0])
    if n_outputs == 0:
        y = rule * rng.choice([0.1, 10.0]) + rng.choice([0.0, 50.0])
    else:
        y = np.argsort(np.argsort(rule)) * n_outputs // n
    weights = rng.choice([0.5, 1.0, 4.0], n) if rng.random() < 0.4 else None
    far = rng.normal(size=(20, 3)) * 10.0 ** rng.uniform(-2, 2, (20, 1))
    return X, y, weights, np.vstack([X, far, np.zeros(3)])


def fitted(kind, given, X, y, weights, **more):
    model = kind(**given, **more)
    return model.fit(X, y) if kind is MetricSVC else model.fit(X, y, sample_weight=weights)


def best(kind, given, X, y, weights, C):
    """As near to the optimum as rounding lets one get, with bounds of its own."""
    tries = [fitted(kind, given, X, y, weights, C=C, tol=tol) for tol in (1e-10, 1e-11)]
    return min(tries, key=lambda model: max(model._radii))


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.parametrize("seed", few(range(40), 1))
def test_the_optimum_is_where_it_is_said_to_be(case, seed):
    kind, n_outputs, given = case
    X, y, weights, rows = drawn(seed, n_outputs)
    rng = np.random.default_rng(seed)
    C = float(10.0 ** rng.uniform(-2, 2))
    optimum = best(kind, given, X, y, weights, C)
    low, high = optimum.decision_bounds(rows)
    for tol, max_iter in ((0.3, 100_000), (1e-2, 100_000), (1e-4, 100_000), (1e-9, 2)):
        model = fitted(kind, given, X, y, weights, C=C, tol=tol, max_iter=max_iter)
        if kind is MetricSVC and model._sees_order_alone():
            model.intercept_ = optimum.intercept_  # a threshold is no part of the problem
        lower, upper = model.decision_bounds(rows)
        assert (lower <= high).all()
        assert (low <= upper).all()
        if not hasattr(model, "certain") or kind in (OrdinalSVC, RankSVM):
            continue
        both = model.certain(rows) & optimum.certain(rows)
        assert (model.predict(rows)[both] == optimum.predict(rows)[both]).all()


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.parametrize("block", few(range(5), 1))
def test_an_optimum_of_gap_1e_10_contradicts_nothing_that_is_settled(case, block):
    """Taken as it is: what is settled it predicts, and its scores lie within the bounds."""
    kind, n_outputs, given = case
    for seed in range(100 + 20 * block, 120 + 20 * block):  # one that rounding lets come so near
        X, y, weights, rows = drawn(seed, n_outputs)
        optimum = fitted(kind, given, X, y, weights, C=0.1, tol=1e-10, max_iter=500)
        if optimum.duality_gap_ <= 1e-10:
            break
    assert optimum.duality_gap_ <= 1e-10
    low, high = optimum.decision_bounds(rows)  # an intercept may not be determined: then any within these
    for tol in (1e-2, 1e-3, 1e-4):
        model = fitted(kind, given, X, y, weights, C=0.1, tol=tol)
        if kind is MetricSVC and model._sees_order_alone():
            model.intercept_ = optimum.intercept_
        lower, upper = model.decision_bounds(rows)
        assert (lower <= high).all()
        assert (low <= upper).all()
        if kind is OrdinalSVC:
            model.thresholds_ = optimum.thresholds_
        if kind is RankSVM:
            settled, same = model.certain(rows), model.rank(rows) == optimum.rank(rows)
        elif hasattr(model, "certain"):
            settled, same = model.certain(rows), model.predict(rows) == optimum.predict(rows)
        else:  # numbers
            settled, same = np.full(len(rows), tol < 1.0), (lower <= high) & (low <= upper)
        assert same[settled].all()


@pytest.mark.parametrize("kind", [OrdinalSVC, RankSVM])
@pytest.mark.parametrize("seed", few(range(40), 3))
def test_orders_that_are_certain_are_those_of_the_optimum(kind, seed):
    X, y, weights, rows = drawn(seed, 4)
    optimum = best(kind, {}, X, y, weights, 1.0)
    for tol in (0.1, 1e-3, 1e-5):
        model = fitted(kind, {}, X, y, weights, C=1.0, tol=tol)
        settled = model.certain(rows)
        if kind is RankSVM:
            groups = np.arange(len(rows)) % 3
            settled = model.certain(rows, groups) & optimum.certain(rows, groups)
            same = model.rank(rows, groups) == optimum.rank(rows, groups)
        else:
            optimum.thresholds_ = model.thresholds_
            settled &= optimum.certain(rows)
            same = model.predict(rows) == optimum.predict(rows)
        assert same[settled].all()


def test_several_labels_are_settled_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 3)) > 0.2).astype(int)
    rough, fine = (MetricSVC("f1", C=0.1, tol=tol).fit(X, Y) for tol in (1e-4, 1e-10))
    both = rough.certain(X) & fine.certain(X)
    assert both.mean() > 0.5
    assert (rough.predict(X)[both] == fine.predict(X)[both]).all()


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "laplacian"])
@pytest.mark.parametrize(("n_outputs", "given"), [(2, {}), (3, {}), (3, {"multi_class": "ovr"})])
def test_kernels_have_bounds_in_their_space(kernel, n_outputs, given):
    X, y, weights, rows = drawn(6, n_outputs)
    optimum, *models = (
        KernelSVC(C=2.0, kernel=kernel, degree=2, coef0=1.0, tol=tol, method="exact", **given).fit(
            X, y, weights
        )
        for tol in (1e-9, 0.1, 1e-3, 1e-6)
    )
    models.append(models[-1].reduce(0.1))
    low, high = optimum.decision_bounds(rows)
    for model in models:
        lower, upper = model.decision_bounds(rows)
        assert (lower <= high).all()
        assert (low <= upper).all()
        both = model.certain(rows) & optimum.certain(rows)
        assert (model.predict(rows)[both] == optimum.predict(rows)[both]).all()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"fit_intercept": True, "method": "exact"}, "fit_intercept=False"),
        ({"method": "basis", "n_basis": 5}, "is an estimate"),
        ({"method": "constant"}, "is an estimate"),
    ],
)
def test_kernels_without_a_proof_are_refused(given, why):
    X, y, _, _ = drawn(6, 2)
    with pytest.raises(ValueError, match=why):
        KernelSVC(**given).fit(X, y).certain(X)


def test_a_close_model_settles_most_predictions():
    X, y, _, _ = drawn(3, 2)
    shares = [LinearSVC(tol=tol).fit(X, y).certain(X).mean() for tol in (1e-2, 1e-4, 1e-8)]
    assert shares[0] <= shares[-1]
    assert shares[-1] > 0.9


# The bounds are tight where they can be: half the radius would be wrong.


def at_zero(C, n):
    """Twins (-1, 0), (1, 1), of which the model has w = 0."""
    X, y = np.repeat([[-1.0], [1.0]], n, axis=0), np.repeat([0, 1], n)
    model = LinearSVC(C=C, fit_intercept=False, tol=1e-9).fit(X, y)
    optimum = model.coef_[0, 0]
    model.coef_[:] = 0.0
    return model, optimum


@pytest.mark.parametrize(
    ("C", "dual", "apart"),
    [
        # All hinges are active on the way: P falls by 1/2 |w*|^2 exactly, and D is the optimum itself.
        (0.1, 2 * 0.1 - 0.5 * 0.2**2, 0.2),
        # The dual point is w = 0 as well; the optimum is at the kink, halfway between both bounds.
        (0.5, 0.0, 0.0),
    ],
)
def test_the_radius_is_tight(C, dual, apart):
    model, optimum = at_zero(C, 1)
    assert np.isclose(optimum, 2 * C, rtol=1e-4)
    radius = radius_of(2 * C - dual, apart)
    assert np.isclose(radius, optimum, rtol=1e-4)
    model._radii, model._middle = [radius], None
    assert model.decision_bounds([[1.0]])[1][0] >= 2 * C
    model._radii = [0.5 * radius]
    assert model.decision_bounds([[1.0]])[1][0] < 2 * C


def test_halfway_to_the_dual_point_the_radius_is_tight_too():
    # As above with C = 0.5, and the dual point that has w_v = 1: P(0) = 1, D = 0.5 is the optimum.
    assert np.isclose(middle_radius(0.5, 1.0), 0.5)
    model, optimum = at_zero(0.5, 1)
    model._middle, model._radii = (np.array([[0.5]]), np.zeros(1)), [middle_radius(0.5, 1.0)]
    lower, upper = model.decision_bounds([[1.0]])
    assert upper[0] >= optimum
    assert np.allclose([lower[0], upper[0]], [0.0, 1.0], atol=1e-5)


def test_an_intercept_that_may_be_anywhere_is_not_said_to_be_known():
    # Both hinges are active for every b from -0.8 to 0.8, so the slope in b is 0 there: all are optima.
    model = LinearSVC(C=0.1, tol=1e-9).fit([[-1.0], [1.0]], [0, 1])
    lower, upper = model.decision_bounds([[0.0]])
    assert lower[0] <= -0.8 + 1e-4
    assert upper[0] >= 0.8 - 1e-4
    assert lower[0] > -1.0  # and not much farther
    assert upper[0] < 1.0
    assert model.certain([[-9.0], [-1.0], [1.0], [9.0]]).tolist() == [True, False, False, True]


def test_features_far_from_zero_cost_little():
    X, y, _, _ = drawn(7, 2)
    X = X - X.mean(axis=0)
    widths = []
    for shift in (0.0, 100.0):
        lower, upper = LinearSVC(tol=1e-4).fit(X + shift, y).decision_bounds(X + shift)
        widths.append((upper - lower).mean())
    assert widths[1] < 3 * widths[0]


# What is kept, and what is refused.


def test_sparse_and_dense_rows_have_the_same_bounds():
    X, y, _, rows = drawn(1, 2)
    model = LinearSVC().fit(X, y)
    for dense, sparse in zip(
        model.decision_bounds(rows), model.decision_bounds(sp.csr_matrix(rows)), strict=True
    ):
        assert np.allclose(dense, sparse)


@pytest.mark.parametrize("given", [{}, {"scale": {"a": 3.0}}, {"fit_intercept": False}])
@pytest.mark.parametrize("n_outputs", [2, 3])
def test_files_and_copies_know_what_the_model_knows(given, n_outputs, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, _, _ = drawn(2, n_outputs)
    X = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = LinearSVC(tol=1e-5, **given).fit(X, y)
    model.save(tmp_path / "model")
    for other in (oneslack.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert other._examples is None
        assert (other.certain(X) == model.certain(X)).all()
        for mine, its in zip(model.decision_bounds(X), other.decision_bounds(X), strict=True):
            assert (mine == its).all()


def test_an_older_file_loads_and_says_what_it_lacks(tmp_path):
    from oneslack.formats import load_model, save_model

    X, y, _, _ = drawn(2, 2)
    LinearSVC().fit(X, y).save(tmp_path / "model")
    header, arrays = load_model(tmp_path / "model")
    del header["certificate"]["radius"]
    save_model(tmp_path / "old", header, {k: v for k, v in arrays.items() if not k.startswith("optimum")})
    old = oneslack.load(tmp_path / "old")
    assert len(old.predict(X)) == len(X)
    with pytest.raises(ValueError, match="of an older oneslack"):
        old.certain(X)


def test_large_data_are_asked_for_again():
    X, y, weights, rows = drawn(4, 2)
    small = LinearSVC().fit(X, y, sample_weight=weights)

    class Frugal(LinearSVC):
        _keeps_up_to = 10

    large = Frugal().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"call bound_intercept\(X, y\)"):
        large.certain(rows)
    with pytest.raises(ValueError, match="give bound_intercept what fit got"):
        large.bound_intercept(X + 1.0, y, weights)
    assert (large.bound_intercept(X, y, weights).certain(rows) == small.certain(rows)).all()


def test_parameters_that_changed_are_noticed():
    X, y, _, _ = drawn(4, 2)
    model = LinearSVC().fit(X, y)
    model.set_params(C=7.0)
    with pytest.raises(ValueError, match="with the same parameters"):
        model.certain(X)


def test_an_l1_penalty_is_refused():
    X, y, _, _ = drawn(2, 2)
    model = LinearSVC(penalty="l1", loss="squared_hinge").fit(X, y)
    with pytest.raises(ValueError, match="not strongly convex"):
        model.certain(X)


def test_portions_that_were_forgotten_are_refused():
    rng = np.random.default_rng(0)
    model = LinearSVC(fit_intercept=False)
    for _ in range(3):
        X = rng.normal(size=(200, 5))
        model.partial_fit(X, (X[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int), memory=3000)
    assert model.n_forgotten_
    with pytest.raises(ValueError, match="partly forgotten"):
        model.decision_bounds(X)


def test_portions_that_are_all_remembered_are_as_good():
    X, y, _, rows = drawn(5, 2)
    optimum = best(LinearSVC, {}, X, y, None, 1.0)
    model = LinearSVC().partial_fit(X[:5], y[:5], classes=[0, 1]).partial_fit(X[5:], y[5:])
    with pytest.raises(ValueError, match="bound_intercept"):
        model.decision_bounds(rows)
    lower, upper = model.bound_intercept(X, y).decision_bounds(rows)
    low, high = optimum.decision_bounds(rows)
    assert (lower <= high).all()
    assert (low <= upper).all()


def test_a_chosen_C_is_the_one_that_counts():
    X, y, _, rows = drawn(11, 2)
    model = LinearSVC(C="auto").fit(np.vstack([X] * 3), np.tile(y, 3))
    lower, upper = model.decision_bounds(rows)
    assert ((lower <= model.decision_function(rows)) & (model.decision_function(rows) <= upper)).all()


def test_shards_are_read_again(tmp_path):
    X, y, _, rows = drawn(8, 2)
    with oneslack.formats.ShardWriter(tmp_path / "packed", dtype="float64", shard_size="1KB") as writer:
        writer.append(X, y)
    shards = oneslack.formats.open_shards(tmp_path / "packed")
    model = LinearSVC().fit(shards)
    with pytest.raises(ValueError, match="bound_intercept"):
        model.certain(rows)
    lower, upper = model.bound_intercept(shards).decision_bounds(rows)
    low, high = best(LinearSVC, {}, X, y, None, 1.0).decision_bounds(rows)
    assert (lower <= high).all()
    assert (low <= upper).all()
    assert (model.certain(shards) == model.certain(X)).all()

"""Latent variables: convex problems against a QP, an objective that never rises, what is carried over."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few
from reference import Reference
from sklearn.exceptions import ConvergenceWarning

import oneslack
from oneslack import LatentStructuralSVM, LatentSVM, Problem, Status, check_latent_model, solve
from oneslack.checks.brute import all_cuts
from oneslack.checks.model import ModelError
from oneslack.latent.concave_convex import Rounds
from oneslack.memory.moved_cuts import move_cuts
from oneslack.memory.remembered import Remembered
from oneslack.models.latent import NO, CompletedBinary, CompletedStructural
from oneslack.solvers.dual_cd import DualCD

SOLVERS = ("dual_cd", "n_slack", "one_slack")


class Windows:
    """x (places, d): one of the places shows the object."""

    def __init__(self, d, sparse=False):
        self.n_params, self.sparse = d + 1, sparse

    def feature(self, x, h):
        phi = np.append(x[h], 1.0)
        return sp.csr_array(phi[None]) if self.sparse else phi

    def best(self, w, x):
        return int((x @ w[:-1]).argmax())


class Subclasses:
    """x (d,): a class is several sub-classes, and which one is latent."""

    def __init__(self, d, K=2, M=3):
        self.d, self.K, self.M, self.n_params = d, K, M, d * K * M

    def joint_feature(self, x, y, h):
        psi = np.zeros((self.K, self.M, self.d))
        psi[y, h] = x
        return psi.ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def scores(self, w, x):
        return w.reshape(self.K, self.M, self.d) @ x

    def decode(self, w, x, y=None):
        scores = self.scores(w, x)
        if y is not None:
            scores = scores + (np.arange(self.K) != y)[:, None]
        return divmod(int(scores.argmax()), self.M)

    def complete(self, w, x, y):
        return int(self.scores(w, x)[y].argmax())


def windows(seed, n=24, places=5, d=4):
    rng = np.random.default_rng(seed)
    X = list(rng.normal(size=(n, places, d)))
    y = np.where(np.arange(n) % 2, 1, -1)
    where = rng.integers(0, places, n)
    for x, label, h in zip(X, y, where, strict=True):
        if label > 0:
            x[h] += 1.2
    return X, y, where


def subclasses(seed, n=40):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(2, 3, 4)) * 2
    Y, kinds = rng.integers(0, 2, n), rng.integers(0, 3, n)
    return [
        np.append(centres[y, k] + 0.7 * rng.normal(size=4), 1.0) for y, k in zip(Y, kinds, strict=True)
    ], Y.tolist()


def binary_objective(model, w, X, y, C):
    """L(w), by its definition."""
    scores = [max(float(np.sum(model.feature(x, h) @ w)) for h in range(len(x))) for x in X]
    return 0.5 * w @ w + C * np.sum(np.maximum(0.0, 1.0 - y * np.array(scores)))


def structural_objective(model, w, X, Y, C):
    total = 0.5 * w @ w
    for x, y in zip(X, Y, strict=True):
        scores = model.scores(w, x)
        total += C * ((scores + (np.arange(model.K) != y)[:, None]).max() - scores[y].max())
    return total


def falls(rounds):
    """The objective of each start never rises, annealed rounds aside; no round ends above its beginning."""
    for start in {entry.start for entry in rounds}:
        mine = [entry for entry in rounds if entry.start == start and not entry.annealed]
        assert all(entry.convex <= entry.objective for entry in mine)
        assert all(after.objective <= before.convex * (1 + 1e-12) for before, after in pairwise(mine))
    return True


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", few(range(6), 2))
def test_two_classes(seed, solver):
    X, y, _ = windows(seed)
    model = Windows(4, sparse=seed % 2)
    svm = LatentSVM(model, C=0.5, solver=solver, n_starts=2, random_state=seed, outer_tol=0.0).fit(X, y)
    assert falls(svm.rounds_)
    assert svm.objective_ == pytest.approx(binary_objective(model, svm.coef_, X, y, 0.5), rel=1e-9)
    assert svm.objective_ <= min(entry.convex for entry in svm.rounds_) * (1 + 1e-12)
    assert (svm.inner_gaps_ <= 1e-3).all()
    assert len(svm.outer_objectives_) == len(svm.rounds_)
    assert not svm.result_.certified
    # It is a fixed point: completed again at w, the convex problem has little to give.
    completed = CompletedBinary(model, bool(seed % 2))
    truths = [completed.complete(svm.coef_, x, completed.truth(label)) for x, label in zip(X, y, strict=True)]
    assert solve(Problem(completed, X, truths, 0.5), tol=1e-4).dual >= svm.objective_ * (1 - 5e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", few(range(6), 2))
def test_structural(seed, solver):
    X, Y = subclasses(seed)
    model = Subclasses(5)
    svm = LatentStructuralSVM(model, C=0.3, solver=solver, n_starts=2, random_state=seed).fit(X, Y)
    assert falls(svm.rounds_)
    assert svm.objective_ == pytest.approx(structural_objective(model, svm.coef_, X, Y, 0.3), rel=1e-9)
    assert svm.score(X, Y) == np.mean([model.decode(svm.coef_, x)[0] == y for x, y in zip(X, Y, strict=True)])
    assert svm.predict(X) == [y for y, _ in svm.predict_latent(X)]


@pytest.mark.parametrize("seed", few(range(5), 2))
@pytest.mark.parametrize("given", [{}, {"prior": 0.3, "scale": 2.0, "nonnegative": [0, 1]}])
def test_the_convex_problems_are_those_of_the_paper(seed, given):
    """A.4: positives at their completed place, negatives at all, margins of 1."""
    X, y, where = windows(seed)
    model = Windows(4)
    completed = CompletedBinary(model)
    truths = [completed.truth(label, h) for label, h in zip(y, where, strict=True)]
    problem = Problem(completed, X, truths, 0.5, **given)
    rows, index = [], []
    for i, (x, truth) in enumerate(zip(X, truths, strict=True)):
        mine = [model.feature(x, *truth)] if truth else [-model.feature(x, h) for h in range(len(x))]
        rows += [*mine, np.zeros(model.n_params)]
        index += [i] * (len(mine) + 1)
    losses = np.array([float(np.any(row)) for row in rows])
    held = None
    if given:
        held = np.arange(5) < 2
        given = {"prior": np.full(5, 0.3), "scale": np.full(5, 2.0), "nonnegative": held}
    lower, upper, _ = Reference.of_cuts(
        np.array(rows), losses, np.array(index), np.full(24, 0.5), **given
    ).solve()
    for solver in SOLVERS:
        result = solve(problem, solver, tol=1e-5)
        assert result.status is Status.CONVERGED
        assert lower * (1 - 1e-7) <= result.primal <= upper * (1 + 2e-5)
        assert result.dual <= upper * (1 + 1e-7)


@pytest.mark.parametrize(
    "given", [{}, {"scale": np.linspace(0.5, 2, 30)}, {"nonnegative": True, "prior": 0.1}]
)
def test_moved_cuts_are_cuts_of_the_new_problem(given):
    X, Y = subclasses(1)
    completed = CompletedStructural(Subclasses(5))
    rng = np.random.default_rng(0)
    old, new = ([(y, int(h)) for y, h in zip(Y, rng.integers(0, 3, len(Y)), strict=True)] for _ in range(2))
    new[:10] = old[:10]
    problem, after = (Problem(completed, X, truths, 0.3, **given) for truths in (old, new))
    state = solve(problem, DualCD(), tol=1e-3).state["store"]
    changed = [i for i in range(len(Y)) if old[i] != new[i]]
    moves = sp.csr_array(
        [completed.joint_feature(X[i], new[i]) - completed.joint_feature(X[i], old[i]) for i in changed]
    )
    curvature = problem.regulariser.curvature
    moved = move_cuts(state, changed, moves, None if curvature is None else 1.0 / curvature)
    store = Remembered(after, after.C * after.data.weights)
    store.restore_at_other_C(moved, 1.0)
    # Rows are those of some output, with its loss; products are theirs.
    outputs = [(y, h) for y in range(2) for h in range(3)]
    arena = store.arena
    rows = np.zeros((arena.n_rows, after.n_params))
    for j in range(len(rows)):
        store.sum(np.array([j]), np.ones(1), rows[j])
    metric = np.ones(30) if curvature is None else 1.0 / curvature
    for i in range(len(Y)):
        truth = completed.joint_feature(X[i], new[i])
        slots = store.slots[store.base[i] : store.base[i] + store.counts[i]]
        for a, j in enumerate(slots):
            candidates = [
                z for z in outputs
                if np.allclose(rows[j], truth - completed.joint_feature(X[i], z))
            ]  # fmt: skip
            assert any(completed.loss(new[i], z) == arena.b[j] for z in candidates)
            for b in range(a + 1):
                product = store.gram[store.gram_base[i] + a * (a + 1) // 2 + b]
                assert product == pytest.approx(rows[j] * metric @ rows[slots[b]], abs=1e-9)
    # The duals are feasible, so that their value is a bound; and it is a good one.
    optimum = solve(after, DualCD(), tol=1e-6)
    assert store.dual <= optimum.primal * (1 + 1e-9)
    result = solve(after, DualCD(), tol=1e-5, start={"cuts": (moved, 1.0)})
    assert result.primal == pytest.approx(optimum.primal, rel=1e-4)
    assert result.trace.column("dual").max() <= optimum.primal * (1 + 1e-9)


def test_a_few_other_truths_cost_little():
    """What carrying cuts over is for: the bound is nearly there before anyone is asked."""
    X, Y = subclasses(1, n=120)
    completed = CompletedStructural(Subclasses(5))
    rng = np.random.default_rng(0)
    old = [(y, int(h)) for y, h in zip(Y, rng.integers(0, 3, len(Y)), strict=True)]
    new = [(y, (h + (i < 6)) % 3) for i, (y, h) in enumerate(old)]
    problem, cold, warm = (Problem(completed, X, truths, 0.3) for truths in (old, new, new))
    state = solve(problem, DualCD(), tol=1e-4).state
    procedure = Rounds(completed, X, old, {"C": 0.3}, {})
    start = procedure._carried(state, warm, old, new, list(range(6)))
    anew, carried = solve(cold, DualCD(), tol=1e-4), solve(warm, DualCD(), tol=1e-4, start=start)
    assert carried.primal == pytest.approx(anew.primal, rel=2e-4)
    assert warm.work.oracle_calls < 0.7 * cold.work.oracle_calls


def test_given_values_are_where_it_begins():
    X, y, where = windows(0)
    svm = LatentSVM(Windows(4), max_rounds=1).fit(X, y, H=where)
    assert len(svm.rounds_) == 1
    completed = CompletedBinary(Windows(4))
    truths = [completed.truth(label, h) for label, h in zip(y, where, strict=True)]
    assert svm.rounds_[0].convex == pytest.approx(
        solve(Problem(completed, X, truths), tol=1e-5).primal, rel=2e-3
    )
    assert truths[0] == NO


def test_more_starts_are_never_worse_and_the_seed_decides():
    X, Y = subclasses(4)
    one, again, five = (
        LatentStructuralSVM(Subclasses(5), C=0.3, n_starts=n, random_state=7).fit(X, Y) for n in (1, 1, 5)
    )
    assert np.array_equal(one.coef_, again.coef_)
    assert five.objective_ <= one.objective_
    assert {entry.start for entry in five.rounds_} == set(range(5))
    assert "the best of 5 starts" in five.result_.reason


def test_annealed_rounds_come_first():
    X, Y = subclasses(2)
    svm = LatentStructuralSVM(Subclasses(5), annealing=3, random_state=1).fit(X, Y)
    assert [entry.annealed for entry in svm.rounds_][:4] == [True, True, True, False]
    assert falls(svm.rounds_)


def test_weights_may_be_held():
    X, y, _ = windows(5)
    svm = LatentSVM(Windows(4), nonnegative=[0, 1, 2, 3], prior=[0.1] * 5).fit(X, y)
    assert (svm.coef_[:4] >= 0).all()
    assert falls(svm.rounds_)


def test_a_limit_of_time_ends_all_starts():
    X, y, _ = windows(0, n=60)
    with warnings.catch_warnings():
        # Said only where the limit falls into the start that turns out to be the best.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm = LatentSVM(Windows(4), n_starts=1000, time_limit=0.05, tol=1e-9).fit(X, y)
    assert len({entry.start for entry in svm.rounds_}) < 1000
    assert svm.coef_.shape == (5,)


def test_a_callback_stops():
    X, Y = subclasses(2)
    model = CompletedStructural(Subclasses(5))
    truths = [model.truth(y, 0) for y in Y]
    seen = []

    def enough(entry):
        seen.append(entry)
        return len(seen) == 2

    rounds = Rounds(model, X, truths, {"C": 1.0}, {"tol": 1e-3}, outer_tol=0.0, on_round=[enough])
    path, told = rounds.best_of(4, 0)
    assert len(seen) == len(told) == 2
    assert path.objective <= seen[-1].convex


def test_verbose_prints_a_line_a_round(capsys):
    X, y, _ = windows(0)
    svm = LatentSVM(Windows(4), verbose=1).fit(X, y)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("start 0  round")]
    assert len(lines) == len(svm.rounds_)


class Moody(Windows):
    """A model that fails when it is told to."""

    fails = False

    def best(self, w, x):
        if self.fails and w.any():
            raise RuntimeError("not today")
        return super().best(w, x)


def test_a_training_that_fails_leaves_the_model_as_it_was():
    X, y, _ = windows(0)
    svm = LatentSVM(Moody(4))
    with pytest.raises(ValueError, match="y holds 3 classes, expected 2"):
        svm.fit(X, np.arange(len(y)) % 3)
    svm.model.fails = True
    with pytest.raises(oneslack.OneslackError, match=r"example \d+: .* RuntimeError: not today"):
        svm.fit(X, y)
    assert [name for name in vars(svm) if name.endswith("_") and not name.startswith("_")] == []
    svm.model.fails = False
    before = svm.fit(X, y).predict(X).tolist()
    with pytest.raises(ValueError, match="y holds 3 classes, expected 2"):
        svm.fit(X, np.arange(len(y)) % 3)
    svm.model.fails = True
    with pytest.raises(oneslack.OneslackError, match=r"example \d+: .* RuntimeError: not today"):
        svm.fit(X, np.where(y > 0, "yes", "no"))
    svm.model.fails = False
    assert svm.predict(X).tolist() == before


def test_labels_are_those_given():
    X, y, _ = windows(0)
    svm = LatentSVM(Windows(4)).fit(X, np.where(y > 0, "yes", "no"), sample_weight=np.ones(24))
    assert svm.classes_.tolist() == ["no", "yes"]
    assert set(svm.predict(X)) <= {"no", "yes"}
    assert svm.score(X, np.where(y > 0, "yes", "no")) > 0.6


@pytest.mark.parametrize(
    ("estimator", "model", "message"),
    [
        (
            LatentSVM,
            Subclasses(5),
            r"LatentSVM needs more than Subclasses offers: it lacks feature\(x, h\), best",
        ),
        (LatentStructuralSVM, Windows(4), r"it lacks joint_feature\(x, y, h\), loss\(y, y_hat\), decode"),
        (LatentSVM, Windows, "model is the class Windows; give an object of it"),
    ],
)
def test_models_that_lack_something(estimator, model, message):
    X, y, _ = windows(0)
    with pytest.raises(TypeError, match=message):
        estimator(model).fit(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [1] * 24}, "y holds 1 classes, expected 2"),
        ({"y": [1, -1]}, "X has 24 examples but Y has 2"),
        ({"H": [1]}, "X has 24 examples but H has 1"),
        ({"sample_weight": [1.0]}, r"sample_weight has shape \(1,\), expected \(24,\)"),
    ],
)
def test_examples_that_do_not_fit(change, message):
    X, y, _ = windows(0)
    with pytest.raises(ValueError, match=message):
        LatentSVM(Windows(4)).fit(**{"X": X, "y": y, **change})


@pytest.mark.parametrize(
    ("name", "value"), [("max_rounds", 0), ("n_starts", 0), ("annealing", -1), ("outer_tol", -1.0)]
)
def test_parameters_out_of_range(name, value):
    X, y, _ = windows(0)
    with pytest.raises(ValueError, match=f"{name} must be"):
        LatentSVM(Windows(4), **{name: value}).fit(X, y)


# Conformance.


def test_good_models_pass():
    X, y, _ = windows(0)
    assert check_latent_model(Windows(4), X, y) == "Windows passes on 24 examples at 20 weights"
    assert "Subclasses passes" in check_latent_model(Subclasses(5), *subclasses(0))


class First(Windows):
    def best(self, w, x):
        return 0 if w.sum() > 0 else 1


class Long(Windows):
    def feature(self, x, h):
        return np.append(x[h], [1.0, 1.0])


class Lone(Subclasses):
    def decode(self, w, x, y=None):
        return super().decode(w, x, y)[0]


class Blind(Subclasses):
    def decode(self, w, x, y=None):
        return super().decode(w, x)


class Careless(Subclasses):
    def complete(self, w, x, y):
        return int(w[0] > 0)


class Strict(Subclasses):
    def loss(self, y, y_hat):
        return 1.0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (First(4), r"example 0: best\(w, x\) scores .*, but another of its own answers scores"),
        (Long(4), r"example 0: feature: latent value \d has shape \(6,\), expected n_params = \(5,\)"),
        (Lone(5), r"example 0: decode returned \d, expected a pair \(output, latent value\)"),
        (Blind(5), r"decode\(w, x, y\) scores"),
        (Careless(5), r"complete\(w, x, y\) scores"),
        (Strict(5), r"example 0: loss\(y, y\) is not 0"),
    ],
)
def test_broken_models_are_found_out(model, message):
    X, y = windows(0)[:2] if isinstance(model, Windows) else subclasses(0)
    with pytest.raises(ModelError, match=message):
        check_latent_model(model, X, y)


class Apart(Subclasses):
    """A loss that looks at the latent value (A.5)."""

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat) * (1.0 + h_hat)

    def decode(self, w, x, y=None):
        scores = self.scores(w, x)
        if y is not None:
            scores = scores + (np.arange(self.K) != y)[:, None] * (1.0 + np.arange(self.M))
        return divmod(int(scores.argmax()), self.M)


def test_a_loss_may_look_at_the_latent_value():
    X, Y = subclasses(3)
    check_latent_model(Apart(5), X, Y)
    completed = CompletedStructural(Apart(5))
    truths = [(y, 0) for y in Y]
    cuts = all_cuts(completed, X, truths, outputs=[(y, h) for y in range(2) for h in range(3)])
    _, upper, _ = Reference.of_cuts(cuts.deltas, cuts.losses, cuts.index, np.full(len(Y), 0.2)).solve()
    assert solve(Problem(completed, X, truths, 0.2), tol=1e-5).primal == pytest.approx(upper, rel=1e-4)
    assert falls(LatentStructuralSVM(Apart(5), C=0.2).fit(X, Y).rounds_)


def test_a_single_latent_value_is_no_latent_problem():
    X, Y = subclasses(0)
    latent = LatentStructuralSVM(Subclasses(5, M=1), tol=1e-5).fit(X, Y)
    plain = oneslack.StructuralSVM(oneslack.Multiclass(5, 2), tol=1e-5).fit(np.array(X), Y)
    assert latent.objective_ == pytest.approx(plain.objective_, rel=1e-4)

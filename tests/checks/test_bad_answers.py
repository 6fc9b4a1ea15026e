"""Models, risks, kernels and weights that answer nonsense are refused, by a sentence that says where."""

import numpy as np
import pytest
import scipy.sparse as sp
from broken_models import BAD_FEATURES, BAD_LOSSES, Classes, classes, put, with_feature, with_loss

from oneslack import (
    Binary,
    Chain,
    ConstraintProblem,
    DistributedDual,
    DualCD,
    Kernel,
    KernelChainProblem,
    KernelProblem,
    LatentStructuralSVM,
    LatentSVM,
    Multiclass,
    NSlack,
    OneSlack,
    Problem,
    ShardedProblem,
    SplitProblem,
    Streaming,
    ThreadCrews,
    brute_force,
    minimize,
    solve,
)
from oneslack.checks.model import ModelError
from oneslack.data.rows import Shard
from oneslack.formats import open_shards
from oneslack.formats.shards import ShardWriter
from oneslack.problems.any_risk import RiskProblem
from oneslack.problems.per_example import Oracle, worst_cut

AT = 13  # an example that a look at the first ones does not see
SOLVERS = [OneSlack(), OneSlack(cache_size=3), OneSlack(cache_size=3, parts=4), NSlack(), NSlack(parts=4),
           DualCD(), Streaming()]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_every_solver_names_the_example(solver):
    X, Y = classes()
    model = with_feature(put(np.nan))(X[AT][0])
    with pytest.raises(ModelError, match=f"^example {AT}: joint_feature: the truth has nan at feature 5$"):
        solve(Problem(model, X, Y), solver, max_iter=100)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("case", BAD_FEATURES)
def test_features(case, rescaling):
    X, Y = classes()
    change, message = BAD_FEATURES[case]
    model = with_feature(change)(X[AT][0])
    with pytest.raises(ModelError, match=f"^example {AT}: joint_feature: the truth {message}"):
        solve(Problem(model, X, Y, rescaling=rescaling), OneSlack())


@pytest.mark.parametrize("case", BAD_LOSSES)
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_losses(case, rescaling):
    X, Y = classes()
    value, message = BAD_LOSSES[case]
    with pytest.raises(ModelError, match=f"^loss: the answer of the decoder {message}"):
        worst_cut(with_loss(value)(), np.zeros(12), X[0], Y[0], rescaling)


@pytest.mark.parametrize("value", [np.float32(1), np.int64(1), np.bool_(True), True, 1, np.array(1.0)])
def test_any_kind_of_number_is_a_loss(value):
    X, Y = classes()
    assert worst_cut(with_loss(value)(), np.zeros(12), X[0], Y[0])[1] == 1.0


def test_features_of_the_answer_alone():
    class Wrong(Classes):
        def joint_feature(self, x, y):
            psi = super().joint_feature(x, y)
            return psi if y == Y[AT] else np.full(12, -np.inf) if self.is_bad(x) else psi

    X, Y = classes()
    with pytest.raises(ModelError, match=f"^example {AT}: joint_feature: the answer of the decoder has -inf"):
        solve(Problem(Wrong(X[AT][0]), X, Y), DualCD())


def test_features_whose_scores_overflow():
    class Blind(Classes):
        def decode(self, w, x, y=None):
            return 0

    X, _ = classes()
    with pytest.raises(ModelError, match="<w, psi> overflows"):
        worst_cut(Blind(), np.full(12, 1e300), 1e99 * X[1], 1)


@pytest.mark.parametrize("solver", [OneSlack(), NSlack(), DualCD()], ids=repr)
def test_the_loss_of_y_itself(solver):
    class Strict(Classes):
        def loss(self, y, z):
            return 0.25 if y == z == 7 else float(y != z)

        def joint_feature(self, x, y):
            return super().joint_feature(x, y % 3)

    X, Y = classes()
    Y[AT] = 7
    with pytest.raises(ModelError, match=rf"^example {AT}: loss: loss\(y, y\) is 0.25, expected 0$"):
        solve(Problem(Strict(), X, Y), solver)


def test_the_loss_of_y_itself_is_asked_once():
    class Counting(Classes):
        own = 0

        def loss(self, y, z):
            Counting.own += y == z
            return super().loss(y, z)

    X, Y = classes()
    oracle = Oracle(Counting(), Problem(Counting(), X, Y)._oracle.examples, "margin")
    for _ in range(5):
        oracle(("sum", np.zeros(12), np.arange(40), 0.0))
    Counting.at_precision = lambda self, precision: Counting()  # another object each time
    oracle(("sum", np.zeros(12), np.arange(40), 0.1))
    assert Counting.own == 40


def test_an_array_that_a_model_fills_again():
    class Frugal(Classes):
        room = np.zeros(12)

        def joint_feature(self, x, y):
            self.room[:] = super().joint_feature(x, y)
            return self.room

    X, Y = classes()
    mine, plain = (solve(Problem(model, X, Y), tol=1e-6) for model in (Frugal(), Classes()))
    assert mine.primal == pytest.approx(plain.primal, rel=1e-5)


def test_dense_and_sparse_rows_may_be_mixed():
    class Mixed(Classes):
        def joint_feature(self, x, y):
            psi = super().joint_feature(x, y)
            return sp.csr_array(psi[None]) if y else psi

    X, Y = classes()
    mine, plain = (solve(Problem(model, X, Y), tol=1e-6) for model in (Mixed(), Classes()))
    assert mine.primal == pytest.approx(plain.primal, rel=1e-5)


# Engines.


def test_processes(monkeypatch):
    monkeypatch.setattr("oneslack.engines.processes.SLOW", -1.0)
    X, Y = classes()
    problem = Problem(with_feature(put(np.nan))(X[AT][0]), X, Y, n_jobs=2)
    with problem.engine, pytest.raises(ModelError, match=f"example {AT}: joint_feature: the truth has nan"):
        solve(problem, OneSlack())


@pytest.mark.parametrize("solver", [OneSlack(cache_size=3), NSlack(), DistributedDual()], ids=repr)
def test_parts(solver):
    X, Y = classes()
    problem = SplitProblem(with_feature(put(np.nan))(X[33][0]), X, Y, engine=ThreadCrews(2))
    with problem.engine, pytest.raises(ModelError, match=r"^example 33: joint_feature: the truth has nan"):
        solve(problem, solver)


# Compiled blocks and scores.


class Blocks(Classes):
    """With a decoder of many examples, which gives what it is told to at one of them."""

    def __init__(self, bad_loss=None, bad_lead=None):
        super().__init__(-1.0)
        self.bad_loss, self.bad_lead = bad_loss, bad_lead

    def pack(self, X, Y, weights=None):
        return Packed(np.array(X), np.array(Y), np.ones(len(Y)) if weights is None else weights)

    def worst_batch(self, data, shard, w, rescaling):
        S = data.X[shard.lo : shard.hi] @ w.reshape(3, 4).T
        y, rows = data.Y[shard.lo : shard.hi], np.arange(shard.hi - shard.lo)
        Z = np.argmax(S + (np.arange(3) != y[:, None]), axis=1)
        losses, leads = (y != Z).astype(float), S[rows, y] - S[rows, Z]
        bad = np.flatnonzero(data.X[shard.lo : shard.hi, 0] == 1e-3 * AT)
        if self.bad_loss is not None:
            losses[bad] = self.bad_loss
        if self.bad_lead is not None:
            leads[bad] = self.bad_lead
        return Z.astype(np.int32), losses, leads

    def delta_rows(self, data, shard, Z, factors):
        rows = [
            factors[k] * (self.joint_feature(data.X[i], data.Y[i]) - self.joint_feature(data.X[i], Z[k]))
            for k, i in enumerate(range(shard.lo, shard.hi))
        ]
        return sp.csr_array(np.array(rows))

    def delta_sum(self, data, shard, Z, coefficients):
        return np.asarray(self.delta_rows(data, shard, Z, coefficients).sum(axis=0)).ravel()


class Packed:
    def __init__(self, X, Y, weights):
        self.X, self.Y, self.weights, self.n = X, Y, np.asarray(weights, float), len(Y)
        self.offsets, self.shards = np.arange(self.n + 1), [Shard(0, self.n)]

    def take(self, index):
        return Packed(self.X[index], self.Y[index], self.weights[index])


@pytest.mark.parametrize(
    "bad", [{"bad_loss": np.nan}, {"bad_loss": np.inf}, {"bad_loss": -1.0}, {"bad_lead": np.nan}], ids=str
)
@pytest.mark.parametrize("solver", [OneSlack(), NSlack(), NSlack(parts=4), DualCD()], ids=repr)
def test_blocks(solver, bad):
    X, Y = classes()
    assert solve(Problem(Blocks(), X, Y), solver, tol=1e-3).gap <= 1e-3
    with pytest.raises(ModelError, match=f"^worst_batch: example {AT} has loss"):
        solve(Problem(Blocks(**bad), X, Y), solver)


def test_blocks_in_parts():
    X, Y = classes()
    problem = SplitProblem(Blocks(bad_lead=np.nan), X[::-1], Y[::-1], engine=ThreadCrews(2))
    lo = problem.parts[1][0]
    where = f"^counted from example {lo} on: worst_batch: example {39 - AT - lo} has loss"
    with problem.engine, pytest.raises(ModelError, match=where):
        solve(problem, OneSlack())


def test_blocks_of_another_size():
    class Short(Blocks):
        def worst_batch(self, *arguments):
            Z, losses, leads = super().worst_batch(*arguments)
            return Z, losses[:-1], leads

    with pytest.raises(ModelError, match=r"worst_batch: .* losses of shape \(39,\) .* expected \(40,\)"):
        solve(Problem(Short(), *classes()), OneSlack())


@pytest.mark.parametrize("method", ["risk", "cut"])
def test_sums_over_scores(method):
    class Wrong(Binary):
        pass

    setattr(Wrong, method, lambda self, *arguments: np.nan)
    X = np.random.default_rng(0).normal(size=(20, 3))
    problem = Problem(Wrong(3), X, np.where(X[:, 0] > 0, 1, -1))
    with pytest.raises(ModelError, match=f"{method}: the sum over the examples is not finite"):
        problem.risk(np.zeros(3)) if method == "risk" else problem.mean_cut(np.zeros(3))


# Latent values.


class Peaks:
    n_params = 2
    bad = None

    def feature(self, x, h):
        return np.array([np.nan if self.bad == x[0] else x[h], 1.0])

    def best(self, w, x):
        return int(np.argmax(w[0] * x))


def peaks():
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    return [rng.normal(size=3) + 2 * label for label in y], y


@pytest.mark.parametrize("i", [6, 7])
def test_latent_features(i):
    """Of a negative as of a positive."""
    X, y = peaks()
    model = Peaks()
    model.bad = X[i][0]
    with pytest.raises(ModelError, match=rf"^example {i}: feature: latent value \d has nan at feature 0"):
        LatentSVM(model, C=10.0).fit(X, y)


def test_a_completion_that_fails_is_named():
    class Pair:
        n_params = 2

        def joint_feature(self, x, y, h):
            return x * (1.0 if y else -1.0)

        def loss(self, y, z):
            return float(y != z)

        def decode(self, w, x, y=None):
            return int(w @ x > (0 if y is None else 0.5 * (1 if y else -1))), 0

        def complete(self, w, x, y):
            raise KeyError("h")

    X = list(np.random.default_rng(0).normal(size=(8, 2)))
    with pytest.raises(ValueError, match="example 0: the model raised KeyError: 'h'"):
        LatentStructuralSVM(Pair()).fit(X, [int(x[0] > 0) for x in X])


# Brute force.


def test_brute_force_refuses_too():
    X, _ = classes()
    with pytest.raises(ModelError, match="joint_feature: the output has nan at feature 5"):
        brute_force(with_feature(put(np.nan))(), np.zeros(12), X[0], outputs=range(3))
    with pytest.raises(ModelError, match=r"loss: the output has loss -0\.5"):
        brute_force(with_loss(-0.5)(), np.zeros(12), X[0], 0, outputs=range(3))


# Any risk.


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((np.nan, [1.0]), "the value nan, expected a finite number"),
        ((np.inf, [1.0]), "the value inf, expected a finite number"),
        (("3", [1.0]), "the value '3', expected one number"),
        ((1j, [1.0]), "the value 1j, expected one number"),
        ((1.0, [np.nan]), "the subgradient has nan at feature 0"),
        ((1.0, [1j]), "the subgradient has entries of type complex128"),
        ((1.0, [1.0, 2.0]), r"the subgradient has shape \(2,\), expected n_params = \(1,\)"),
        ((-1.0, [1.0]), "-1.0, which is below the floor of 0.0"),
    ],
)
def test_risks(answer, message):
    with pytest.raises(ValueError, match=message):
        minimize(lambda w: answer, 1, floor=0.0)


def test_a_risk_whose_value_alone_is_asked_for():
    with pytest.raises(ValueError, match="the value nan"):
        RiskProblem(lambda w: (np.nan, w), 1).risk(np.zeros(1))


def test_a_floor_is_a_number():
    with pytest.raises(ValueError, match="floor must be a finite number or None; got nan"):
        minimize(lambda w: (0.0, w), 1, floor=np.nan)


# Kernels.


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: np.full((len(A), len(B)), np.nan), "returned nan; expected finite numbers"),
        (lambda A, B: np.full((len(A), len(B)), np.inf), "returned inf; expected finite numbers"),
        (lambda A, B: (A @ B.T) * 1j, "values of type complex128; expected real numbers"),
        (lambda A, B: (A @ B.T).astype(object), "values of type object; expected real numbers"),
        (lambda A, B: A @ (np.triu(np.ones((3, 3))) @ B.T), "the other way round; expected the same"),
    ],
)
def test_kernel_functions(function, message):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match=message):
        KernelProblem(Binary(3), Kernel(function), X, np.where(X[:, 0] > 0, 1, -1))
    if "type" not in message and "finite" not in message:
        return
    with pytest.raises(ValueError, match=message):
        KernelChainProblem(Chain(3, 2), Kernel(function), [X], [np.zeros(30, int)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda K: K + np.triu(np.ones(K.shape), 1), r"examples 0 and 1 is .* the other way round"),
        (lambda K: np.where(K[3, 7] == K, np.nan, K), "the kernel of examples 3 and 7 is nan"),
        (lambda K: K[:, :-1], r"a precomputed kernel of 30 examples has shape \(30, 29\)"),
    ],
)
def test_precomputed_kernels(change, message):
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    assert KernelProblem(Binary(3), Kernel("precomputed"), X @ X.T, y).n == 30
    with pytest.raises(ValueError, match=message):
        KernelProblem(Binary(3), Kernel("precomputed"), change(X @ X.T), y)


def test_parameters_of_kernels():
    with pytest.raises(ValueError, match="gamma of a kernel must be a finite number; got nan"):
        Kernel("rbf", gamma=np.nan)


# Examples and their weights.


def rows(n=20):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.where(X[:, 0] > 0, 1, -1)


def sharded(X, y, weights, tmp_path):
    with ShardWriter(tmp_path / "packed", dtype="float64") as writer:
        writer.append(X, y)
    return ShardedProblem(
        Binary(3), open_shards(tmp_path / "packed"), weigh=lambda part: weights[: len(part.codes)]
    )


PROBLEMS = {
    "scores": lambda X, y, s, tmp: Problem(Binary(3), X, y, sample_weight=s),
    "chain": lambda X, y, s, tmp: Problem(
        Chain(3, 2), [x[None] for x in X], [[int(v > 0)] for v in y], sample_weight=s
    ),
    "one by one": lambda X, y, s, tmp: Problem(
        Classes(), list(np.c_[X, X[:, :1]]), (y > 0) * 1, sample_weight=s
    ),
    "constraints": lambda X, y, s, tmp: ConstraintProblem(X, np.ones(len(X)), weights=s),
    "kernel": lambda X, y, s, tmp: KernelProblem(Binary(3), Kernel("rbf"), X, y, sample_weight=s),
    "parts": lambda X, y, s, tmp: SplitProblem(Binary(3), X, y, sample_weight=s, engine=ThreadCrews(2)),
    "shards": lambda X, y, s, tmp: sharded(X, y, s, tmp),
}  # fmt: skip


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("kind", PROBLEMS)
def test_weights(kind, value, tmp_path):
    X, y = rows()
    s = np.ones(len(X))
    s[4] = value
    with pytest.raises(ValueError, match=r"(example|group) 4"):
        PROBLEMS[kind](X, y, s, tmp_path)


@pytest.mark.parametrize("kind", [kind for kind in PROBLEMS if kind not in ("constraints", "shards")])
def test_weights_of_another_size(kind, tmp_path):
    X, y = rows()
    with pytest.raises(ValueError, match=r"sample_weight has shape \(19,\), expected \(20,\)"):
        PROBLEMS[kind](X, y, np.ones(19), tmp_path)
    with pytest.raises(ValueError, match="sample_weight must be numbers"):
        PROBLEMS[kind](X, y, ["much"] * 20, tmp_path)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_weights_that_no_mean_can_be_taken_by(kind, tmp_path):
    X, y = rows()
    with pytest.raises(ValueError, match=r"the sample weights sum to .*, which is too near to 0"):
        PROBLEMS[kind](X, y, np.full(20, 1e-310), tmp_path)


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e160])
@pytest.mark.parametrize("kind", ["scores", "chain", "constraints", "kernel", "parts"])
def test_examples(kind, value, tmp_path):
    X, y = rows()
    X[4, 1] = value
    with pytest.raises(ValueError, match=r"(row|sentence) 4.*, column 1; (give finite numbers|scale the)"):
        PROBLEMS[kind](X, y, None, tmp_path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [sp.csr_array, np.asarray])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_examples_of_every_kind(form, dtype, value):
    X, y = rows()
    X[4, 1] = value
    with pytest.raises(ValueError, match=f"X has {value} in row 4, column 1; give finite numbers"):
        Problem(Binary(3), form(X.astype(dtype)), y)
    X[4, 1] = 1.0
    assert Problem(Binary(3), form(X.astype(dtype)), y).n == 20


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_cost_matrices(value):
    with pytest.raises(ValueError, match="losses must be"):
        Multiclass(3, 2, losses=[[0.0, value], [1.0, 0.0]])


@pytest.mark.parametrize("value", [1e-200, 1e200])
def test_scales_whose_square_is_no_number(value):
    X, y = rows()
    with pytest.raises(ValueError, match=r"scale of weight 0 is 1e[-+]200, expected a number > 0 between"):
        Problem(Binary(3), X, y, scale=value)

"""The identity of a problem: it sees every number, so that no state or bound of other data is taken over."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

import oneslack
from oneslack import (
    Binary,
    Chain,
    ConstraintProblem,
    DualCD,
    GrammarModel,
    Kernel,
    KernelChainProblem,
    KernelProblem,
    Multiclass,
    Newton,
    NSlack,
    OneSlack,
    Problem,
    Ranking,
    Regression,
    ShardedProblem,
    SplitProblem,
    Streaming,
    ThreadCrews,
    driver,
    minimize,
    solve,
)
from oneslack.data.digests import Digest
from oneslack.data.rows import Ragged
from oneslack.errors import FormatError
from oneslack.formats import ShardWriter, open_shards
from oneslack.models.grammar.reading import read_grammar_and_trees
from oneslack.problems.any_risk import RiskProblem

N, D = 640, 24  # more than 10,000 numbers
LABELS = np.arange(N) * 7 % 3


def matrix(change, sparse):
    """Rows of N examples with LABELS, of words: how often they occur, or where sparse, whether they do.
    `change` makes others of them."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.2 + 0.5 * (rng.random((3, D)) < 0.3)[LABELS]).astype(float)
    X[-1, -1] = 1.0
    X = (X > 0).astype(float) if sparse else X * rng.uniform(0.5, 1.0, X.shape)
    if (
        change == "permuted"
    ):  # twelve at a time, so that labels, sentences and groups, and P(w), stay the same
        blocks = X[:636].reshape(53, 12, D)
        blocks[:] = blocks[rng.permutation(53)]
    if change == "late":
        X[500, 3] += 1.0
    if change == "ulp":
        X[-1, -1] = np.nextafter(X[-1, -1], 2.0)
    if not sparse:
        return X
    X = sp.csr_array(X)
    if change == "columns":  # the same numbers at other places
        X.indices[:] = D - 1 - X.indices
    return X


def sentences(change, sparse=False):
    """Four tokens each."""
    return Ragged(matrix(change, sparse), np.arange(0, N + 1, 4))


def trees(change):
    texts = [
        "(S (NP (PRP I)) (VP (VBP see) (NP (NP (NNS stars)) (PP (OF of) (NP (NNS gold))))))",
        "(S (NP (PRP we)) (VP (VBP see) (NP (NNS stars)) (PP (IN with) (NP (NNS eyes)))))",
        "(S (NP (NNS stars)) (VP (VBP see) (NP (NP (NNS eyes)) (PP (OF of) (NP (NNS gold))))))",
    ]
    order = [1, 0, 2] if change == "permuted" else [0, 1, 2]
    given = [oneslack.Tree.parse(text) for text in texts]
    grammar, outputs = read_grammar_and_trees(given, min_count=1)
    words = Ragged.from_list([grammar.word_ids(given[i].words()) for i in order])
    return Problem(GrammarModel(grammar, frequencies=change == "model"), words, outputs.take(order), 0.5)


def shards(change, folder):
    place = folder / str(change)
    with ShardWriter(place, dtype="float64", shard_size="16KB") as writer:
        writer.append(matrix(change, True), (LABELS > 0).astype(int))
    return ShardedProblem(Binary(D), open_shards(place), 0.5)


class Signs:
    """A model of three methods."""

    n_params = D

    def joint_feature(self, x, y):
        return y * x["words"]

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        return max((-1, 1), key=lambda z: z * (w @ x["words"]) + (y is not None and z != y))


SIGN = np.where(LABELS > 0, 1.0, -1.0)
GROUPS = np.arange(N) // 2
#: By what is changed: a problem; sparse ones also tell other columns.
KINDS = {
    "binary": lambda change: Problem(Binary(D), matrix(change, False), SIGN, 0.5),
    "binary, sparse": lambda change: Problem(Binary(D), matrix(change, True), SIGN, 0.5),
    "multiclass": lambda change: Problem(Multiclass(D, 3), matrix(change, False), LABELS, 0.5),
    "multiclass, sparse": lambda change: Problem(Multiclass(D, 3), matrix(change, True), LABELS, 0.5),
    "regression": lambda change: Problem(Regression(D, 0.1), matrix(change, False), LABELS * 1.0, 0.5),
    "ranking, sparse": lambda change: Problem(Ranking(D), matrix(change, True), LABELS * 1.0, 0.5),
    "chain": lambda change: Problem(
        Chain(D, 3), sentences(change), Ragged(LABELS, np.arange(0, N + 1, 4)), 0.5
    ),
    "chain, sparse": lambda change: Problem(
        Chain(D, 3), sentences(change, True), Ragged(LABELS, np.arange(0, N + 1, 4)), 0.5
    ),
    "constraints": lambda change: ConstraintProblem(matrix(change, False), np.ones(N), GROUPS, C=0.5),
    "constraints, sparse": lambda change: ConstraintProblem(matrix(change, True), np.ones(N), C=0.5),
    "kernel": lambda change: KernelProblem(Binary(D), Kernel("rbf", 0.1), matrix(change, False), SIGN, 0.5),
    "kernel, sparse": lambda change: KernelProblem(
        Binary(D), Kernel("linear"), matrix(change, True), SIGN, 0.5
    ),
    "kernel chain": lambda change: KernelChainProblem(
        Chain(D, 3), Kernel("rbf", 0.1), sentences(change), Ragged(LABELS, np.arange(0, N + 1, 4)), 0.5
    ),
    "dicts": lambda change: Problem(
        Signs(), [{"words": x, "name": "x"} for x in matrix(change, False)], list(SIGN.astype(int)), 0.5
    ),
    "in parts, sparse": lambda change: SplitProblem(
        Binary(D), matrix(change, True), SIGN, 0.5, engine=ThreadCrews(2)
    ),
}  # fmt: skip
CHANGES = ["permuted", "late", "ulp", "columns"]


def pairs():
    for kind in KINDS:
        for change in CHANGES:
            if change != "columns" or "sparse" in kind:
                yield kind, change


@pytest.mark.parametrize(("kind", "change"), list(pairs()))
def test_every_number_is_seen(kind, change):
    make = KINDS[kind]
    one, again, other = (make(which).identity() for which in (None, None, change))
    assert one == again
    assert one["unseen"] is None
    differ = {name for name in one if one[name] != other[name]}
    assert "data" in differ
    assert differ <= {"data", "kernel"}  # the origin of a kernel's rows is their mean


@pytest.mark.parametrize("change", ["permuted", "model"])
def test_grammars_are_seen(change):
    one, again, other = (trees(which).identity() for which in (None, None, change))
    assert one == again != other


@pytest.mark.parametrize("change", CHANGES)
def test_shards_are_seen(change, tmp_path):
    one, again, other = (shards(which, tmp_path / name).identity() for which, name in
                         [(None, "a"), (None, "b"), (change, "c")])  # fmt: skip
    assert one == again != other


def test_what_is_not_in_the_examples_is_seen():
    X = matrix(None, False)
    one = Problem(Binary(D), X, SIGN, 0.5)
    others = {
        "weights": Problem(Binary(D), X, SIGN, 0.5, sample_weight=np.r_[2.0, 0.0, np.ones(N - 2)]),
        "targets": Problem(Binary(D), X, np.r_[SIGN[:-2], SIGN[-1], SIGN[-2]], 0.5),
        "prior": Problem(Binary(D), X, SIGN, 0.5, prior=np.full(D, 1e-9)),
        "intercept": Problem(Binary(D, True), X, SIGN, 0.5),
        "float32": Problem(Binary(D), X.astype(np.float32), SIGN, 0.5),
    }
    for name, other in others.items():
        assert other.identity() != one.identity(), name
    cost = 1.0 - np.eye(3)
    costs = [Problem(Multiclass(D, 3, False, k * cost), X, LABELS, 0.5).identity() for k in (1.0, 2.0)]
    assert costs[0] != costs[1]
    words = [[{"words": x, "name": name} for x in X] for name in ("x", "y")]
    assert Problem(Signs(), words[0], SIGN).identity() != Problem(Signs(), words[1], SIGN).identity()


def test_the_same_examples_in_any_number_of_parts():
    found = []
    for workers in (1, 3):
        problem = SplitProblem(Binary(D), matrix(None, True), SIGN, 0.5, engine=ThreadCrews(workers))
        with problem.engine:
            found.append(problem.identity())
    assert found[0] == found[1]


def test_shards_in_parts_are_seen(tmp_path):
    found = []
    for change in (None, "permuted"):
        folder = shards(change, tmp_path).data.folder
        problem = SplitProblem(
            Binary(D), folder, lambda shard: np.where(shard.codes == 1, 1.0, -1.0), 0.5, engine=ThreadCrews(2)
        )
        with problem.engine:
            found.append(problem.identity())
    assert found[0]["data"] != found[1]["data"]


# No bound of other data.

SOLVED = {
    "binary": [DualCD(), Newton(), OneSlack(), Streaming("100MB")],
    "binary, sparse": [DualCD(), Newton(), OneSlack(), Streaming("100MB")],
    "multiclass, sparse": [DualCD(), Newton(), OneSlack()],
    "regression": [DualCD(), Newton(), OneSlack()],
    "ranking, sparse": [OneSlack()],
    "chain, sparse": [DualCD(), NSlack(), OneSlack()],
    "constraints, sparse": [DualCD(), OneSlack()],
    "kernel": [oneslack.ExactKernel()],
    "dicts": [DualCD(), OneSlack()],
}


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("kind", "solver"), [(kind, one) for kind in SOLVED for one in SOLVED[kind]], ids=str
)
@pytest.mark.parametrize("change", ["permuted", "columns"])
def test_a_start_from_other_data_gives_true_bounds(kind, solver, change, tmp_path):
    if change == "columns" and "sparse" not in kind:
        change = "late"
    make = KINDS[kind]
    first = solve(make(None), solver, tol=1e-2, max_iter=200, checkpoint=tmp_path / "run")
    other = make(change)
    tight = solve(other, solver, tol=1e-4)
    for again in (solve(other, solver, tol=1e-2, start=first), solve(other, solver, tol=1e-3, start=first)):
        assert again.dual <= tight.primal * (1 + 1e-9)
        assert again.primal >= tight.dual * (1 - 1e-9)
    solve(make(None), solver, tol=1e-9, max_iter=2, checkpoint=tmp_path / "run")
    with pytest.raises(FormatError, match="the checkpoint is of other data"):
        solve(make(change), solver, checkpoint=tmp_path / "run", resume=True)


def test_the_same_data_go_on():
    for kind, solvers in SOLVED.items():
        for solver in solvers:
            first = solve(KINDS[kind](None), solver, tol=1e-2)
            assert driver._state_of(first, KINDS[kind](None), solver).keys() > {"w"}, (kind, solver)


# What nobody can look into.


class Weighed(Signs):
    """With a function that the loss is made of."""

    def __init__(self, function):
        self.function = function

    def loss(self, y, y_hat):
        return self.function(y != y_hat)

    def decode(self, w, x, y=None):
        def value(z):
            return float(w @ self.joint_feature(x, z)) + (0.0 if y is None else self.loss(y, z))

        return max((-1, 1), key=value)


def weighed(factor=1.0):
    X = [{"words": x} for x in matrix(None, False)[:60]]
    return Problem(Weighed(lambda wrong: factor * wrong), X, list(SIGN[:60].astype(int)), 0.5)


def test_of_a_problem_with_a_function_only_w_is_taken():
    first = solve(weighed(), OneSlack(), tol=1e-2)
    assert first.state["of"]["unseen"] == "the model holds a function"
    assert driver._state_of(first, weighed(), OneSlack()).keys() == {"w"}
    again = solve(weighed(0.5), OneSlack(), tol=1e-3, start=first)
    assert again.dual <= solve(weighed(0.5), DualCD(), tol=1e-4).primal


def test_a_resumed_run_says_what_it_cannot_compare(tmp_path):
    path = tmp_path / "run"
    solve(weighed(), OneSlack(), tol=1e-9, max_iter=3, checkpoint=path)
    with pytest.raises(FormatError, match=r"of other data \(its model has the objective"):
        solve(weighed(0.5), OneSlack(), checkpoint=path, resume=True)
    said = f"{path}: the model holds a function, which cannot be compared with the one of the run"
    with pytest.warns(UserWarning, match=re.escape(said)) as warned:
        solve(weighed(), OneSlack(), tol=1e-2, checkpoint=path, resume=True)
    assert warned[0].filename == __file__


def risk(centre):
    def at(w):
        return float(np.abs(w - centre).sum()), np.sign(w - centre)

    return at


def test_planes_of_a_risk_are_told_by_its_values(tmp_path):
    first = minimize(risk(2.0), 3, C=10.0, tol=1e-6)
    problems = [RiskProblem(risk(centre), 3, 10.0) for centre in (2.0, 1.5)]
    assert driver._state_of(first, problems[0], OneSlack()).keys() > {"w"}
    assert driver._state_of(first, problems[1], OneSlack()).keys() == {"w"}
    path = tmp_path / "run"
    solve(problems[0], OneSlack(), tol=0.0, max_iter=1, checkpoint=path)
    with pytest.raises(FormatError, match=r"of another run \(risk"):
        solve(problems[1], OneSlack(), checkpoint=path, resume=True)
    with pytest.warns(UserWarning, match="the risk is a function"):
        solve(problems[0], OneSlack(), tol=1e-3, checkpoint=path, resume=True)


def test_checkpoints_of_an_older_version_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("oneslack.memory.checkpoint.FORMAT", 1)
        solve(KINDS["binary"](None), DualCD(), tol=1e-9, max_iter=2, checkpoint=path)
    with pytest.raises(FormatError, match="written by another version of oneslack; remove it"):
        solve(KINDS["binary"](None), DualCD(), checkpoint=path, resume=True)


def test_examples_are_looked_at_once(monkeypatch):
    problem, looks = KINDS["binary"](None), []

    class Counted(Digest):
        def _array(self, array):
            looks.append(array.shape)
            super()._array(array)

    monkeypatch.setattr("oneslack.data.identity.Digest", Counted)
    first = solve(problem, DualCD(), tol=1e-2)
    solve(problem, DualCD(), tol=1e-3, start=first)
    solve(problem.on(problem.data, C=1.0), DualCD(), tol=1e-3, start=first)
    assert looks.count((N, D)) == 1

"""Problems on packed folders: the same numbers as in memory, from files that are read part by part."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import OneSlack, Problem, ShardedProblem, Streaming, solve
from oneslack.data.row_parts import RowsInMemory
from oneslack.errors import FormatError, OneslackError
from oneslack.formats import ShardWriter, open_shards
from oneslack.memory.working_set import WorkingSet
from oneslack.models import Binary, Chain, Multiclass, Ranking, Regression
from oneslack.result import Status

N, D = 400, 6


def examples(sparse):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    if sparse:
        X = sp.csr_array(X * (rng.random((N, D)) < 0.5))
    return X, X @ rng.normal(size=(D, 3)) + rng.normal(size=(N, 3)), rng.uniform(0.5, 2.0, N)


def pair(kind, tmp_path, sparse=False, weights=None):
    """(problem in memory, the same on shards)."""
    X, scores, weight = examples(sparse)
    models = {"binary": Binary(D, True), "multiclass": Multiclass(D, 3, True)}
    model = models.get(kind, Regression(D, 0.1))
    packed = {
        "binary": np.where(scores[:, 0] > 0, "yes", "no"),
        "multiclass": scores.argmax(axis=1) + 5,
        "regression": scores[:, 0],
    }[kind]
    coded = {
        "binary": np.where(scores[:, 0] > 0, 1.0, -1.0),
        "multiclass": scores.argmax(axis=1),
        "regression": scores[:, 0],
    }[kind]
    weight = weight if weights else None
    with ShardWriter(tmp_path / "packed", dtype="float64", shard_size="4KB") as writer:
        writer.append(X, packed, sample_weight=weight)
    shards = open_shards(tmp_path / "packed")
    assert len(shards) > 4
    return Problem(model, X, coded, 0.5, sample_weight=weight), ShardedProblem(model, shards, 0.5)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_the_same_numbers_as_in_memory(kind, sparse, weights, tmp_path):
    memory, disk = pair(kind, tmp_path, sparse, weights)
    rng = np.random.default_rng(0)
    w, direction = rng.normal(size=(2, memory.n_params))
    assert disk.weight == pytest.approx(memory.weight)
    assert disk.unit == pytest.approx(memory.unit)
    assert disk.primal(w) == pytest.approx(memory.primal(w))
    S, dS = memory.scores(w), memory.scores(direction)
    np.testing.assert_allclose(disk.scores(w), S, atol=1e-12)
    np.testing.assert_allclose(disk.scores.adjoint(S), memory.scores.adjoint(S), atol=1e-9)
    assert disk.scores.along(S, dS, 0.3)[:3] == pytest.approx(memory.scores.along(S, dS, 0.3)[:3])
    np.testing.assert_allclose(disk.mean_cut(w).normal, memory.mean_cut(w).normal, atol=1e-12)
    shares = np.abs(np.sin(S))
    shares = shares / shares.sum(axis=1, keepdims=True) if shares.ndim == 2 else shares
    assert disk.shares.value(shares) == pytest.approx(memory.shares.value(shares))
    index = rng.permutation(N)[:50]
    mine, other = disk.data.take(index), memory.data.take(index)
    np.testing.assert_array_equal(sp.csr_array(mine.X).toarray(), sp.csr_array(other.X).toarray())
    np.testing.assert_array_equal(mine.y, other.y)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_solvers_reach_the_same_optimum(kind, sparse, tmp_path):
    memory, disk = pair(kind, tmp_path, sparse, weights=True)
    exact = solve(memory, tol=1e-6)
    solvers = [OneSlack(), Streaming("1GB")]
    solvers.append(Streaming(int(0.7 * solvers[1].bytes_in_memory(disk))))
    for solver in solvers:
        result = solve(disk, solver, tol=1e-3)
        assert result.status is Status.CONVERGED
        assert result.dual <= exact.primal * (1 + 1e-9)
        assert exact.dual * (1 - 1e-9) <= result.primal <= exact.primal * (1 + 1.1e-3)
        assert result.primal == pytest.approx(memory.primal(result.w))
    assert "streaming" in result.state  # the last one did not have it all in memory


def test_reads_are_counted_and_few(tmp_path):
    _, disk = pair("binary", tmp_path)
    disk.data.n_read = 0
    solver = Streaming(int(0.8 * Streaming("1GB").bytes_in_memory(disk)))
    result = solve(disk, solver, tol=0.02)
    reads = result.state["streaming"]["read"]
    assert result.status is Status.CONVERGED
    rows_read = disk.data.n_read - reads * N
    assert 0 <= rows_read < 6 * N  # one more that certifies, labels for a proof, and single rows, by pages


def test_a_run_on_shards_resumes(tmp_path):
    _, disk = pair("multiclass", tmp_path)
    solver = Streaming(int(0.7 * Streaming("1GB").bytes_in_memory(disk)))
    whole = solve(disk, solver, tol=1e-9, max_iter=20)
    solve(disk, solver, tol=1e-9, max_iter=9, checkpoint=tmp_path / "run")
    again = ShardedProblem(disk.model, open_shards(tmp_path / "packed"), 0.5)
    resumed = solve(again, solver, tol=1e-9, max_iter=20, checkpoint=tmp_path / "run", resume=True)
    np.testing.assert_array_equal(resumed.w, whole.w)
    assert (resumed.primal, resumed.dual) == (whole.primal, whole.dual)


def test_rows_in_memory_have_the_unit_of_all_rows(tmp_path):
    memory, disk = pair("regression", tmp_path)
    for source in (disk.data, RowsInMemory(memory.data)):
        rows = WorkingSet(source, 10, 10 * D)
        rows.add(source.part(0, 5), np.arange(5))
        assert rows.data.unit == pytest.approx(memory.unit)


def test_a_checkpoint_of_other_shards_is_refused(tmp_path):
    _, disk = pair("binary", tmp_path)
    solver = Streaming(int(0.7 * Streaming("1GB").bytes_in_memory(disk)))
    solve(disk, solver, tol=1e-9, max_iter=2, checkpoint=tmp_path / "run")
    (tmp_path / "other").mkdir()
    _, other = pair("binary", tmp_path / "other", sparse=True)
    with pytest.raises(FormatError, match="the checkpoint is of other data"):
        solve(other, solver, tol=1e-9, checkpoint=tmp_path / "run", resume=True)


@pytest.mark.parametrize("other", ["code", "weigh"])
def test_a_checkpoint_of_other_codes_or_weights_is_refused(other, tmp_path):
    _, disk = pair("binary", tmp_path)
    weights = {"weigh": lambda rows: np.where(rows.codes == 1, 5.0, 1.0)}
    flipped = {
        "code": {"code": lambda rows: np.sign(np.sin(1e3 * rows.X[:, 0]))},
        "weigh": {"weigh": lambda rows: np.where(np.arange(len(rows.codes)) % 2, 5.0, 1.0)},
    }
    solver = Streaming(int(0.7 * Streaming("1GB").bytes_in_memory(disk)))
    folder = disk.data.folder
    first = ShardedProblem(disk.model, folder, 0.5, **({} if other == "code" else weights))
    solve(first, solver, tol=1e-9, max_iter=2, checkpoint=tmp_path / "run")
    second = ShardedProblem(disk.model, folder, 0.5, **flipped[other])
    second.weight = first.weight  # it must not be what tells them apart
    with pytest.raises(FormatError, match="the checkpoint is of other data"):
        solve(second, solver, tol=1e-9, checkpoint=tmp_path / "run", resume=True)


def test_a_start_of_other_codes_gives_its_w_alone(tmp_path):
    _, disk = pair("binary", tmp_path)
    folder = disk.data.folder
    noise = ShardedProblem(disk.model, folder, 0.5, code=lambda rows: np.sign(np.sin(1e3 * rows.X[:, 0])))
    first = solve(noise, OneSlack(), tol=1e-4)
    again = solve(disk, OneSlack(), tol=1e-4, start=first)
    optimum = solve(disk, OneSlack(), tol=1e-6).primal
    assert again.dual <= optimum * (1 + 1e-9)
    assert again.gap <= 1e-4


def test_auto_streams_and_says_why(tmp_path):
    _, disk = pair("binary", tmp_path)
    result = solve(disk)
    assert result.solver == "streaming"
    assert "on disk" in result.reason


def test_what_cannot_be_is_refused(tmp_path):
    _, disk = pair("binary", tmp_path)
    for name in ("dual_cd", "newton", "n_slack"):
        with pytest.raises(ValueError, match="examples in memory"):
            solve(disk, name)
    with pytest.raises(ValueError, match="Chain does not see examples through scores"):
        ShardedProblem(Chain(D, 2), disk.data.folder)
    with pytest.raises(ValueError, match="no sum over examples"):
        ShardedProblem(Ranking(D), disk.data.folder)
    with pytest.raises(ValueError, match="C must be a positive number"):
        ShardedProblem(disk.model, disk.data.folder, -1.0)


def test_a_shard_with_a_fault_is_named(tmp_path):
    _, disk = pair("multiclass", tmp_path)
    folder = disk.data.folder
    with pytest.raises(OneslackError, match=r"shard-\d+.*: example 0: y is .*, expected -1 or \+1"):
        solve(ShardedProblem(Binary(D), folder, code=lambda rows: rows.codes * 1.0))
    path = os.path.join(folder.path, folder.manifest.shards[2].file)
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 8)
    with pytest.raises(FormatError, match=os.path.basename(path)):
        open_shards(folder.path)
    with pytest.raises(FormatError, match=os.path.basename(path)):
        solve(ShardedProblem(Multiclass(D, 3), folder))


def test_rows_of_a_shard_are_views(tmp_path):
    memory, disk = pair("binary", tmp_path, sparse=True)
    part = disk.data.part(3, 9)
    np.testing.assert_array_equal(part.X.toarray(), memory.data.X[3:9].toarray())
    assert not part.X.data.flags.owndata
    assert not part.X.data.flags.writeable

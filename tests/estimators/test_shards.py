"""Estimators on packed folders: the same models as from memory, within the certified gap."""

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import LinearSVC, LinearSVR, Streaming
from oneslack.formats import ShardWriter, open_shards

N, D = 500, 6


@pytest.fixture
def packed(tmp_path):
    """pack(y, sparse, weights): (X, shards)."""

    def pack(y, sparse=False, sample_weight=None):
        X = rows()
        X = sp.csr_array(X) if sparse else X
        with ShardWriter(tmp_path / "packed", dtype="float64", shard_size="6KB") as writer:
            writer.append(X, y, sample_weight=sample_weight)
        return X, open_shards(tmp_path / "packed")

    return pack


def rows():
    return np.random.default_rng(0).normal(size=(N, D))


def scores():
    rng = np.random.default_rng(1)
    return rows() @ rng.normal(size=(D, 3)) + rng.normal(size=(N, 3))


def agree(disk, memory, X, shards):
    assert disk.dual_objective_ <= memory.objective_ * (1 + 1e-9)
    assert memory.dual_objective_ <= disk.objective_ * (1 + 1e-9)
    assert disk.duality_gap_ <= 1e-3
    assert disk.n_features_in_ == D
    np.testing.assert_array_equal(disk.predict(shards), disk.predict(X))


SOLVERS = ["auto", "one_slack", Streaming(36_000)]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0, "b": 0.5}])
def test_two_classes(packed, class_weight, solver):
    y = np.where(scores()[:, 0] > 0.5, "a", "b")
    X, shards = packed(y, sample_weight=np.linspace(0.5, 2.0, N))
    disk = LinearSVC(class_weight=class_weight, solver=solver).fit(shards)
    memory = LinearSVC(class_weight=class_weight).fit(X, y, sample_weight=np.linspace(0.5, 2.0, N))
    agree(disk, memory, X, shards)
    assert disk.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("solver", ["auto", Streaming(60_000)])
@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_three_classes(packed, multi_class, solver):
    y = scores().argmax(axis=1)
    X, shards = packed(y, sparse=True)
    disk = LinearSVC(0.1, multi_class=multi_class, solver=solver).fit(shards)
    agree(disk, LinearSVC(0.1, multi_class=multi_class).fit(X, y), X, shards)


@pytest.mark.parametrize("solver", SOLVERS)
def test_numbers(packed, solver):
    y = scores()[:, 0] * 10.0 + 1000.0
    X, shards = packed(y)
    agree(LinearSVR(epsilon=0.5, solver=solver).fit(shards), LinearSVR(epsilon=0.5).fit(X, y), X, shards)


@pytest.mark.parametrize("estimator", [LinearSVC(), LinearSVC(multi_class="ovr"), LinearSVR()], ids=str)
def test_memory_is_told_before(packed, estimator):
    _, shards = packed(scores().argmax(axis=1))
    assert estimator.memory_estimate(shards) is None  # "auto" keeps to no budget yet
    small, large = (
        estimator.set_params(solver=Streaming(budget)).memory_estimate(shards)
        for budget in (60_000, 1_000_000)
    )
    assert 0 < small <= large
    assert not hasattr(estimator, "n_features_in_")  # nothing was learned


def test_costs_and_other_terms(packed):
    y = np.where(scores()[:, 0] > 0.5, 1, 0)
    X, shards = packed(y)
    options = {"loss": [[0, 3], [1, 0]], "nonnegative": [0], "prior": np.full(D, 0.1)}
    disk = LinearSVC(solver=Streaming(36_000), **options).fit(shards)
    agree(disk, LinearSVC(**options).fit(X, y), X, shards)
    assert disk.coef_[0, 0] >= 0


@pytest.mark.parametrize(
    ("model", "y", "arguments", "sentence"),
    [
        (LinearSVC(), [0, 1], {"y": [1, 2]}, "shards hold their own labels and weights"),
        (LinearSVC(warm_start=True), [0, 1], {}, "warm_start and C='auto' need examples in memory"),
        (LinearSVC(C="auto"), [0, 1], {}, "warm_start and C='auto' need examples in memory"),
        (LinearSVC(), [0.5, 1.5], {}, "its labels are no classes"),
        (LinearSVC(), [3, 3], {}, "y has only one class"),
        (LinearSVR(), ["a", "b"], {}, "its labels are text, no numbers"),
        (LinearSVC(solver="dual_cd"), [0, 1], {}, "examples in memory"),
        (LinearSVC(solver=Streaming("2KB")), [0, 1], {}, "is too little"),
    ],
)
def test_what_shards_cannot_have_is_refused(packed, model, y, arguments, sentence):
    _, shards = packed(np.resize(y, N))
    with pytest.raises(ValueError, match=sentence):
        model.fit(shards, **arguments)


def test_shards_without_labels_are_refused(packed):
    _, shards = packed(None)
    with pytest.raises(ValueError, match="holds no labels"):
        LinearSVC().fit(shards)


def test_costs_of_three_classes_are_refused_one_by_one(packed):
    _, shards = packed(np.arange(N) % 3)
    with pytest.raises(ValueError, match="a cost matrix needs multi_class='crammer_singer'"):
        LinearSVC(multi_class="ovr", loss=1.0 - np.eye(3)).fit(shards)

"""The model of costs: what it must say, whatever the machine."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import Binary, DistributedDual, OneSlack, ThreadCrews
from oneslack.cli.app import run
from oneslack.formats import ShardWriter, write_svmlight
from oneslack.formats.shards import Shard
from oneslack.selection.scaling import Costs, Size, StepCosts, calibrate, forecast, measure_steps

COSTS = Costs(entry=1e-9, row=1e-9, product=1e-10, latency=1e-3, send=1e-4, bandwidth=1e9)


def test_work_is_shared_and_messages_are_not():
    size = Size(10_000_000, 1000, 100_000_000)
    one, two, many = (forecast(size, COSTS, workers, rounds=10) for workers in (1, 2, 1000))
    work = 1e8 * 1e-9 + 7 * 1e7 * 1e-9
    assert one.round_seconds == pytest.approx(work + 8 * 1.1e-3 + 2 * 8000 / 1e9 + 1000 * 5 * 1e-10)
    assert 0.5 < two.round_seconds / one.round_seconds < 0.6
    assert many.round_seconds > 8 * 1000 * 1e-4
    assert one.seconds == pytest.approx(10 * one.round_seconds)
    assert one.worker_bytes > 1.9 * two.worker_bytes - 250_000_000
    assert many.driver_bytes == one.driver_bytes


def test_machines_share_what_is_sent():
    size = Size(1000, 1_000_000, 100_000)
    assert forecast(size, COSTS, 16, per_machine=16).bytes_a_round == 16_000_000
    assert forecast(size, COSTS, 16).bytes_a_round == 16 * 16_000_000


@pytest.mark.parametrize("columns", [1, 4])
def test_calibration_measures_this_machine(columns):
    for size in (Size(2000, 300, 20_000, columns), Size(500, 20, 10_000, columns, is_sparse=False)):
        costs = calibrate(size)
        assert 0.0 < costs.entry < 1e-5
        assert 0.0 < costs.row < 1e-5
        assert 0.0 < costs.product < 1e-6
    X = sp.random_array((200, 50), density=0.2, format="csr", rng=0)
    assert calibrate(Size(200, 50, X.nnz), X).entry > 0.0


def test_samples_tell_what_a_step_costs():
    costs = StepCosts(fixed=0.01, example=1e-6)
    told = costs.seconds(1_000_000, 4, steps=10, rounds=50, latency=1e-3, moved=2e6, bandwidth=1e9)
    assert told == pytest.approx(10 * (0.01 + 0.25) + 0.05 + 0.002)
    # Two workers have shared the examples already.
    shared = StepCosts(fixed=0.01, example=1e-6, measured=2)
    assert shared.seconds(1_000_000, 2, steps=10) == pytest.approx(10 * (0.01 + 1.0))
    assert shared.seconds(1_000_000, 4, steps=10) == pytest.approx(10 * (0.01 + 0.5))
    X = np.random.default_rng(0).normal(size=(2000, 10))
    two = measure_steps(Binary(10), X, np.sign(X[:, 0]), 1.0, OneSlack(), (500, 2000), 5, ThreadCrews(2))
    assert two.measured == 2
    for solver in (OneSlack(), DistributedDual()):
        found = measure_steps(Binary(10), X, np.sign(X[:, 0]), 1.0, solver, (500, 2000), steps=5)
        assert found.fixed >= 0.0
        assert found.example >= 0.0
        assert found.fixed + found.example > 0.0
        assert found.measured == 1


def test_the_command(tmp_path, capsys):
    assert run(["plan", "--rows", "1000", "--features", "50", "--nnz", "5", "--workers", "1,4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("1,000 examples, 50 features, 5.0 numbers an example, two classes")
    assert [line.split()[0] for line in lines[2:]] == ["1", "4"]
    path = str(tmp_path / "d.svm")
    write_svmlight(path, np.eye(6), [0, 1, 2, 0, 1, 2])
    assert run(["plan", path, "--json", "--workers", "2", "--latency", "10", "--bandwidth", "12.5"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["costs"]["latency"], facts["costs"]["bandwidth"]) == (0.01, 12.5e6)
    assert facts["size"]["columns"] == 3
    assert facts["plan"][0]["workers"] == 2
    write_svmlight(path, np.eye(6), [0.5, 1, 2, 3, 4, 5])
    assert run(["plan", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["size"]["columns"] == 1


@pytest.mark.parametrize("sparse", [True, False])
def test_a_folder_is_not_loaded(tmp_path, capsys, monkeypatch, sparse):
    X, y = sp.random_array((90, 20), density=0.3, format="csr", rng=0), np.arange(90) % 3
    X = X if sparse else X.toarray()
    with ShardWriter(tmp_path / "packed", dtype="float32", shard_size="1KB") as writer:
        writer.append(X, y)
    opened = []
    whole = Shard.__init__
    monkeypatch.setattr(Shard, "__init__", lambda shard, *of: (opened.append(of[1]), whole(shard, *of))[1])
    assert run(["plan", str(tmp_path / "packed"), "--json", "--workers", "2"]) == 0
    size = json.loads(capsys.readouterr().out)["size"]
    entries = X.nnz if sparse else X.size
    assert Size(**size) == Size(90, 20, entries, 3, sparse, 4)
    assert opened == [0]


def test_a_folder_of_numbers(tmp_path, capsys):
    with ShardWriter(tmp_path / "packed") as writer:
        writer.append(np.eye(6), np.arange(6) + 0.5)
    assert run(["plan", str(tmp_path / "packed"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["size"]["columns"] == 1


def test_examples_without_features(tmp_path, capsys):
    (tmp_path / "bare.svm").write_text("1\n-1\n")
    assert run(["plan", str(tmp_path / "bare.svm")]) == 3
    assert "its examples have no features" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a file, or give --rows"),
        (["--rows", "5"], "belong together"),
        (["--rows", "5", "--features", "3", "--nnz", "4"], "more than the 3 features"),
        (["--rows", "5", "--features", "3", "--workers", "1,x"], "no list of whole numbers"),
    ],
)
def test_what_is_refused(arguments, words, capsys):
    assert run(["plan", *arguments]) == 2
    assert words in capsys.readouterr().err

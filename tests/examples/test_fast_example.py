"""examples/multilabel_fast.py: blocks say what single examples say, and training ends at the same place."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import oneslack


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    yield importlib.import_module("multilabel_fast")
    for name in ("multilabel_fast", "multilabel"):
        sys.modules.pop(name, None)


def test_both_reach_the_same_optimum(example):
    found = example.main(n_train=150, tol=1e-3)
    assert set(found) == {"MultiLabel", "FastMultiLabel"}
    assert max(one.dual for one in found.values()) <= min(one.primal for one in found.values()) + 1e-9
    assert all(one.gap <= 1e-3 for one in found.values())


@pytest.mark.parametrize("solver", ["one_slack", "n_slack", "dual_cd"])
def test_every_solver_takes_it(example, solver):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), rng.integers(0, 2, (60, 3))
    plain = oneslack.Problem(example.MultiLabel(4, 3), X, Y, C=0.5, n_jobs=1)
    fast = oneslack.Problem(example.FastMultiLabel(4, 3), X, Y, C=0.5, n_jobs=1)
    results = [oneslack.solve(problem, solver, tol=1e-4) for problem in (plain, fast)]
    assert max(one.dual for one in results) <= min(one.primal for one in results) + 1e-9
    assert fast.primal(results[0].w) == pytest.approx(results[0].primal)


def test_a_wrong_block_is_found(example):
    class Wrong(example.FastMultiLabel):
        def delta_sum(self, data, shard, Z, coefficients):
            return 1.01 * super().delta_sum(data, shard, Z, coefficients)

    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 4)), rng.integers(0, 2, (20, 3))
    assert oneslack.check_model(example.FastMultiLabel(4, 3), X, Y)
    with pytest.raises(oneslack.OneslackError, match="plane"):
        oneslack.check_model(Wrong(4, 3), X, Y)

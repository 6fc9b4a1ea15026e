"""Certificates are true, and there, wherever the examples lie: with processes, in parts, on disk.

dual <= optimum <= P(w) <= primal in rational numbers, as in test_certificates.py.
"""

import numpy as np
import pytest
from exact import draws
from exact.drawn import KINDS, ROWS, drawn, lies, seeds

import oneslack
from oneslack import DistributedDual, NSlack, OneSlack, ShardedProblem, SplitProblem, Streaming, ThreadCrews
from oneslack.engines import processes
from oneslack.formats import ShardWriter, open_shards
from oneslack.problems.parts.whole import WholeProblem
from oneslack.solvers.streaming import structured as streaming_structured
from oneslack.solvers.streaming.plan import Plan
from oneslack.solvers.streaming.reader import Reader, source_of

LISTED = KINDS[3:]
IN_PARTS = {
    "line search": (OneSlack(), KINDS),
    "plain": (OneSlack(line_search=False), KINDS),
    "planes": (OneSlack(planes=3), ROWS),
    "cache": (OneSlack(cache_size=5), LISTED),
    "n-slack": (NSlack(), LISTED),
    "doubts": (NSlack(parts=2), LISTED),
    "dual": (DistributedDual(), KINDS),
}


def stopping(seed):
    return draws.stopping(np.random.default_rng(seed))


def solved(given, problem, solver, stopping):
    with problem.engine:
        return lies(given, oneslack.solve(problem, solver, **stopping), stopping["tol"])


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize(
    ("how", "kind"), [(how, kind) for how, (_, kinds) in IN_PARTS.items() for kind in kinds]
)
def test_examples_in_parts(how, kind, seed):
    given = drawn(kind, seed, penalised=how not in ("dual", "planes"))
    problem = given.problem(SplitProblem, engine=ThreadCrews(2))
    assert not solved(given, problem, IN_PARTS[how][0], stopping(seed))


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("solver", ["auto", "dual_cd", "one_slack"])
@pytest.mark.parametrize("kind", KINDS[:4])
def test_all_examples_with_one_worker(kind, solver, seed):
    given = drawn(kind, seed)
    assert not solved(given, given.problem(WholeProblem, engine=ThreadCrews(1)), solver, stopping(seed))


@pytest.mark.parametrize("seed", seeds(1, 10))
def test_processes(seed, monkeypatch):
    monkeypatch.setattr(processes, "SLOW", 0.0)
    given = drawn("own_model", seed)
    assert not solved(given, given.problem(n_jobs=2), OneSlack(), stopping(seed))


# Examples that do not all fit into memory.


class Tiny:
    """Streaming with room for about half of the rows."""

    name, needs = Streaming.name, Streaming.needs

    def __init__(self, duals):
        self.duals = np.dtype(duals)

    def steps(self, problem, start=None, tol=1e-3):
        source = source_of(problem)
        largest = int(source.numbers(source.pieces(1)).max())
        rows, numbers = max(2, problem.n // 2), max(source.n_numbers // 2, 2 * largest, 1)
        blocks = max(1, rows // 2), max(numbers // 2, largest)
        plan = Plan(rows, numbers, 1, *blocks, max(1, problem.n // 3), self.duals, 0, 0)
        return Reader(problem, source, plan, 0, tol).steps(start)


def packed(given, folder):
    with ShardWriter(folder, dtype=str(given.X.dtype), shard_size="1KB") as writer:
        writer.append(given.X, given.Y, sample_weight=given.sample_weight)
    return ShardedProblem(given.model, open_shards(folder), given.C, **given.penalty)


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("solver", [Tiny("f8"), Tiny("f4"), OneSlack()], ids=["f8", "f4", "planes"])
@pytest.mark.parametrize("kind", ROWS)
def test_rows_on_disk(kind, solver, seed, tmp_path, monkeypatch):
    monkeypatch.setattr("oneslack.problems.on_disk.PART_BYTES", 64)
    given = drawn(kind, seed)
    assert not solved(given, packed(given, tmp_path / "packed"), solver, stopping(seed))


@pytest.mark.parametrize("kind", ROWS)
def test_rows_that_are_read_once_have_a_certificate(kind):
    """With intercepts a dual point is known only after a whole read; the floor of the risk is one before."""
    found = []
    for seed in range(8):
        given = drawn(kind, seed)
        found += solved(given, given.problem(), Tiny("f8"), {"max_iter": 1, "tol": 1e-3})
    assert not found


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("kind", LISTED)
def test_cuts_that_are_merged(kind, seed, monkeypatch):
    def merge(self, memory):
        self.store.forget(0)
        if hasattr(self.store.arena, "ends") and len(self.store):
            self.store = streaming_structured.merged(self.problem, self.store)

    monkeypatch.setattr(streaming_structured.StructuredRun, "_keep_within", merge)
    given = drawn(kind, seed)
    assert not solved(given, given.problem(), Streaming("1MB"), stopping(seed))


# Models that tell too little.


class Sizeless(oneslack.Binary):
    """A model with scores of which nobody knows how large they are."""

    sizes = property()


@pytest.mark.parametrize("where", ["here", "in parts", "with one worker", "on disk"])
def test_scores_of_unknown_size_are_not_certified(where, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 2)), np.array([1.0, -1.0] * 4)
    model = Sizeless(2)
    if where == "on disk":
        with ShardWriter(tmp_path / "packed") as writer:
            writer.append(X, y)
        problem = ShardedProblem(
            model, open_shards(tmp_path / "packed"), code=lambda rows: np.where(rows.codes, 1.0, -1.0)
        )
    elif where == "here":
        problem = oneslack.Problem(model, X, y)
    elif where == "in parts":
        problem = SplitProblem(model, X, y, engine=ThreadCrews(2))
    else:
        problem = WholeProblem(model, X, y, engine=ThreadCrews(1))
    with problem.engine:
        result = oneslack.solve(problem, "one_slack")
    assert result.gap <= 1e-3
    assert not result.certified

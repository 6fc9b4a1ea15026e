"""The working set: cuts kept as outputs or as sparse rows, their pool, and what they are good for."""

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few
from problems.test_structured import chain_examples, examples

from oneslack import Chain, DualCD, OneSlack, Problem, solve
from oneslack.cuts import Cuts, Plane
from oneslack.memory import cut_cache
from oneslack.memory.arenas import OutputArena, SparseArena, arena_of
from oneslack.memory.cut_cache import CutCache
from oneslack.memory.remembered import Remembered
from oneslack.objective import Regulariser
from oneslack.solvers import normals, planes
from oneslack.solvers.planes import Planes


def chain_problem(dtype=float, sparse=False, order=1, seed=0, **options):
    """Random sentences; truths are random too, so that everything is violated."""
    rng = np.random.default_rng(seed)
    model = Chain(5, 3, order=order, start=True, end=True)
    X = [rng.integers(-1, 3, size=(T, 5)).astype(dtype) for T in rng.integers(0, 7, size=12)]
    Y = [rng.integers(0, 3, len(x)) for x in X]
    X = [sp.csr_array(x) if sparse else x for x in X]
    return Problem(model, X, Y, 0.7, **options)


def remember(problem, rounds=8, seed=1, **options):
    """A store with many cuts, and all that it was given: (example, row, loss)."""
    rng = np.random.default_rng(seed)
    store, given = Remembered(problem, problem.data.weights, **options), []
    for _ in range(rounds):
        cuts = problem.cuts(rng.normal(size=problem.n_params), np.arange(problem.n))
        store.add(cuts)
        given += zip(cuts.index, cuts.deltas.toarray(), cuts.losses, strict=True)
        store.now += 1
    return store, given


def dense_rows(store, n_params):
    """All rows of the arena, read by the compiled loops."""
    out = np.zeros((store.arena.n_rows, n_params))
    for j in range(len(out)):
        store.sum(np.array([j]), np.ones(1), out[j])
    return out


@pytest.mark.grid(2)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", few([np.float64, np.float32], 1))
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_outputs_give_the_rows_again(rescaling, dtype, sparse, order):
    problem = chain_problem(dtype, sparse, order, rescaling=rescaling)
    store, given = remember(problem)
    assert isinstance(store.arena, OutputArena)
    assert store.arena.Z.dtype == np.uint8
    assert np.allclose(dense_rows(store, problem.n_params), [row for _, row, _ in given], atol=1e-12)
    assert store.arena.b[: len(given)].tolist() == [loss for _, _, loss in given]


def test_pools_keep_what_belongs_together():
    """Cuts, duals and products of every example, after examples have moved and cuts were dropped."""
    problem = chain_problem()
    store, given = remember(problem)
    for step in range(3):
        check_pool(store, given, problem)
        rng = np.random.default_rng(step)
        store.alpha[store._present()] = rng.choice([0.0, 0.2], len(store))
        store.now += 1000
        held = sorted(store.slots[store._with_dual()].tolist())
        linear, rows = store.linear, dense_rows(store, problem.n_params)
        store.forget(100)
        given = [given[j] for j in held]
        given.sort(key=lambda cut: cut[0])  # example by example, each in its old order
        assert len(store) == len(given) == store.arena.n_rows
        assert store.linear == pytest.approx(linear)
        assert np.allclose(dense_rows(store, problem.n_params).sum(axis=0), rows[held].sum(axis=0))
        cuts = problem.cuts(rng.normal(size=problem.n_params), np.arange(problem.n))
        store.add(cuts)
        given += zip(cuts.index, cuts.deltas.toarray(), cuts.losses, strict=True)


def check_pool(store, given, problem):
    for i in range(problem.n):
        mine = store.slots[store.base[i] : store.base[i] + store.counts[i]]
        assert [given[j][0] for j in mine] == [i] * len(mine)
        rows = np.array([given[j][1] for j in mine]).reshape(len(mine), problem.n_params)
        expected = (rows @ rows.T)[np.tril_indices(len(mine))]
        found = store.gram[store.gram_base[i] : store.gram_base[i] + len(expected)]
        assert np.allclose(found, expected)


def test_the_cut_longest_without_dual_goes():
    problem = chain_problem()
    rng = np.random.default_rng(0)
    store = Remembered(problem, problem.data.weights, limit=3, duals=False)
    for now in range(40):
        store.now = now
        store.add(problem.cuts(rng.normal(size=problem.n_params), np.arange(problem.n)))
    assert store.counts.max() == 3
    assert store.used[store._present()].min() >= 30
    assert store.arena.n_rows <= 2 * len(store) + 64 + problem.n  # rows that nobody holds go
    assert store.gram.size == 0 == store.w.size


def test_sparse_rows_take_the_smallest_exact_types():
    arena = SparseArena(10)
    whole = sp.csr_array(np.array([[1.0, 0, -2], [0, 0, 3]]))
    exact = sp.csr_array(np.array([[0.1, 0, 0]]))
    arena.append(Cuts(np.arange(2), whole, np.ones(2), [0, 0]))
    assert arena.values.dtype == np.float32
    assert arena.indices.dtype == np.uint32
    arena.append(Cuts(np.arange(1), exact, np.ones(1), [0]))
    assert arena.values.dtype == np.float64
    view = arena.view()
    assert view.values[: arena.size].tolist() == [1.0, -2.0, 3.0, 0.1]
    arena.keep(np.array([2, 1]))
    assert arena.view().values[: arena.size].tolist() == [0.1, 3.0]


@pytest.mark.parametrize("kind", ["sparse", "labels"])
def test_models_without_outputs_keep_rows(kind):
    model, X, Y = examples(kind)
    assert isinstance(arena_of(Problem(model, X, Y)), SparseArena)


class RowsOnly(Chain):
    """A chain whose cuts are remembered as rows."""

    cut_view = property()


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("solver", [DualCD(), OneSlack(cache_size=5)])
def test_both_ways_to_remember_reach_the_same(solver, rescaling):
    _, X, Y = chain_examples(np.random.default_rng(0))
    results = [
        solve(Problem(kind(3, 3, start=True), X, Y, 2.0, rescaling=rescaling), solver, tol=1e-7)
        for kind in (Chain, RowsOnly)
    ]
    assert max(r.dual for r in results) <= min(r.primal for r in results) * (1 + 1e-12)
    assert np.allclose(results[0].w, results[1].w, atol=1e-3 * np.abs(results[0].w).max())


class Blurred(Problem):
    """Tells hinges as a sum in another order might: a little too high."""

    def cuts(self, w, index=None, precision=0.0):
        cuts = super().cuts(w, index, precision)
        values = cuts.found_values(w) * (1 + 1e-11) + 1e-11
        object.__setattr__(cuts, "found_values", lambda w: values)
        return cuts


@pytest.mark.parametrize("kind", [Chain, RowsOnly])
def test_rounding_makes_no_second_copy(kind):
    _, X, Y = chain_examples(np.random.default_rng(0))
    problem = Blurred(kind(3, 3, start=True), X, Y)
    w = np.random.default_rng(1).normal(size=problem.n_params)
    store, counts = Remembered(problem, problem.data.weights), []
    for _ in range(3):
        store.learn(problem, w, np.arange(problem.n))
        counts.append(len(store))
    assert counts[0] == counts[2] > 0


def test_cuts_of_scattered_examples():
    """Of any examples in any order, the cuts are those of all."""
    problem = chain_problem()
    w = np.random.default_rng(2).normal(size=problem.n_params)
    everyone, some = problem.cuts(w), problem.cuts(w, np.array([7, 2, 3, 11]))
    rows = dict(zip(everyone.index.tolist(), everyone.deltas.toarray(), strict=True))
    assert set(some.index.tolist()) == {7, 2, 3, 11} & set(rows)
    for i, row, z in zip(some.index.tolist(), some.deltas.toarray(), some.outputs, strict=True):
        assert np.array_equal(row, rows[i])
        assert len(z) == problem.data.X.lengths[i]
    assert np.allclose(some.found_values(w), some.values(w))


def test_a_cache_remembers_planes_under_the_risk():
    problem = chain_problem()
    cache, rng = CutCache(problem, 5), np.random.default_rng(3)
    for _ in range(12):
        w = rng.normal(size=problem.n_params)
        asked, risk, _ = cache.ask(w)
        assert asked.value(w) == pytest.approx(problem.risk(w))
        assert risk == pytest.approx(problem.risk(w))
        assert cache.plane(w).value(w) == pytest.approx(problem.risk(w))
        elsewhere = rng.normal(size=problem.n_params)
        assert cache.plane(elsewhere).value(elsewhere) <= problem.risk(elsewhere) + 1e-9


# Planes.


@pytest.fixture
def one_by_one(monkeypatch):
    """Planes as sparse or dense rows, as with very many weights."""
    monkeypatch.setattr(normals, "MANY", 0)


def random_normals(rng, m=9, d=50):
    """Some sparse, some dense, one zero."""
    G = rng.normal(size=(m, d)) * (rng.random((m, d)) < np.linspace(0, 1, m)[:, None])
    return G


def test_normals_one_by_one_are_a_matrix(one_by_one):
    rng = np.random.default_rng(0)
    G = random_normals(rng)
    index = np.array([0, 7, 49])
    rows, matrix = normals.NormalRows(50, index), normals.NormalMatrix(50, index)
    for g in G:
        rows.append(g)
        matrix.append(g)
    for kept in (np.arange(9), np.array([0, 2, 5, 8])):
        rows.keep(kept)
        matrix.keep(kept)
        w, a = rng.normal(size=50), rng.normal(size=len(kept))
        assert len(rows) == len(matrix) == len(kept)
        assert np.allclose(rows.dots(w), matrix.dots(w))
        assert np.allclose(rows.combine(a), matrix.combine(a))
        assert np.array_equal(rows.free_columns(), matrix.free_columns())
        G = G[kept]
        assert np.array_equal(matrix.matrix, G)
    for state in (rows.state(), [(g,) for g in G]):
        again = normals.NormalRows(50, index)
        again.restore(state)
        assert np.allclose(again.dots(w), G @ w)
        assert np.array_equal(again.free_columns(), G[:, index])


def test_sparse_planes_take_little_memory():
    rows = normals.NormalRows(10_000, np.empty(0, int))
    rows.append(np.ones(10_000))
    rows.keep([])
    sparse = np.zeros(10_000)
    sparse[::100] = 1.0
    for _ in range(10):
        rows.append(sparse)
    assert rows.nbytes == 10 * 100 * 12


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_sparse_planes_change_nothing(one_by_one, C):
    model, X, Y = examples("chain")
    result = solve(Problem(model, X, Y, C), OneSlack(cache_size=5), tol=1e-6)
    exact = solve(Problem(model, X, Y, C), DualCD(), tol=1e-6)
    assert result.gap <= 1e-6
    assert result.dual <= exact.primal * (1 + 1e-12)
    assert exact.dual <= result.primal * (1 + 1e-12)


def test_merged_planes_keep_the_dual_point():
    rng = np.random.default_rng(1)
    bundle = Planes(Regulariser(50), 3.0, floor=0.0)
    for g in random_normals(rng):
        bundle.add(Plane(g, float(rng.random())))
    w, dual = bundle.solve(1e-10)
    points = rng.normal(size=(20, 50))
    before = [bundle.model_value(point) for point in points]
    part = np.flatnonzero(bundle.a > 0)[1:]
    bundle._merge(part)
    assert bundle.a.sum() == pytest.approx(3.0)
    assert np.allclose(bundle.normals.combine(bundle.a), w)
    assert np.allclose(bundle.gram, bundle.normals.matrix @ bundle.normals.matrix.T)
    assert all(bundle.model_value(u) <= old + 1e-12 for u, old in zip(points, before, strict=True))
    w_again, dual_again = bundle.solve(1e-10)
    assert dual_again >= dual
    assert np.allclose(w_again, w, atol=1e-4)


@pytest.mark.parametrize("line_search", [True, False])
def test_few_planes_still_reach_the_optimum(monkeypatch, one_by_one, line_search):
    """Room for some ten planes: old ones are merged, bounds stay bounds."""
    model, X, Y = examples("labels")
    whole = solve(Problem(model, X, Y, 1.0), OneSlack(line_search=line_search), tol=1e-5)
    monkeypatch.setattr(planes, "MEMORY", 10 * 8 * model.n_params)
    duals = []
    small = solve(
        Problem(model, X, Y, 1.0), OneSlack(line_search=line_search), tol=1e-3, max_iter=3000,
        callbacks=[lambda row: duals.append((row.dual, row.n_cuts))],
    )  # fmt: skip
    assert small.status.name == "CONVERGED"
    assert max(n for _, n in duals) <= 14 < whole.trace.column("n_cuts").max()
    assert small.dual <= whole.primal * (1 + 1e-12)
    assert whole.dual <= small.primal * (1 + 1e-12)
    assert [dual for dual, _ in duals] == sorted(dual for dual, _ in duals)


def test_a_run_with_sparse_planes_goes_on(one_by_one):
    model, X, Y = examples("chain")
    solver = OneSlack(cache_size=5)
    whole = solve(Problem(model, X, Y, 5.0), solver, tol=1e-12, max_iter=12)
    half = solve(Problem(model, X, Y, 5.0), solver, tol=1e-12, max_iter=6)
    again = solve(Problem(model, X, Y, 5.0), solver, tol=1e-12, max_iter=6, start=half)
    assert np.array_equal(whole.w, again.w)
    assert whole.dual == again.dual


@pytest.mark.parametrize("solver", [DualCD(), OneSlack(cache_size=5)])
def test_threads_change_nothing(solver):
    model, X, Y = chain_examples(np.random.default_rng(5), n=200)
    results = [solve(Problem(model, X, Y, 1.0, n_jobs=n), solver, tol=1e-3) for n in (1, 2)]
    assert np.array_equal(results[0].w, results[1].w)


# The one-slack cache decides by itself.


@pytest.mark.parametrize(("seconds", "is_idle"), [(1e-9, True), (1e9, False)])
def test_a_cheap_oracle_needs_no_cache(seconds, is_idle):
    cache = CutCache(chain_problem(), 5, enough=None)
    w = np.zeros(cache.problem.n_params)
    cache.ask(w)
    cache.problem.work.oracle_seconds = seconds
    for _ in range(2):
        cache.plane(w)
    assert cache.is_idle is is_idle
    assert (len(cache.store) == 0) is is_idle
    (plane, *_), exact = cache.ask(w), cache.problem.mean_cut(w)
    np.testing.assert_allclose(plane.normal, exact.normal, atol=1e-12)
    assert plane.offset == pytest.approx(exact.offset)


def test_the_cache_is_looked_at_while_it_pays(monkeypatch):
    monkeypatch.setattr(cut_cache, "CHEAP", 0.0)
    cache = CutCache(chain_problem(), 5, enough=None)
    w = np.zeros(cache.problem.n_params)
    cache.ask(w)
    assert cache.last == "asked"
    assert cache.seconds > 0
    cache.dual, cache.seconds = 0.0, 2.0
    assert cache.is_worth_a_look(6.0)  # asking has given 3 a second
    assert cache.asked_rate == 3.0

    def looks(gain):
        """How many rounds pass without a look after one that gave `gain` in a second."""
        cache.plane(w)
        assert cache.last == "recalled"
        cache.seconds = 1.0
        dual, rounds = cache.dual + gain, 0
        while not cache.is_worth_a_look(dual):
            rounds += 1
        return rounds

    assert [looks(3.1), looks(2.9), looks(2.9), looks(2.9), looks(3.1), looks(2.9)] == [0, 1, 2, 4, 0, 1]
    assert max(looks(0.0) for _ in range(10)) == 64
    again = CutCache(cache.problem, 5, enough=None)
    again.restore(cache.state())
    assert again.state().keys() == cache.state().keys()
    assert (again.pause, again.asked_rate) == (64, 3.0)
    fixed = CutCache(cache.problem, 5, enough=0.3)
    fixed.ask(w)
    assert all(fixed.is_worth_a_look(0.0) for _ in range(3))
    assert fixed.cuts_off_enough(0.31, 1.0)
    assert not fixed.cuts_off_enough(0.29, 1.0)

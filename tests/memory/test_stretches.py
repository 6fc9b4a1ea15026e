"""Cuts of chains, remembered stretch by stretch: their rows, what changes when stretches meet and part, and
bounds that hold."""

import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few

from oneslack import Chain, DualCD, NSlack, Problem, solve
from oneslack.memory.remembered import Remembered
from oneslack.memory.stretches import Stretches, store_of
from oneslack.solvers.structured_dual import CACHED, ask_blocks, blocks_in_any_order, revisit


def problem_of(order=1, sparse=False, seed=0, n=10, longest=12, **options):
    """Random sentences with random truths, so that everything is violated; some have no token."""
    rng = np.random.default_rng(seed)
    model = Chain(4, 3, order=order, start=True, end=True, **options)
    X = [rng.integers(-1, 3, size=(T, 4)).astype(float) for T in rng.integers(0, longest, size=n)]
    Y = [rng.integers(0, 3, len(x)) for x in X]
    return Problem(model, [sp.csr_array(x) if sparse else x for x in X], Y, 0.7)


def rows_of(store, problem):
    """All rows of the arena, read by the compiled loops."""
    out = np.zeros((store.arena.n_rows, problem.n_params))
    for j in range(len(out)):
        store.sum(np.array([j]), np.ones(1), out[j])
    return out


def taught(problem, rounds=6, seed=1):
    """A store that was asked at random w, with duals from visits in between."""
    store, rng = Stretches(problem), np.random.default_rng(seed)
    for _ in range(rounds):
        store.learn(problem, rng.normal(size=problem.n_params), np.arange(problem.n))
        store.visit(store.in_any_order(rng))
    return store


def sums(store, problem):
    """(v, linear) by the duals alone."""
    v = np.zeros(problem.n_params)
    places = store._with_dual()
    store.sum(store.slots[places], store.alpha[places], v)
    return np.append(v, store.linear)


def check(store, problem):
    """Groups lie apart, hold their cuts and their products, and give away no more than they have."""
    rows, arena, truth = rows_of(store, problem), store.arena, problem.data.truth
    for i in range(problem.n):
        mine = store.members([i])
        assert (store.owner[mine] == i).all()
        assert all(store.lo[b] >= store.hi[a] + problem.model.order for a, b in pairwise(mine))
        for g in mine:
            places = store.base[g] + np.arange(store.counts[g])
            cuts = store.slots[places]
            assert len(cuts)
            assert store.alpha[places].sum() <= store.upper[g] * (1 + 1e-12)
            assert (store.alpha[places] >= 0).all()
            assert (arena.firsts[cuts] >= store.lo[g]).all()
            assert (arena.firsts[cuts] + arena.lengths[cuts] <= store.hi[g]).all()
            lower = np.tril_indices(len(cuts))
            products = store.gram[store.gram_base[g] :][: len(lower[0])]
            assert np.allclose(products, (rows[cuts] @ rows[cuts].T)[lower])
            seen = set()
            for j in cuts:
                first, z = arena.firsts[j], arena.Z[arena.starts[j] :][: arena.lengths[j]]
                y = truth[first : first + len(z)]
                assert z[0] != y[0]
                assert z[-1] != y[-1]
                assert arena.b[j] == (z != y).sum()
                seen.add((first, z.tobytes()))
            assert len(seen) == len(cuts)  # each once
    assert sorted(np.flatnonzero(store.counts)) == sorted(store.members(np.arange(problem.n)))


@pytest.mark.grid(2)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", few(range(4), 1))
def test_the_stretches_of_an_output_sum_up_to_its_cut(order, sparse, seed):
    problem = problem_of(order, sparse, seed)
    w = np.random.default_rng(seed).normal(size=problem.n_params)
    cuts = problem.cuts(w, np.arange(problem.n))
    store = Stretches(problem)
    hinges = store.learn(problem, w, np.arange(problem.n))
    rows = rows_of(store, problem)
    for i, delta, loss in zip(cuts.index, cuts.deltas.toarray(), cuts.losses, strict=True):
        mine = store.arena.examples[: len(rows)] == i
        assert np.allclose(rows[mine].sum(axis=0), delta, atol=1e-12)
        assert store.arena.b[: len(rows)][mine].sum() == loss
        assert hinges.values[i] == pytest.approx(loss - delta @ w)
    assert max(store.counts) == 1


@pytest.mark.grid(2)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", few(range(6), 2))
def test_stretches_that_meet_and_part_leave_all_sums_as_they_are(order, sparse, seed):
    problem = problem_of(order, sparse, seed)
    store, rng = Stretches(problem), np.random.default_rng(seed)
    meetings = 0
    for _ in range(8):
        before, groups = sums(store, problem), np.count_nonzero(store.counts)
        store.learn(problem, rng.normal(size=problem.n_params), np.arange(problem.n))
        meetings += np.count_nonzero(store.counts) < groups
        assert np.allclose(sums(store, problem), before, atol=1e-12)
        check(store, problem)
        for _ in range(3):
            store.visit(store.in_any_order(rng))
        assert np.allclose(store.w, sums(store, problem)[:-1], atol=1e-12)
        before = sums(store, problem)
        store.now += 1000
        store.forget(100)
        assert np.allclose(sums(store, problem), before, atol=1e-12)
        check(store, problem)
    assert meetings


def test_a_stretch_falls_apart_when_nothing_bridges_it_any_more():
    problem = Problem(Chain(2, 3), [np.random.default_rng(0).normal(size=(9, 2))], [np.zeros(9, int)], 1.0)
    store = Stretches(problem)

    def teach(*wrong):
        z = np.zeros(9, np.int32)
        for t, label in wrong:
            z[t] = label
        store._absorb(SimpleNamespace(index=[0], outputs=[z]))

    teach((0, 1), (1, 2), (6, 1))
    assert [(store.lo[g], store.hi[g]) for g in store.members([0])] == [(0, 2), (6, 7)]
    teach((1, 1))
    teach((6, 2))
    for g, duals in zip(store.members([0]), ([0.3, 0.4], [0.6, 0.1]), strict=True):
        store.alpha[store.base[g] : store.base[g] + 2] = duals
    before = sums(store, problem)
    teach((1, 1), (2, 1), (3, 1), (4, 1), (5, 2))
    (g,) = store.members([0])
    # Masses 0.3 | 0.3 | 0.4 beside 0.3 | 0.6 | 0.1, the truth first, and the new cut.
    assert np.allclose(store.alpha[store.base[g] :][: store.counts[g]], [0.3, 0.3, 0.1, 0.0])
    assert np.allclose(sums(store, problem), before, atol=1e-15)
    check(store, problem)
    store.now += 1000
    store.forget(100)
    assert [(store.lo[g], store.hi[g]) for g in store.members([0])] == [(0, 2), (6, 7)]
    assert [store.alpha[store.base[g] :][:2].round(12).tolist() for g in store.members([0])] == [
        [0.3, 0.4], [0.6, 0.1],
    ]  # fmt: skip
    assert np.allclose(sums(store, problem), before, atol=1e-15)
    check(store, problem)


def test_a_visit_raises_the_dual_by_what_it_says():
    problem = problem_of()
    store, rng = taught(problem), np.random.default_rng(2)
    for _ in range(4):
        before = store.dual
        _, growth = store.visit(store.in_any_order(rng))
        assert growth == pytest.approx(store.dual - before, rel=1e-6, abs=1e-9)
        assert store.expected_growth() == pytest.approx(growth)


@pytest.mark.grid(2)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("losses", [None, "uneven"])
@pytest.mark.parametrize("seed", few(range(6), 2))
def test_duals_over_stretches_bound_the_optimum_and_reach_it(order, losses, seed):
    """Against n-slack, which remembers whole outputs."""
    table = None if losses is None else np.array([[0, 1.5, 0.25], [1, 0, 3], [0.5, 2, 0]])
    problem = problem_of(order, seed=seed, longest=7, label_losses=table)
    reference = solve(problem, NSlack(), tol=1e-8)
    for tol in (0.3, 1e-2, 1e-7):
        result = solve(problem, DualCD(seed=seed), tol=tol, max_iter=3000)
        assert "owner" in result.state["store"]
        assert result.dual <= reference.primal * (1 + 1e-12)
        assert result.primal >= reference.dual * (1 - 1e-12)
        assert result.gap <= tol


def test_labels_that_may_not_follow_are_never_combined():
    allowed = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], bool)
    rng = np.random.default_rng(0)
    Y = [[0, 1, 2, 0, 0, 1, 1], [2, 2, 0, 1, 2], [1, 1, 2, 0, 1, 2, 2, 0]]
    model = Chain(4, 3, allowed=allowed)
    problem = Problem(model, [rng.normal(size=(len(y), 4)) for y in Y], Y, 0.7)
    store, truth = taught(problem), problem.data.truth
    arena = store.arena
    for j in store.slots[store._present()]:
        z, i = truth.copy(), arena.examples[j]
        z[arena.firsts[j] :][: arena.lengths[j]] = arena.Z[arena.starts[j] :][: arena.lengths[j]]
        a, b = problem.data.offsets[i : i + 2]
        assert allowed[z[a : b - 1], z[a + 1 : b]].all()


def test_what_gains_more_for_its_work_than_asking_is_visited_again():
    problem = problem_of(n=30)
    store, rng = Stretches(problem), np.random.default_rng(0)
    for _ in range(3):
        expected = store.expected_growth()
        _, growth = ask_blocks(problem, store, rng, blocks_in_any_order(problem, rng))
    work = store.visit_work()
    rate = (growth - expected) / (problem.model.decode_work(problem.data) + work.sum())
    worth = np.flatnonzero(store.gained[: len(work)] > rate * work)
    assert 0 < len(worth) < len(store.members(np.arange(problem.n)))
    visited = []
    visit = store.visit
    store.visit = lambda order: visited.append(order) or visit(order)
    assert revisit(problem, store, rng, growth, expected) == sum(map(len, visited))
    assert sorted(visited[0]) == worth.tolist()
    assert len(visited) <= CACHED
    assert len(visited) == CACHED or (store.gained[: len(work)] <= rate * work).all()
    assert revisit(problem, store, rng, 1e9, 0.0) == 0  # asking is worth more


def test_work_counts_the_numbers_of_tokens():
    problem = problem_of(sparse=True)
    store = taught(problem)
    work, X = store.visit_work(), problem.data.X.values
    for g in np.flatnonzero(store.counts):
        cuts = store.slots[store.base[g] :][: store.counts[g]]
        spans = [(store.arena.firsts[j], store.arena.firsts[j] + store.arena.lengths[j]) for j in cuts]
        assert work[g] == 2 * sum(X[lo:hi].nnz for lo, hi in spans)


@pytest.mark.parametrize("what", ["slack", "scale", "nonnegative"])
def test_what_does_not_fall_into_stretches_is_remembered_as_whole_outputs(what):
    X, Y = [np.eye(3)], [[0, 1, 1]]
    options = {
        "slack": {"rescaling": "slack"}, "scale": {"scale": 2.0}, "nonnegative": {"nonnegative": True},
    }[what]  # fmt: skip
    problem = Problem(Chain(3, 2), X, Y, 1.0, **options)
    assert type(store_of(problem)) is Remembered
    assert type(store_of(Problem(Chain(3, 2), X, Y, 1.0))) is Stretches


def test_cuts_that_are_kept_in_another_way_are_not_taken_over():
    problem = problem_of()
    whole = solve(problem, NSlack(), tol=1e-3)
    result = solve(problem, DualCD(), tol=1e-3, start=whole)
    assert result.gap <= 1e-3
    again = solve(problem, NSlack(), tol=1e-3, start=result)
    assert again.gap <= 1e-3


def test_a_start_at_another_C_keeps_shares_and_bounds():
    problem = problem_of()
    first = solve(problem, DualCD(), tol=1e-4)
    other = problem.with_C(2.0)
    result = solve(other, DualCD(), tol=1e-4, start=first)
    reference = solve(other, NSlack(), tol=1e-8)
    assert result.dual <= reference.primal * (1 + 1e-12)
    assert result.gap <= 1e-4


@pytest.mark.parametrize("field", ["owner", "lo", "hi", "n_groups"])
def test_a_forged_state_is_refused(field):
    problem = problem_of()
    state = taught(problem).state()
    state[field] = state[field] + 1000
    with pytest.raises(ValueError, match="group"):
        Stretches(problem).restore(state)


@pytest.mark.parametrize("order", [1, 2])
def test_written_outputs_have_the_sums_of_all_stretches(order):
    problem = problem_of(order=order, n=12, longest=14)
    store = taught(problem)
    point, data = store.written(), problem.data
    sizes = np.diff(data.offsets)[point["examples"]]
    outputs = np.split(point["outputs"], np.cumsum(sizes)[:-1])
    v, linear, given = np.zeros(problem.n_params), 0.0, np.zeros(problem.n)
    for dual, i, z in zip(point["duals"], point["examples"], outputs, strict=True):
        y = data.y[data.offsets[i] : data.offsets[i + 1]]
        x = problem.X[i]
        model = problem.model
        v += dual * (model.joint_feature(x, y) - model.joint_feature(x, z))
        linear += dual * model.loss(y, z)
        given[i] += dual
    np.testing.assert_allclose(np.append(v, linear), sums(store, problem), rtol=1e-9, atol=1e-9)
    assert (point["duals"] > 0).all()
    assert (given <= problem.upper_duals * (1 + 1e-12)).all()
    assert len(outputs) <= len(store._with_dual())


def moved(name, place, value):
    """The state with another number at a place of one array."""

    def forge(state):
        state[name] = state[name].copy()
        state[name][place] = value

    return forge


def other(name, change):
    """The state with another array of this name."""
    return lambda state: state.update({name: change(state[name])})


def same_place(state):
    """Two groups that hold cuts, in one place."""
    a, b = np.flatnonzero(state["counts"])[:2]
    state["base"][b] = state["base"][a]
    state["room"][b] = state["counts"][b] = 1


def same_products(state):
    a, b = np.flatnonzero(state["counts"])[:2]
    state["gram_base"][b] = state["gram_base"][a]


LARGEST = np.iinfo(np.int64).max
FORGED = {
    "gained is short": (other("gained", lambda a: a[:-1]), "size of the problem"),
    "gained is a table": (other("gained", lambda a: a[:, None]), "gained of the pool is float64("),
    "gained is one number": (other("gained", lambda a: np.zeros(())), "not a column of float64"),
    "owner is short": (other("owner", lambda a: a[:-1]), "size of the problem"),
    "owner of another type": (other("owner", lambda a: a.astype(np.int8)), "not a column of int64"),
    "owner is nobody": (moved("owner", 0, 10), "owner of the groups must hold"),
    "lo is of floats": (other("lo", lambda a: a.astype(float)), "not a column of int64"),
    "lo of an unused group": (moved("lo", -1, -5), "tokens of the groups must hold"),
    "hi of an unused group": (moved("hi", -1, LARGEST), "tokens of the groups must hold"),
    "hi is short": (other("hi", lambda a: a[:-1]), "size of the problem"),
    "hi cuts off": (other("hi", np.zeros_like), "do not lie where their cuts do"),
    "more groups than there are": (other("n_groups", lambda a: a + 1000), "groups must hold"),
    "fewer groups than hold cuts": (other("n_groups", lambda a: a * 0), "numbers of the groups"),
    "groups by the half": (other("n_groups", lambda a: a + 0.5), "n_groups of the pool must hold"),
    "groups in a row": (other("n_groups", lambda a: np.array([a, a])), "array of size 1"),
    "sums that overflow": (other("gram_size", lambda a: a * 0 + LARGEST), "gram_size of the pool must hold"),
    "products that end early": (other("gram_size", lambda a: a * 0), "gram_base of the pool must hold"),
    "places that end early": (other("size", lambda a: a * 0), "base of the pool must hold"),
    "more places than there are": (other("size", lambda a: a + 10**6), "size of the pool must hold"),
    "a time before all": (other("now", lambda a: a * 0 - 1), "now of the pool must hold"),
    "two groups in one place": (same_place, "places of the pool overlap"),
    "products in one place": (same_products, "products of the pool overlap"),
}


@pytest.mark.parametrize(("forge", "words"), FORGED.values(), ids=FORGED)
def test_a_state_that_loops_would_fall_over_is_refused(forge, words):
    problem = problem_of()
    state = taught(problem, rounds=3).state()
    Stretches(problem).restore(state)
    forge(state)
    with pytest.raises(ValueError, match=re.escape(words)):
        Stretches(problem).restore(state)

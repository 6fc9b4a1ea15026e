"""Ranking: the oracle against all pairs, one by one; solutions against a QP over the pairs."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference

from oneslack import OneSlack, OneslackError, Problem, solve
from oneslack._jit.sorting import INDEX, stable_order
from oneslack.data.rows import one_by_one
from oneslack.models.ranking.model import Grouped, Ranking
from oneslack.solvers.choose import choose_solver

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"


def pairs_of(y, groups):
    """(m, 2) of an upper and a lower item."""
    y, groups = np.asarray(y), np.zeros(len(y)) if groups is None else np.asarray(groups)
    return np.argwhere((y[:, None] > y[None, :]) & (groups[:, None] == groups[None, :]))


def by_definition(y, groups, s, S):
    """(mean hinge, mean loss, coefficients of the mean) over the active pairs."""
    upper, lower = pairs_of(y, groups).T
    weight = s[upper] * s[lower]
    active = weight * (S[upper] < S[lower] + 1.0)
    coefficients = np.bincount(upper, active, len(S)) - np.bincount(lower, active, len(S))
    hinges = weight * np.maximum(0.0, 1.0 - (S[upper] - S[lower]))
    total = weight.sum()
    return hinges.sum() / total, active.sum() / total, coefficients / total


def check_oracle(y, groups, s, S, dS, t):
    n = len(S)
    problem = Problem(Ranking(1), np.zeros((n, 1)), Grouped(y, groups), sample_weight=s)
    s = np.ones(n) if s is None else s
    risk, loss, expected = by_definition(y, groups, s, S)
    coefficients = np.full(n, np.nan)
    found = problem.mean * sum(problem.scores.map_scores(problem.model.cut, S, coefficients))
    coefficients *= problem.mean
    scale = 1e-12 * (1.0 + np.abs(S).max())
    assert found == pytest.approx(loss, abs=scale)
    np.testing.assert_allclose(coefficients, expected, rtol=0, atol=scale)
    assert problem.scores.risk(S) == pytest.approx(risk, abs=scale)
    assert found - coefficients @ S == pytest.approx(risk, abs=scale)
    risk, loss, at_t = by_definition(y, groups, s, S + t * dS)
    look = problem.scores.along(S, dS, t)
    assert look[:3] == pytest.approx((risk, -at_t @ dS, loss), abs=scale)
    np.testing.assert_allclose(look.coefficients * problem.mean, at_t, rtol=0, atol=scale)


def draw(rng, n, n_ranks=None, n_groups=None, grid=None, weights=None):
    """y, groups, weights, S, dS and t; scores on a grid have ties and distances of exactly one."""
    y = rng.normal(size=n) if n_ranks is None else rng.integers(0, n_ranks, n) - 0.5 * rng.integers(2)
    groups = None if n_groups is None else rng.integers(0, n_groups, n)
    S, dS = rng.normal(0, 2, (2, n))
    if grid:
        S, dS = np.round(S * grid) / grid, np.round(dS * grid) / grid
    s = {None: None, "some": rng.integers(0, 3, n).astype(float), "all": rng.uniform(0.1, 3, n)}[weights]
    return y, groups, s, S, dS, float(rng.choice([0.0, 0.5, 1.0, rng.uniform()]))


def has_pairs(y, groups, s):
    upper, lower = pairs_of(y, groups).T
    return np.any(s[upper] * s[lower] > 0) if s is not None else len(upper) > 0


@pytest.mark.parametrize("weights", [None, "some", "all"])
def test_small_cases(weights):
    rng = np.random.default_rng(1)
    count = 0
    for _ in range(1200 if COMPILED else 60):
        n = int(rng.integers(2, 12))
        case = draw(
            rng,
            n,
            n_ranks=rng.choice([None, 2, 3, 6]),
            n_groups=rng.choice([None, 1, 2, 5]),
            grid=rng.choice([None, 1, 2]),
            weights=weights,
        )
        if has_pairs(*case[:3]):
            count += 1
            check_oracle(*case)
    assert count > 30


# Sizes at which groups are sorted, nodes have one, eight or fewer children, and counters run full.
@pytest.mark.grid(2)
@pytest.mark.parametrize("weights", [None, "some", "all"])
@pytest.mark.parametrize("n_groups", [None, 2, 40])
@pytest.mark.parametrize("n_ranks", [2, 3, 8, 9, 20, 300, None])
def test_medium_cases(n_ranks, n_groups, weights):
    rng = np.random.default_rng(2)
    for n, grid in ((350, 1), (1100, None), (1700, 4)) if COMPILED else ((330, 1),):
        check_oracle(*draw(rng, n, n_ranks, n_groups, grid, weights))


def test_crowded_ranks():
    """Most items share a rank; single ones lie below, between and above."""
    rng = np.random.default_rng(3)
    for weights in (None, "all"):
        _, _, s, *rest = draw(rng, 1500, weights=weights)
        y = np.where(rng.uniform(size=1500) < 0.8, 0.25, rng.normal(size=1500))
        check_oracle(y, None, s, *rest)


@pytest.mark.parametrize(
    "scores",
    [
        lambda rng, n: np.zeros(n),
        lambda rng, n: rng.standard_cauchy(n) ** 3,
        lambda rng, n: 1e6 + rng.normal(size=n),
        lambda rng, n: np.append(rng.normal(size=n - 1), 1e12),
        lambda rng, n: np.repeat(rng.normal(size=n // 100), 100),
    ],
    ids=["all equal", "heavy tails", "far off", "an outlier", "many ties"],
)
@pytest.mark.parametrize("n_ranks", [2, None])
def test_scores_of_any_shape(scores, n_ranks):
    """Whatever the spread of the scores: the active pairs are right, so the coefficients are exact."""
    rng = np.random.default_rng(4)
    n = 1200 if COMPILED else 400
    y = draw(rng, n, n_ranks)[0]
    S = scores(rng, n)
    problem = Problem(Ranking(1), np.zeros((n, 1)), y)
    _, loss, expected = by_definition(y, None, np.ones(n), S)
    coefficients = np.empty(n)
    found = problem.mean * sum(problem.scores.map_scores(problem.model.cut, S, coefficients))
    assert found == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(problem.mean * coefficients, expected, rtol=0, atol=1e-13)


def test_one_comparison_serves_both_ends_of_a_pair():
    """Scores where f_i - f_j < 1 and f_i < f_j + 1 differ by rounding: coefficients still cancel."""
    rng = np.random.default_rng(5)
    lower = rng.uniform(-1e-3, 1e-3, 500)
    S = np.append(lower, np.nextafter(lower + 1.0, rng.choice([-9.0, 9.0], 500)))
    y = np.repeat([0, 1], 500) + 1e-3 * rng.uniform(size=1000)
    for targets in (y, np.round(y)):
        problem = Problem(Ranking(1), np.zeros((1000, 1)), targets)
        coefficients = np.empty(1000)
        problem.scores.map_scores(problem.model.cut, S, coefficients)
        assert abs(coefficients.sum()) < 1e-9 * np.abs(coefficients).sum()
        expected = by_definition(targets, None, np.ones(1000), S)[2]
        np.testing.assert_allclose(problem.mean * coefficients, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("size", [0, 1, 20, 500, 3000])
def test_the_sort_is_stable(size):
    rng = np.random.default_rng(6)
    kinds = (
        rng.normal(size=size),
        rng.integers(0, 5, size) * 1.0,
        np.exp(rng.uniform(-600, 600, size)),
        np.where(rng.uniform(size=size) < 0.9, 0.0, rng.normal(size=size)),
        1e-3 * rng.integers(0, 9, size) + np.where(np.arange(size) == 7, 1e9, 0.0),
    )
    for values in kinds:
        words, other = np.empty((2, size), np.int64)
        stable_order(values, words, other)
        np.testing.assert_array_equal(words & INDEX, np.argsort(values, kind="stable"))


# Groups, threads, kinds of input.


def test_groups_may_be_named_and_lie_anywhere():
    rng = np.random.default_rng(7)
    y, groups, _, S, _, _ = draw(rng, 600, 4, 30)
    names = np.array([f"query {g}" for g in range(30)])[groups]
    X = S[:, None]
    one, two = (Problem(Ranking(1), X, Grouped(y, g)) for g in (groups, names.tolist()))
    assert one.risk(np.ones(1)) == pytest.approx(two.risk(np.ones(1)), rel=1e-13)
    order = rng.permutation(600)
    moved = Problem(Ranking(1), X[order], Grouped(y[order], groups[order]))
    assert moved.risk(np.ones(1)) == pytest.approx(one.risk(np.ones(1)), rel=1e-13)


def test_a_weight_of_two_is_an_item_twice():
    rng = np.random.default_rng(8)
    y, groups, _, S, _, _ = draw(rng, 500, 7, 3)
    s = rng.integers(0, 3, 500)
    again = np.repeat(np.arange(500), s)
    weighted = Problem(Ranking(1), S[:, None], Grouped(y, groups), sample_weight=s)
    repeated = Problem(Ranking(1), S[again, None], Grouped(y[again], groups[again]))
    assert weighted.weight == repeated.weight
    for w in ([0.3], [-1.0], [5.0]):
        assert weighted.risk(np.array(w)) == pytest.approx(repeated.risk(np.array(w)), rel=1e-12)


def test_equal_weights_count_pairs():
    rng = np.random.default_rng(9)
    y, _, _, S, _, _ = draw(rng, 500, 5)
    ones, halves = (Problem(Ranking(1), S[:, None], y, sample_weight=s) for s in (None, np.full(500, 0.5)))
    assert halves.weight == ones.weight / 2
    assert halves.risk(np.ones(1)) == pytest.approx(ones.risk(np.ones(1)), rel=1e-14)


def test_any_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(10)
    n = 40_000 if COMPILED else 200
    X = rng.normal(size=(n, 3))
    y, groups = X[:, 0] + rng.normal(size=n), rng.integers(0, n // 15, n)
    groups[: n // 10] = 0
    one, two = (Problem(Ranking(3), X, Grouped(y, groups), 1e-3, n_jobs=jobs) for jobs in (1, 2))
    shards = one.data.score_shards(one.scores(np.ones(3)))
    assert (len(shards) > 1) == COMPILED
    assert [shard.lo for shard in shards[1:]] == [shard.hi for shard in shards[:-1]]
    np.testing.assert_array_equal(solve(one, OneSlack()).w, solve(two, OneSlack()).w)


def test_shards_end_between_groups():
    rng = np.random.default_rng(11)
    groups = rng.integers(0, 9, 100_000)
    problem = Problem(Ranking(1), np.zeros((100_000, 1)), Grouped(rng.normal(size=100_000), groups))
    by_position = groups[problem.data.rows]
    shards = problem.data.score_shards(None)
    assert len(shards) > 1
    assert all(by_position[shard.lo - 1] != by_position[shard.lo] for shard in shards[1:])
    alone = Problem(Ranking(1), np.zeros((100_000, 1)), rng.normal(size=100_000))
    assert len(alone.data.score_shards(None)) == 1


def test_adjoint_is_the_transpose_of_scores():
    rng = np.random.default_rng(12)
    X = sp.random_array((300, 20), density=0.2, rng=rng, format="csr")
    y, c, w = rng.normal(size=300), rng.normal(size=300), rng.normal(size=20)
    for rows in (X, X.toarray(), X.astype(np.float32)):
        problem = Problem(Ranking(20), rows, y)
        assert problem.scores.adjoint(c) @ w == pytest.approx(c @ problem.scores(w), rel=1e-5)
        np.testing.assert_allclose(problem.scores(w), X @ w, rtol=1e-5, atol=1e-5)


def test_a_part_is_the_problem_of_its_rows():
    rng = np.random.default_rng(13)
    X, y, groups, s = rng.normal(size=(80, 2)), rng.normal(size=80), np.arange(80) % 4, rng.uniform(size=80)
    index = rng.permutation(80)[:50]
    part = Problem(Ranking(2), X, Grouped(y, groups), sample_weight=s).sample(index)
    alone = Problem(Ranking(2), X[index], Grouped(y[index], groups[index]), sample_weight=s[index])
    assert part.risk(np.ones(2)) == alone.risk(np.ones(2))


# Solutions.


def reference(X, y, groups, s, C):
    """The QP with a slack for each pair."""
    upper, lower = pairs_of(y, groups).T
    weight = s[upper] * s[lower]
    m, d = len(upper), X.shape[1]
    deltas = np.vstack([X[upper] - X[lower], np.zeros((m, d))])
    losses = np.append(np.ones(m), np.zeros(m))
    index = np.tile(np.arange(m), 2)
    return Reference.of_cuts(deltas, losses, index, C * s.sum() * weight / weight.sum())


@pytest.mark.grid(2)
@pytest.mark.parametrize("rows", [np.asarray, sp.csr_array, np.float32], ids=["dense", "csr", "float32"])
@pytest.mark.parametrize("weights", [None, "some"])
@pytest.mark.parametrize("n_groups", [None, 4])
@pytest.mark.parametrize("n_ranks", [2, 4, None])
def test_the_optimum_is_that_of_the_pairs(n_ranks, n_groups, weights, rows):
    rng = np.random.default_rng(14)
    n, d, C = 36, 4, 2.0
    y, groups, s, *_ = draw(rng, n, n_ranks, n_groups, weights=weights)
    X = rng.normal(size=(n, d))
    X[:, 0] += 0.7 * y
    X = X.astype(np.float32).astype(float)
    s = np.ones(n) if s is None else s
    qp = reference(X, y, groups, s, C)
    lower, upper, w = qp.solve()
    problem = Problem(Ranking(d), rows(X), Grouped(y, groups), C, sample_weight=s)
    result = solve(problem, OneSlack(), tol=1e-6)
    slack = 1e-6 * upper
    assert result.primal == pytest.approx(qp.primal(result.w), rel=1e-10)
    assert lower - slack <= result.primal <= upper + slack
    assert upper - 2 * slack <= result.dual <= upper + 1e-9 * upper
    assert problem.primal(w) == pytest.approx(upper, rel=1e-9)


def test_a_large_problem_is_solved_to_its_certificate():
    """Large enough for the tree; the gap is computed from all pairs."""
    rng = np.random.default_rng(15)
    n, C = 1500 if COMPILED else 340, 1e-2
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=n)
    result = solve(Problem(Ranking(3), X, y, C), OneSlack(), tol=1e-6)
    risk = by_definition(y, None, np.ones(n), X @ result.w)[0]
    assert result.primal == pytest.approx(0.5 * result.w @ result.w + C * n * risk, rel=1e-10)
    assert result.gap <= 1e-6 * result.primal


def test_cutting_planes_are_chosen():
    problem = Problem(Ranking(1), [[0.0], [1.0]], [0, 1])
    assert isinstance(choose_solver(problem)[0], OneSlack)
    with pytest.raises(ValueError, match="Newton needs more than Ranking offers"):
        choose_solver(problem, "newton")


# What is refused.


@pytest.mark.parametrize(
    ("Y", "weights", "message"),
    [
        ([1, 1, 1], None, "there is no pair to rank: all targets are equal inside each group"),
        (Grouped([1, 2, 3], "abc"), None, "groups have shape"),
        (Grouped([1, 2, 3], [1, 2, 3]), None, "no pair to rank: all targets are equal inside each group"),
        ([1, 2, 2], [0.0, 1.0, 1.0], "there is no pair to rank: no pair has a positive weight"),
        ([0.0, 1.0, np.nan], None, "example 2: the target is nan, expected a number"),
        ([[1], [2], [3]], None, "targets have shape"),
        ([1, 2], None, "X has 3 rows but y has 2 labels"),
        (Grouped([1, 2, 3], [1, 2]), None, "groups have shape"),
    ],
)
def test_refused(Y, weights, message):
    with pytest.raises(ValueError, match=message):
        Problem(Ranking(1), np.zeros((3, 1)), Y, sample_weight=weights)


def test_no_rows():
    with pytest.raises(ValueError, match="there is no pair to rank"):
        Problem(Ranking(1), np.zeros((0, 1)), [])


def test_scores_that_are_not_finite_are_no_crash():
    rng = np.random.default_rng(16)
    for y in (rng.normal(size=1000), rng.integers(0, 2, 1000)):
        problem = Problem(Ranking(1), np.zeros((1000, 1)), y)
        for bad in (np.nan, np.inf, -np.inf):
            S = rng.normal(size=1000)
            S[::7] = bad
            with pytest.raises(OneslackError, match="not finite"):
                problem.scores.risk(S)


# One large group of two ranks: pairs are counted by cells.


def large(weights=None, outlier=0.0, n=60_000):
    """(problem, the same one sorted, S, dS)."""
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, n)
    X = np.zeros((n, 1))
    problems = [Problem(Ranking(1), X, y, sample_weight=weights) for _ in range(2)]
    vars(problems[1].data)["two_ranks"] = None
    S, dS = 0.5 * y + rng.normal(size=n), rng.normal(size=n)
    S[17] += outlier
    return *problems, S, dS


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("t", [0.0, 0.7])
def test_cells_count_what_sorting_counts(weighted, t):
    weights = np.random.default_rng(10).uniform(0.5, 2.0, 60_000) if weighted else None
    by_cells, sorted_, S, dS = large(weights)
    assert by_cells.data.two_ranks
    found, exact = by_cells.scores.along(S, dS, t), sorted_.scores.along(S, dS, t)
    assert exact.risk <= found.risk * (1 + 1e-13) <= exact.risk * (1 + 1.1e-7)
    assert found.slope == pytest.approx(exact.slope, rel=1e-3)
    # A plane under the risk everywhere, which touches it here but for the pairs inside a cell.
    at = S + t * dS
    for scores, slack in ((at, 2e-7), (S + 2 * dS, np.inf), (-S, np.inf)):
        value = found.loss - by_cells.mean * (found.coefficients @ scores)
        risk = sorted_.scores.risk(scores)
        assert risk * (1 - slack) <= value <= risk * (1 + 1e-12)


def test_cells_made_wide_by_an_outlier_are_not_used():
    by_cells, sorted_, S, dS = large(outlier=1e6)
    assert by_cells.data.two_ranks.look(one_by_one, S) is None
    assert by_cells.scores.risk(S) == sorted_.scores.risk(S)
    found, exact = by_cells.scores.along(S, dS, 0.3), sorted_.scores.along(S, dS, 0.3)
    assert found[:3] == exact[:3]
    np.testing.assert_array_equal(found.coefficients, exact.coefficients)


def test_equal_scores_and_infinite_ones_are_sorted():
    by_cells, sorted_, S, _ = large()
    assert by_cells.scores.risk(0 * S) == sorted_.scores.risk(0 * S) == 1.0
    by_cells.data.two_ranks.look(one_by_one, np.where(S > 3, np.inf, S))


def test_threads_count_the_same_by_cells():
    by_cells, _, S, dS = large()
    threads = Problem(by_cells.model, by_cells.X, by_cells.Y, n_jobs=2)
    with threads.engine:
        one, two = by_cells.scores.along(S, dS, 0.4), threads.scores.along(S, dS, 0.4)
    assert one[:3] == two[:3]
    np.testing.assert_array_equal(one.coefficients, two.coefficients)

"""The small dual QP against Clarabel, on generic and on degenerate problems; its own gap is a true bound."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from oneslack.solvers.simplex_qp import solve_simplex_qp


def optimum(Q, b, total, F=None):
    """max <b, a> - 1/2 a'Qa over a >= 0, sum a = total, F'a = 0, scaled to numbers around 1."""
    m = len(b)
    size = max(total * np.abs(b).max(), total**2 * np.abs(Q).max(), 1e-300)
    equalities = np.ones((1, m)) if F is None else np.vstack([np.ones(m), F.T / max(np.abs(F).max(), 1e-9)])
    right = np.append(1.0, np.zeros(len(equalities) - 1))
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.max_threads = 1
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-10
    solution = clarabel.DefaultSolver(
        sp.triu(sp.csc_array(total**2 / size * Q), format="csc"), -total / size * b,
        sp.csc_array(np.vstack([equalities, -np.eye(m)])), np.append(right, np.zeros(m)),
        [clarabel.ZeroConeT(len(right)), clarabel.NonnegativeConeT(m)], options,
    ).solve()  # fmt: skip
    assert str(solution.status) in ("Solved", "AlmostSolved")
    return -size * solution.obj_val


def value(Q, b, a):
    return float(b @ a - 0.5 * a @ Q @ a)


def vertex(m, total, where=0):
    """All on one plane."""
    a = np.zeros(m)
    a[where] = total
    return a


def check(Q, b, total, start, F=None, tol=0.0):
    linear, quadratic = total * np.abs(b).max(), total**2 * np.abs(Q).max()
    best = optimum(Q, b, total, F)
    solution = solve_simplex_qp(Q, b, total, start, F, tol)
    a = solution.a
    assert a.min() >= 0
    assert a.sum() == pytest.approx(total, rel=1e-12)
    rounding = 1e-7 * linear + 1e-9 * quadratic  # of the other program, mostly
    if F is not None:
        np.testing.assert_allclose(F.T @ a, 0, atol=1e-9 * total * max(1e-3, np.abs(F).max()))
        rounding += np.abs(solution.multipliers) @ np.abs(F.T @ a)
    assert solution.value == pytest.approx(value(Q, b, a), rel=1e-12, abs=1e-13 * (linear + quadratic))
    # Feasible, so below the optimum; and the optimum lies within the gap that it reports.
    assert solution.value <= best + rounding
    assert best - solution.value <= solution.gap + rounding
    assert solution.gap <= max(tol, 1e-8 * linear + 1e-12 * quadratic)
    assert solution.value >= value(Q, b, start) - 1e-9 * linear - 1e-13 * quadratic
    return solution


qps = given(
    seed=st.integers(0, 10**6), m=st.integers(1, 25), rank=st.integers(0, 30), log_total=st.floats(-3, 4),
    log_scale=st.floats(-3, 3),
)  # fmt: skip


@qps
def test_random_and_singular(seed, m, rank, log_total, log_scale):
    """rank < m: the Gram matrix is singular, at rank 0 all zeros."""
    rng = np.random.default_rng(seed)
    G = 10.0**log_scale * rng.normal(size=(m, rank))
    check(G @ G.T, rng.normal(size=m), 10.0**log_total, vertex(m, 10.0**log_total, seed % m))


@qps
def test_duplicates_and_ties(seed, m, rank, log_total, log_scale):
    rng = np.random.default_rng(seed)
    few = np.round(rng.normal(size=(max(1, m // 3), rank)))
    copies = rng.integers(0, len(few), m)
    b = np.round(rng.normal(size=len(few)))[copies]
    G = 10.0**log_scale * few[copies]
    check(G @ G.T, b, 10.0**log_total, vertex(m, 10.0**log_total))


@given(seed=st.integers(0, 10**6), m=st.integers(1, 20), rank=st.integers(0, 25), k=st.integers(1, 3),
       log_total=st.floats(-2, 3))  # fmt: skip
def test_equality_rows(seed, m, rank, k, log_total):
    """Free weights: F'a = 0 as well.  The zero plane makes the start feasible; F may repeat itself."""
    rng = np.random.default_rng(seed)
    G, F = rng.normal(size=(m + 1, rank)), rng.normal(size=(m + 1, k))
    if seed % 3 == 0:
        F = F - F.mean(axis=1, keepdims=True)  # as the biases of all classes: rows add up to 0
    b = np.abs(rng.normal(size=m + 1))
    G[0], F[0], b[0] = 0, 0, 0
    total = 10.0**log_total
    check(G @ G.T, b, total, vertex(m + 1, total), F)


def test_bundles_of_nearly_equal_planes():
    """What cutting planes end with: rows that differ in the sixth digit."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        G = rng.normal(size=(1, 10)) + 10.0 ** -rng.uniform(1, 6) * rng.normal(size=(15, 10))
        b = 1.0 + 1e-4 * rng.normal(size=15)
        check(G @ G.T, b, 100.0, vertex(15, 100.0))


def test_a_warm_start_at_the_optimum_stays():
    rng = np.random.default_rng(0)
    for m in (1, 2, 10, 30):
        G, b = rng.normal(size=(m, 40)), rng.normal(size=m)
        first = check(G @ G.T, b, 3.0, vertex(m, 3.0))
        again = check(G @ G.T, b, 3.0, first.a, tol=2 * first.gap)
        assert again.n_iter <= 2
        np.testing.assert_allclose(again.a, first.a, atol=1e-8)


def test_a_warm_start_never_loses_and_saves_work():
    """One more plane each time, as in cutting planes."""
    rng = np.random.default_rng(1)
    G, b = rng.normal(size=(40, 60)), np.abs(rng.normal(size=40))
    Q, a, warm, cold = G @ G.T, np.array([5.0]), 0, 0
    for m in range(2, 41):
        before = value(Q[: m - 1, : m - 1], b[: m - 1], a)
        solution = check(Q[:m, :m], b[:m], 5.0, np.append(a, 0.0))
        assert solution.value >= before - 1e-9
        a = solution.a
        warm += solution.n_iter
        cold += check(Q[:m, :m], b[:m], 5.0, vertex(m, 5.0)).n_iter
    assert warm < cold


@pytest.mark.parametrize("tol", [1.0, 1e-2, 1e-5])
def test_tol_is_kept_and_the_gap_is_true(tol):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        G, b = rng.normal(size=(20, 8)), rng.normal(size=20)
        solution = check(G @ G.T, b, 10.0, vertex(20, 10.0), tol=tol)
        assert solution.gap <= tol


def test_the_start_is_not_changed_and_few_iterations_are_still_a_bound():
    rng = np.random.default_rng(2)
    G, b = rng.normal(size=(20, 30)), rng.normal(size=20)
    Q, start = G @ G.T, vertex(20, 4.0)
    kept = start.copy()
    best = optimum(Q, b, 4.0)
    for max_iter in (1, 2, 5):
        solution = solve_simplex_qp(Q, b, 4.0, start, max_iter=max_iter)
        np.testing.assert_array_equal(start, kept)
        assert solution.n_iter == max_iter
        assert solution.a.min() >= 0
        assert value(Q, b, start) - 1e-9 <= solution.value <= best + 1e-7
        assert best <= solution.value + solution.gap + 1e-7


def test_one_plane():
    solution = solve_simplex_qp(np.array([[2.0]]), np.array([3.0]), 0.5, np.array([0.5]))
    np.testing.assert_array_equal(solution.a, [0.5])
    assert solution.value == 1.25
    assert solution.gap == pytest.approx(0.0, abs=1e-14)

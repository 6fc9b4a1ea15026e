"""Dual passes around an anchor: the same optimum, honest bounds, and the identity they rest on."""

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few
from reference import Reference

from oneslack import DualCD, Problem, solve
from oneslack.models import Binary, Multiclass
from oneslack.objective import inner
from oneslack.solvers import anchor as anchors
from oneslack.solvers.anchor import Anchor


def stiff(kind, seed=0, n=60):
    """A problem with C |delta|^2 of about 100."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) + 3.0
    signal = X @ rng.normal(size=(4, 3)) + 2.0 * rng.normal(size=(n, 3))
    if kind == "binary":
        return Problem(Binary(4), X, np.where(signal[:, 0] > np.median(signal[:, 0]), 1.0, -1.0), 3.0)
    X = sp.csr_array(X) if kind == "sparse" else X
    return Problem(Multiclass(4, 3), X, signal.argmax(axis=1), 2.0)


@pytest.mark.grid(1)
@pytest.mark.parametrize("kind", ["binary", "multiclass", "sparse"])
@pytest.mark.parametrize("seed", few(range(4), 2))
def test_the_optimum_is_that_of_an_independent_solver(kind, seed):
    problem = stiff(kind, seed)
    passes = problem.model.dual_passes(problem.data, problem.C, 1)
    assert Anchor.for_passes(problem, passes).kappa > 2
    result = solve(problem, DualCD(), tol=1e-6)
    lower, upper, _ = Reference.of_problem(problem).solve()
    assert result.gap <= 1e-6
    assert result.dual <= upper * (1 + 1e-9)
    assert result.primal >= lower * (1 - 1e-9)
    assert problem.primal(result.w) == pytest.approx(result.primal, rel=1e-12, abs=result.rounding)
    duals = result.trace.column("dual")
    assert np.all(np.diff(duals) >= 0)


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_the_gap_is_the_sum_of_the_examples_gaps_and_the_distance(kind):
    problem = stiff(kind)
    passes = problem.model.dual_passes(problem.data, problem.C, 1)
    anchor = Anchor.for_passes(problem, passes)
    passes.scale = anchor.scale
    for _ in range(5):
        for _ in range(3):
            passes.run(0.0)
        w = passes.weights.copy()
        v = anchor.unanchored(w)
        shares = passes.shares
        np.testing.assert_allclose(
            v.ravel(),
            problem.C * problem.scores.adjoint(problem.model.coefficients(problem.data, shares)),
            atol=1e-9,
        )
        dual = passes.linear() - 0.5 * inner(v.ravel(), v.ravel())
        assert dual == pytest.approx(problem.shares.value(shares), rel=1e-12)
        examples = problem.weight * problem.risk(w.ravel()) - passes.linear() + inner(w.ravel(), v.ravel())
        gap = examples + anchor.excess(anchor.distance2(w))
        assert problem.primal(w.ravel()) - dual == pytest.approx(gap, rel=1e-9)
        S = anchor.move(passes.weights, problem.scores(w.ravel()))
        np.testing.assert_allclose(S, problem.scores(passes.point), atol=1e-9)
        passes.reopen(S)


def test_fewer_visits_than_plain_passes(monkeypatch):
    """What it is for: the same gap for less work."""

    def visits(problem):
        work = []
        run = type(problem.model.dual_passes(problem.data, problem.C, 1)).run

        def counted(passes, rate):
            work.append(passes.count)
            return run(passes, rate)

        with monkeypatch.context() as patch:
            patch.setattr(type(problem.model.dual_passes(problem.data, problem.C, 1)), "run", counted)
            assert solve(problem, DualCD(), tol=1e-3).gap <= 1e-3
        return sum(work)

    problem = stiff("multiclass", n=400)
    with_anchor = visits(problem)
    monkeypatch.setattr(anchors, "STIFF", np.inf)
    assert with_anchor < 0.7 * visits(problem)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_few_very_long_rows_do_not_hold_up_the_others(intercept):
    """As in raw counts of words: by their mean length, an anchor is so strong that nothing moves."""
    rng = np.random.default_rng(0)
    n, d = 400, 2000
    X = sp.random(n, d, 0.01, format="csr", random_state=0, data_rvs=lambda k: rng.integers(1, 6, k) * 1.0)
    y = np.where(X @ rng.normal(size=d) > 0, 1, -1)
    X = sp.diags_array(np.where(np.arange(n) % 100 == 0, 1e4, 1.0)) @ X
    problem = Problem(Binary(d, intercept), X.tocsr(), y, C=1.0)
    result = solve(problem, DualCD(), tol=1e-2, max_iter=2000)
    assert result.status.ok
    assert result.gap <= 1e-2

"""Newton steps in one call: bounds at every point, the optimum of other solvers, going on from a point."""

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import Linear, Problem, solve
from oneslack._jit.compiler import njit
from oneslack.losses import LOSSES
from oneslack.solvers import newton_sprint
from oneslack.solvers.newton import FIRST_MU, Newton
from oneslack.solvers.one_slack import OneSlack
from oneslack.solvers.smoothed import Smoothed


def made(loss, intercept=False, sparse=False, n=60, d=5, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(1.0, 3.0, d)
    X[rng.random((n, d)) < 0.4] = 0.0
    score = X @ rng.normal(size=d) + rng.normal(size=n)
    y = np.where(score > 0, 1.0, -1.0) if loss.has_sides else score
    weights = rng.integers(0, 3, size=n).astype(float)
    model = Linear(d, loss, intercept)
    return Problem(model, sp.csr_array(X) if sparse else X, y, 0.7, sample_weight=weights, **options)


KINDS = {
    "plain": {},
    "intercept": {"intercept": True},
    "sparse": {"sparse": True},
    "sparse, intercept": {"sparse": True, "intercept": True},
    "prior, scale": {"prior": np.full(5, 0.5), "scale": np.geomspace(0.5, 2.0, 5)},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LOSSES)
def test_every_point_brackets_the_optimum(name, kind):
    problem = made(LOSSES[name](), **KINDS[kind])
    other = solve(problem, OneSlack(), tol=1e-7)
    keeps = 0.0 if problem.smooth.has_kinks else 0.3  # old Hessians, too, where they can serve
    rule = 0.3, 0.3, 0.0, np.inf, keeps
    path = problem.smooth.path(problem.regulariser.start(), FIRST_MU * problem.unit, 1e-6, rule, 64)
    assert len(path.W) < 64
    assert path.primals[-1] - path.duals[-1] <= 1e-6 * path.primals[-1]
    for w, mu, primal, dual in zip(path.W, path.mus, path.primals, path.duals, strict=True):
        assert primal == pytest.approx(problem.primal(w), rel=1e-12)
        assert dual <= other.primal * (1 + 1e-12)
        assert primal >= other.dual * (1 - 1e-12)
        assert dual == pytest.approx(_dual_at(problem, w, mu), rel=1e-9, abs=1e-9 * other.primal)


def _dual_at(problem, w, mu):
    proof = newton_sprint._proof(problem, w, mu)
    return problem.regulariser.dual(proof.v, proof.linear)


@pytest.mark.parametrize("name", LOSSES)
def test_a_run_goes_on_from_each_of_its_points(name):
    problem = made(LOSSES[name](), intercept=True, seed=3)
    whole = solve(problem, Newton(), tol=1e-8)
    assert newton_sprint.can_sprint(problem)
    assert len(whole.trace) >= 2
    for steps in range(1, len(whole.trace)):
        part = solve(problem, Newton(), tol=1e-8, max_iter=steps)
        longer = solve(problem, Newton(), tol=1e-8, max_iter=steps + 1)
        resumed = solve(problem, Newton(), tol=1e-8, max_iter=1, start=part)
        np.testing.assert_array_equal(resumed.state["w"], longer.state["w"])
        assert resumed.state["mu"] == longer.state["mu"]
        assert resumed.state["known"] == longer.state["known"]


def test_steps_too_large_for_one_call_reach_the_same(monkeypatch):
    problem = made(LOSSES["hinge"](), seed=5)
    quick = solve(problem, Newton(), tol=1e-8)
    monkeypatch.setattr(newton_sprint, "LARGEST", 0.0)
    monkeypatch.setattr("oneslack.solvers.newton.can_sprint", lambda problem: False)
    plain = solve(problem, Newton(), tol=1e-8)
    assert max(quick.dual, plain.dual) <= min(quick.primal, plain.primal)
    assert quick.gap <= 1e-8
    assert plain.gap <= 1e-8


def test_a_loss_that_is_0_everywhere_ends():
    X = np.zeros((4, 2))
    problem = Problem(Linear(2, LOSSES["squared_epsilon_insensitive"](0.5)), X, np.zeros(4), 1.0)
    result = solve(problem, Newton())
    assert result.primal == result.dual == 0.0


@pytest.mark.parametrize("name", ["squared_hinge", "squared_epsilon_insensitive", "huber", "logistic"])
def test_a_loss_without_kinks_takes_one_call(name, monkeypatch):
    problem = made(LOSSES[name](), n=200)
    calls, path = [], Linear.smooth_path
    monkeypatch.setattr(Linear, "smooth_path", lambda *given: calls.append(1) or path(*given))
    assert solve(problem, Newton(), tol=1e-4).gap <= 1e-4
    assert len(calls) == 1


@pytest.mark.parametrize("shift", [0.1, 3.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_hessian_is_moved_to_other_duals(sparse, shift):
    from oneslack._jit.newton import _move_squares

    problem = made(LOSSES["squared_hinge"](), sparse=sparse)
    data, rng = problem.data, np.random.default_rng(0)
    h, change, squares, peak = np.zeros(problem.n), np.empty(problem.n), np.zeros((6, 6)), np.zeros(5)

    @njit()
    def move(phi, blocks, weights, p, h, change, squares, peak):
        _move_squares(phi, blocks, weights, 0.7, p, 1.0, False, h, change, squares, peak)

    X = data.X.toarray() if sparse else data.X
    margin = rng.normal(size=problem.n)
    for z in (margin, margin + shift, margin - shift, margin + 100.0):
        p = np.array([problem.model.phi.dual(1.0, value) for value in z])
        move(problem.model.phi, data.blocks, data.weights, p, h, change, squares, peak)
        H = 0.7 * (X.T * (data.weights * 2.0 * (p != 0.0))) @ X
        np.testing.assert_allclose(np.tril(squares[:5, :5]), np.tril(H), atol=1e-12 * peak.max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["squared_hinge", "huber"])
def test_squares_are_moved_to_other_duals(name, kind):
    problem = made(LOSSES[name](), **KINDS[kind])
    smooth, rng, last, moved = Smoothed(problem), np.random.default_rng(1), None, 0
    summed = problem.smooth.squares
    for step in (0.0, 0.05, 0.1, 100.0):
        S = rng.normal(size=problem.n) * 0.1 + 1.0 + step
        shares = problem.smooth.duals(S, 1.0)[0]
        seen = []
        problem.smooth.squares = lambda h, seen=seen: seen.append(np.count_nonzero(h)) or summed(h)
        last = smooth.squares(shares, 1.0, last)
        H = problem.C * problem.smooth.hessian(shares, 1.0)
        np.testing.assert_allclose(np.tril(last.H), np.tril(H), atol=1e-12 * np.max(last.peak))
        moved += sum(seen) < np.count_nonzero(last.h)
    assert moved


@pytest.mark.parametrize("name", ["squared_hinge", "logistic", "hinge"])
def test_steps_too_large_for_one_call_go_on_from_each_of_their_points(name, monkeypatch):
    monkeypatch.setattr("oneslack.solvers.newton.can_sprint", lambda problem: False)
    problem = made(LOSSES[name](), intercept=True, seed=3)
    whole = solve(problem, Newton(), tol=1e-8)
    assert len(whole.trace) > 4
    for steps in range(1, len(whole.trace)):
        part = solve(problem, Newton(), tol=1e-8, max_iter=steps)
        longer = solve(problem, Newton(), tol=1e-8, max_iter=steps + 1)
        resumed = solve(problem, Newton(), tol=1e-8, max_iter=1, start=part)
        for what in ("w", "S", "mu"):
            np.testing.assert_array_equal(resumed.state[what], longer.state[what])
    squares = part.state["chord"]["squares"]
    for part_name, array in squares.items():
        forged = part.state["chord"] | {"squares": squares | {part_name: array[:-1]}}
        with pytest.raises(ValueError, match="a Hessian is kept as"):
            next(Newton().steps(problem, part.state | {"chord": forged}))

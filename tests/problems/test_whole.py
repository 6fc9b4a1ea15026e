"""A problem that lies with one worker is trained as the same problem here: to the last bit."""

import numpy as np
import pytest
from memory.test_checkpoint import RUNS
from problems.test_split import ForgetfulCrews

from oneslack import Binary, DualCD, Problem, Regression, Status, ThreadCrews, solve
from oneslack.problems.parts.whole import WholeProblem

#: Those of models whose loops are compiled.
COMPILED = [name for name in RUNS if "three methods" not in name]
COLUMNS = ("iteration", "primal", "dual", "n_cuts", "oracle_calls", "cached")


def elsewhere(problem, engine=None):
    """The same problem, with one worker."""
    return WholeProblem(
        problem.model, problem.X, problem.Y, problem.C, engine=engine or ThreadCrews(1),
        rescaling=problem.rescaling, cache_size=problem.cache_size,
    )  # fmt: skip


def same(one, other):
    assert (one.status, one.solver, one.reason) == (other.status, other.solver, other.reason)
    np.testing.assert_array_equal(one.w, other.w)
    assert (one.primal, one.dual, one.certified) == (other.primal, other.dual, other.certified)
    for column in COLUMNS:
        np.testing.assert_array_equal(one.trace.column(column), other.trace.column(column))


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("limit", [1, 100_000])
def test_it_takes_the_same_steps(name, limit):
    make, solver = RUNS[name]
    here = solve(make(), solver, tol=1e-5, max_iter=limit)
    problem = elsewhere(make())
    with problem.engine:
        there = solve(problem, solver, tol=1e-5, max_iter=limit)
    same(here, there)
    assert there.w.flags.writeable
    # A message a step, some about the problem, and one or two about a last step without a P.
    assert there.n_iter < there.trace[-1].rounds < there.n_iter + 5
    assert limit == 1 or there.trace[-1].bytes_moved >= 8 * problem.n_params


@pytest.mark.parametrize("name", COMPILED)
def test_a_run_goes_on_here_and_there(name, tmp_path):
    """A checkpoint of one is one of the other."""
    make, solver = RUNS[name]
    whole = solve(make(), solver, tol=1e-5)
    path, steps, is_here, result = tmp_path / "run", 0, False, None
    while result is None or result.status is Status.MAX_ITER:
        steps, is_here = steps + 1 + whole.n_iter // 4, not is_here
        problem = make() if is_here else elsewhere(make())
        with problem.engine:
            result = solve(problem, solver, tol=1e-5, max_iter=steps, checkpoint=path, resume=True)
    same(whole, result)
    assert steps > 1 + whole.n_iter // 4


@pytest.mark.parametrize("name", ["one_slack", "dual_cd, intercept", "dual_cd, chain", "newton"])
def test_a_worker_that_comes_back_begins_anew(name):
    make, solver = RUNS[name]
    here = solve(make(), solver, tol=1e-5)
    crews = ForgetfulCrews(1)
    crews.moments = (4, 6, 9)
    problem = elsewhere(make(), crews)
    with problem.engine:
        there = solve(problem, solver, tol=1e-5)
    assert not problem.engine.moments
    assert there.status is Status.CONVERGED
    np.testing.assert_array_equal(there.w, here.w)
    assert np.all(np.diff(there.trace.column("dual")) >= 0)
    assert np.all(np.diff(there.trace.column("oracle_calls")) >= 0)


def test_it_goes_on_from_the_last_state_that_is_known():
    make, solver = RUNS["one_slack, chain"]
    here, duals = solve(make(), solver, tol=1e-5), []
    problem = elsewhere(make())
    with problem.engine as crew:
        away, _ = problem.chosen(solver, 0)
        for step in away.steps(problem, None, 1e-5):
            duals.append(step.dual)
            if len(duals) == 4:
                step.state()
                old = crew.workers[0]
                crew.workers[0] = type(old)(old.part, old.model, old.options)
            if len(duals) == here.n_iter:
                break
    np.testing.assert_array_equal(np.maximum.accumulate(duals), here.trace.column("dual"))


def test_a_last_point_that_is_lost():
    """The step had no P: what is known is the start."""
    make, solver = RUNS["dual_cd, chain"]
    crews = ForgetfulCrews(1)
    crews.moments = (5,)
    problem = elsewhere(make(), crews)
    with problem.engine:
        found = solve(problem, solver, max_iter=1)
    assert not problem.engine.moments
    assert not found.w.any()
    assert found.primal == pytest.approx(make().primal(found.w))
    assert found.dual <= solve(make(), solver, tol=1e-5).primal


def test_the_worker_chooses():
    make, _ = RUNS["newton"]
    problem = elsewhere(make())
    with problem.engine:
        assert solve(problem).solver == "newton"
        with pytest.raises(ValueError, match="solver='best' is not known"):
            solve(problem, "best")
        assert problem.primal(np.ones(problem.n_params)) == make().primal(np.ones(problem.n_params))


def test_a_result_is_gone_on_from_with_another_C():
    make, solver = RUNS["dual_cd, intercept"]
    problem = make()
    first = solve(problem, solver, tol=1e-5)
    other = Problem(problem.model, problem.X, problem.Y, 2.0 * problem.C)
    away = elsewhere(other)
    with away.engine:
        same(solve(other, solver, tol=1e-5, start=first), solve(away, solver, tol=1e-5, start=first))


def test_terms_of_the_weights_travel():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(80, 4)), rng.integers(1, 4, 80).astype(float)
    y = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=80)
    terms = {"prior": np.full(4, 0.5), "scale": np.array([1.0, 2.0, 1.0, 3.0]), "nonnegative": True}
    here = solve(Problem(Regression(4, 0.1), X, y, 0.1, sample_weight=weights, **terms), DualCD(), tol=1e-5)
    problem = WholeProblem(
        Regression(4, 0.1), X, y, 0.1, engine=ThreadCrews(1), sample_weight=weights, **terms
    )
    with problem.engine:
        same(here, solve(problem, DualCD(), tol=1e-5))


def test_what_cannot_be_learned_from_leaves_no_worker():
    started = []

    class Watched(ThreadCrews):
        def start(self, *how):
            started.append(super().start(*how))
            return started[-1]

    with pytest.raises(ValueError, match="y"):
        WholeProblem(Binary(2), np.eye(2), [1.0, 3.0], engine=Watched(1))
    with pytest.raises(RuntimeError):  # the crew is closed
        started[0].ask("sizes")

"""Every public problem with every solver: a Result within its bounds, or a sentence that says what to use."""

import re

import pytest
from public_problems import PROBLEMS, RBF, SOLVERS, X, Y

import oneslack
from oneslack import Binary, ExactKernel, KernelProblem, SampledCuts
from oneslack.solvers import choose_kernel
from oneslack.solvers.choose import PUBLIC, choose_solver, missing

#: What a sentence may name.
NAMED = {getattr(solver, "label", type(solver).__name__): solver for solver in PUBLIC}


def closed(problem):
    if hasattr(getattr(problem, "engine", None), "close"):
        problem.engine.close()


@pytest.fixture(scope="module")
def optima(tmp_path_factory):
    """name -> (D, P) of each problem by "auto"."""
    found = {}
    for name, make in PROBLEMS.items():
        problem = make(tmp_path_factory.mktemp("shards"))
        result = oneslack.solve(problem, tol=1e-3)
        closed(problem)
        assert result.status.ok, name
        found[name] = result
    return found


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_result_or_a_sentence(name, solver, optima, tmp_path):
    problem, result, sentence = PROBLEMS[name](tmp_path), None, ""
    try:
        result = oneslack.solve(problem, SOLVERS[solver], tol=1e-2)
    except ValueError as refusal:
        sentence = str(refusal)
    finally:
        closed(problem)
    if result is None:
        assert solver != "auto"
        named = re.split(", | or ", re.search(r"Use (.*)\.$", sentence)[1])
        assert named
        assert [missing(problem, NAMED[name]) for name in named] == [None] * len(named)
        return
    other = optima[name]
    assert result.status.ok
    if result.certified:
        assert result.dual <= other.primal
    if other.certified:
        assert other.dual <= result.primal


def test_auto_for_a_kernel_goes_by_the_memory_and_the_model(monkeypatch):
    problem = KernelProblem(Binary(2), RBF, X, Y)
    assert choose_solver(problem, seed=3)[0] == ExactKernel(seed=3)
    tight = KernelProblem(Binary(2), RBF, X, Y, memory=100)
    assert choose_solver(tight)[0] == SampledCuts("linear", 400)
    monkeypatch.setattr(choose_kernel, "CONSTANT_FROM", 10)
    assert choose_solver(tight)[0] == SampledCuts("constant", 1000)


def test_duals_of_another_hinge_are_none_of_ours():
    """Regression has one score, too, but ExactKernel's bound for it was above its optimum."""
    problem = KernelProblem(oneslack.Regression(2), RBF, X, X[:, 0])
    with pytest.raises(
        ValueError, match=r"it lacks the duals of a Regression. Use SampledCuts\('linear'\) or Basis"
    ):
        oneslack.solve(problem, ExactKernel())
    solver, why = choose_solver(problem)
    assert solver == SampledCuts("linear", 400)
    assert "duals of a Regression" in why

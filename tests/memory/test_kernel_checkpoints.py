"""Kernel runs that are written down, or gone on with from their result; what is of another problem."""

import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_toys import IRIS, KIND, RBF, X, Y, problem_of

from oneslack import (
    BasisFunctions,
    Chain,
    ExactKernel,
    Kernel,
    KernelChainProblem,
    OneslackError,
    SampledCuts,
    Status,
    solve,
)
from oneslack.datasets import make_checkers
from oneslack.memory.checkpoint import Checkpoint
from oneslack.problems import kernel as kernel_problem

CHAIN_X = [np.random.default_rng(i).normal(size=(i % 4 + 1, 2)) for i in range(40)]
CHAIN_Y = [(x.prod(axis=1) > 0).astype(int) for x in CHAIN_X]


def board():
    return problem_of(RBF, X, Y, 3.0)


def kinds():
    return problem_of(Kernel("rbf", 0.3), IRIS, KIND)


def chains():
    return KernelChainProblem(Chain(2, 2), RBF, CHAIN_X, CHAIN_Y)


RUNS = {
    "exact": (board, ExactKernel(block=16)),
    "exact, intercept": (lambda: problem_of(RBF, X, Y, intercept=True), ExactKernel(block=16)),
    "exact, classes": (kinds, ExactKernel(block=16)),
    "linear": (board, SampledCuts("linear", 30, drop_after=5)),
    "linear, classes": (kinds, SampledCuts("linear", 30)),
    "linear, paper": (board, SampledCuts("linear", 50, line_search=False, touch=False, spread=False)),
    "linear, chains": (chains, SampledCuts("linear", 30)),
    "constant": (board, SampledCuts("constant", 60, checked=40, drop_after=5)),
    "constant, paper": (board, SampledCuts("constant", 60, line_search=False)),
    "basis": (board, BasisFunctions(40)),
}


def goal(name):
    return {"tol": 1e-4} if "exact" in name or name == "basis" else {"epsilon": 0.01}


@pytest.mark.parametrize("name", RUNS)
def test_a_resumed_run_gives_the_same_model(name, tmp_path):
    make, solver = RUNS[name]
    options = goal(name)
    whole = solve(make(), solver, **options)
    path, steps, runs = tmp_path / "run", 0, 0
    while True:
        steps, runs = steps + max(whole.n_iter // 3, 1), runs + 1
        part = solve(make(), solver, max_iter=steps, checkpoint=path, resume=True, **options)
        if part.status is not Status.MAX_ITER:
            break
    assert runs > 1
    assert not path.exists()
    assert (part.status, part.certified) == (whole.status, whole.certified)
    if "exact" in name:  # rows that are computed anew are rounded in another way, which changes later draws
        assert max(part.dual, whole.dual) <= min(part.primal, whole.primal)
        return
    assert part.n_iter == whole.n_iter
    assert part.primal == pytest.approx(whole.primal, rel=1e-9)
    assert part.dual == pytest.approx(whole.dual, rel=1e-9)
    one, other = whole.w.merged(), part.w.merged()
    np.testing.assert_array_equal(one.index, other.index)
    np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=1e-6, atol=1e-9)


def test_an_exact_run_goes_on_from_where_it_was(tmp_path):
    solver, path = ExactKernel(block=16), tmp_path / "run"
    first = solve(board(), solver, tol=1e-9, max_iter=10, checkpoint=path)
    part = solve(board(), solver, tol=1e-9, max_iter=12, checkpoint=path, resume=True)
    assert part.n_iter == 12
    duals = part.trace.column("dual")
    np.testing.assert_array_equal(duals[:10], first.trace.column("dual"))
    assert duals[9] < duals[10] < duals[11]  # a run from the beginning would take ten steps to get there


@pytest.mark.parametrize("name", [name for name in RUNS if name != "exact, classes"])
def test_a_run_that_is_done_gives_its_result_again(name, tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_problem, "ESTIMATE", 1.0)
    make, solver = RUNS[name]
    kept = Checkpoint(tmp_path / "run", keep=True)
    first = solve(make(), solver, checkpoint=kept, **goal(name))
    again = solve(make(), solver, checkpoint=kept, resume=True, **goal(name))
    assert first.certified == again.certified == ("exact" in name)
    assert (first.n_iter, first.primal, first.dual) == (again.n_iter, again.primal, again.dual)
    np.testing.assert_array_equal(first.w.index, again.w.index)
    np.testing.assert_array_equal(first.w.coefficients, again.w.coefficients)
    assert first.state.keys() == again.state.keys()


def test_the_error_of_an_estimate_is_written_down(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_problem, "ESTIMATE", 1.0)
    data, y = make_checkers(12_000, random_state=2)
    kept, solver = Checkpoint(tmp_path / "run", keep=True), SampledCuts("constant", 50, checked=100)
    first = solve(problem_of(RBF, data, y), solver, epsilon=0.3, checkpoint=kept)
    again = solve(problem_of(RBF, data, y), solver, epsilon=0.3, checkpoint=kept, resume=True)
    assert 0 < first.primal_error == again.primal_error


def test_a_checkpoint_of_another_problem_is_refused(tmp_path):
    path = tmp_path / "run"
    solver = SampledCuts("linear", 30)
    solve(board(), solver, epsilon=1e-6, max_iter=3, checkpoint=path)
    others = {
        "another kernel": problem_of(Kernel("rbf", 3.0), X, Y, 3.0),
        "other rows": problem_of(RBF, X + np.arange(150)[:, None], Y, 3.0),
        "other targets": problem_of(RBF, X, -Y, 3.0),
    }
    for problem in others.values():
        with pytest.raises(OneslackError, match="the checkpoint is of"):
            solve(problem, solver, epsilon=1e-6, checkpoint=path, resume=True)


# What the identity must see.

MANY, MANY_Y = make_checkers(2500, random_state=0)
BOTH = {"exact": ExactKernel(), "linear": SampledCuts("linear", 50)}


def resumed_on_another(make, other, solver, path):
    solve(make(), solver, tol=1e-6, max_iter=2, checkpoint=path)
    with pytest.raises(OneslackError) as error:
        solve(other(), solver, tol=0.5, checkpoint=path, resume=True)
    return str(error.value)


@pytest.mark.parametrize("name", BOTH)
def test_one_row_among_many_is_told(name, tmp_path):
    changed = MANY.copy()
    changed[1231] += 0.25
    forms = {
        "dense": (MANY, changed),
        "sparse": (sp.csr_array(MANY), sp.csr_array(changed)),
        "transposed": (np.asfortranarray(MANY), np.asfortranarray(changed)),
    }
    for form, (one, other) in forms.items():
        kernel = Kernel(lambda A, B: np.asarray((A @ B.T).todense() if sp.issparse(A) else A @ B.T))
        for kind in (kernel, RBF):
            problems = [problem_of(kind, rows, MANY_Y) for rows in (one, one.copy(), other)]
            identities = [problem.identity() for problem in problems]
            assert identities[0] == identities[1] != identities[2], form
    said = resumed_on_another(
        lambda: problem_of(RBF, MANY, MANY_Y), lambda: problem_of(RBF, changed, MANY_Y), BOTH[name],
        tmp_path / "run",
    )  # fmt: skip
    assert "the checkpoint is of other data" in said


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("intercept", [False, True])
def test_an_intercept_is_told(name, intercept, tmp_path):
    said = resumed_on_another(
        lambda: problem_of(RBF, X, Y, intercept=intercept),
        lambda: problem_of(RBF, X, Y, intercept=not intercept), BOTH[name], tmp_path / "run",
    )  # fmt: skip
    assert f"another run (intercept {intercept}, now {not intercept})" in said


def test_sentences_of_other_lengths_are_told():
    tokens = np.vstack(CHAIN_X[:4]), np.concatenate(CHAIN_Y[:4])
    splits = [[part.copy() for part in np.split(rows, [2, 3])] for rows in tokens]
    others = [[part.copy() for part in np.split(rows, [1, 3])] for rows in tokens]
    one, other = (KernelChainProblem(Chain(2, 2), RBF, *pair) for pair in (splits, others))
    assert one.identity() != other.identity()


def powered(power):
    def kernel(A, B):
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1)) ** power

    return Kernel(kernel)


def test_another_function_of_the_same_name_is_told_by_the_objective(tmp_path):
    said = resumed_on_another(
        lambda: problem_of(powered(1), X, Y), lambda: problem_of(powered(2), X, Y), BOTH["exact"],
        tmp_path / "run",
    )  # fmt: skip
    assert re.search("other data .its model has the objective [0-9.]+ there, [0-9.]+ here", said)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_no_other_problem(dtype, tmp_path):
    kernel, solver, path = Kernel("rbf", 2.0, dtype=dtype), ExactKernel(block=16), tmp_path / "run"
    for steps in (20, 40, 60, 10_000):
        result = solve(problem_of(kernel, X, Y, 30.0), solver, max_iter=steps, checkpoint=path, resume=True)
    assert result.status is Status.CONVERGED
    assert result.n_iter > 60


def test_wide_sparse_rows_stay_sparse():
    rng = np.random.default_rng(0)
    n, d, each = 300, 400_000, 5
    parts = rng.normal(size=n * each), rng.integers(0, d, n * each), np.arange(0, n * each + 1, each)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    problem = problem_of(Kernel("linear"), sp.csr_array(parts, shape=(n, d)), y)
    assert sp.issparse(problem.inputs.rows)
    tracemalloc.start()
    for solver in (SampledCuts("constant", 20, checked=100), SampledCuts("linear", 20)):
        solve(problem, solver, epsilon=0.5, max_iter=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6  # unpacked they are a gigabyte


# From a result.


@pytest.mark.parametrize("name", RUNS)
def test_a_result_is_gone_on_with(name):
    make, solver = RUNS[name]
    part = solve(make(), solver, max_iter=3, **goal(name))
    whole = solve(make(), solver, **goal(name))
    assert part.status is Status.MAX_ITER
    rests = [solve(make(), solver, start=part, **goal(name)) for _ in range(2)]
    for rest in rests:  # the second shows that the first did not change the result that it began from
        assert rest.status is whole.status
        assert rest.n_iter == rests[0].n_iter < 1.3 * whole.n_iter
        assert rest.primal == pytest.approx(rests[0].primal, rel=1e-12)
        assert rest.primal == pytest.approx(whole.primal, rel=0.05)
    done = solve(make(), solver, start=whole, **goal(name))
    assert done.n_iter <= max(2, whole.n_iter // 4)
    assert done.status.ok


def test_a_result_of_another_solver_or_problem_is_no_start():
    linear = solve(board(), SampledCuts("linear", 30), epsilon=0.01)
    for solver in (
        SampledCuts("constant", 60, checked=40),
        SampledCuts("linear", 30, line_search=False),
        BasisFunctions(40),
        ExactKernel(block=16),
    ):
        cold, other = (solve(board(), solver, epsilon=0.01, start=start) for start in (None, linear))
        assert (cold.primal, cold.dual, cold.n_iter) == (other.primal, other.dual, other.n_iter)
    few = solve(board(), BasisFunctions(20), tol=1e-4)
    cold, other = (solve(board(), BasisFunctions(21), tol=1e-4, start=start) for start in (None, few))
    assert (cold.primal, cold.dual, cold.n_iter) == (other.primal, other.dual, other.n_iter)
    exact = solve(board(), ExactKernel(block=16), tol=1e-6)
    moved = problem_of(RBF, X + 0.5 * (np.arange(150) == 7)[:, None], Y, 3.0)
    best = solve(moved, ExactKernel(block=16), tol=1e-8)
    other = solve(moved, ExactKernel(block=16), tol=1e-2, start=exact)
    assert other.dual <= best.primal <= moved.primal(other.w) == pytest.approx(other.primal)

"""Asking a part of the examples at a time: who is asked, and that bounds stay bounds."""

import numpy as np
import pytest
from problems.test_structured import examples, reference_of

from oneslack import NSlack, OneSlack, Problem, solve
from oneslack.memory.doubts import Doubts

SOLVERS = {
    "one_slack": lambda parts: OneSlack(cache_size=5, parts=parts),
    "n_slack": lambda parts: NSlack(parts=parts),
}


def test_new_examples_come_first_then_the_largest_doubts():
    doubts = Doubts(np.array([1.0, 1.0, 2.0, 1.0, 1.0, 1.0]), parts=3)
    for expected in ([0, 1], [2, 3], [4, 5]):
        assert doubts.part(0.0).tolist() == expected
        doubts.note(np.array(expected), np.zeros(2), np.ones(2))
    assert doubts.part(0.0) is None  # nobody is in doubt
    doubts.note(np.arange(6), np.array([0.1, 0.0, 4.0, 5.0, 1e-12, 0.2]), np.ones(6))
    assert doubts.excess[4] == 0.0  # rounding
    assert doubts.fresh == pytest.approx(0.1 + 8.0 + 5.0 + 0.2)
    assert doubts.part(0.0).tolist() == [2, 3]
    assert doubts.part(100.0) is None
    doubts.note(np.array([2, 3]), np.array([0.0, 0.001]), np.ones(2))
    assert doubts.part(0.0).tolist() == [0, 5]


def test_one_example_may_be_all_the_doubt():
    doubts = Doubts(np.ones(10), parts=2)
    doubts.note(np.arange(10), np.where(np.arange(10) == 7, 1.0, 1e-6), np.zeros(10))
    assert doubts.part(0.0).tolist() == [7]


@pytest.mark.grid(2)
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("kind", ["labels", "sparse", "multiclass", "chain"])
@pytest.mark.parametrize("parts", [2, 8, 1000])
@pytest.mark.parametrize("name", SOLVERS)
def test_every_step_is_honest_and_the_optimum_is_reached(name, kind, rescaling, parts):
    model, X, Y = examples(kind)
    s = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(Y))
    reference = reference_of(model, X, Y, 2.0, rescaling, s)
    lower, upper = reference.solve()[:2]
    rows = []
    problem = Problem(model, X, Y, 2.0, sample_weight=s, rescaling=rescaling)
    solver = SOLVERS[name](parts)
    result = solve(problem, solver, tol=1e-5, max_iter=20_000, callbacks=[rows.append])
    assert result.status.name == "CONVERGED"
    assert result.primal == pytest.approx(reference.primal(result.w), rel=1e-9)
    duals = [row.dual for row in rows]  # the best so far
    assert duals == sorted(duals)
    assert max(duals) <= upper * (1 + 1e-8)
    assert min(row.primal for row in rows) >= lower * (1 - 1e-8)


@pytest.mark.parametrize("name", SOLVERS)
def test_the_papers_rule_stops_it_too(name):
    model, X, Y = examples("labels")
    problem = Problem(model, X, Y, 1.0)
    result = solve(problem, SOLVERS[name](8), epsilon=1e-3)
    assert result.status.name == "EPSILON"
    assert (
        result.primal - reference_of(model, X, Y, 1.0, "margin").solve()[0] <= 1e-3 * problem.weight * 1.001
    )


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kind", ["labels", "chain"])
def test_a_run_goes_on_where_it_was(name, kind):
    """Cut in the middle of asking, with doubts about some examples."""
    model, X, Y = examples(kind)
    solver = SOLVERS[name](8)
    whole = solve(Problem(model, X, Y, 5.0), solver, tol=1e-12, max_iter=40)
    for steps in (3, 21):
        half = solve(Problem(model, X, Y, 5.0), solver, tol=1e-12, max_iter=steps)
        again = solve(Problem(model, X, Y, 5.0), solver, tol=1e-12, max_iter=40 - steps, start=half)
        assert np.array_equal(whole.w, again.w)
        assert whole.dual == again.dual


@pytest.mark.parametrize("name", SOLVERS)
def test_parts_save_questions(name):
    model, X, Y = examples("chain")
    calls = []
    for parts in (0, 8):
        problem = Problem(model, X, Y, 0.1)
        solve(problem, SOLVERS[name](parts), tol=1e-3)
        calls.append(problem.work.oracle_calls)
    assert calls[1] < 0.7 * calls[0]


@pytest.mark.parametrize("excess", [np.zeros(5), np.zeros(7), np.zeros((6, 1)), np.zeros(6, np.int64)])
def test_doubts_of_other_examples_are_refused(excess):
    with pytest.raises(ValueError, match="excess of the examples is"):
        Doubts(np.ones(6), parts=3).restore({"excess": excess, "fresh": 0.0})

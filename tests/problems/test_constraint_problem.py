"""ConstraintProblem: reductions equal their own problem and an independent QP; bounds hold at every step."""

from itertools import islice, pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs_model import Pairs
from reference import Reference

import oneslack
from oneslack import (
    Binary,
    ConstraintProblem,
    DualCD,
    Multiclass,
    OneSlack,
    Problem,
    Regression,
    Status,
    solve,
)
from oneslack.checks.brute import all_cuts

TOL = 1e-6


def reference_of(problem, rows, margins, groups):
    """The rows with a zero cut for each group, whose slack is never negative."""
    rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    G = problem.n_groups
    groups = np.arange(len(rows)) if groups is None else np.asarray(groups)
    return Reference.of_cuts(
        np.vstack([rows.astype(float), np.zeros((G, rows.shape[1]))]),
        np.append(margins, np.zeros(G)),
        np.append(groups, np.arange(G)),
        problem.C * problem.data.weights,
    )


def check(problem, reference, solver=None, tol=TOL):
    """Every bound of a run is one; it ends at the optimum."""
    lower, upper, _ = reference.solve()
    result = solve(problem, solver or DualCD(), tol=tol)
    slack = 1e-9 * (problem.weight + upper)
    assert result.trace.column("dual").max() <= upper + slack
    assert result.trace.column("primal").min() >= lower - slack
    assert (np.diff(result.trace.column("dual")) >= 0).all()
    assert result.primal == pytest.approx(reference.primal(result.w), rel=1e-9, abs=slack)
    assert result.status is Status.CONVERGED or result.primal - result.dual <= slack, str(result)
    assert result.primal <= (1 + 2 * tol) * upper + slack
    return result


def check_duals(problem, result):
    """The duals are feasible, and worth what the run says."""
    alpha = problem.duals(result)
    assert alpha.min(initial=0) >= 0
    packed = alpha if problem.data.order is None else alpha[problem.data.order]
    bounds = problem.data.starts
    sums = np.array([packed[a:b].sum() for a, b in pairwise(bounds)])
    assert (sums <= problem.C * problem.data.weights * (1 + 1e-12)).all()
    # The best bound of the run; the last duals may be worth a little less.
    assert problem.dual(alpha) <= result.dual + 1e-9 * problem.weight
    assert problem.dual(alpha) >= result.dual - 1e-3 * abs(result.dual) - 1e-9 * problem.weight


def random_constraints(rng, n_groups, most, d, density=0.7):
    sizes = rng.integers(0, most + 1, n_groups)
    sizes[0] = max(sizes[0], 1)
    groups = np.repeat(np.arange(n_groups), sizes)
    rows = rng.normal(size=(len(groups), d)) * (rng.random((len(groups), d)) < density)
    return rows, rng.normal(0.5, 1.0, len(groups)), groups


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 8), st.integers(1, 5), st.booleans(),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_random_problems(seed, n_groups, most, d, weighted, shuffled, sparse):
    rng = np.random.default_rng(seed)
    rows, margins, groups = random_constraints(rng, n_groups, most, d)
    if shuffled:
        order = rng.permutation(len(groups))
        rows, margins, groups = rows[order], margins[order], groups[order]
    weights = rng.integers(0, 3, n_groups) * rng.uniform(0.5, 2, n_groups) if weighted else np.ones(n_groups)
    weights[0] = 1.0
    C = 10.0 ** rng.uniform(-2, 1)
    given_rows = sp.csr_matrix(rows) if sparse else rows
    problem = ConstraintProblem(given_rows, margins, groups, C=C, weights=weights)
    reference = reference_of(problem, rows, margins, groups)
    check_duals(problem, check(problem, reference))
    check(problem, reference, OneSlack())


# Reductions (Ramanan 2013, appendix A).


def some_examples(seed, n=25, d=4, k=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k))).argmax(axis=1), rng


def same_optimum(problem, own, tol=TOL):
    """The general problem has the optimum of the special one."""
    result = solve(problem, DualCD(), tol=tol)
    special = solve(own, tol=tol)
    assert result.status is Status.CONVERGED
    assert result.primal == pytest.approx(special.primal, rel=3 * tol)
    assert problem.primal(special.w) == pytest.approx(own.primal(special.w), rel=1e-9)
    return result


@pytest.mark.parametrize("seed", few(range(10), 2))
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_binary_is_a_special_case(seed, C):
    X, y, rng = some_examples(seed)
    y, s = 2 * y - 1, rng.uniform(0, 2, len(y))
    problem = ConstraintProblem(y[:, None] * X, np.ones(len(y)), C=C, weights=s)
    same_optimum(problem, Problem(Binary(4), X, y, C, sample_weight=s))
    check(problem, reference_of(problem, y[:, None] * X, np.ones(len(y)), None))


@pytest.mark.parametrize("seed", few(range(10), 2))
@pytest.mark.parametrize("C", [0.05, 1.0, 5.0])
def test_multiclass_is_a_special_case(seed, C):
    X, y, rng = some_examples(seed, k=4)
    cost = rng.uniform(0.5, 2.0, (4, 4)) * (1 - np.eye(4))
    own = Problem(Multiclass(4, 4, False, cost), X, y, C)
    cuts = all_cuts(own.model, X, y)
    problem = ConstraintProblem(cuts.deltas, cuts.losses, cuts.index, C=C)
    same_optimum(problem, own)
    check(problem, Reference.of_problem(own))


@pytest.mark.parametrize("seed", few(range(10), 2))
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("shared", [True, False])
def test_regression_is_a_special_case(seed, epsilon, shared):
    """Only one side of the tube can be left: the two may share a slack or not."""
    X, _, rng = some_examples(seed)
    n, y = len(X), X @ rng.normal(size=4) + rng.normal(size=len(X))
    groups = np.tile(np.arange(n), 2) if shared else None
    rows, margins = np.vstack([X, -X]), np.append(y - epsilon, -y - epsilon)
    problem = ConstraintProblem(rows, margins, groups, C=0.7)
    same_optimum(problem, Problem(Regression(4, epsilon), X, y, 0.7))
    check(problem, reference_of(problem, rows, margins, groups))


@pytest.mark.parametrize("seed", few(range(8), 2))
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_structural_is_a_special_case(seed, C):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(1, 5), 4)) for _ in range(10)]
    Y = [tuple(int(label) for label in rng.integers(0, 2, len(x))) for x in X]
    own = Problem(Pairs(), X, Y, C)
    cuts = all_cuts(own.model, X, Y)
    problem = ConstraintProblem(sp.csr_matrix(cuts.deltas), cuts.losses, cuts.index, C=C)
    result = check(problem, Reference.of_cuts(cuts.deltas, cuts.losses, cuts.index, np.full(10, C)))
    check_duals(problem, result)
    assert result.primal == pytest.approx(solve(own, OneSlack(), tol=TOL).primal, rel=3 * TOL)


@pytest.mark.parametrize("seed", few(range(10), 2))
def test_completed_latent_is_a_special_case(seed):
    """Positives with their completed place, negatives at all places (A.4): margins of both signs' rows."""
    rng = np.random.default_rng(seed)
    windows = rng.normal(size=(20, 6, 5))
    positive = np.arange(20) < 8
    windows[positive, 2] += 1.0
    rows, margins, groups = [], [], []
    for i, places in enumerate(windows):
        chosen = places[2:3] if positive[i] else -places
        rows.append(chosen)
        margins += [1.0] * len(chosen)
        groups += [i] * len(chosen)
    rows = np.vstack(rows)
    problem = ConstraintProblem(rows, margins, groups, C=0.5)
    result = check(problem, reference_of(problem, rows, margins, groups))
    check_duals(problem, result)
    # From the definition: a negative pays by its best place.
    scores = windows @ result.w
    paid = np.where(positive, 1 - scores[:, 2], 1 + scores.max(axis=1))
    expected = 0.5 * result.w @ result.w + 0.5 * np.maximum(paid, 0).sum()
    assert result.primal == pytest.approx(expected)


# Definitions.


def test_risk_planes_and_slopes():
    rng = np.random.default_rng(4)
    rows, margins, groups = random_constraints(rng, 15, 6, 4)
    s = rng.uniform(0, 2, 15)
    problem = ConstraintProblem(rows, margins, groups, weights=s)
    points = rng.normal(size=(6, 4))

    def risk(w):
        worst = np.zeros(15)
        np.maximum.at(worst, groups, margins - rows @ w)
        return s @ worst / s.sum()

    for v, w in zip(points, np.roll(points, 1, axis=0), strict=True):
        assert problem.risk(w) == pytest.approx(risk(w))
        plane = problem.mean_cut(w)
        assert plane.value(w) == pytest.approx(risk(w))
        assert all(plane.value(z) <= risk(z) + 1e-12 for z in points)
        look, h = problem.scores.along(problem.scores(w), problem.scores(v), 0.3), 1e-6
        at = [risk(w + (0.3 + step) * v) for step in (-h, 0.0, h)]
        assert look.risk == pytest.approx(at[1])
        assert look.loss == pytest.approx(problem.mean_cut(w + 0.3 * v).offset)
        assert (at[1] - at[0]) / h - 1e-5 <= look.slope <= (at[2] - at[1]) / h + 1e-5


# What the passes keep.


def medium(seed=0, C=1.0, sparse=False, shuffled=False):
    rng = np.random.default_rng(seed)
    rows, margins, groups = random_constraints(rng, 60, 9, 8)
    if shuffled:
        order = rng.permutation(len(groups))
        rows, margins, groups = rows[order], margins[order], groups[order]
    given_rows = sp.csr_matrix(rows) if sparse else rows
    return ConstraintProblem(given_rows, margins, groups, C=C), reference_of_medium(rows, margins, groups, C)


def reference_of_medium(rows, margins, groups, C):
    problem = ConstraintProblem(rows, margins, groups, C=C)
    return reference_of(problem, rows, margins, groups)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_every_pass_is_honest(sparse, C):
    """w and the value of the duals follow the duals; no pass lowers the dual; sums stay inside."""
    problem, reference = medium(C=C, sparse=sparse)
    _, upper, _ = reference.solve()
    passes = problem.model.dual_passes(problem.data, C, 5)
    value = last = 0.0
    full_groups = 0
    for number in range(60):
        _, growth = passes.run(0.0)
        value += growth
        np.testing.assert_allclose(passes.w, problem.scores.adjoint(passes.alpha), atol=1e-10)
        dual = passes.linear() - problem.regulariser.value(passes.w)
        assert dual == pytest.approx(value, rel=1e-9)
        assert last - 1e-12 <= dual <= upper * (1 + 1e-9)
        last = dual
        bounds = problem.data.starts
        sums = np.array([passes.alpha[a:b].sum() for a, b in pairwise(bounds)])
        assert (sums <= passes.upper * (1 + 1e-12)).all()
        shared = np.diff(bounds) > 1
        np.testing.assert_allclose(passes.total[shared], sums[shared], atol=1e-12)
        full_groups += int(np.sum((passes.total == passes.upper) & shared))
        if number % 7 == 0:
            passes.reopen(problem.scores(passes.w))
    assert full_groups  # or the fourth case was never met
    assert last == pytest.approx(upper, rel=5e-3)


def test_single_steps_alone_do_not_reach_the_optimum():
    """Fig. 1 (4): two rows share a slack, the first has all the dual; only a pair can move."""
    problem = ConstraintProblem([[1.0, 0.0], [0.0, 3.0]], [2.0, 2.0], [0, 0], C=0.1)
    passes = problem.model.dual_passes(problem.data, 0.1, 1)
    passes.alpha[:], passes.total[:], passes.w[:] = [0.1, 0.0], 0.1, [0.1, 0.0]
    passes.last[:] = [1.9, 2.0]
    before = passes.linear() - problem.regulariser.value(passes.w)
    passes.run(0.0)
    assert passes.alpha[1] > 0
    assert passes.alpha.sum() == pytest.approx(0.1)
    assert passes.linear() - problem.regulariser.value(passes.w) > before


@pytest.mark.parametrize("steps", [1, 3, 10])
@pytest.mark.parametrize("shuffled", [True, False])
def test_pruning_never_lowers_the_dual(steps, shuffled):
    problem, reference = medium(shuffled=shuffled)
    upper = reference.solve()[1]
    result = solve(problem, DualCD(), tol=0.0, max_iter=steps)
    alpha = problem.duals(result)
    before = problem.dual(alpha)
    part, index = problem.pruned(result)
    assert 0 < part.n < problem.n
    assert part.dual(alpha[index]) == pytest.approx(before, rel=1e-12)
    # Going on without the pruned rows: the dual never falls, and is a bound of the whole problem still.
    passes = part.model.dual_passes(part.data, part.C, 1)
    passes.begin(alpha[index] if part.data.order is None else alpha[index][part.data.order])
    last = before
    for _ in range(30):
        passes.run(0.0)
        alpha = np.zeros(problem.n)
        alpha[index] = part.data.as_given(passes.alpha)
        now = problem.dual(alpha)
        assert last - 1e-12 * upper <= now <= upper * (1 + 1e-9)
        last = now


def test_a_stopped_run_goes_on_as_if_it_had_not():
    problem, _ = medium()
    whole = solve(problem, DualCD(), tol=0.0, max_iter=20)
    half = solve(problem, DualCD(), tol=0.0, max_iter=10)
    again = solve(problem, DualCD(), tol=0.0, max_iter=10, start=half)
    np.testing.assert_array_equal(problem.duals(again), problem.duals(whole))


def test_every_single_step_is_a_bound():
    problem, reference = medium(C=0.3)
    lower, upper, _ = reference.solve()
    for step in islice(DualCD().steps(problem, None, 1e-9), 80):
        assert step.dual <= upper * (1 + 1e-9)
        if step.primal is not None:
            assert step.primal >= lower * (1 - 1e-9)
            assert step.primal == pytest.approx(reference.primal(step.w), rel=1e-9)


def test_order_and_form_of_the_rows_do_not_matter():
    rng = np.random.default_rng(1)
    rows, margins, groups = random_constraints(rng, 30, 6, 5)
    order = rng.permutation(len(groups))
    values = []
    for X, index in (
        (rows, slice(None)),
        (rows, order),
        (sp.csr_array(rows), order),
        (sp.csc_matrix(rows), order),
    ):
        problem = ConstraintProblem(X[index], margins[index], groups[index])
        result = solve(problem, DualCD(), tol=1e-8)
        values.append(result.primal)
        assert problem.dual(problem.duals(result)) == pytest.approx(result.primal, rel=1e-6)
    np.testing.assert_allclose(values, values[0], rtol=3e-8)


def test_threads_keep_the_result(monkeypatch):
    monkeypatch.setattr(oneslack.data.rows, "SHARD_SIZE", 20)
    rng = np.random.default_rng(2)
    rows, margins, groups = random_constraints(rng, 200, 5, 5)
    results = [
        solve(ConstraintProblem(rows, margins, groups, n_jobs=jobs), DualCD(), tol=1e-6) for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(results[0].w, results[1].w)


def test_empty_rows_and_groups_and_repeated_rows():
    rows = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    margins, groups = np.array([1.0, -1.0, 1.0, 1.0, 0.5]), np.array([0, 0, 3, 3, 3])
    problem = ConstraintProblem(rows, margins, groups, C=2.0)
    assert problem.n_groups == 4
    check_duals(problem, check(problem, reference_of(problem, rows, margins, groups)))
    nothing = ConstraintProblem(rows, margins - 5.0, groups)
    assert solve(nothing, DualCD()).primal == 0.0


def test_auto_takes_dual_steps():
    problem, reference = medium()
    result = solve(problem, tol=1e-6)
    assert result.solver == "dual_cd"
    assert result.primal == pytest.approx(reference.solve()[1], rel=2e-6)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1.0, 2.0], [1.0], None), "rows have shape .2,., expected a matrix"),
        ((np.eye(2), [1.0], None), "there are 2 rows, but margins have shape .1,."),
        ((np.eye(2), [1.0, np.inf], None), "row 1: the margin is inf"),
        ((np.full((2, 1), np.nan), [1.0, 1.0], None), "X has nan in row 0, column 0; give finite numbers"),
        ((np.eye(2), [1.0, 1.0], [0]), "groups have shape .1,., expected .2,."),
        ((np.eye(2), [1.0, 1.0], ["a", "b"]), "expected whole numbers 0, 1"),
        ((np.eye(2), [1.0, 1.0], [0, -1]), "row 1: the group is -1"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        ConstraintProblem(*arguments)


def test_bad_weights_and_solvers_are_named():
    with pytest.raises(ValueError, match=r"weights have shape .1,., expected .2,."):
        ConstraintProblem(np.eye(2), [1.0, 1.0], weights=[1.0])
    with pytest.raises(ValueError, match="group 1: the weight is -1"):
        ConstraintProblem(np.eye(2), [1.0, 1.0], weights=[1.0, -1.0])
    problem = ConstraintProblem(np.eye(2), [1.0, 1.0])
    with pytest.raises(ValueError, match="Newton needs more than Constraints offers"):
        solve(problem, "newton")
    with pytest.raises(ValueError, match="has no duals of single rows"):
        problem.duals(solve(problem, OneSlack()))

"""Every solver on every kind of small problem: the certificate is true, and tight.

The optimum is known from the QP over all outputs (reference.py), solved by another program.
"""

from functools import cache
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from reference import Reference

import oneslack
import oneslack.data.rows
from oneslack import Binary, DualCD, Linear, Multiclass, Newton, OneSlack, Problem, Status, solve
from oneslack.losses import Hinge, Logistic, SquaredHinge
from oneslack.solvers.dual_newton import DualNewton

TOL = 1e-6
SOLVERS = {
    "one_slack": OneSlack(),
    "plain": OneSlack(line_search=False),
    "dual_cd": DualCD(),
    "newton": Newton(),
}
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())


class Case:
    """A problem with its reference; `change` edits (X, y)."""

    def __init__(self, n=30, d=4, k=2, C=1.0, *, intercept=False, losses=None, weights=None, seed=0,
                 noise=0.5, change=None, rows=np.asarray):  # fmt: skip
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        scores = X @ rng.normal(size=(d, k)) + noise * rng.normal(size=(n, k))
        y = scores.argmax(axis=1)
        if change is not None:
            X, y = change(X, y)
        self.X = rows(X)
        if losses is not None:
            losses = rng.uniform(0.2, 2.0, (k, k)) * (1 - np.eye(k))
        is_binary = k == 2 and losses is None
        self.y = 2 * y - 1 if is_binary else y
        self.model = Binary(d, intercept) if is_binary else Multiclass(d, k, intercept, losses)
        self.C, self.s = C, None if weights is None else weights(rng, len(y))

    def __repr__(self):
        return f"Problem({self.model!r}, {self.X!r}, {self.y!r}, {self.C!r}, sample_weight={self.s!r})"

    def problem(self, **options):
        return Problem(self.model, self.X, self.y, self.C, sample_weight=self.s, **options)

    @cache  # noqa: B019
    def reference(self):
        reference = Reference.of_problem(self.problem(), self.s)
        return reference, *reference.solve()[:2]


def float32(X):
    return X.astype(np.float32)


def csr32(X):
    return sp.csr_array(X.astype(np.float32))


def some_weights(rng, n):
    return rng.uniform(0, 3, n) * (rng.random(n) < 0.7)


def sparse_rows(X, y):
    X = X * (np.random.default_rng(9).random(X.shape) < 0.4)
    X[3] = 0
    return X, y


def repeated(X, y):
    index = np.random.default_rng(9).integers(0, len(X) // 3, len(X))
    return X[index], y[np.random.default_rng(8).permutation(len(y))]


def empty_rows(X, y):
    X[:3] = 0
    return X, y


def empty_column(X, y):
    X[:, 1] = 0
    return X, y


def nothing(X, y):
    return 0 * X, y


def one_class(X, y):
    return X, np.ones_like(y)


def uneven_scales(X, y):
    return X * 10.0 ** np.linspace(-2, 2, X.shape[1]), y


CASES = {
    "binary": Case(),
    "binary, csr": Case(rows=sp.csr_matrix, change=sparse_rows),
    "binary, float32": Case(rows=float32),
    "binary, csr float32, intercept": Case(rows=csr32, change=sparse_rows, intercept=True),
    "binary, small C": Case(C=0.01),
    "binary, large C": Case(C=100.0),
    "binary, separable": Case(noise=0.0, C=10.0),
    "binary, intercept": Case(n=40, intercept=True),
    "binary, intercept, small C": Case(n=25, intercept=True, C=0.01),
    "binary, intercept, large C": Case(n=25, intercept=True, C=100.0),
    "binary, weights": Case(weights=some_weights),
    "binary, weights, intercept": Case(weights=some_weights, intercept=True),
    "binary, one feature": Case(d=1, noise=2.0),
    "binary, one feature, intercept": Case(d=1, noise=2.0, intercept=True),
    "binary, one example": Case(n=1),
    "binary, two examples, intercept": Case(n=2, seed=1, intercept=True),
    "binary, repeated": Case(change=repeated),
    "binary, repeated, intercept": Case(change=repeated, intercept=True),
    "binary, empty rows": Case(change=empty_rows),
    "binary, empty rows, intercept": Case(change=empty_rows, intercept=True),
    "binary, empty column": Case(change=empty_column, intercept=True),
    "binary, nothing but zeros": Case(n=6, change=nothing),
    "binary, nothing but zeros, intercept": Case(n=7, change=nothing, intercept=True),
    "binary, one class": Case(n=9, change=one_class),
    "binary, one class, intercept": Case(n=9, change=one_class, intercept=True),
    "binary, uneven scales": Case(n=40, change=uneven_scales, intercept=True),
    "multiclass": Case(k=3),
    "multiclass, csr": Case(k=3, rows=sp.csr_array, change=sparse_rows),
    "multiclass, float32, intercept": Case(k=3, rows=float32, intercept=True),
    "multiclass, csr float32": Case(k=4, rows=csr32, change=sparse_rows),
    "multiclass, small C": Case(k=3, C=0.01),
    "multiclass, large C": Case(k=3, C=100.0),
    "multiclass, intercept": Case(n=50, k=4, intercept=True),
    "multiclass, intercept, small C": Case(n=20, k=3, C=0.01, intercept=True),
    "multiclass, intercept, large C": Case(n=20, k=3, C=100.0, intercept=True),
    "multiclass, costs": Case(k=4, losses=True),
    "multiclass, costs, intercept, weights": Case(k=3, losses=True, intercept=True, weights=some_weights),
    "multiclass, two classes with costs": Case(k=2, losses=True),
    "multiclass, weights": Case(k=3, weights=some_weights),
    "multiclass, one feature": Case(d=1, k=3),
    "multiclass, one example": Case(n=1, k=3),
    "multiclass, repeated": Case(k=3, change=repeated),
    "multiclass, repeated, intercept": Case(k=3, change=repeated, intercept=True),
    "multiclass, empty rows": Case(k=3, change=empty_rows),
    "multiclass, nothing but zeros": Case(n=6, k=3, change=nothing),
    "multiclass, one class": Case(n=6, k=3, change=one_class),
    "multiclass, one class, intercept": Case(n=6, k=3, change=one_class, intercept=True),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
SOME = ["binary, intercept", "binary, csr", "multiclass", "multiclass, costs, intercept, weights"]
some_cases = pytest.mark.parametrize("case", [CASES[name] for name in SOME], ids=SOME)


def rounding(problem):
    """What sums of this size may lose."""
    return 1e-10 * problem.weight


def check_certificate(problem, result, reference, lower, upper):
    """dual <= optimum <= primal at every step; the dual never falls; the primal is P(w)."""
    slack = rounding(problem) + 1e-9 * upper
    trace = result.trace
    assert trace.column("dual").max(initial=-np.inf) <= upper + slack
    assert trace.column("primal").min(initial=np.inf) >= lower - slack
    assert all(before <= after for before, after in zip(trace.column("dual"), trace.column("dual")[1:]))
    assert result.dual <= upper + slack
    assert result.primal >= lower - slack
    assert result.primal == pytest.approx(reference.primal(result.w), rel=1e-10, abs=rounding(problem))
    assert result.certified
    if result.dual < result.primal:
        expected = (result.primal - result.dual) / max(abs(result.primal), abs(result.dual))
        assert result.gap == pytest.approx(expected, rel=1e-12)


def check_converged(problem, result, reference, lower, upper):
    check_certificate(problem, result, reference, lower, upper)
    assert result.status is Status.CONVERGED, str(result)
    assert result.gap <= TOL or result.primal - result.dual <= rounding(problem)  # an optimum of 0
    assert result.primal - upper <= TOL * result.primal + rounding(problem)


@every_solver
@every_case
def test_the_certificate_is_true_and_tight(case, solver):
    problem = case.problem()
    check_converged(problem, solve(problem, solver, tol=TOL), *case.reference())


@every_solver
@some_cases
def test_every_single_step_is_honest(case, solver):
    """Before the driver keeps the best: each bound is one, each primal value is P at that w."""
    problem = case.problem()
    reference, _, upper = case.reference()
    for step in islice(solver.steps(problem, None, TOL), 25):
        assert step.dual <= upper + rounding(problem) + 1e-9 * upper
        if step.primal is not None:
            expected = reference.primal(step.w)
            assert step.primal == pytest.approx(expected, rel=1e-10, abs=rounding(problem))


@every_case
def test_solvers_bracket_the_same_optimum(case):
    problem = case.problem()
    results = [solve(problem, solver, tol=TOL) for solver in SOLVERS.values()]
    assert max(r.dual for r in results) <= min(r.primal for r in results) + rounding(problem)


@st.composite
def small_problems(draw):
    n, d, k = draw(st.integers(1, 12)), draw(st.integers(1, 3)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return Case(
        n, d, k,
        C=10.0 ** draw(st.floats(-2, 2)),
        intercept=draw(st.booleans()),
        losses=draw(st.sampled_from([None, True])),
        weights=lambda _, n: rng.uniform(0.1, 3, n) * (np.arange(n) == 0) + rng.uniform(0, 2, n),
        seed=draw(st.integers(0, 10**6)),
        noise=draw(st.sampled_from([0.0, 0.5, 5.0])),
        change=draw(st.sampled_from([None, lambda X, y: (np.round(X), y), one_class, empty_first])),
    )  # fmt: skip


def empty_first(X, y):
    X[0] = 0
    return X, y


@every_solver
@given(case=small_problems())
def test_random_problems(solver, case):
    problem = case.problem()
    check_converged(problem, solve(problem, solver, tol=TOL), *case.reference())


# The reported dual, from the duals themselves.


@pytest.mark.parametrize("line_search", [True, False])
@pytest.mark.parametrize(
    "name", ["binary", "binary, intercept", "multiclass, costs", "multiclass, intercept"]
)
def test_planes_lie_under_the_risk_and_give_the_dual(name, line_search):
    case = CASES[name]
    problem = case.problem()
    result = solve(problem, OneSlack(line_search=line_search), tol=TOL)
    planes = result.state["planes"]
    normals, offsets, a = planes["normals"], planes["offsets"], planes["a"]
    reference = case.reference()[0]
    rng = np.random.default_rng(0)
    for w in [result.w, *(rng.normal(size=problem.n_params) for _ in range(20))]:
        penalty = 0.5 * np.sum(w[~reference.free] ** 2)
        risk = (reference.primal(w) - penalty) / problem.weight
        assert (offsets - normals @ w).max() <= risk + 1e-10 * (1 + abs(risk))
    assert a.min() >= 0
    assert a.sum() == pytest.approx(problem.weight, rel=1e-12)
    v = a @ normals
    np.testing.assert_allclose(v[reference.free], 0, atol=1e-9 * problem.weight)
    dual = a @ offsets - 0.5 * np.sum(v[~reference.free] ** 2)
    assert result.dual - 0.2 * TOL * result.primal <= dual <= result.dual + rounding(problem)


@pytest.mark.parametrize("name", ["binary", "binary, weights", "multiclass", "multiclass, costs"])
def test_dual_passes_give_the_dual(name):
    case = CASES[name]
    problem = case.problem()
    result = solve(problem, DualCD(), tol=TOL)
    alpha = result.state["passes"]["alpha"]
    upper = problem.C * problem.data.weights
    if alpha.ndim == 1:  # the dual of the wrong answer; outputs are listed as (-1, 1)
        wrong = np.abs(alpha)  # on the side of y
        alpha = np.empty((len(upper), 2))
        truth = (case.y + 1) // 2
        alpha[np.arange(len(upper)), truth] = upper - wrong
        alpha[np.arange(len(upper)), 1 - truth] = wrong
    assert alpha.min() >= 0
    np.testing.assert_allclose(alpha.sum(axis=1), upper, rtol=1e-12, atol=1e-14)
    assert result.dual == pytest.approx(case.reference()[0].dual(alpha.ravel()), rel=1e-9)


# Metamorphic: what must not change, and what must change as the formula says.


def overlap(one, other, factor=1.0):
    """The certified brackets of two problems with optima in the ratio `factor` meet."""
    slack = 1e-9 * abs(one.primal)
    return one.dual <= factor * other.primal + slack and factor * other.dual <= one.primal + slack


@every_solver
@some_cases
def test_any_order(case, solver):
    order = np.random.default_rng(0).permutation(len(case.y))
    s = None if case.s is None else case.s[order]
    other = Problem(case.model, case.X[order], case.y[order], case.C, sample_weight=s)
    assert overlap(solve(case.problem(), solver, tol=TOL), solve(other, solver, tol=TOL))


@every_solver
@some_cases
def test_everything_twice_at_half_the_C(case, solver):
    twice = np.repeat(np.arange(len(case.y)), 2)
    s = None if case.s is None else case.s[twice]
    other = Problem(case.model, case.X[twice], case.y[twice], case.C / 2, sample_weight=s)
    assert overlap(solve(case.problem(), solver, tol=TOL), solve(other, solver, tol=TOL))


@every_solver
@some_cases
def test_a_weight_counts_like_copies_and_zero_like_absence(case, solver):
    count = np.random.default_rng(0).integers(0, 4, len(case.y))
    copies = np.repeat(np.arange(len(case.y)), count)
    weighted = Problem(case.model, case.X, case.y, case.C, sample_weight=count.astype(float))
    copied = Problem(case.model, case.X[copies], case.y[copies], case.C)
    assert overlap(solve(weighted, solver, tol=TOL), solve(copied, solver, tol=TOL))


@every_solver
@some_cases
def test_other_names_of_the_labels(case, solver):
    if isinstance(case.model, Binary):
        model, y = case.model, -case.y
    else:
        names = np.random.default_rng(0).permutation(case.model.n_classes)
        losses = np.empty_like(case.model.losses)
        losses[np.ix_(names, names)] = case.model.losses
        model = Multiclass(case.model.n_features, case.model.n_classes, case.model.intercept, losses)
        y = names[case.y]
    other = Problem(model, case.X, y, case.C, sample_weight=case.s)
    assert overlap(solve(case.problem(), solver, tol=TOL), solve(other, solver, tol=TOL))


@every_solver
@pytest.mark.parametrize("factor", [0.01, 30.0])
@some_cases
def test_features_times_s_and_C_over_s_squared(case, factor, solver):
    other = Problem(
        case.model, case.X * np.float64(factor), case.y, case.C / factor**2, sample_weight=case.s
    )  # fmt: skip
    assert overlap(solve(case.problem(), solver, tol=TOL), solve(other, solver, tol=TOL), factor**2)


@pytest.mark.parametrize("name", ["binary, intercept", "multiclass", "multiclass, intercept"])
def test_dense_is_sparse(name):
    case = CASES[name]
    for solver in SOLVERS.values():
        dense = solve(case.problem(), solver, tol=TOL)
        sparse = Problem(case.model, sp.csr_array(case.X), case.y, case.C)
        assert overlap(dense, solve(sparse, solver, tol=TOL))


@every_solver
def test_two_classes_are_the_binary_problem(solver):
    """With w = (-u, u) and v = 2 u: the same hinges, and |w|^2 = |v|^2 / 2, so P_two(C / 2) = P(C) / 2."""
    case = CASES["binary, intercept"]
    two = Problem(Multiclass(4, 2, True), case.X, (case.y + 1) // 2, case.C / 2)
    assert overlap(solve(two, solver, tol=TOL), solve(case.problem(), solver, tol=TOL), 0.5)


# The driver: budgets, interruptions, resuming, repeating.


def same_bits(one, other):
    return (
        one.w.tobytes() == other.w.tobytes()
        and (one.primal, one.dual) == (other.primal, other.dual)
        and [(r.primal, r.dual, r.n_cuts) for r in one.trace]
        == [(r.primal, r.dual, r.n_cuts) for r in other.trace]
    )


@every_solver
@pytest.mark.parametrize("name", ["binary, intercept", "multiclass"])
def test_same_seed_same_bits(name, solver):
    problem = CASES[name].problem()
    assert same_bits(solve(problem, solver, tol=TOL), solve(CASES[name].problem(), solver, tol=TOL))


@every_solver
@pytest.mark.parametrize("case", [Case(n=300, d=2, intercept=True), Case(n=400, d=2, k=3, rows=sp.csr_array)])
def test_any_number_of_threads_same_bits(case, solver, monkeypatch):
    monkeypatch.setattr(oneslack.data.rows, "SHARD_SIZE", 64)
    one, two = case.problem(n_jobs=1), case.problem(n_jobs=2)
    assert len(two.data.shards) > 2
    assert same_bits(solve(one, solver, tol=1e-4), solve(two, solver, tol=1e-4))
    two.engine.close()


@every_solver
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("intercept", [False, True])
def test_half_and_half_is_the_whole(k, intercept, solver):
    problem = Case(n=60, d=6, k=k, intercept=intercept, noise=3.0).problem()
    half = 4 if solver.name == "newton" else 6
    whole = solve(problem, solver, tol=0.0, max_iter=2 * half)
    first = solve(problem, solver, tol=0.0, max_iter=half)
    rest = solve(problem, solver, tol=0.0, max_iter=half, start=first)
    assert whole.gap > 1e-9  # otherwise this would compare rounding
    assert first.n_iter == rest.n_iter == half
    assert (rest.primal, rest.dual) == pytest.approx((whole.primal, whole.dual), rel=1e-9)
    np.testing.assert_allclose(rest.w, whole.w, rtol=1e-6, atol=1e-9)


@every_solver
@some_cases
def test_a_start_loses_nothing(case, solver):
    problem = case.problem()
    first = solve(problem, solver, tol=1e-2)
    again = solve(problem, solver, tol=TOL, start=first)
    check_converged(problem, again, *case.reference())
    from_w = solve(problem, solver, tol=TOL, start=first.w)
    check_converged(problem, from_w, *case.reference())


@pytest.mark.parametrize("before", [1, 2, 4])
@pytest.mark.parametrize("after", [1, 2, 4])
def test_planes_of_other_groups_are_not_taken(before, after):
    case = Case(n=60, d=6, noise=3.0)
    problem = case.problem()
    reference = case.reference()
    first = solve(problem, OneSlack(planes=before), tol=0.1)
    again = solve(problem, OneSlack(planes=after), tol=TOL, start=first)
    check_converged(problem, again, *reference)
    assert again.trace.column("dual").max() <= reference[2] + rounding(problem)
    if before == after:
        assert again.trace[0].dual >= first.dual


@every_solver
def test_a_start_of_other_losses_gives_its_w_alone(solver):
    case = Case(n=40, k=4, losses=True)
    other = Problem(Multiclass(4, 4, False, 3.0 * case.model.losses), case.X, case.y, 1.0)
    problem = case.problem()
    again = solve(problem, solver, tol=TOL, start=solve(other, solver, tol=1e-3))
    check_converged(problem, again, *case.reference())


class Torn:
    """A solver whose state is of no use while it is in a step.

    stops_inside  whether Ctrl-C comes in the second step; None ends there
    """

    name = "torn"

    def __init__(self, stops_inside):
        self.stops_inside = stops_inside

    def steps(self, problem, start=None, tol=1e-3):
        state = {"whole": True}
        while True:
            yield oneslack.result.Step(np.zeros(problem.n_params), 0.0, problem.weight, state=state.copy)
            state["whole"] = False
            if self.stops_inside:
                raise KeyboardInterrupt
            state["whole"] = True
            if self.stops_inside is None:
                return


def test_a_step_that_is_cut_short_leaves_no_state():
    problem = Case().problem()
    assert solve(problem, Torn(True), tol=0.0, interrupt="return").state == {}

    def interrupt(row):
        raise KeyboardInterrupt

    with pytest.raises(oneslack.Interrupted) as stopped:
        solve(problem, Torn(False), tol=0.0, callbacks=[interrupt])
    assert stopped.value.result.state["whole"]
    assert solve(problem, Torn(None), tol=0.0).state["whole"]  # it ends by itself


@every_solver
@some_cases
def test_budgets_return_the_best_so_far(case, solver):
    problem = case.problem()
    short = solve(problem, solver, tol=0.0, max_iter=3)
    assert (short.status, short.n_iter, len(short.trace)) == (Status.MAX_ITER, 3, 3)
    check_certificate(problem, short, *case.reference())
    brief = solve(problem, solver, tol=0.0, time_limit=1e-9)
    assert (brief.status, brief.n_iter) == (Status.TIME_LIMIT, 1)
    check_certificate(problem, brief, *case.reference())


@every_solver
@some_cases
@pytest.mark.parametrize("at", [1, 4])
def test_ctrl_c_keeps_a_true_certificate(case, solver, at):
    def interrupt(row):
        if row.iteration == at:
            raise KeyboardInterrupt

    problem = case.problem()
    result = solve(problem, solver, tol=0.0, callbacks=[interrupt], interrupt="return")
    assert (result.status, result.n_iter) == (Status.INTERRUPTED, at)
    assert "best model so far" in str(result)
    check_certificate(problem, result, *case.reference())


def test_callbacks_see_the_trace_and_stop():
    rows = []

    def stop(row):
        rows.append(row)
        return row.iteration == 5

    result = solve(CASES["binary"].problem(), OneSlack(), tol=0.0, callbacks=[stop, lambda row: None])
    assert result.status is Status.STOPPED
    assert rows == list(result.trace)
    assert [row.iteration for row in rows] == [1, 2, 3, 4, 5]
    assert (np.diff(result.trace.column("seconds")) >= 0).all()


@every_solver
@some_cases
@pytest.mark.parametrize("epsilon", [0.1, 1e-4])
def test_the_papers_rule(case, solver, epsilon):
    """Within epsilon of mean loss: P is at most C n epsilon above the optimum."""
    problem = case.problem()
    result = solve(problem, solver, epsilon=epsilon)
    reference, lower, upper = case.reference()
    assert result.status is Status.EPSILON
    check_certificate(problem, result, reference, lower, upper)
    assert result.primal <= upper + 1.1 * epsilon * problem.weight


# Choosing, refusing.


def test_auto_says_why():
    few = solve(CASES["binary"].problem())
    assert few.solver == "newton"
    assert "small (4 weights, 30 examples): Newton steps, many in one call" in few.reason
    more = np.random.default_rng(0).normal(size=(2000, 60))
    either = solve(Problem(Binary(60), more, np.sign(more[:, 0])))
    assert either.solver == "dual_newton"
    assert "60 weights, 2000 examples: dual passes, or Newton steps if more than" in either.reason
    wide = Problem(Binary(3000), sp.random_array((20, 3000), density=0.01, rng=0, format="csr"), [1, -1] * 10)
    many = solve(wide)
    assert many.solver == "dual_cd"
    assert "many weights (3000, 20 examples)" in many.reason


def stiff_and_mild(loss):
    """(problem of few, problem of many passes): nearly orthogonal rows and a small C; few weights and a large
    one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) * [1.0, 1.0, 5.0, 5.0]
    y = np.sign(X[:, 0] + 2.0 * rng.normal(size=400))
    mild = sp.random_array((80, 900), density=0.2, rng=0, format="csr")
    return (
        Problem(Linear(900, loss), mild, np.sign(rng.normal(size=80)), C=1e-3),
        Problem(Linear(4, loss), X, y, C=1e3),
    )


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic()], ids=lambda loss: type(loss).__name__)
def test_dual_passes_give_way_where_they_are_slow(loss):
    mild, stiff = stiff_and_mild(loss)
    for problem, gives_way in ((mild, False), (stiff, True)):
        assert "passes" in next(DualNewton().steps(problem)).state()  # it begins with passes
        result = solve(problem, "dual_newton", tol=1e-3)
        assert ("mu" in result.state) == gives_way
        assert result.certified
        assert result.gap <= 1e-3
        assert result.dual <= solve(problem, "one_slack", tol=1e-4).primal * (1 + 1e-12)


def test_a_run_that_gave_way_goes_on_with_newton_steps():
    _, problem = stiff_and_mild(SquaredHinge())
    whole = solve(problem, "dual_newton", tol=1e-9)
    for steps in range(1, whole.n_iter):
        part = solve(problem, "dual_newton", tol=1e-9, max_iter=steps)
        rest = solve(problem, "dual_newton", tol=1e-9, start=part)
        assert rest.w.tolist() == whole.w.tolist()
    other = solve(problem.with_C(2e3), "dual_newton", tol=1e-9, start=whole)
    assert other.gap <= 1e-9
    assert other.n_iter < solve(problem.with_C(2e3), "dual_newton", tol=1e-9).n_iter


class ThreeMethods:
    """Two outputs, scored by one number."""

    n_params = 1

    def joint_feature(self, x, y):
        return np.array([x * y])

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        return max((0, 1), key=lambda z: w[0] * x * z + (0 if y is None else y != z))


@pytest.mark.parametrize("line_search", [True, False])
def test_a_model_of_three_methods(line_search):
    x, y = [1.0, 2.0, -1.5, 0.3], [1, 1, 0, 0]
    s = [1.0, 0.5, 2.0, 0.0]
    problem = Problem(ThreeMethods(), x, y, 0.7, sample_weight=s)
    deltas = [[a * (t - z)] for a, t in zip(x, y) for z in (0, 1)]
    losses = [float(t != z) for t in y for z in (0, 1)]
    reference = Reference.of_cuts(
        np.array(deltas), np.array(losses), np.repeat(np.arange(4), 2), 0.7 * np.array(s)
    )  # fmt: skip
    result = solve(problem, OneSlack(line_search=line_search), tol=TOL)
    check_converged(problem, result, reference, *reference.solve()[:2])
    assert solve(problem).solver == "one_slack"
    assert "the model offers no dual passes" in solve(problem).reason


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"solver": "simplex"}, "is not known; use one of auto, one_slack, n_slack, dual_cd, newton"),
        ({"solver": "newton"}, "Newton needs more than ThreeMethods offers: it lacks smooth_duals"),
        ({"tol": -1}, "tol must be >= 0; got -1"),
        ({"tol": float("nan")}, "tol must be >= 0; got nan"),
        ({"epsilon": 0}, "epsilon must be positive or None; got 0"),
        ({"max_iter": 0}, "max_iter must be at least 1; got 0"),
        ({"time_limit": 0}, "time_limit must be positive seconds or None; got 0"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        solve(Problem(ThreeMethods(), [1.0], [1]), **arguments)


@pytest.mark.parametrize("C", [0, -1, float("nan"), float("inf")])
def test_C_must_be_positive(C):
    with pytest.raises(ValueError, match="C must be a positive number"):
        Problem(Binary(1), np.ones((2, 1)), [1, -1], C)


def test_bad_data_is_refused_by_example():
    X = np.ones((3, 1))
    with pytest.raises(ValueError, match=r"example 1: y is .*0.*, expected -1 or \+1"):
        Problem(Binary(1), X, [1, 0, -1])
    with pytest.raises(ValueError, match=r"example 2: y is .*5.*, expected 0 .. 2"):
        Problem(Multiclass(1, 3), X, [0, 1, 5])
    with pytest.raises(ValueError, match="X has 3 rows but y has 2 labels"):
        Problem(Binary(1), X, [1, -1])
    with pytest.raises(ValueError, match="X has 1 examples but Y has 2"):
        Problem(ThreeMethods(), [1.0], [1, 0])
    with pytest.raises(ValueError, match="no example with a positive weight"):
        Problem(Binary(1), X, [1, -1, 1], sample_weight=[0, 0, 0])

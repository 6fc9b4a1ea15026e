"""Priors, scales and weights held >= 0: every solver and kind of problem against an independent QP."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few
from pairs_model import Pairs
from reference import Reference

import oneslack
from oneslack import (
    Binary,
    Chain,
    ConstraintProblem,
    DualCD,
    Multiclass,
    Newton,
    NSlack,
    OneSlack,
    Problem,
    Regression,
    Status,
    Streaming,
    minimize,
    solve,
)
from oneslack.checks.brute import all_cuts

TOL = 1e-5
KINDS = ("prior", "scale", "nonnegative", "all")


def terms(kind, d, free, rng):
    """Random prior, scale and mask of d weights, those of the kind; free weights are never held."""
    some = {
        "prior": rng.normal(size=d),
        "scale": 10.0 ** rng.uniform(-0.5, 0.5, d),
        "nonnegative": rng.random(d) < 0.6,
    }
    some["nonnegative"][list(free)] = False
    return some if kind == "all" else {kind: some[kind]}


def check(problem, reference, solver, tol=TOL):
    """Every bound of the run is one, and it ends at the optimum, at a point that is allowed."""
    lower, upper, _ = reference.solve()
    result = solve(problem, solver, tol=tol, max_iter=20_000)
    slack = 1e-8 * (problem.weight + abs(upper))
    assert result.status is Status.CONVERGED, str(result)
    assert result.trace.column("dual").max() <= upper + slack
    assert result.trace.column("primal").min() >= lower - slack
    assert (np.diff(result.trace.column("dual")) >= 0).all()
    assert result.gap <= tol
    assert result.primal == pytest.approx(reference.primal(result.w), rel=1e-9, abs=slack)
    assert problem.primal(result.w) == pytest.approx(result.primal, rel=1e-9)
    assert (result.w[reference.nonnegative] >= 0).all()
    return result


def cuts_of(problem, deltas, losses, index, given):
    """The reference of all cuts of a problem, with its terms."""
    deltas = deltas.toarray() if sp.issparse(deltas) else np.asarray(deltas)
    free = getattr(problem.model, "free", ())
    given = dict(given)
    if "prior" in given:
        given["prior"] = np.where(np.isin(np.arange(deltas.shape[1]), free), 0.0, given["prior"])
    return Reference.of_cuts(deltas, losses, index, problem.C * problem.data.weights, free=free, **given)


# Linear models.


def linear(kind, name, seed, intercept, sparse=False, n=30, d=5):
    """(problem, reference) of a random linear problem."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    C = 10.0 ** rng.uniform(-1.5, 0.7)
    s = rng.uniform(0.2, 2.0, n)
    if name == "regression":
        model = Regression(d, 0.2, intercept)
        Y = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)
    elif name == "binary":
        model, Y = Binary(d, intercept), np.sign(X @ rng.normal(size=d) + rng.normal(size=n))
    else:
        model = Multiclass(d, 4, intercept)
        Y = (X @ rng.normal(size=(d, 4)) + rng.normal(size=(n, 4))).argmax(axis=1)
    given = terms(kind, model.n_params, model.free, rng)
    problem = Problem(model, sp.csr_array(X) if sparse else X, Y, C, sample_weight=s, **given)
    if name == "regression":
        rows = np.column_stack([X, np.ones(n)]) if intercept else X
        deltas = np.vstack([rows, -rows, 0 * rows])
        losses = np.concatenate([Y - 0.2, -Y - 0.2, np.zeros(n)])
        index = np.tile(np.arange(n), 3)
    else:
        cuts = all_cuts(model, X, Y)
        deltas, losses, index = cuts.deltas, cuts.losses, cuts.index
    return problem, cuts_of(problem, deltas, losses, index, given)


@pytest.mark.grid(2)
@pytest.mark.parametrize("seed", few(range(4), 2))
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", [DualCD(), OneSlack(), Newton()], ids=lambda solver: solver.name)
def test_linear_models(kind, name, seed, intercept, solver):
    problem, reference = linear(kind, name, seed, intercept, sparse=seed % 2)
    if isinstance(solver, Newton) and kind in ("nonnegative", "all"):
        with pytest.raises(ValueError, match="Newton cannot hold weights >= 0"):
            solve(problem, solver)
        assert solve(problem, tol=TOL).solver == "dual_cd"
        return
    check(problem, reference, solver)


@pytest.mark.grid(2)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["binary", "multiclass", "regression"])
def test_stiff_problems_work_around_an_anchor(name, kind, seed, monkeypatch):
    from oneslack.solvers import anchor

    monkeypatch.setattr(anchor, "STIFF", 0.01)
    problem, reference = linear(kind, name, seed, False, n=60)
    passes = problem.model.dual_passes(problem.data, problem.C, 1, problem.regulariser)
    assert anchor.Anchor.for_passes(problem, passes) is not None
    check(problem, reference, DualCD())


@pytest.mark.grid(2)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("kind", KINDS)
def test_linear_models_in_a_stream(kind, name, seed, intercept):
    check(*linear(kind, name, seed, intercept), Streaming(), tol=1e-3)


# Constraints, chains, and a model of three methods.


@pytest.mark.grid(2)
@pytest.mark.parametrize("seed", few(range(8), 2))
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", [DualCD(), OneSlack()], ids=lambda solver: solver.name)
def test_constraints(kind, sparse, seed, solver):
    rng = np.random.default_rng(seed)
    m, G, d = 40, 12, 4
    rows, margins = rng.normal(size=(m, d)), rng.normal(size=m) + 0.5
    groups = np.append(np.arange(G), rng.integers(0, G, m - G))
    given = terms(kind, d, (), rng)
    C = 10.0 ** rng.uniform(-1, 1)
    problem = ConstraintProblem(sp.csr_array(rows) if sparse else rows, margins, groups, C=C, **given)
    deltas, losses = np.vstack([rows, np.zeros((G, d))]), np.append(margins, np.zeros(G))
    reference = cuts_of(problem, deltas, losses, np.append(groups, np.arange(G)), given)
    result = check(problem, reference, solver)
    if isinstance(solver, DualCD):
        assert problem.dual(problem.duals(result)) == pytest.approx(result.dual, rel=1e-3)


def structured(kind, name, seed, n=8):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(1, 4), 4)) for _ in range(n)]
    model = Pairs() if name == "pairs" else Chain(4, 2, start=True)
    Y = [tuple(int(label) for label in rng.integers(0, 2, len(x))) for x in X]
    Y = Y if name == "pairs" else [np.array(y) for y in Y]
    given = terms(kind, model.n_params, (), rng)
    problem = Problem(model, X, Y, 10.0 ** rng.uniform(-1, 0.5), **given)
    cuts = all_cuts(model, X, Y, outputs=lambda x: list(map(np.array, product((0, 1), repeat=len(x)))))
    return problem, cuts_of(problem, cuts.deltas, cuts.losses, cuts.index, given)


SOLVERS = [DualCD(), NSlack(), Streaming(), OneSlack(), OneSlack(cache_size=3), OneSlack(line_search=False)]


@pytest.mark.grid(2)
@pytest.mark.parametrize("seed", few(range(3), 1))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["pairs", "chain"])
@pytest.mark.parametrize(
    "solver", SOLVERS, ids=["dual_cd", "n_slack", "stream", "one_slack", "cache", "plain"]
)
def test_structured_models(kind, name, seed, solver):
    check(*structured(kind, name, seed), solver, tol=1e-3 if isinstance(solver, Streaming) else 1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_a_risk_of_ones_own(seed):
    rng = np.random.default_rng(seed)
    d, G, b = 4, rng.normal(size=(7, 4)), rng.normal(size=7)
    given = terms("all", d, (), rng)
    reference = Reference.of_cuts(G, b, np.zeros(7, int), np.array([2.0]), **given)

    def risk(w):
        worst = (b - G @ w).argmax()
        return b[worst] - G[worst] @ w, -G[worst]

    result = minimize(
        risk, d, C=2.0, tol=TOL, w0=given["prior"], scale=given["scale"], nonnegative=given["nonnegative"]
    )
    lower, upper, _ = reference.solve()
    assert lower - 1e-8 <= result.primal <= upper + TOL * abs(upper) + 1e-8
    assert result.dual <= upper + 1e-8


# What must hold beside.


def test_clipping_in_place_is_another_method_and_wrong():
    """w = max(w, 0) after each step forgets how far below 0 a weight is: it ends well above the optimum."""
    rng = np.random.default_rng(3)
    n, d, C = 60, 12, 1.0
    X = rng.normal(size=(n, d)) + 0.8 * rng.normal(size=(n, 1))
    y = X @ rng.normal(size=d) + 0.1 * rng.normal(size=n)
    w, alpha = np.zeros(d), np.zeros(n)
    for _ in range(300):
        for i in rng.permutation(n):
            new = np.clip(alpha[i] + (y[i] - X[i] @ w) / (X[i] @ X[i]), -C, C)
            w = np.maximum(w + (new - alpha[i]) * X[i], 0.0)
            alpha[i] = new
    problem = Problem(Regression(d), X, y, C, nonnegative=True)
    result = solve(problem, DualCD(), tol=1e-6)
    assert result.status is Status.CONVERGED
    assert problem.primal(w) > 1.05 * result.primal


def test_terms_move_with_a_change_of_variables():
    """u = r (w - prior) has the plain regulariser: rows are divided by r, margins less by <prior, x>."""
    rng = np.random.default_rng(0)
    rows, margins = rng.normal(size=(30, 4)), rng.normal(size=30)
    prior, r = rng.normal(size=4), rng.uniform(0.3, 3, 4)
    one = ConstraintProblem(rows, margins, C=0.5, prior=prior, scale=r)
    other = ConstraintProblem(rows / r, margins - rows @ prior, C=0.5)
    w, u = (solve(problem, DualCD(), tol=1e-9).w for problem in (one, other))
    assert np.allclose(r * (w - prior), u, atol=1e-4)


@pytest.mark.parametrize("solver", [DualCD(), OneSlack(), NSlack()], ids=lambda solver: solver.name)
@pytest.mark.parametrize("kind", KINDS)
def test_ten_and_ten_steps_are_twenty(kind, solver):
    problem, _ = structured(kind, "chain", 1)
    other = structured(kind, "chain", 1)[0]
    whole = solve(problem, solver, tol=0.0, max_iter=8)
    half = solve(other, solver, tol=0.0, max_iter=4)
    rest = solve(other, solver, tol=0.0, max_iter=4, start=half)
    assert whole.dual == rest.dual
    assert np.array_equal(whole.w, rest.w)


def test_a_result_of_another_regulariser_gives_only_its_weights():
    problem, _ = linear("prior", "binary", 0, False)
    plain = Problem(problem.model, problem.X, problem.Y, problem.C, sample_weight=problem.data.weights)
    result = solve(plain, DualCD(), tol=1e-6)
    again = solve(problem, DualCD(), tol=1e-6, start=result)
    assert again.primal == pytest.approx(solve(problem, tol=1e-6).primal, rel=1e-5)


# What may be given.


class Named(Pairs):
    blocks = {"zero": slice(0, 4), "one": np.arange(4, 8), "agree": [8]}  # noqa: RUF012


def regulariser(model=None, **given):
    return Problem(model or Named(), [np.zeros((1, 4))], [(0,)], **given).regulariser


def test_values_by_groups():
    assert regulariser(scale=3.0).scale.tolist() == [3.0] * 9
    assert regulariser(scale={"one": 2.0, "agree": 0.5}).scale.tolist() == [1.0] * 4 + [2.0] * 4 + [0.5]
    assert regulariser(prior=[(slice(1, 3), [4.0, 5.0]), ([8], -1.0)]).prior.tolist() == [
        0, 4, 5, 0, 0, 0, 0, 0, -1,
    ]  # fmt: skip
    assert regulariser(nonnegative="agree").nonnegative.tolist() == [False] * 8 + [True]
    assert regulariser(nonnegative=["zero", "agree"]).nonnegative.sum() == 5
    assert regulariser(nonnegative=[0, 8]).nonnegative.sum() == 2
    assert regulariser(nonnegative=[]).is_plain
    assert regulariser(nonnegative=False).is_plain


def test_true_leaves_intercepts_out():
    problem = Problem(Binary(2, True), np.eye(2), [1, -1], nonnegative=True)
    assert problem.regulariser.nonnegative.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"prior": np.zeros(3)}, r"prior has shape \(3,\), expected \(9,\): a number for each weight"),
        ({"prior": "far"}, "prior must be numbers, one for each weight; got 'far'"),
        ({"prior": [np.nan] * 9}, "prior of weight 0 is nan, expected a finite number"),
        ({"scale": np.arange(9.0)}, "scale of weight 0 is 0.0, expected a number > 0"),
        ({"scale": {"two": 1.0}}, "no block of weights 'two'; it has 'zero', 'one', 'agree'"),
        ({"scale": [([12], 1.0)]}, r"scale: the group \[12\] of 9 weights does not fit"),
        ({"nonnegative": [12]}, "nonnegative must be a mask, or indices below 9"),
        ({"nonnegative": np.ones(3, bool)}, r"nonnegative has shape \(3,\), expected \(9,\)"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        regulariser(**given)


def test_names_need_a_model_that_has_some():
    with pytest.raises(ValueError, match="the model names no blocks of weights"):
        regulariser(Pairs(), scale={"one": 2.0})


def test_an_intercept_cannot_be_held():
    with pytest.raises(ValueError, match="weight 2 is an intercept, which is not penalised; leave it out"):
        Problem(Binary(2, True), np.eye(2), [1, -1], nonnegative=[0, 2])


class OwnPasses(Binary):
    """Dual passes that know 1/2 |w|^2 only."""

    def dual_passes(self, data, C, seed):
        return super().dual_passes(data, C, seed)


def test_passes_that_do_not_know_it_are_not_used():
    X, y = np.eye(3), [1, -1, 1]
    assert solve(Problem(OwnPasses(3), X, y), DualCD(), tol=TOL).status is Status.CONVERGED
    problem = Problem(OwnPasses(3), X, y, prior=[1.0, 0, 0])
    assert problem.passes is None
    by_cuts, other = solve(problem, DualCD(), tol=TOL), solve(problem, OneSlack(), tol=TOL)
    assert by_cuts.status is Status.CONVERGED
    assert max(by_cuts.dual, other.dual) <= min(by_cuts.primal, other.primal)


@pytest.mark.parametrize("kind", [None, *KINDS])
@pytest.mark.parametrize("solver", [DualCD(), OneSlack()], ids=lambda solver: solver.name)
def test_constraints_at_another_C(kind, solver):
    rng = np.random.default_rng(0)
    rows, margins = rng.normal(size=(30, 4)), rng.normal(size=30)
    given = {} if kind is None else terms(kind, 4, (), rng)
    first = solve(ConstraintProblem(rows, margins, **given), solver, tol=TOL)
    problem = ConstraintProblem(rows, margins, C=2.0, **given)
    again, fresh = solve(problem, solver, tol=TOL, start=first), solve(problem, solver, tol=TOL)
    assert again.primal == pytest.approx(fresh.primal, rel=2 * TOL)
    assert again.dual <= fresh.primal * (1 + 1e-9)


@pytest.mark.parametrize("solver", ["dual_cd", "one_slack", "newton"])
def test_a_path_of_C(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ rng.normal(size=4) + rng.normal(size=60) > 0
    held = None if solver == "newton" else [0, 1]
    given = {"prior": np.ones(4), "scale": [1, 2, 3, 0.5], "nonnegative": held, "tol": TOL}
    models = oneslack.path(oneslack.LinearSVC(solver=solver, **given), X, y, C=[0.1, 1.0, 10.0])
    for model, C in zip(models, (0.1, 1.0, 10.0), strict=True):
        alone = oneslack.LinearSVC(C=C, **given).fit(X, y)
        assert model.objective_ == pytest.approx(alone.objective_, rel=2 * TOL)
        assert model.dual_objective_ <= alone.objective_ * (1 + 1e-9)

"""Measures of a whole sample: worst outputs against enumeration, bounds, and the optimum against a QP."""

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference

from oneslack import metrics
from oneslack.driver import solve
from oneslack.models import Binary
from oneslack.models.measures import (
    METRICS,
    AveragePrecision,
    BreakEven,
    ContingencyLoss,
    FBeta,
    PrecisionAtK,
    RecallAtK,
    contingency,
    measure_model,
)
from oneslack.problems.in_memory import Problem
from oneslack.solvers import OneSlack


def unusual(tp, fp, fn, tn):
    """Neither concave nor monotone, and sometimes below the loss of the truth (7.5)."""
    return np.sin(3 * tp + 5 * fp) + 0.1 * fn * tn + 7.5 * (fp + fn == 0)


def g_mean(tp, fp, fn, tn):
    """1 - the squared geometric mean of both classes' recalls: linear in fp, so concave."""
    return 1 - tp * tn / np.maximum((tp + fn) * (tn + fp), 1)


THRESHOLDED = [
    *(FBeta(1, beta=beta) for beta in (0.1, 0.5, 0.9, 1.0, 2.0)),
    ContingencyLoss(1, unusual),
    ContingencyLoss(1, g_mean),
    ContingencyLoss(1, g_mean, concave=True),
]
TOP = [
    BreakEven(1),
    *(kind(1, k) for kind in (PrecisionAtK, RecallAtK) for k in (1, 3, 0.5, 1.0)),
]


def name(value):
    """A test's name, the same in every process."""
    if isinstance(value, ContingencyLoss):
        return f"{value.function.__name__}{'-concave' if value.concave else ''}"
    return getattr(value, "__name__", str(value))


# The definitions.


@cache
def labellings(n):
    return np.array(list(product((-1.0, 1.0), repeat=n)))


def losses_of(model, y, outputs):
    """loss(y, y') of each output, from its formula."""
    P, N = np.sum(y > 0), np.sum(y < 0)
    tp = np.sum((y > 0) & (outputs > 0), axis=1)
    fp = np.sum((y < 0) & (outputs > 0), axis=1)
    if isinstance(model, FBeta):
        b2 = model.beta**2
        below = b2 * P + tp + fp
        return 1 - np.where(below > 0, (1 + b2) * tp / np.maximum(below, 1e-300), 1.0)
    if isinstance(model, ContingencyLoss):
        return model.function(tp, fp, P - tp, N - fp) - model.function(P, 0, 0, N)
    k = size_of(model, y)
    unit = k if isinstance(model, PrecisionAtK) else P
    return (min(k, P) - tp) / max(unit, 1)


def size_of(model, y):
    k = getattr(model, "k", int(np.sum(y > 0)))
    return k if isinstance(k, int) else max(1, round(k * len(y)))


def all_outputs(model, y):
    """(losses, coefficients): n R = max_z n losses_z - <coefficients_z, S>."""
    outputs = labellings(len(y))
    if not isinstance(model, (BreakEven, PrecisionAtK, RecallAtK)):
        return losses_of(model, y, outputs), y * (outputs != y)
    outputs = outputs[np.sum(outputs > 0, axis=1) == size_of(model, y)]
    losses = losses_of(model, y, outputs)
    perfect = outputs[losses < 1e-12] > 0
    shared = perfect.astype(float) @ (outputs > 0).T
    nearest = (shared == shared.max(axis=0)).astype(float)
    reference = (nearest / nearest.sum(axis=0)).T @ perfect
    return losses, reference - (outputs > 0)


def all_rankings(y):
    """The same for average precision, over all orders of the examples."""
    n, P, N = len(y), np.sum(y > 0), np.sum(y < 0)
    losses, coefficients = [], []
    for order in permutations(range(n)):
        c, hits, negatives, precisions = np.zeros(n), 0, [], 0.0
        for place, i in enumerate(order, start=1):
            if y[i] < 0:
                negatives.append(i)
                continue
            hits += 1
            precisions += hits / place
            c[i] += len(negatives)
            c[negatives] -= 1
        losses.append(1 - precisions / P if P else 0.0)
        coefficients.append(c * n / max(P * N, 1))
    return np.array(losses), np.array(coefficients)


def case(rng, n):
    """Labels and scores; often with ties, one class, or wide scores."""
    y = np.where(rng.random(n) < rng.choice([0.0, 0.2, 0.5, 0.8, 1.0]), 1.0, -1.0)
    S = rng.normal(size=n) * rng.choice([0.3, 1.0, 5.0])
    return y, np.round(S * 2) / 2 if rng.random() < 0.5 else S


def cut_of(model, y, S):
    """(n loss, coefficients), the data."""
    data = model.pack(np.zeros((len(y), 1)), y)
    (shard,) = data.score_shards(S)
    c = np.full(len(y), np.nan)
    return model.cut(data, shard, S, c), c, data


def check_worst(model, y, S, losses, coefficients):
    n = len(y)
    loss, c, data = cut_of(model, y, S)
    value = np.max(n * losses - coefficients @ S)
    close = 1e-9 * (1 + np.abs(S).sum())
    assert loss - c @ S == pytest.approx(value, abs=close)
    assert model.risk(data, None, S) == pytest.approx(value, abs=close)
    same = np.all(np.abs(coefficients - c) < 1e-9, axis=1)
    assert np.any(same), "the coefficients are those of no output"
    assert np.min(np.abs(n * losses[same] - loss)) < 1e-9 * n
    assert value >= n * model.loss_of(y, S) - close
    assert value >= -close


# Worst outputs.


@pytest.mark.parametrize("model", THRESHOLDED + TOP, ids=name)
def test_worst_output(model):
    rng = np.random.default_rng(0)
    for _ in range(500):
        n = int(rng.integers(3, 9))
        y, S = case(rng, n)
        check_worst(model, y, S, *all_outputs(model, y))


@pytest.mark.parametrize(
    "model",
    [FBeta(1), BreakEven(1), RecallAtK(1, 1), ContingencyLoss(1, unusual)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("y", [[1.0], [-1.0], [1.0, -1.0]], ids=name)
def test_worst_output_of_one_or_two(model, y):
    y = np.array(y)
    for S in ([-3.0, 2.0], [0.0, 0.0], [1.5, -0.5]):
        check_worst(model, y, np.array(S[: len(y)]), *all_outputs(model, y))


def test_worst_ranking():
    rng = np.random.default_rng(1)
    rankings = cache(lambda y: all_rankings(np.array(y)))
    for _ in range(600):
        y, S = case(rng, int(rng.integers(1, 7)))
        check_worst(AveragePrecision(1), y, S, *rankings(tuple(y)))


def test_worst_ranking_of_more():
    """Classes sorted by score, all interleavings: each (P N) times its value, by the definition."""
    rng = np.random.default_rng(2)
    for _ in range(15):
        P, N = rng.integers(3, 8, size=2)
        y, S = np.repeat([1.0, -1.0], [P, N]), rng.normal(size=P + N) * rng.choice([0.5, 2.0])
        p, q = np.sort(S[:P])[::-1], np.sort(S[P:])[::-1]
        best = 0.0
        for places in product((False, True), repeat=int(P + N)):
            if sum(places) == P:
                places = np.array(places)
                before = np.cumsum(~places)[places]  # negatives before each positive
                rank = np.arange(1, P + 1)
                turned = sum(float(np.sum(p[i] - q[:m])) for i, m in enumerate(before))
                best = max(best, 1 - np.mean(rank / (rank + before)) - turned / (P * N))
        loss, c, _ = cut_of(AveragePrecision(1), y, S)
        assert loss - c @ S == pytest.approx((P + N) * best, abs=1e-9)


# Fast ways against the table of all (a, b), where enumeration is out of reach.


def medium_cases(seed, sizes, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(*sizes))
        y = np.where(rng.random(n) < rng.choice([0.01, 0.1, 0.5, 0.9]), 1.0, -1.0)
        y[0] = 1.0
        S = rng.choice([0.0, 0.5, 2.0]) * y + rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0])
        yield y, np.round(S, 1) if rng.random() < 0.5 else S


def table_value(function, y, S):
    P, N = int(np.sum(y > 0)), int(np.sum(y < 0))
    p, q = np.sort(S[y > 0]), np.sort(S[y < 0])[::-1]
    A = -np.append(0.0, np.cumsum(p))[::-1]
    B = np.append(0.0, np.cumsum(q))
    a, b = np.arange(P + 1.0)[:, None], np.arange(N + 1.0)
    losses = function(a, b, P - a, N - b) - function(float(P), 0.0, 0.0, float(N))
    return np.max(len(y) * losses + A[:, None] + B)


def check_valid(model, y, S, function):
    """The value that the cut claims, after checking that it is that of a labelling."""
    loss, c, _ = cut_of(model, y, S)
    z = np.where(c != 0, -y, y)
    assert np.all((c == 0) | (c == y))
    tp, fp = np.sum((y > 0) & (z > 0)), np.sum((y < 0) & (z > 0))
    P, N = np.sum(y > 0), np.sum(y < 0)
    truth = function(float(P), 0.0, 0.0, float(N))
    excess = function(float(tp), float(fp), float(P - tp), float(N - fp)) - truth
    assert loss == pytest.approx(len(y) * excess, abs=1e-8 * len(y))
    return loss - c @ S


@pytest.mark.parametrize("beta", [0.2, 0.7, 1.0, 3.0])
def test_f_beta_equals_the_table(beta):
    def loss(tp, fp, fn, tn):
        return 1 - (1 + beta**2) * tp / (beta**2 * (tp + fn) + tp + fp)

    for y, S in medium_cases(3, (300, 2000), 40):
        value = check_valid(FBeta(1, beta=beta), y, S, loss)
        assert value == pytest.approx(table_value(loss, y, S), rel=1e-9, abs=1e-7)


def test_scan_alone_equals_sift_and_scan():
    """Sifting must only spare work: the scan of all scores finds the same value."""
    from oneslack._jit.measures import fbeta_scan, fbeta_sift

    spared = 0
    for y, S in medium_cases(4, (300, 2000), 40):
        for beta in (0.5, 1.0):
            p, q, n = np.sort(S[y > 0]), np.sort(S[y < 0]), len(y)
            c, K = beta**2 * len(p), n * (1 + beta**2)
            a, b = fbeta_scan(p, q, 0, 0, c, K)
            expected = p[len(p) - a :].sum() + q[len(q) - b :].sum() - K * a / (c + a + b)
            a_lo, open_p, _, b_lo, open_q, _ = fbeta_sift(p.copy(), q.copy(), c, K)
            assert a_lo <= a <= a_lo + open_p
            assert b_lo <= b <= b_lo + open_q
            spared += open_p + open_q < n / 2
            loss, coefficients, _ = cut_of(FBeta(1, beta=beta), y, S)
            assert loss - coefficients @ S == pytest.approx(n - p.sum() + expected, rel=1e-9, abs=1e-7)
    assert spared > 20


def random_table(rng, P, N, concave):
    steps = rng.normal(size=(P + 1, N + 1)) / (P + N)
    if concave:
        steps[:, 1:] = -np.sort(-steps[:, 1:], axis=1)
    table = np.cumsum(steps, axis=1)
    return lambda tp, fp, fn, tn: table[np.asarray(tp, int), np.asarray(fp, int)]


@pytest.mark.parametrize("concave", [False, True])
@pytest.mark.parametrize("tiny_blocks", [False, True])
def test_random_functions(concave, tiny_blocks, monkeypatch):
    if tiny_blocks:  # no table in memory, tiles that do not divide it
        monkeypatch.setattr(contingency, "KEPT", 0)
        monkeypatch.setattr(contingency, "BLOCK", 37)
    rng = np.random.default_rng(5)
    for _ in range(150):
        y, S = case(rng, int(rng.integers(1, 60)))
        function = random_table(rng, int(np.sum(y > 0)), int(np.sum(y < 0)), concave)
        model = ContingencyLoss(1, function, concave=concave)
        value = check_valid(model, y, S, function)
        assert value == pytest.approx(table_value(function, y, S), abs=1e-9 * (1 + np.abs(S).sum()))


def test_average_precision_equals_the_quadratic_way():
    rng = np.random.default_rng(6)
    for y, S in medium_cases(7, (200, 600), 15):
        if rng.random() < 0.3:
            S = np.round(S)
        P, N = int(np.sum(y > 0)), int(np.sum(y < 0))
        p, q = np.sort(S[y > 0])[::-1], np.sort(S[y < 0])[::-1]
        i, j = np.arange(1, P + 1), np.arange(1, N + 1)[:, None]
        terms = N * i / ((i + j - 1) * (i + j)) - (p - q[:, None])
        suffix = np.cumsum(terms[:, ::-1], axis=1)
        best = np.maximum(suffix.max(axis=1), 0.0).sum() / (P * N)
        loss, c, _ = cut_of(AveragePrecision(1), y, S)
        assert loss - c @ S == pytest.approx(len(y) * best, rel=1e-9)


def test_error_rate_is_the_mean_hinge():
    model = ContingencyLoss(1, lambda tp, fp, fn, tn: (fp + fn) / (tp + fp + fn + tn), concave=True)
    for y, S in medium_cases(8, (50, 300), 20):
        loss, c, _ = cut_of(model, y, S)
        assert loss - c @ S == pytest.approx(np.maximum(0, 1 - y * S).sum())


def test_at_k_equal_to_the_positives_is_the_break_even_point():
    for y, S in medium_cases(9, (50, 300), 20):
        loss, c, _ = cut_of(BreakEven(1), y, S)
        for kind in (PrecisionAtK, RecallAtK):
            other_loss, other, _ = cut_of(kind(1, int(np.sum(y > 0))), y, S)
            assert other_loss == pytest.approx(loss)
            np.testing.assert_allclose(other, c, atol=1e-12)


# Bounds, slopes, adjoints.

EVERY = [*THRESHOLDED, *TOP, AveragePrecision(1)]


@pytest.mark.parametrize("model", EVERY, ids=name)
def test_risk_bounds_the_loss_of_the_prediction(model):
    for y, S in medium_cases(10, (20, 200), 60):
        _, _, data = cut_of(model, y, S)
        assert model.risk(data, None, S) >= data.n * model.loss_of(y, S) - 1e-8 * data.n


@pytest.mark.parametrize("model", EVERY, ids=name)
def test_slope(model):
    rng = np.random.default_rng(11)
    for _ in range(60):
        n = int(rng.integers(3, 40))
        y, S, dS = case(rng, n)[0], rng.normal(size=n) * 2, rng.normal(size=n)
        _, _, data = cut_of(model, y, S)
        t, h = rng.random(), 1e-7

        def value(t, data=data, S=S, dS=dS):
            return model.risk(data, None, S + t * dS)

        # Convex: the slope lies between the difference quotients, at kinks too.
        _, here, slope = model.cut_along(data, None, S, dS, t, np.empty(n))
        assert here == pytest.approx(value(t), abs=1e-9 * n)
        left, right = (value(t) - value(t - h)) / h, (value(t + h) - value(t)) / h
        assert left - 1e-5 * n <= slope <= right + 1e-5 * n


@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array, np.float32], ids=name)
@pytest.mark.parametrize(
    "model", [FBeta(3, True), FBeta(3), PrecisionAtK(3, 2), AveragePrecision(3)], ids=str
)
def test_adjoint_is_the_transpose_of_scores(model, as_matrix):
    rng = np.random.default_rng(12)
    X, y = as_matrix(rng.integers(-3, 4, size=(20, 3)).astype(float)), np.repeat([1, -1], 10)
    problem = Problem(model, X, y)
    w, c = rng.normal(size=model.n_params), rng.normal(size=20)
    assert problem.scores(w) @ c == pytest.approx(w @ problem.scores.adjoint(c))


def test_flipped_ties_are_exactly_as_many_as_needed():
    y = np.repeat([1.0, -1.0], [4, 6])
    S = np.zeros(10)
    for model in (FBeta(1), BreakEven(1), ContingencyLoss(1, g_mean, concave=True)):
        loss, c, _ = cut_of(model, y, S)
        again = cut_of(model, y, S)
        assert again[0] == loss
        np.testing.assert_array_equal(again[1], c)
        check_worst(model, y, S, *all_outputs(model, y))


# The optimum.


def small_sample(seed, n=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


@pytest.mark.parametrize("metric", [m for m in METRICS if m != "roc_auc"] + [unusual, g_mean], ids=name)
@pytest.mark.parametrize("C", [0.02, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_optimum_equals_the_full_qp(metric, C, intercept):
    X, y = small_sample(13, 6 if metric == "average_precision" else 8)
    model = measure_model(metric, 3, k=2, beta=0.5, intercept=intercept)
    problem = Problem(model, X, y, C)
    if metric == "average_precision":
        losses, coefficients = all_rankings(y)
    elif metric == "error":
        error = ContingencyLoss(3, lambda tp, fp, fn, tn: (fp + fn) / (fp + fn + tp + tn), intercept)
        losses, coefficients = all_outputs(error, y)
    else:
        losses, coefficients = all_outputs(model, y)
    extended = np.column_stack([X, np.ones(len(y))]) if model.n_params == 4 else X
    deltas, block = coefficients @ extended / len(y), np.zeros(len(losses), int)
    reference = Reference.of_cuts(deltas, losses, block, np.array([C * len(y)]), free=model.free)
    lower, upper, _ = reference.solve()
    result = solve(problem, OneSlack(), tol=1e-5)
    assert result.dual <= upper + 1e-6
    assert result.primal >= lower - 1e-6
    assert result.primal - result.dual <= 1e-5 * max(1.0, result.primal)
    assert reference.primal(result.w) == pytest.approx(result.primal, rel=1e-7, abs=1e-9)


def test_automatic_solver_is_one_slack():
    X, y = small_sample(14)
    for metric in ("f1", "prbep", "average_precision"):
        result = solve(Problem(measure_model(metric, 3), X, y), tol=1e-3)
        assert result.solver == "one_slack"


def test_training_for_f1_beats_training_for_errors_on_rare_positives():
    rng = np.random.default_rng(15)
    X = rng.normal(size=(2000, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=2000) > 2.0, 1.0, -1.0)
    scores = {}
    for metric in ("error", "f1"):
        problem = Problem(measure_model(metric, 2), X, y, C=1.0)
        scores[metric] = metrics.f_beta(y, problem.scores(solve(problem, OneSlack(), tol=1e-4).w))
    assert scores["f1"] > scores["error"] + 0.1


def test_roc_auc_is_ranking():
    from oneslack.models.ranking.model import Ranking

    assert measure_model("roc_auc", 3) == Ranking(3)


# Names and sentences.


def test_models_by_name():
    assert measure_model("error", 3) == Binary(3, intercept=True)
    assert measure_model("f1", 3, beta=2.0) == FBeta(3, True, 1.0)
    assert measure_model("fbeta", 3, beta=2.0, intercept=False) == FBeta(3, False, 2.0)
    assert measure_model("prbep", 3) == BreakEven(3)
    assert measure_model("precision_at_k", 3, k=5) == PrecisionAtK(3, 5)
    assert measure_model("recall_at_k", 3, k=0.1) == RecallAtK(3, 0.1)
    assert measure_model("average_precision", 3) == AveragePrecision(3)
    assert measure_model(g_mean, 3, concave=True) == ContingencyLoss(3, g_mean, True, True)
    assert measure_model("f1", 3).n_params == 4
    assert measure_model("prbep", 3).n_params == 3
    assert len(measure_model("prbep", 3).free) == 0


def test_what_is_refused():
    X, y = np.zeros((3, 1)), np.array([1, -1, -1])
    with pytest.raises(
        ValueError, match="metric='accuracy' is not known; use one of error, f1, fbeta, prbep"
    ):
        measure_model("accuracy", 3)
    with pytest.raises(ValueError, match="needs k"):
        measure_model("recall_at_k", 3)
    for k in (0, -2, 0.0, 1.5, True, "3"):
        with pytest.raises((ValueError, TypeError), match="k must be a whole number"):
            PrecisionAtK(1, k)
    with pytest.raises(ValueError, match="k=4 but there are 3 examples"):
        PrecisionAtK(1, 4).pack(X, y)
    with pytest.raises(ValueError, match="beta must be a positive number; got 0"):
        FBeta(1, beta=0)
    with pytest.raises(ValueError, match=r"example 1: y is .*, expected -1 or"):
        FBeta(1).pack(X, [1, 0, -1])
    with pytest.raises(ValueError, match="FBeta counts examples, so all sample weights must be 1"):
        FBeta(1).pack(X, y, [1, 2, 1])
    FBeta(1).pack(X, y, np.ones(3))


def test_functions_that_know_only_numbers():
    def scalar(tp, fp, fn, tn):
        return 1.0 if tp == 0 else fn / tp + min(fp, 3)

    def constant(tp, fp, fn, tn):
        return 0.25

    def reducing(tp, fp, fn, tn):
        return np.max([fp, fn])

    y, S = np.array([1.0, 1, -1, -1, -1]), np.array([0.3, -1.0, 0.2, -0.4, 1.0])
    for function in (scalar, constant, reducing):
        for concave in (False, True):  # scalar and constant are concave in fp
            if not (concave and function is reducing):
                vectorised = np.vectorize(function, otypes=[float])
                value = check_valid(ContingencyLoss(1, function, concave=concave), y, S, function)
                assert value == pytest.approx(table_value(vectorised, y, S))


@pytest.mark.parametrize("concave", [False, True])
@pytest.mark.parametrize("only_numbers", [False, True])
def test_losses_that_are_not_finite(concave, only_numbers):
    def precision_loss(tp, fp, fn, tn):
        if only_numbers and np.ndim(tp):
            raise TypeError("only numbers")
        return 1 - tp / (tp + fp)

    model = ContingencyLoss(1, precision_loss, concave=concave)
    y = np.array([1.0, -1.0])
    with pytest.raises(ValueError, match=r"loss\(tp=0, fp=0, fn=1, tn=1\) is nan, expected a finite number"):
        cut_of(model, y, np.array([-1.0, -9.0]))


def test_a_large_search_is_said_once(monkeypatch):
    monkeypatch.setattr(contingency, "QUIET", 5)
    X, y = np.zeros((5, 1)), np.array([1, 1, -1, -1, -1])
    with pytest.warns(UserWarning, match=r"the worst of 2 x 3 contingency tables.*concave=True") as said:
        problem = Problem(ContingencyLoss(1, g_mean), X, y)
    assert len(said) == 1
    problem.risk(np.zeros(1))  # a second warning would be an error
    Problem(ContingencyLoss(1, g_mean, concave=True), X, y)

"""The checker shares nothing with what trained the model, is short, and rounds the right way."""

import ast
import random
from fractions import Fraction
from itertools import pairwise
from itertools import product as all_of
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from test_architecture import MODULES, imported

import oneslack
from oneslack import verify
from oneslack.checks.proof import FILES, OF_METRIC, checker_lines
from oneslack.verify.chains import Chains
from oneslack.verify.labellings import FBeta, Precision, TopK
from oneslack.verify.losses import ManyClasses, OneScore
from oneslack.verify.pairs import Pairs
from oneslack.verify.penalty import Penalty
from oneslack.verify.sums import adjoint, down, product, up

TREES = ["(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))))", "(S (NP (N dogs)) (VP (V sleep)))",
         "(S (NP (D the) (N cat)) (VP (V saw) (NP (NP (D a) (N dog)) (PP (P in) (NP (D the) (N park))))))",
         "(S (NP (N cats)) (VP (VP (V sleep)) (PP (P in) (NP (N parks)))))"]  # fmt: skip
#: What the checker must not know, however far away.
FORBIDDEN = ("solvers", "problems", "memory", "_jit", "models", "estimators", "losses", "driver")
LOSSES = (
    "hinge", "squared_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive", "pinball",
    "huber",
)  # fmt: skip


def test_the_checker_imports_nothing_that_trains():
    known, more = set(), {name for name in MODULES if name.split(".")[0] == "verify"}
    assert len(more) > 5
    while more:
        known |= more
        more = {found for name in more for found in imported(name)} - known
    assert {name.split(".")[0] for name in known} == {"verify", "errors"}
    assert not {name.split(".")[0] for name in known} & set(FORBIDDEN)


def test_the_checker_needs_numpy_and_scipy_alone():
    for path in Path(verify.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert {name.split(".")[0] for name in names} <= {
                "numpy",
                "scipy",
                "math",
                "typing",
                "collections",
                "functools",
            }


@pytest.mark.parametrize("name", FILES)
def test_the_checker_of_a_kind_is_short(name):
    model = getattr(oneslack, name).__new__(getattr(oneslack, name))
    metrics = [None, *OF_METRIC] if name == "MetricSVC" else [None]
    for metric in metrics:
        model.metric = metric
        assert 150 < checker_lines(model) <= 400


# Rounding: against rational numbers.


def exact(array):
    return np.frompyfunc(lambda value: Fraction(float(value)), 1, 1)(np.asarray(array, dtype=float)).astype(
        object
    )


def wild(rng, *shape):
    """Numbers of many sizes, which cancel."""
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-12, 12, shape)
    return values * (rng.random(shape) < 0.8)


@pytest.mark.parametrize("seed", range(5))
def test_sums_and_products_are_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    X, W, A = wild(rng, 7, 5), wild(rng, 5, 3), wild(rng, 7, 3)
    for matrix in (X, sp.csr_array(X)):
        values, errors = product(matrix, W)
        assert (np.abs(exact(values) - exact(X) @ exact(W)) <= exact(errors)).all()
        values, sizes = adjoint(matrix, A)
        bound = exact(sizes) * Fraction(verify.sums.gamma(len(X) + 4))
        assert (np.abs(exact(values) - exact(A).T @ exact(X)) <= bound).all()
    total = sum(exact(X).ravel())
    assert Fraction(down(X)) <= total <= Fraction(up(X))


@pytest.mark.parametrize("seed", range(20))
def test_the_dual_of_a_penalty_is_below_its_minimum(seed):
    """Against the minimum over w, weight by weight, of all v that are within the error."""
    rng = np.random.default_rng(seed)
    d, drawn = 4, random.Random(seed)
    prior = drawn.choice([np.zeros(d), wild(rng, d)])
    scale = drawn.choice([np.ones(d), 10.0 ** rng.uniform(-2, 2, d)])
    held = drawn.choice([np.zeros(d, bool), rng.random(d) < 0.5])
    v, error = wild(rng, d), np.abs(wild(rng, d)) * 1e-3
    said = Fraction(Penalty(prior, scale, held).dual(v, error, 1.5))
    for signs in all_of((-1, 0, 1), repeat=d):
        least = Fraction(3, 2)
        for k in range(d):
            r, p = Fraction(float(scale[k])), Fraction(float(prior[k]))
            at = Fraction(float(v[k])) + signs[k] * Fraction(float(error[k]))
            w = p + at / r**2
            w = max(w, Fraction(0)) if held[k] else w
            least += r**2 * (w - p) ** 2 / 2 - at * w
        assert said <= least


@pytest.mark.parametrize("name", LOSSES)
def test_gains_lie_under_losses(name):
    """For every dual and every score, -a f + gain(a) <= c phi(y, f); somewhere it is equal."""
    rng = np.random.default_rng(0)
    n, size = 40, {"pinball": 0.3, "huber": 0.7}.get(name, 0.4)
    is_class = name in ("hinge", "squared_hinge", "logistic")
    y = np.sign(rng.standard_normal(n)) if is_class else rng.standard_normal(n)
    loss = OneScore(name, y, rng.uniform(0.1, 3.0, n), size)
    f = 2.0 * rng.standard_normal(n)
    a = loss.c * loss.phi(f)[1]
    for scale in (0.0, 0.3, 1.0):
        for i in range(n):
            one = OneScore(name, y[i : i + 1], loss.c[i : i + 1], size)
            point = one.duals({"duals": scale * a[i : i + 1]})
            at = np.linspace(-6, 6, 61)
            values = loss.c[i] * OneScore(name, np.full(61, y[i]), np.ones(61), size).phi(at)[0]
            assert (point.gain - scale * a[i] * at <= values + 1e-12).all()
            if scale == 1.0:  # the line is the tangent at f
                touch = loss.c[i] * one.phi(f[i : i + 1])[0][0]
                assert np.isclose(point.gain - a[i] * f[i], touch, rtol=1e-9, atol=1e-12)


# The worst outputs: by brute force.


def risk_by_listing(outputs, f):
    return max(0.0, max(loss - float(np.dot(shares, f)) for loss, shares in outputs))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", ["f1", "f2", "prbep", "top2"])
def test_worst_labellings(kind, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(7) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    P = int((y > 0).sum())
    measure = {"f1": lambda: FBeta(y, 1.0), "f2": lambda: FBeta(y, 2.0), "prbep": lambda: TopK(y, P, P),
               "top2": lambda: TopK(y, 2, P)}[kind]()  # fmt: skip
    f = rng.standard_normal(7)
    outputs = []
    for bits in all_of((False, True), repeat=7):
        wrong = np.array(bits)
        n_positive = int(((y > 0) != wrong).sum())
        if kind in ("prbep", "top2") and n_positive != measure.k:
            continue
        outputs.append(measure.output(wrong))
    loss, shares = measure.worst(f)
    assert np.isclose(max(loss - shares @ f, 0.0), risk_by_listing(outputs, f))


@pytest.mark.parametrize("seed", range(10))
def test_worst_rankings(seed):
    """Average precision, against all orders of the positives among the negatives."""
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(seed)
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0])
    f = rng.standard_normal(6)
    up_, down_ = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    loss, shares = Precision(y).worst(f)
    best = 0.0
    from itertools import permutations

    for order in permutations(range(6)):
        place = np.empty(6)
        place[list(order)] = np.arange(6)
        turned = sum((f[i] - f[j]) for i in up_ for j in down_ if place[i] > place[j])
        value = 6.0 * (1.0 - average_precision_score(y > 0, -place)) - turned * 6.0 / 9.0
        best = max(best, value)
    assert np.isclose(max(loss - shares @ f, 0.0), best)


@pytest.mark.parametrize("seed", range(10))
def test_worst_pairs(seed):
    rng = np.random.default_rng(seed)
    n = 12
    targets, groups, s = (
        rng.integers(0, 4, n).astype(float),
        rng.integers(0, 3, n),
        rng.integers(1, 4, n) * 1.0,
    )
    targets[:2], groups[:2] = (0.0, 1.0), 0
    f = rng.standard_normal(n).round(1)  # with ties
    pairs = [(i, k) for i in range(n) for k in range(n) if groups[i] == groups[k] and targets[i] > targets[k]]
    unit = s.sum() / sum(s[i] * s[k] for i, k in pairs)
    value = unit * sum(s[i] * s[k] * max(0.0, 1.0 - (f[i] - f[k])) for i, k in pairs)
    loss, shares = Pairs(targets, groups, s).worst(f)
    assert np.isclose(loss - shares @ f, value)
    assert abs(shares.sum()) < 1e-9


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("order", [1, 2])
def test_worst_sequences(order, seed):
    """The structural hinge of short sentences, against all sequences; losses and features by hand."""
    rng = np.random.default_rng(seed)
    L, d, ends = 3, 2, np.array([0, 3, 4, 4, 8])
    sizes = {
        "features": d * L,
        "pairs": L * L,
        **({"triples": L**3} if order == 2 else {}),
        "start": L,
        "end": L,
    }
    at = np.cumsum([0, *sizes.values()])
    blocks = {name: slice(at[k], at[k + 1]) for k, name in enumerate(sizes)}
    X, y = rng.standard_normal((8, d)), rng.integers(0, L, 8)
    may = np.ones((L, L), bool)
    may[0, 2] = False
    y = np.where(y == 2, 1, y)
    costs = rng.random((L, L)) * (1 - np.eye(L))
    whole = np.array([[0.0, 1.0, 2.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    chains = Chains(sp.csr_array(X), ends, y, blocks, {"pairs": may}, costs)
    w = rng.standard_normal(at[-1])

    def psi(i, z):
        one = np.zeros(at[-1])
        x = X[ends[i] : ends[i + 1]]
        for t, label in enumerate(z):
            one[blocks["features"]].reshape(d, L)[:, label] += x[t]
            if t:
                one[blocks["pairs"]][z[t - 1] * L + label] += 1
            if t > 1 and order == 2:
                one[blocks["triples"]][(z[t - 2] * L + z[t - 1]) * L + label] += 1
        if len(z):
            one[blocks["start"]][z[0]] += 1
            one[blocks["end"]][z[-1]] += 1
        return one

    hinges, errors = chains.hinges(w)
    rescaled, more_errors = chains._replace(costs=whole).hinges(w, slack=True)
    for i in range(4):
        truth = y[ends[i] : ends[i + 1]]
        allowed = [z for z in all_of(range(L), repeat=len(truth)) if all(may[a, b] for a, b in pairwise(z))]
        losses = [sum(chains.costs[a, b] for a, b in zip(truth, z, strict=True)) for z in allowed]
        values = [loss + (psi(i, z) - psi(i, truth)) @ w for loss, z in zip(losses, allowed, strict=True)]
        assert abs(hinges[i] - max(values)) <= errors[i] + 1e-12
        sums = [sum(whole[a, b] for a, b in zip(truth, z, strict=True)) for z in allowed]
        leads = [1.0 + (psi(i, z) - psi(i, truth)) @ w for z in allowed]
        worst = max(loss * lead for loss, lead in zip(sums, leads, strict=True))
        assert abs(rescaled[i] - worst) <= more_errors[i] + 1e-12
        z = np.array(allowed[-1], int)
        assert np.isclose(chains.losses(np.array([i]), z)[0], losses[-1])
        v, size, _ = chains.features(np.array([i]), z, np.array([0.5]))
        assert np.allclose(v, 0.5 * (psi(i, truth) - psi(i, z)))
        assert (size >= np.abs(v) - 1e-12).all()


@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("missing", [1.0, 1.5])
def test_worst_trees(missing, spans):
    """The structural hinge of short sentences, against all trees of the grammar."""
    from oneslack.checks.proof_problems import problems_of

    parser = oneslack.GrammarParser(C=0.3, min_count=1, missing=missing, span_features=spans).fit(TREES)
    (problem,) = problems_of(parser, {"C": 0.3}, TREES, None, None, None)
    examples, rng = problem.examples, np.random.default_rng(0)
    for w in (parser.coef_, rng.standard_normal(len(parser.coef_))):
        hinges, errors = examples.hinges(w)
        for i, words in enumerate(examples.words):
            psi = [parser.model_.joint_feature(words, z) @ w for z in parser.model_.outputs(words)]
            losses = [parser.model_.loss(examples.y[i], z) for z in parser.model_.outputs(words)]
            own = parser.model_.joint_feature(words, examples.y[i]) @ w
            values = [float(score[0] - own[0]) + loss for score, loss in zip(psi, losses, strict=True)]
            assert abs(hinges[i] - max(values)) <= errors[i] + 1e-9
            listed = list(parser.model_.outputs(words))
            found = examples.losses(np.full(len(listed), i), np.concatenate(listed))
            assert np.allclose(found, losses)
            v, size, _ = examples.features(np.array([i]), np.asarray(listed[0]), np.array([0.5]))
            delta = parser.model_.joint_feature(words, examples.y[i]) - parser.model_.joint_feature(
                words, listed[0]
            )
            assert np.allclose(v, 0.5 * delta.toarray()[0])
            assert (size >= np.abs(v) - 1e-12).all()


def test_many_classes_by_definition():
    rng = np.random.default_rng(0)
    y, c, cost = np.array([0, 2, 1]), np.array([1.0, 0.5, 2.0]), rng.random((3, 3)) * (1 - np.eye(3))
    F = rng.standard_normal((3, 3))
    value, error = ManyClasses(y, c, cost).risk(F, np.zeros((3, 3)))
    each = [max(cost[k, z] + F[i, z] - F[i, k] for z in range(3)) for i, k in enumerate(y)]
    assert abs(value - np.dot(c, each)) <= error + 1e-15


@pytest.mark.parametrize("name", ["hinge", "squared_hinge"])
def test_an_example_of_weight_0_has_room_for_no_dual(name):
    loss = OneScore(name, np.array([1.0, -1.0]), np.array([1.0, 0.0]))
    assert loss.duals({"duals": np.array([0.5, 0.0])}).excess < 1e-12
    with pytest.raises(oneslack.ProofError, match="the dual of example 1 is outside its bounds"):
        loss.duals({"duals": np.array([0.5, -0.1])})

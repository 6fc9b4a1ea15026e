"""Matchings: decoders against brute force and SciPy's assignment, bounds by several solvers."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import oneslack
from oneslack import Matching


def examples(rng, unmatched, n=6, d=3):
    sizes = [(2, 3), (3, 3), (1, 2), (2, 2)] + [(3, 1), (2, 0), (0, 2)] * unmatched
    X = [rng.normal(size=(*sizes[i % len(sizes)], d)) for i in range(n)]
    return X, [partners(rng, *x.shape[:2], unmatched) for x in X]


def partners(rng, n, m, unmatched):
    places = rng.permutation(m + n if unmatched else m)[:n]
    return np.where(places < m, places, -1)


@pytest.mark.parametrize("unmatched", [False, True])
def test_decoders_are_as_good_as_brute_force(unmatched):
    rng = np.random.default_rng(0)
    model = Matching(2, unmatched)
    for _ in range(60):
        n = int(rng.integers(1, 4))
        m = int(rng.integers(0 if unmatched else n, 5))
        x, w = rng.normal(size=(n, m, 2)), rng.normal(size=model.n_params)
        for y in (None, partners(rng, n, m, unmatched)):
            z = model.decode(w, x, y)
            assert len(set(z[z >= 0])) == (z >= 0).sum()
            score = float(model.joint_feature(x, z) @ w) + (0.0 if y is None else model.loss(y, z))
            assert score == pytest.approx(oneslack.brute_force(model, w, x, y)[1], abs=1e-12)


def test_large_assignments_are_scipys():
    rng = np.random.default_rng(1)
    for n, m in [(1, 1), (20, 20), (17, 60), (60, 61)]:
        S = rng.normal(size=(n, m)) if n != 20 else rng.integers(0, 3, (n, m)).astype(float)  # many ties
        z = Matching(1).decode(np.ones(1), S[:, :, None])
        rows, columns = linear_sum_assignment(S, maximize=True)
        assert S[np.arange(n), z].sum() == pytest.approx(S[rows, columns].sum())


@pytest.mark.parametrize("unmatched", [False, True])
def test_a_model_passes_its_check(unmatched):
    X, Y = examples(np.random.default_rng(2), unmatched, 8)
    oneslack.check_model(Matching(3, unmatched), X, Y, n_weights=4)


@pytest.mark.parametrize("unmatched", [False, True])
def test_solvers_bracket_the_same_optimum(unmatched):
    rng = np.random.default_rng(3)
    X, Y = examples(rng, unmatched, 20)
    for x, y in zip(X, Y, strict=True):  # something to learn
        x[np.flatnonzero(y >= 0), y[y >= 0], 0] += 1.0
    problem = oneslack.Problem(Matching(3, unmatched), X, Y, C=2.0, sample_weight=rng.uniform(0, 2, 20))
    results = [oneslack.solve(problem, solver, tol=1e-6) for solver in ("dual_cd", "n_slack", "one_slack")]
    assert all(result.certified and result.gap <= 1e-6 for result in results)
    assert max(r.dual for r in results) <= min(r.primal for r in results)
    hinges = [
        oneslack.brute_force(problem.model, results[0].w, x, y)[1]
        - float(problem.model.joint_feature(x, y) @ results[0].w)
        for x, y in zip(X, Y, strict=True)
    ]
    by_definition = 0.5 * results[0].w @ results[0].w + 2.0 * problem.sample_weights @ hinges
    assert by_definition == pytest.approx(results[0].primal, rel=1e-9)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (np.ones((2, 2, 2)), [0, 1], r"example 0: x has shape \(2, 2, 2\)"),
        (np.ones((3, 2, 1)), [0, 1, 0], "3 rows have 2 columns to be matched with; swap them"),
        (np.ones((2, 2, 1)), [0, 0], "column 0 is the partner of several rows"),
        (np.ones((2, 2, 1)), [0, 2], "2 is no column; expected 0 .. 1"),
        (np.ones((2, 2, 1)), [0, -1], "set unmatched=True"),
        (np.ones((2, 2, 1)), [0], "y must be 2 whole numbers"),
        (np.full((2, 2, 1), np.nan), [0, 1], "nan in example 0"),
    ],
)
def test_what_does_not_fit_is_refused(x, y, words):
    with pytest.raises(ValueError, match=words):
        oneslack.Problem(Matching(1), [x], [y])

"""Bounds of graphs of 50 to 200 nodes against integer programming (HiGHS), and what rounding may do."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from oneslack.models.graph import GraphModel


def best_score(theta, edges, T):
    """The optimum by HiGHS, over the marginals of nodes and edges."""
    n, L = theta.shape
    m = len(edges)
    rows, columns, values, right, count = [], [], [], [], 0
    for s in range(n):
        rows += [count] * L
        columns += [s * L + a for a in range(L)]
        values += [1.0] * L
        right.append(1.0)
        count += 1
    for e, ends in enumerate(edges):
        for side in range(2):
            for a in range(L):
                pairs = [
                    n * L + (e * L + (a if side == 0 else b)) * L + (b if side == 0 else a) for b in range(L)
                ]
                rows += [count] * (L + 1)
                columns += [*pairs, ends[side] * L + a]
                values += [1.0] * L + [-1.0]
                right.append(0.0)
                count += 1
    size = n * L + m * L * L
    A = sp.csr_array((values, (rows, columns)), shape=(count, size))
    whole = np.r_[np.ones(n * L), np.zeros(m * L * L)]
    rules = {"constraints": LinearConstraint(A, right, right), "bounds": Bounds(0, 1), "integrality": whole}
    found = milp(-np.r_[theta.ravel(), np.ravel(T)], **rules, options={"mip_rel_gap": 1e-9})
    assert found.status == 0
    return -found.fun


def grid(rows, columns):
    cells = np.arange(rows * columns).reshape(rows, columns)
    right = np.c_[cells[:, :-1].ravel(), cells[:, 1:].ravel()]
    return np.r_[right, np.c_[cells[:-1].ravel(), cells[1:].ravel()]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_bounds_against_integer_programming(seed):
    rng = np.random.default_rng(seed)
    shape = [(7, 8), (10, 10), (10, 20)][seed % 3]
    L = 2 + seed % 2
    edges, n = grid(*shape), shape[0] * shape[1]
    model = GraphModel(L, L, L * L, directed=True)
    F, X = 0.5 * rng.normal(size=(len(edges), L * L)), rng.normal(size=(n, L))
    # Features choose weights: tables of edges and scores of nodes are what was drawn.
    w = np.r_[np.eye(L).ravel(), np.eye(L * L).ravel()]
    y = rng.integers(0, L, n)
    theta = X + (np.arange(L) != y[:, None])
    best = best_score(theta, edges, F.reshape(-1, L, L))
    z, upper = model.decode_bound(w, (X, edges, F), y)
    found = theta[np.arange(n), z].sum() + F[np.arange(len(edges)), z[edges[:, 0]] * L + z[edges[:, 1]]].sum()
    assert upper >= best - 1e-6 * abs(best)
    assert found <= best + 1e-6 * abs(best)
    assert upper - found <= 0.05 * abs(best)


@pytest.mark.slow
def test_cuts_are_exact_by_integer_programming():
    rng = np.random.default_rng(4)
    edges, n = grid(12, 12), 144
    X = rng.normal(size=(n, 2))
    model, w = GraphModel(2, 2, attractive=True), np.r_[np.eye(2).ravel(), 0.4, 0.3]
    _, upper = model.decode_bound(w, (X, edges), np.zeros(n, int))
    theta = X + np.array([0.0, 1.0])
    best = best_score(theta, edges, np.tile(np.diag([0.4, 0.3]), (len(edges), 1, 1)))
    assert upper == pytest.approx(best, rel=1e-7)


def test_bounds_hold_where_rounding_is_large():
    """Scores of very different sizes: the bound is compared in exact rational numbers."""
    from fractions import Fraction
    from itertools import product

    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    for _ in range(40):
        L = int(rng.integers(2, 4))
        scale = 10.0 ** rng.integers(-8, 9, (4, 1))
        X, F = (
            scale * rng.normal(size=(4, L)),
            10.0 ** rng.integers(-6, 7, (4, 1)) * rng.normal(size=(4, L * L)),
        )
        model = GraphModel(L, L, L * L, directed=True)
        w = np.r_[np.eye(L).ravel(), np.eye(L * L).ravel()]
        y = rng.integers(0, L, 4)
        upper = Fraction(model.decode_bound(w, (X, edges, F), y)[1])
        for z in product(range(L), repeat=4):
            nodes = sum(Fraction(X[s, z[s]]) + int(z[s] != y[s]) for s in range(4))
            pairs = sum(Fraction(F[e, z[a] * L + z[b]]) for e, (a, b) in enumerate(edges))
            # A loss of 1 beside large scores is rounded before there is a bound: by an ulp of each node.
            lost = sum(Fraction(float(np.spacing(abs(X[s, z[s]]) + 1.0))) for s in range(4))
            assert upper >= nodes + pairs - lost

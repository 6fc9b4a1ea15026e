"""structsvm's names: certificates by brute force, its place taken, and motile where it is installed."""

import enum
import itertools
import sys
import types

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from oneslack.adapters import structsvm

Relation = enum.IntEnum("Relation", ["LessEqual", "Equal", "GreaterEqual"])


class Constraint:
    """As ilpy's, which need not be installed."""

    def __init__(self, coefficients, relation, value, quadratic=()):
        self.given = coefficients, Relation[relation], value
        self.quadratic = dict(quadratic)

    def get_coefficients(self):
        return self.given[0]

    def get_quadratic_coefficients(self):
        return self.quadratic

    def get_relation(self):
        return self.given[1]

    def get_value(self):
        return self.given[2]


#: A choice of one of the first three, at most one of the next two, and at least one in all of the last three.
CONSTRAINTS = [
    Constraint({0: 1, 1: 1, 2: 1}, "Equal", 1),
    Constraint({3: 2.0, 4: 2.0}, "LessEqual", 3),
    Constraint({3: 1, 4: 1, 5: 1}, "GreaterEqual", 1),
]


def outputs():
    for y in itertools.product((0, 1), repeat=6):
        if sum(y[:3]) == 1 and y[3] + y[4] <= 1 and sum(y[3:]) >= 1:
            yield np.array(y, float)


def problem(seed, dims=4):
    rng = np.random.default_rng(seed)
    truth = np.array([1, 0, 0, 0, 1, 0], float)
    mask = np.array([1, 1, 1, 1, 1, 0], float)
    return rng.normal(size=(dims, 6)), truth, mask


def by_definition(w, features, truth, mask):
    return max(w @ features @ (truth - y) + np.sum(mask * np.abs(truth - y)) for y in outputs())


def test_hamming_costs_count_differences():
    _, truth, mask = problem(0)
    pairs = (structsvm.HammingCosts(truth), np.ones(6)), (structsvm.HammingCosts(truth, mask), mask)
    for costs, weights in pairs:
        for y in itertools.product((0, 1), repeat=6):
            value = costs.get_coefficients() @ np.array(y) + costs.get_offset()
            assert value == np.sum(weights * np.abs(truth - y))


@pytest.mark.parametrize("seed", range(4))
def test_value_and_gradient_are_those_of_the_worst_output(seed):
    features, truth, mask = problem(seed)
    loss = structsvm.SoftMarginLoss(CONSTRAINTS, features, truth, structsvm.HammingCosts(truth, mask))
    rng = np.random.default_rng(seed)
    for _ in range(5):
        w, v = rng.normal(size=(2, 4))
        value, gradient = loss.value_and_gradient(w)
        there = by_definition(w, features, truth, mask)
        assert value == pytest.approx(there, abs=1e-9)
        assert loss.bounds(w)[2] >= there - 1e-12
        assert value + gradient @ (v - w) <= by_definition(v, features, truth, mask) + 1e-9


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("infeasible", [False, True])
def test_the_certificate_is_true(seed, infeasible):
    """Also where the truth breaks the constraints, as motile's does, and L falls below 0."""
    features, truth, mask = problem(seed)
    if infeasible:
        truth = np.zeros(6)
    loss = structsvm.SoftMarginLoss(CONSTRAINTS, features, truth, structsvm.HammingCosts(truth, mask))
    method = structsvm.BundleMethod(loss.value_and_gradient, dims=4, regularizer_weight=0.1, eps=1e-6)
    w = method.optimize(1000)
    proved = structsvm.certificate()
    assert proved is method.certificate
    assert proved.certified
    assert proved.gap <= 1e-6
    assert 0.05 * w @ w + by_definition(w, features, truth, mask) <= proved.objective + 1e-12
    best = _optimum(features, truth, mask, 0.1)
    assert proved.lower <= best + 1e-7
    assert proved.objective >= best - 1e-7


def _optimum(features, truth, mask, weight):
    """By an independent QP over all outputs."""
    ys = list(outputs())
    A = np.array([np.append(-(features @ (truth - y)), 1.0) for y in ys])
    b = np.array([np.sum(mask * np.abs(truth - y)) for y in ys])
    found = minimize(
        lambda v: 0.5 * weight * v[:-1] @ v[:-1] + v[-1], np.append(np.zeros(4), b.max()),
        jac=lambda v: np.append(weight * v[:-1], 1.0),
        constraints={"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
        method="SLSQP", options={"ftol": 1e-14, "maxiter": 1000},
    )  # fmt: skip
    return found.fun


def test_any_function():
    """structsvm's own example, to the optimum: (x - 1)^2 + lambda/2 x^2."""
    method = structsvm.BundleMethod(lambda x: ((x[0] - 1) ** 2, 2 * (x - 1)), 1, 0.0001, 1e-5)
    w = method.optimize(max_iterations=100)
    assert method.certificate.gap <= 1e-5
    best = 0.5 * 0.0001 / (1 + 0.5 * 0.0001)
    assert method.certificate.lower <= best <= method.certificate.objective
    assert w[0] == pytest.approx(1 / (1 + 0.5 * 0.0001), abs=4e-3)


def test_a_run_that_is_cut_short_says_so():
    features, truth, _ = problem(0)
    loss = structsvm.SoftMarginLoss(CONSTRAINTS, features, truth)
    method = structsvm.BundleMethod(loss.value_and_gradient, 4, 0.1, 1e-6)
    with pytest.warns(ConvergenceWarning, match="stopped after .* raise max_iterations or eps"):
        method.optimize(2)
    assert method.optimize(0).tolist() == [0, 0, 0, 0]


def test_what_is_refused():
    features, truth, _ = problem(0)
    with pytest.raises(ValueError, match="constraint 0 has quadratic terms"):
        structsvm.SoftMarginLoss([Constraint({0: 1}, "Equal", 1, {(0, 1): 1.0})], features, truth)
    with pytest.raises(ValueError, match="constraint 0 names variable 6, but there are 6"):
        structsvm.SoftMarginLoss([Constraint({6: 1}, "Equal", 1)], features, truth)
    with pytest.raises(ValueError, match=r"expected \(dims, n\) and \(n,\)"):
        structsvm.SoftMarginLoss([], features.T, truth)
    with pytest.raises(ValueError, match="mask has shape"):
        structsvm.HammingCosts(truth, [1.0])
    with pytest.raises(ValueError, match="regularizer_weight must be a positive number"):
        structsvm.BundleMethod(lambda w: (0.0, w), 1, 0.0, 1e-3)


def test_in_its_place(monkeypatch):
    theirs, user = types.ModuleType("structsvm"), types.ModuleType("uses_structsvm")
    user.ssvm = theirs
    monkeypatch.setitem(sys.modules, "structsvm", theirs)
    monkeypatch.setitem(sys.modules, "uses_structsvm", user)
    with structsvm.install():
        import structsvm as found
        from structsvm.bundle_method import BundleMethod

        assert found is structsvm
        assert user.ssvm is structsvm
        assert BundleMethod is structsvm.BundleMethod
    assert sys.modules["structsvm"] is theirs
    assert user.ssvm is theirs
    assert "structsvm.bundle_method" not in sys.modules


def test_motile_learns_its_weights():
    pytest.importorskip("ilpy")
    pytest.importorskip("networkx")
    with structsvm.install():
        motile = pytest.importorskip("motile")
        solver = _tracker(motile)
        solver.fit_weights("gt", regularizer_weight=0.01)
        assert structsvm.certificate().gap <= 1e-6
        chosen = solver.solve()
        nodes = solver.get_variables(motile.variables.NodeSelected)
        assert [chosen[nodes[k]] > 0.5 for k in range(4)] == [True, False, True, False]


def _tracker(motile):
    """Two frames with a true and a false detection each."""
    import motile.constraints
    import motile.costs
    import motile.variables
    import networkx as nx

    graph = nx.DiGraph()
    for k in range(4):
        graph.add_node(k, t=k // 2, score=0.9 - 0.6 * (k % 2), gt=1 - k % 2)
    for a, b in itertools.product((0, 1), (2, 3)):
        graph.add_edge(a, b, score=0.5, gt=int((a, b) == (0, 2)))
    solver = motile.Solver(motile.TrackGraph(graph))
    solver.add_cost(motile.costs.NodeSelectedCost(weight=1.0, attribute="score", constant=1.0))
    solver.add_cost(motile.costs.EdgeSelectedCost(weight=1.0, attribute="score", constant=1.0))
    solver.add_constraint(motile.constraints.MaxParents(1))
    return solver

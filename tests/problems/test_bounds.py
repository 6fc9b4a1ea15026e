"""Decoders that are not exact and say how far: certificates bracket the optimum of the exact decoder."""

from itertools import product

import numpy as np
import pytest

from oneslack import DualCD, NSlack, OneSlack, Problem, SplitProblem, Status, ThreadCrews, check_model, solve
from oneslack.errors import ModelError
from oneslack.solvers.streaming.reader import Streaming

PAIRS = ((0, 1), (1, 2), (2, 0))
ALL = np.array(list(product(range(3), repeat=3)))


class Triangle:
    """Three nodes x (3, 2) with labels 0 .. 2, every two joined: exact by listing all 27 outputs."""

    n_params = 6 + 9

    def joint_feature(self, x, y):
        psi = np.zeros(self.n_params)
        for node, label in zip(x, y, strict=True):
            psi[2 * label : 2 * label + 2] += node
        for i, j in PAIRS:
            psi[6 + 3 * y[i] + y[j]] += 1.0
        return psi

    def loss(self, y, z):
        return float(np.sum(np.asarray(y) != z))

    def outputs(self, x):
        return list(ALL)

    def scores(self, w, x, y=None):
        """(3, 3) of nodes and labels."""
        scores = x @ w[:6].reshape(3, 2).T
        return scores if y is None else scores + (np.arange(3) != np.asarray(y)[:, None])

    def values(self, w, x, y, Z):
        nodes = self.scores(w, x, y)[np.arange(3), Z].sum(axis=1)
        return nodes + sum(w[6 + 3 * Z[:, i] + Z[:, j]] for i, j in PAIRS)

    def value(self, w, x, y, z):
        return float(self.values(w, x, y, np.array([z]))[0])

    def decode(self, w, x, y=None):
        return ALL[np.argmax(self.values(w, x, y, ALL))]


class Careless(Triangle):
    """Finds the best labels of single nodes; what pairs may add is bounded by the largest of each."""

    exact = False
    #: Added to the bound: below 0 it is none.
    slack = 0.0

    def decode(self, w, x, y=None):
        z = self.scores(w, x, y).argmax(axis=1)
        Z = np.array([z, *np.tile(np.arange(3)[:, None], 3)])
        return Z[np.argmax(self.values(w, x, y, Z))]

    def decode_bound(self, w, x, y):
        upper = self.scores(w, x, y).max(axis=1).sum() + 3 * w[6:].max()
        return self.decode(w, x, y), float(upper + 1e-12 * (1 + abs(upper)) + self.slack)


@pytest.fixture(scope="module")
def examples():
    rng = np.random.default_rng(3)
    X = list(rng.normal(size=(12, 3, 2)))
    Y = [(x @ rng.normal(size=(2, 3)) + rng.normal(size=3)).argmax(axis=1) for x in X]
    return X, Y


@pytest.fixture(scope="module")
def optimum(examples):
    result = solve(Problem(Triangle(), *examples, C=0.3), NSlack(), tol=1e-7)
    assert result.certified
    return result


SOLVERS = [
    OneSlack(), OneSlack(line_search=False), OneSlack(cache_size=5), OneSlack(cache_size=5, parts=4),
    NSlack(), NSlack(parts=4), DualCD(), Streaming(),
]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_the_certificate_brackets_the_optimum(examples, optimum, solver):
    problem = Problem(Careless(), *examples, C=0.3)
    result = solve(problem, solver, tol=1e-3, max_iter=2000)
    assert result.certified
    assert result.status is Status.INFERENCE
    assert result.dual <= optimum.primal
    assert optimum.dual <= result.primal
    assert result.inference > 0.0
    assert result.primal - result.inference - result.dual <= 1e-3 * result.primal + 1e-9
    if not getattr(solver, "parts", 0):  # which may end before P of the newest point is paid for
        assert result.trace[-1].inference == pytest.approx(result.inference, abs=1e-9)
    # P and its inference part, from the definition.
    model, (X, Y), w = Careless(), examples, result.w
    uppers = sum(model.decode_bound(w, x, y)[1] - model.joint_feature(x, y) @ w for x, y in zip(X, Y))
    assert result.primal == pytest.approx(0.5 * w @ w + 0.3 * uppers, rel=1e-9)


def test_the_trace_tells_inference_from_training(examples):
    result = solve(Problem(Careless(), *examples, C=0.3), OneSlack(), tol=1e-3)
    rows = [row for row in result.trace if np.isfinite(row.primal)]
    assert all(0.0 <= row.inference <= row.primal for row in rows)
    training = [row.primal - row.inference - row.dual for row in rows]
    assert training[-1] < 0.1 * training[0]


def test_without_a_bound_nothing_is_certified(examples):
    class Silent(Careless):
        decode_bound = property()

    assert not solve(Problem(Silent(), *examples, C=0.3), OneSlack(), tol=1e-2).certified


@pytest.mark.parametrize("solver", ["one_slack", "n_slack", "distributed_dual"])
def test_workers_tell_bounds(examples, optimum, solver):
    problem = SplitProblem(Careless(), *examples, C=0.3, engine=ThreadCrews(2), cache_size=3)
    with problem.engine:
        result = solve(problem, solver, tol=1e-3, max_iter=500)
    assert result.certified
    assert result.inference > 0.0
    assert result.dual <= optimum.primal
    assert optimum.dual <= result.primal
    assert result.status in (Status.INFERENCE, Status.STALLED)


def test_check_model_holds_bounds_against_outputs(examples):
    X, Y = examples
    assert "bounds: never below an output" in str(check_model(Careless(), X[:4], Y[:4], n_weights=8))
    low = Careless()
    low.slack = -50.0
    with pytest.raises(ModelError, match=r"decode_bound.*, example 0: the bound .* is below .* of its"):
        check_model(low, X[:4], Y[:4], n_weights=8)
    low.slack = -0.5
    with pytest.raises(ModelError, match=r"decode_bound.*: the bound .* is below .*, the score \+ loss"):
        check_model(low, X[:4], Y[:4], n_weights=40)


def test_training_refuses_a_bound_below_its_own_output(examples):
    low = Careless()
    low.slack = -50.0
    with pytest.raises(ModelError, match=r"example \d+: decode_bound: the bound .* is below"):
        solve(Problem(low, *examples, C=0.3), OneSlack(), tol=1e-3)


@pytest.mark.parametrize("answer", [None, (1, 2, 3), (np.zeros(3, int), "much")])
def test_an_answer_that_is_no_pair_is_named(examples, answer):
    class Odd(Careless):
        def decode_bound(self, w, x, y):
            return answer

    with pytest.raises(ModelError, match=r"decode_bound: returned .* expected a pair"):
        solve(Problem(Odd(), *examples, C=0.3), OneSlack(), tol=1e-3)


def test_an_exact_decoder_with_bounds_loses_nothing(examples, optimum):
    class Sure(Triangle):
        def decode_bound(self, w, x, y):
            z = self.decode(w, x, y)
            upper = self.value(w, x, y, z)
            return z, upper + 1e-13 * (1 + abs(upper))

    result = solve(Problem(Sure(), *examples, C=0.3), NSlack(), tol=1e-5)
    assert result.status is Status.CONVERGED
    assert result.certified
    assert result.dual <= optimum.primal
    assert optimum.dual <= result.primal

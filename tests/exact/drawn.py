"""A model with small data by a seed, beside the same as a problem in rational numbers: for `solve` itself, on
whatever engine, from wherever it starts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

import oneslack

from . import draws
from .case import Case, Claim, violations
from .draws import pick
from .linear import exact, many_classes, tube, two_classes
from .linear_cases import held, weights_of_risk
from .optimum import Small
from .structured_cases import TwoBits, _sentences
from .structures import chain_examples, model_examples, outputs_listed

KINDS = ("two_classes", "many_classes", "regression", "chain", "own_model")
#: Those with rows of a matrix.
ROWS = KINDS[:3]


@dataclass(frozen=True)
class Drawn:
    """What a problem of the library gets, and `small(C)`, the same in rational numbers.

    ordered  a w of the library as `small` takes it
    """

    kind: str
    model: object
    X: object
    Y: object
    C: float
    sample_weight: object
    small: Callable[[float], Small]
    penalty: dict = field(default_factory=dict)
    ordered: Callable = list

    def problem(self, make=oneslack.Problem, C=None, **options):
        given = {"sample_weight": self.sample_weight, **self.penalty, **options}
        return make(self.model, self.X, self.Y, C or self.C, **given)

    def claim(self, result, C=None) -> Claim:
        return Claim(self.small(C or self.C), self.ordered(result.w.tolist()), result)


def lies(given, result, tol, C=None, is_due=True) -> list[str]:
    """What is not so of a result; that it is not certified, where that is due."""
    case = Case("", {}, lambda: None, lambda _: [given.claim(result, C)], tol)
    missing = [f"not certified: {result}"] if is_due and not result.certified else []
    return missing + violations(case)


def seeds(quick, many=40):
    """A few always, many where there is time."""
    return [*range(quick), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(quick, many))]


def drawn(kind, seed, *, most=6, weighted=True, penalised=True, C=None) -> Drawn:
    """One of KINDS; at most so many examples, perhaps with weights of them, and with priors and the like."""
    rng = np.random.default_rng([seed, *kind.encode()])
    C = C or draws.weight_of_risk(rng)
    make = _rows if kind in ROWS else _sequences if kind == "chain" else _own
    return make(rng, kind, most, C, weighted, penalised)


def _rows(rng, kind, most, C, weighted, penalised):
    n, d = draws.shape(rng, most)
    n, K = max(n, 3), 3
    d = min(d, 6) if kind == "many_classes" else d
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    s, rows = draws.weights(rng, n) if weighted else None, exact(values)
    intercept = bool(rng.random() < 0.5)
    count = K * d if kind == "many_classes" else d
    penalty = draws.penalty(rng, count) if penalised else {}
    own = held(penalty)
    padded = {name: _padded(name, value, kind, d, K, intercept) for name, value in penalty.items()}
    if kind == "two_classes":
        y = 2 * draws.labels(rng, n, 2) - 1
        return Drawn(
            kind, oneslack.Binary(d, intercept), X, y.astype(float), C, s,
            lambda C: two_classes(rows, y.tolist(), weights_of_risk(C, n, s), intercept, **own), padded,
        )  # fmt: skip
    if kind == "many_classes":
        y, cost = draws.labels(rng, n, K), exact(1.0 - np.eye(K))
        return Drawn(
            kind, oneslack.Multiclass(d, K, intercept), X, y, C, s,
            lambda C: many_classes(rows, y.tolist(), weights_of_risk(C, n, s), K, cost, intercept, **own),
            padded, lambda w: [*np.reshape(w[: K * d], (d, K)).T.ravel().tolist(), *w[K * d :]],
        )  # fmt: skip
    y = rng.normal(size=n) * pick(rng, (1.0, 1e-6, 1e6))
    epsilon = pick(rng, (0.0, 0.1, float(np.abs(y).max()) * 0.3))
    return Drawn(
        kind, oneslack.Regression(d, epsilon, intercept), X, y, C, s,
        lambda C: tube(rows, exact(y), weights_of_risk(C, n, s), Fraction(epsilon), intercept, **own), padded,
    )  # fmt: skip


def _padded(name, value, kind, d, K, intercept):
    """A term as the model's weights lie: features before classes, then the intercepts, which have none."""
    value = value.reshape(K, d).T.ravel() if kind == "many_classes" else value
    n_free = intercept * (K if kind == "many_classes" else 1)
    fill = {"prior": 0.0, "scale": 1.0, "nonnegative": False}[name]
    return np.append(value, np.full(n_free, fill, value.dtype))


def _sequences(rng, kind, most, C, weighted, penalised):
    d, L = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    X, Y = _sentences(rng, d, L)
    X, Y = (X * 2, Y + [y[::-1] for y in Y]) if len(X) == 1 else (X, Y)
    model = oneslack.Chain(d, L)
    examples, _ = chain_examples([exact(x) for x in X], Y, L)
    return _listed(rng, kind, model, X, [np.array(y) for y in Y], examples, C, weighted, penalised)


def _own(rng, kind, most, C, weighted, penalised):
    n, d = draws.shape(rng, min(most, 4))
    X = draws.matrix(rng, n, min(d, 4))
    model = TwoBits(X.shape[1])
    Y = [tuple(bits) for bits in rng.integers(2, size=(n, 2)).tolist()]
    return _listed(rng, kind, model, list(X), Y, model_examples(model, X, Y), C, weighted, penalised)


def _listed(rng, kind, model, X, Y, examples, C, weighted, penalised):
    s = draws.weights(rng, len(X)) if weighted else None
    penalty = draws.penalty(rng, model.n_params) if penalised else {}
    own = held(penalty)
    return Drawn(
        kind, model, X, Y, C, s,
        lambda C: outputs_listed(examples, model.n_params, weights_of_risk(C, len(X), s), **own), penalty,
    )  # fmt: skip

"""The problems of a fitted model for the checker: features and targets as numbers, weights, penalties."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp

from ..errors import OneslackError, ProofError
from ..estimators._shared.given import example_weights
from ..estimators._shared.weight_terms import rows_of_terms
from ..verify.linear import Linear
from ..verify.losses import ManyClasses, OneScore
from ..verify.penalty import Penalty
from .definitions.estimators import _against_others, _known_classes, _ones, _rows


def problems_of(model, header, arrays, X, y, sample_weight, groups):
    """Yield the problems of a model, each with `bounds(proof)`, in the order of its claims."""
    builders = {
        "LinearSVC": _classes,
        "LinearSVR": _regression,
    }
    names = [kind.__name__ for kind in type(model).__mro__ if kind.__name__ in builders]
    if not names:
        raise OneslackError(f"no checker is written for {type(model).__name__}; use check_certificate")
    C, given = header.get("C"), getattr(model, "C", None)
    if not isinstance(C, float) or not 0.0 < C < np.inf:
        raise ProofError(f"C of the proof is {C!r}, expected a positive number")
    if not isinstance(given, str) and float(given) != C:
        raise ProofError(f"C of the proof is {C!r}, but that of the model is {given!r}")
    return builders[names[0]](model, C, arrays, X, y, sample_weight)


def _terms(model, arrays, shape) -> dict:
    """prior, scale and held of all weights: as parameters, or by what the proof says of names."""
    terms = {
        name: arrays[f"proof.{name}"]
        for name in ("prior", "scale", "nonnegative")
        if f"proof.{name}" in arrays
    }
    terms = rows_of_terms(model, shape) | terms
    for name, values in terms.items():
        if values.shape != shape or (values.dtype != bool and not np.isfinite(values).all()):
            raise ProofError(f"{name} of the proof does not fit the weights")
    return {("held" if name == "nonnegative" else name): values for name, values in terms.items()}


def _linear(model, X, loss, arrays, row=None) -> Linear:
    """The problem of all rows of coef_, or of one of them."""
    w, bias = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    terms = _terms(model, arrays, w.shape)
    chosen = slice(None) if row is None else slice(row, row + 1)
    terms = {name: np.asarray(values)[chosen] for name, values in terms.items()}
    w, bias, free = w[chosen], bias[chosen], bool(model.fit_intercept)
    if free and getattr(model, "penalize_intercept", False):
        X, w, terms = _with_bias(X, w, bias, terms, float(model.intercept_scaling))
        free = False
    penalty = Penalty(is_l1=getattr(model, "penalty", "l2") == "l1", **terms)
    return Linear(X, loss, w, bias if free else None, penalty)


def _with_bias(X, w, bias, terms, scaling):
    """A penalised intercept is the weight of a column of ones, with 1 / scaling as its scale."""
    ones = np.ones((X.shape[0], 1))
    X = sp.hstack([X, sp.csr_array(ones)], format="csr") if sp.issparse(X) else np.hstack([X, ones])
    default = {"prior": 0.0, "held": False, "scale": 1.0 / scaling}
    terms = {"scale": np.ones_like(w)} | terms
    more = {name: np.full((len(w), 1), default[name]) for name in terms}
    return (
        X, np.column_stack([w, bias]),
        {name: np.hstack([values, more[name]]) for name, values in terms.items()},
    )  # fmt: skip


def _classes(model, C, arrays, X, y, sample_weight):
    X = _rows(X)
    codes, K = _known_classes(model, y), len(model.classes_)
    s = _ones(len(codes), example_weights(X, model.classes_, codes, model.class_weight, sample_weight))
    is_named = isinstance(model.loss, str)
    cost = 1.0 - np.eye(K) if is_named else np.asarray(model.loss, dtype=float)
    if K == 2:
        s = s * np.array([cost[0, 1], cost[1, 0]])[codes]
    name = model.loss if is_named else "hinge"
    if K == 2 or model.multi_class == "ovr" or name != "hinge":
        for k, signs in enumerate(_against_others(codes, K)):
            yield _linear(model, X, OneScore(name, signs, C * s), arrays, k)
    else:
        yield _linear(model, X, ManyClasses(codes, C * s, cost), arrays)


def _regression(model, C, arrays, X, y, sample_weight):
    X, y = _rows(X), np.asarray(y, dtype=float)
    name = getattr(model, "loss", "epsilon_insensitive")
    size = float(getattr(model, {"pinball": "quantile", "huber": "delta"}.get(name, "epsilon")))
    yield _linear(model, X, OneScore(name, y, C * _ones(len(y), sample_weight), size), arrays)

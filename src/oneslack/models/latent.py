"""Latent values completed: what is left of a latent problem when they are held fixed is a plain one.

A latent structural model (Ramanan 2013, A.5; Yu & Joachims 2009) has

    n_params, joint_feature(x, y, h), loss(y, y_hat) or loss(y, y_hat, h_hat),
    decode(w, x, y=None) -> (y, h)   argmax of <w, psi(x, y', h')>, plus loss(y, y', h') when y is given
    complete(w, x, y) -> h           argmax of <w, psi(x, y, h')>

and a latent binary model (A.4) has

    n_params, feature(x, h),         best(w, x) -> h   argmax of <w, phi(x, h')>

The models here have the three methods of protocols.Model: their outputs hold the latent value beside what is
observed, and `complete` replaces that of the truth by the best one.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .answers import brief, finite_row

#: The output of a binary model that says no; a yes is (h,).
NO = ()


@dataclass(frozen=True)
class Completed:
    """What a user's latent model is asked for in either case."""

    model: object

    @property
    def n_params(self) -> int:
        return self.model.n_params

    @property
    def blocks(self):
        return getattr(self.model, "blocks", None)

    @property
    def exact(self) -> bool:
        return bool(getattr(self.model, "exact", True))


@dataclass(frozen=True)
class CompletedStructural(Completed):
    """Outputs are pairs (y, h)."""

    needs = ("n_params", "joint_feature", "loss", "decode", "complete")

    def joint_feature(self, x, z):
        return self.model.joint_feature(x, *z)

    def loss(self, y, z):
        return self.model.loss(y[0], *z) if _takes_latent(self.model) else self.model.loss(y[0], z[0])

    def decode(self, w, x, y=None):
        z = self.model.decode(w, x) if y is None else self.model.decode(w, x, y[0])
        if not isinstance(z, tuple) or len(z) != 2:
            raise ValueError(f"decode returned {z!r}, expected a pair (output, latent value)")
        return z

    # What the rounds of concave_convex.py ask.

    def truth(self, y, h=None):
        """The truth y with the latent value h."""
        return y, h

    def complete(self, w, x, y):
        """The truth with its best latent value."""
        return y[0], self.model.complete(w, x, y[0])


def _takes_latent(model) -> bool:
    """Whether the loss looks at the latent value."""
    return len(inspect.signature(model.loss).parameters) > 2


@dataclass(frozen=True)
class CompletedBinary(Completed):
    """Outputs are NO, whose features are 0, and (h,), those of phi(x, h).

    A positive is compared with NO only, at the latent value that it was completed with; a negative with the
    best yes.  So the hinges are max(0, 1 - <w, phi(x, h)>) and max(0, 1 + max_h <w, phi(x, h)>).
    """

    sparse: bool = False  # whether phi is given as CSR rows
    needs = ("n_params", "feature", "best")

    def joint_feature(self, x, z):
        if z:
            return self._feature(x, *z)
        return sp.csr_array((1, self.n_params)) if self.sparse else np.zeros(self.n_params)

    def loss(self, y, z):
        return float(bool(y) != bool(z))

    def decode(self, w, x, y=None):
        if y:
            return NO if self.score(w, x, y) < 1.0 else y
        yes = (self.model.best(w, x),)
        margin = 0.0 if y is None else 1.0
        return yes if self.score(w, x, yes) + margin > 0.0 else NO

    def score(self, w, x, yes) -> float:
        return float(np.sum(self._feature(x, *yes) @ w))

    def _feature(self, x, h):
        """phi(x, h), looked at: a score that is not a number would be taken for a no."""
        return finite_row(self.model.feature(x, h), self.n_params, "feature", f"latent value {brief(h)}")

    def truth(self, y, h=None):
        """The truth, y > 0 or not, with the latent value h."""
        return (h,) if y > 0 else NO

    def complete(self, w, x, y):
        """The truth; that of a positive with its best latent value."""
        return (self.model.best(w, x),) if y else NO

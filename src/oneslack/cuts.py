"""Cuts (one an example) and planes (their mean): what solvers are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .data.rows import Shard


@dataclass(frozen=True)
class Plane:
    """A plane under the risk: R(w) >= offset - <normal, w> for all w, equal where it was taken."""

    normal: np.ndarray
    offset: float

    def value(self, w) -> float:
        return self.offset - float(np.einsum("i,i", self.normal, w))


@dataclass(frozen=True)
class Cuts:
    """Rows (example, delta, loss): H_i(w) >= losses - deltas @ w for example index[i].

    deltas (m, n_params), dense or CSR; losses (m,); index (m,); outputs: the decoded z, a list.
    """

    index: np.ndarray
    deltas: object
    losses: np.ndarray
    outputs: list

    def __len__(self):
        return len(self.index)

    def values(self, w) -> np.ndarray:
        """(m,) hinge values at w."""
        return self.losses - self.deltas @ w

    def found_values(self, w) -> np.ndarray:
        """(m,) hinge values at the w where they were found."""
        return self.values(w)

    def some(self, mask) -> Cuts:
        """The cuts where mask is true."""
        outputs = [z for z, kept in zip(self.outputs, mask, strict=True) if kept]
        return Cuts(self.index[mask], self.deltas[mask], self.losses[mask], outputs)


@dataclass(frozen=True, eq=False)
class BatchCuts:
    """Cuts of neighbouring packed examples as their outputs; rows are made when they are asked for.

    model, data, shard   of which the outputs are
    Z                    outputs of all examples of the shard, flat
    kept                 (m,) examples that have a cut, counted from the shard's first
    losses, factors, leads   (m,): row = factor delta, <w, delta> = lead where they were found
    names                what the shard's examples are called in `index`, None for their numbers
    """

    model: object
    data: object
    shard: Shard
    Z: np.ndarray
    kept: np.ndarray
    losses: np.ndarray
    factors: np.ndarray
    leads: np.ndarray
    names: np.ndarray | None = None

    def __len__(self):
        return len(self.kept)

    @cached_property
    def index(self):
        return self.shard.lo + self.kept if self.names is None else self.names[self.kept]

    @cached_property
    def deltas(self):
        """(m, n_params) CSR."""
        factors = np.zeros(self.shard.hi - self.shard.lo)
        factors[self.kept] = self.factors
        return self.model.delta_rows(self.data, self.shard, self.Z, factors)[self.kept]

    @cached_property
    def outputs(self):
        lo, hi = self.shard.lo, self.shard.hi
        ends = self.data.offsets[lo : hi + 1] - self.data.offsets[lo]
        return [self.Z[ends[k] : ends[k + 1]] for k in self.kept]

    def values(self, w) -> np.ndarray:
        """(m,) hinge values at w."""
        return self.losses - self.deltas @ w

    def found_values(self, w) -> np.ndarray:
        """(m,) hinge values at the w where they were found: the decoder has told them."""
        return self.losses - self.factors * self.leads

    def some(self, mask) -> BatchCuts:
        """The cuts where mask is true."""
        parts = {name: getattr(self, name)[mask] for name in ("kept", "losses", "factors", "leads")}
        return replace(self, **parts)

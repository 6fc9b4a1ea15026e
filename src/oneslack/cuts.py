"""Cuts (one an example) and planes (their mean): what solvers are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Plane:
    """A plane under the risk: R(w) >= offset - <normal, w> for all w, equal where it was taken; with a
    decoder that is not exact, R is there at most `excess` more.

    place  what it is the plane of, where that is known, for proofs (memory/dual_points.py): ("labels", bits
           of the examples that its labelling has wrong), ("duals", what scores are multiplied by), or
           ("outputs", those of all examples, packed)
    """

    normal: np.ndarray
    offset: float
    place: tuple[str, np.ndarray] | None = None
    excess: float = 0.0

    def value(self, w) -> float:
        return self.offset - float(np.einsum("i,i", self.normal, w))


@dataclass(frozen=True)
class Cuts:
    """Rows (example, delta, loss): H_i(w) >= losses - deltas @ w for example index[i].

    deltas (m, n_params), dense or CSR; losses (m,); index (m,); outputs: the decoded z, a list.
    excess: where the decoder gives bounds, by how much the hinge of each example that was asked, with a cut
    or without, may at most be above what was found; None where what is found is the worst.
    """

    index: np.ndarray
    deltas: object
    losses: np.ndarray
    outputs: list
    excess: np.ndarray | None = None

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

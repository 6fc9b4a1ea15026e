"""The weights of a kernel machine: an expansion over examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Expansion:
    """w = sum_j phi(x_index[j]) coefficients[j], with the intercepts.

    index         (m,) examples
    coefficients  (m, slots)
    bias          (slots,)
    norm2         |w|^2 where it is known
    """

    index: np.ndarray
    coefficients: np.ndarray
    bias: np.ndarray
    norm2: float | None = None

    def copy(self) -> Expansion:
        return Expansion(self.index.copy(), self.coefficients.copy(), self.bias.copy(), self.norm2)

    def merged(self) -> Expansion:
        """Each example once, and only those with a weight."""
        index, where = np.unique(self.index, return_inverse=True)
        total = np.zeros((len(index), self.coefficients.shape[1]))
        np.add.at(total, where, self.coefficients)
        used = total.any(axis=1)
        return Expansion(index[used], total[used], self.bias, self.norm2)

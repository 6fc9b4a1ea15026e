"""What a round has moved: found through the cuts whose duals have changed, as most weights are still."""

from __future__ import annotations

import numpy as np

from ...engines.sums import SHORT, SPARSE, SparseVector, number_type

#: Eight marks at a weight that is not touched.
STILL = np.uint64(0x0101010101010101)


class MovedWeights:
    """Changes of vectors of n_params numbers by sums of cuts."""

    def __init__(self, n_params):
        self._eights = np.full((n_params + 7) // 8, STILL)
        self._marks = self._eights.view(np.uint8)[:n_params]

    def change(self, rows, numbers, after, before, scale):
        """(after - before) / scale, packed, where only the cuts `numbers` of the rows were added."""
        size = len(after)
        if size < SHORT:
            return (after - before) / scale
        from ..._jit.moved_weights import collect, differences, mark

        mark(rows, numbers, self._marks)
        touched = np.flatnonzero(self._eights != STILL)
        index = np.empty(8 * len(touched) + 1, number_type(size))
        index = index[: collect(touched, self._marks, index)]
        self._eights[touched] = STILL
        if len(index) > SPARSE * size:
            return (after - before) / scale
        values = np.empty(len(index))
        differences(index, after, before, scale, values)
        return SparseVector(index, values, size)

"""The weights of dual methods: a point that compiled loops keep up to date while duals move.

    w = prior + v / r^2, held >= 0 where asked,      v = sum_j alpha_j x_j

See _jit/held.py for what is kept where weights are scaled or held >= 0.
"""

from __future__ import annotations

import numpy as np


class KeptWeights:
    """w (of any shape: the first weights of the regulariser), and what loops add rows to.

    w      the point
    u      the point before weights are held >= 0; the same array where none is
    loops  w itself, or a Held: what compiled loops take
    q      1 / r^2 where weights are scaled or held, else None
    """

    def __init__(self, shape, regulariser=None):
        self.w = np.zeros(shape)
        self.u = self.loops = self.w
        self.q = self._prior = None
        if regulariser is None or regulariser.is_plain:
            return

        def mine(values):
            return values[: self.w.size].reshape(shape)

        if regulariser.prior is not None:
            self._prior = mine(regulariser.prior)
        if regulariser.scale is not None or regulariser.nonnegative is not None:
            self._hold(
                np.ones(shape) if regulariser.scale is None else 1.0 / mine(regulariser.curvature),
                np.zeros(shape, bool) if regulariser.nonnegative is None else mine(regulariser.nonnegative),
            )
        self.reset()

    def _hold(self, q, nonnegative):
        from .._jit.held import Held

        self.q = q
        if nonnegative.any():
            self.u = np.zeros_like(self.w)
        self.loops = Held(self.w, self.u, q, np.where(nonnegative, 0.0, -np.inf))

    def reset(self, v=0.0):
        """The point at the sum v."""
        self.u[...] = v if self.q is None else self.q * v
        if self._prior is not None:
            self.u[...] += self._prior
        if self.q is not None:
            np.maximum(self.u, self.loops.low, out=self.w)

    def room(self):
        """Zeros to add single rows to: what is then read there is x / r^2."""
        if self.q is None:
            return np.zeros_like(self.w)
        from .._jit.held import Held

        nothing = np.full_like(self.w, -np.inf)
        return Held(np.zeros_like(self.w), np.zeros_like(self.w), self.q, nothing)

    def norms(self, data):
        """(n,): |x_i / r|^2 of a matrix's rows; the largest over the columns of w where it has several."""
        from .._jit.held import metric_norms

        columns = self.q.reshape(len(self.q), -1)
        if (columns == columns[:, :1]).all():
            columns = columns[:, :1]
        largest = np.zeros(data.n)
        for q in columns.T:
            norms = np.empty(data.n)
            metric_norms(data.view, np.ascontiguousarray(q), norms)
            np.maximum(largest, norms, out=largest)
        return largest

    def state(self):
        return {"w": self.w} if self.q is None else {"w": self.w, "u": self.u}

    def restore(self, state):
        for name in self.state():
            getattr(self, name)[...] = state[name]

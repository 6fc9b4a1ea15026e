"""The best dual point over a bundle's planes where some weights are held >= 0.

    max_a  D(a) = <a, b> + min_w (1/2 |r (w - prior)|^2 - <v, w>),     v = sum_j a_j g_j,  w_k >= 0 for held k

D is concave and piecewise quadratic: with u = prior + v / r^2, held weights with u_k <= 0 are clipped and
count no more.  Step to the optimum of the piece that a lies on, whose Gram matrix leaves the clipped
coordinates out; search the way there exactly; and again, until the piece stays the same.
"""

from __future__ import annotations

import numpy as np

from ..objective import inner
from .simplex_qp import solve_simplex_qp

#: Steps at most, and steps without progress after which rounding is to blame.
STEPS, PATIENCE = 100, 4


def solve_nonnegative(planes, tol):
    """Improve planes.a and planes.free_values until the gap over the planes is at most `tol`."""
    regulariser, G = planes.regulariser, planes.normals.matrix
    F = G[:, regulariser.free] if regulariser.n_free else None
    piece = Piece(planes)
    lowest, vain = np.inf, 0
    for _ in range(STEPS):
        v = planes.a @ G
        piece.move_to(regulariser.unclipped(v))
        target = solve_simplex_qp(piece.gram, piece.linear, planes.weight, planes.a, F, 0.1 * tol)
        direction = target.a - planes.a
        step = _search(regulariser, v, direction @ G, inner(direction, planes.offsets))
        a = np.maximum(planes.a + step * direction, 0.0)
        planes.a, planes.free_values = a * (planes.weight / a.sum()), target.multipliers
        gradient = planes.offsets - G @ regulariser.point(planes.a @ G, planes.free_values)
        gap = planes.weight * gradient.max() - inner(planes.a, gradient)
        vain = vain + 1 if gap > 0.9 * lowest else 0
        lowest = min(lowest, gap)
        if gap <= tol or step == 0.0 or vain >= PATIENCE:
            break


class Piece:
    """D where some held coordinates are clipped: <a, linear> - 1/2 a' gram a, but for a constant."""

    def __init__(self, planes):
        regulariser = planes.regulariser
        self.held = np.flatnonzero(regulariser.nonnegative)
        self.normals = planes.normals.columns(self.held)
        self.prior, self.scale = (
            None if values is None else values[self.held] for values in (regulariser.prior, regulariser.scale)
        )
        self.clipped = np.zeros(len(self.held), bool)
        self.gram, self.linear = planes.gram.copy(), planes.offsets
        if regulariser.prior is not None:
            self.linear = planes.offsets - planes.normals.dots(regulariser.prior)

    def move_to(self, u):
        """The piece that u = prior + v / r^2 lies on: only what has changed is added or taken away."""
        clipped = u[self.held] <= 0.0
        changed = np.flatnonzero(clipped != self.clipped)
        part, sign = self.normals[:, changed], np.where(clipped[changed], -1.0, 1.0)
        scaled = part if self.scale is None else part / self.scale[changed]
        self.gram += (sign * scaled) @ scaled.T
        if self.prior is not None:
            self.linear = self.linear - part @ (sign * self.prior[changed])
        self.clipped = clipped


def _search(regulariser, v, dv, linear):
    """The t with the largest D on v + t dv, 0 <= t <= 1: bisection on its slope, which falls."""
    held = regulariser.nonnegative
    others = ~held
    if regulariser.n_free:
        others[regulariser.free] = False
    u, du = regulariser.unclipped(v), regulariser.metric(dv)
    first, second = inner(u[others], dv[others]), inner(du[others], dv[others])
    u, du, dv = u[held], du[held], dv[held]

    def slope(t):
        return linear - first - t * second - inner(np.maximum(u + t * du, 0.0), dv)

    if slope(1.0) >= 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low

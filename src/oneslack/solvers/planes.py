"""The bundle: planes under the risk, their Gram matrix, and the best dual point over them.

    min_w  1/2 |r (w - prior)|^2 + weight max_j (b_j - <g_j, w>)
    max_a  D(a) = <a, b> + min_w (1/2 |r (w - prior)|^2 - <v, w>),   v = sum_j a_j g_j,
           a >= 0, sum a = weight

The Gram matrix has the products <g_i, g_j / r^2> over the penalised weights.  It grows by one row a plane; a
plane without weight for `drop_after` rounds is dropped.  Where planes take more than MEMORY bytes, those
without weight go first, then the lightest are replaced by their weighted mean: a plane under the risk as they
are, which leaves the dual point where it is (Kiwiel 1983).
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from ..certificate.rounding import Proof, gamma
from ..memory.dual_points import checked_places, planes_point
from ..objective import inner
from ..result import Torn
from .normals import new_normals
from .simplex_qp import solve_further, solve_simplex_qp

#: Bytes that the normals of all planes may take.
MEMORY = 3 << 30
#: Where weights are held >= 0: steps at most, and steps without progress after which rounding is to blame.
STEPS, PATIENCE = 100, 4


class Planes:
    """Planes under the risk and the best dual point over them."""

    def __init__(self, regulariser, weight, floor=None, drop_after=50, n_groups=1):
        self.regulariser, self.weight, self.drop_after = regulariser, weight, drop_after
        d = regulariser.n_params
        self.normals = new_normals(d, regulariser.nonnegative is not None, regulariser.free)
        self._gram = np.empty((8, 8))
        self.offsets = np.empty(0)
        self.a = np.empty(0)
        self.idle = np.empty(0, int)
        self.free_values = np.zeros(regulariser.n_free)
        self.dual = -np.inf
        self.n_added, self.n_merges, self.has_floor, self.is_whole = 0, 0, floor is not None, True
        self.n_groups, self.groups = n_groups, np.empty(0, int)
        self._solution = None  # the point of the duals `a`
        self.places = []  # what each is the plane of (cuts.Plane), or None
        if floor is not None:
            for group in range(n_groups):
                self._append(np.zeros(d), floor / n_groups, group=group)
            self.a[:] = weight
            self.dual = regulariser.dual(np.zeros(d), weight * floor)

    def __len__(self):
        return len(self.offsets)

    @property
    def gram(self):
        return self._gram[: len(self), : len(self)]

    def add(self, plane, group=0, place=None):
        with self._changing():
            self.n_added += 1
            self._append(plane.normal, plane.offset, group=group)
            self.places[-1] = plane.place or (None if place is None else ("points", place))
            if len(self) == 1:
                self.a[0] = self.weight

    @contextmanager
    def _changing(self):
        """Ctrl-C may come at any time: planes in the middle of a change prove nothing."""
        self.is_whole = False
        yield
        self.is_whole = True

    def _append(self, normal, offset, column=None, group=0):
        """One more plane; `column` holds its products with all planes and itself, where they are known."""
        m = len(self)
        if m == len(self._gram):
            bigger = np.empty((2 * m + 8, 2 * m + 8))
            bigger[:m, :m] = self._gram
            self._gram = bigger
        self.normals.append(normal)
        if column is None:
            column = self.normals.dots(self.regulariser.metric(normal))
        self._gram[m, : m + 1] = self._gram[: m + 1, m] = column
        self.offsets = np.append(self.offsets, offset)
        self.groups = np.append(self.groups, group)
        self.places.append(None)
        self.a = np.append(self.a, 0.0)
        self.idle = np.append(self.idle, 0)

    def model_value(self, w) -> float:
        """max_j b_j - <g_j, w>: the bundle's own estimate of the risk, from below."""
        # Of its own solution the Gram matrix knows the products.
        is_own = w is self._solution and self.regulariser.is_plain and not self.regulariser.n_free
        values = self.offsets - (self.gram @ self.a if is_own else self.normals.dots(w))
        if self.n_groups == 1:
            return float(values.max())
        return float(sum(values[self.groups == group].max() for group in range(self.n_groups)))

    def solve(self, tol):
        """Best dual point over the planes to an absolute gap of `tol`; returns (w, dual)."""
        if self.regulariser.nonnegative is None:
            self.a, self.free_values = self._solve_quadratic(tol)
        else:
            _solve_nonnegative(self, tol)
        self.idle = np.where(self.a > 0, 0, self.idle + 1)
        v = self.normals.combine(self.a)
        if self._is_feasible(v):
            self.dual = max(self.dual, self.regulariser.dual(v, inner(self.a, self.offsets)))
        with self._changing():
            self._drop_idle()
            self._make_room()
        plain = self.regulariser.is_plain and not self.regulariser.n_free
        self._solution = v if plain else self.regulariser.point(v, self.free_values)
        return self._solution, self.dual

    def proof(self, problem) -> Proof:
        """The dual point, where the problem tells how much normals and offsets may be off.

        With one free weight k the duals could be made to balance by scaling those of one side, a_j g_jk > 0
        or < 0, down: by which share of v_k the bound falls then is told as `free`.
        """
        if not self.is_whole:
            raise Torn
        a, regulariser = self.a, self.regulariser
        v, linear = self.normals.combine(a), inner(a, self.offsets)
        normal_error, offset_error = problem.plane_errors(float(self.offsets[a > 0.0].min(initial=0.0)))
        total = max(abs(float(a[self.groups == group].sum()) - self.weight) for group in range(self.n_groups))
        share = gamma(len(a) + 16 + 512 * self.n_merges) + total / self.weight
        lengths = (1.0 + gamma(regulariser.n_params + 8)) * np.sqrt(np.maximum(self.gram.diagonal(), 0.0))
        mass, losses, sum_a = inner(a, lengths), inner(a, np.abs(self.offsets)), float(a.sum())
        v_error = share * mass + sum_a * normal_error / regulariser.weakest
        linear_error = share * losses + sum_a * offset_error
        if not regulariser.n_free:
            return Proof(v, linear, v_error, linear_error, point=self._point(problem))
        F = self.normals.free_columns()
        free_error = share * float((a @ np.abs(F)).sum()) + sum_a * normal_error * regulariser.n_free
        free = None
        if regulariser.n_free == 1:
            sides = [np.where(F[:, 0] > 0, a, 0.0), np.where(F[:, 0] < 0, a, 0.0)]
            rates = [
                (inner(side, np.abs(self.offsets)) / size, inner(side, lengths) * regulariser.weakest / size)
                for side in sides
                if (size := abs(inner(side, F[:, 0]))) > 2.0 * (abs(v[regulariser.free[0]]) + free_error)
            ]
            free = tuple(2.0 * max(pair) for pair in zip(*rates, strict=True)) if len(rates) == 2 else None
        return Proof(v, linear, v_error, linear_error, free_error, free, point=self._point(problem))

    def _point(self, problem):
        """What gives the dual point: the shares of the planes, and what they are planes of; None where that
        is not known of each."""
        held = np.flatnonzero(self.a > 0.0)
        held = held[self.n_groups * self.has_floor <= held]
        places = [self.places[j] for j in held]
        names = {None if place is None else place[0] for place in places}
        if self.n_groups > 1 or None in names or len(names) > 1:
            return None
        a, stacked = self.a[held], [place[1] for place in places]

        def point():
            if not places:
                return {}
            if names == {"outputs"}:
                return planes_point(a, stacked, problem.sample_weights * problem.mean)
            if names == {"duals"}:
                return {"duals": a @ np.array(stacked)}
            return {"weights": a / self.weight, places[0][0]: np.array(stacked)}

        return point

    def _is_feasible(self, v):
        """Whether v has no component along the free weights, but for rounding."""
        free = self.regulariser.free
        if free is None:
            return True
        largest = float(np.abs(self.normals.free_columns()).max())
        return float(np.abs(v[free]).max()) <= 1e-9 * self.weight * max(largest, 1e-3)

    def _solve_quadratic(self, tol):
        regulariser = self.regulariser
        linear = self.offsets
        if regulariser.prior is not None:
            linear = linear - self.normals.dots(regulariser.prior)
        F = self.normals.free_columns() if regulariser.n_free else None
        groups = self.groups if self.n_groups > 1 else None
        solution = solve_further(self.gram, linear, self.weight, self.a, F, tol, groups)
        return solution.a, solution.multipliers

    def _drop_idle(self):
        keep = self.idle < self.drop_after
        if self.has_floor:
            keep[: self.n_groups] = True  # they cost nothing
        # Moving rows costs as much as they are long: wait until an eighth of them is idle.
        if np.count_nonzero(~keep) * 8 >= len(self):
            self._keep(np.flatnonzero(keep))

    def _keep(self, kept):
        if len(kept) == len(self):
            return
        self._gram[: len(kept), : len(kept)] = self._gram[np.ix_(kept, kept)]
        self.normals.keep(kept)
        self.offsets, self.a, self.idle = self.offsets[kept], self.a[kept], self.idle[kept]
        self.groups = self.groups[kept]
        self.places = [self.places[j] for j in kept]

    def _make_room(self):
        """Fewer planes where they take too much memory."""
        if self.normals.nbytes <= MEMORY:
            return
        needed = self.a > 0.0
        needed[: self.n_groups] |= self.has_floor
        self._keep(np.flatnonzero(needed))
        if self.normals.nbytes > MEMORY // 2 and self.n_groups == 1:
            first = int(self.has_floor)
            light = first + np.argsort(self.a[first:], kind="stable")[: (len(self) - first) // 2]
            if len(light) > 1:
                self._merge(light)

    def _merge(self, part):
        """The mean of the planes `part`, by their weights, instead of them."""
        total = self.a[part].sum()
        share = np.zeros(len(self))
        share[part] = self.a[part] / total
        normal, offset = self.normals.combine(share), inner(share, self.offsets)
        column = self.gram @ share
        rest = np.setdiff1d(np.arange(len(self)), part)
        column = np.append(column[rest], inner(share, column))
        self._keep(rest)
        self._append(normal, offset, column)
        self.a[-1] = total
        self.n_merges += 1

    def state(self):
        return {
            "normals": self.normals.state(), "gram": self.gram.copy(), "offsets": self.offsets, "a": self.a,
            "idle": self.idle, "dual": self.dual, "free_values": self.free_values,
            "n_added": self.n_added, "n_merges": self.n_merges, "groups": self.groups,
            "places": list(self.places),
        }  # fmt: skip

    def restore(self, state):
        self.normals.restore(state["normals"])
        self._solution = None
        self._gram = state["gram"].copy()
        self.offsets, self.a, self.idle = (state[name].copy() for name in ("offsets", "a", "idle"))
        self.dual, self.free_values = state["dual"], state["free_values"].copy()
        self.n_added, self.n_merges = state["n_added"], state["n_merges"]
        self.groups = state["groups"].copy() if "groups" in state else np.zeros(len(self.offsets), int)
        m = len(self.normals)
        self.places = checked_places(state.get("places", [None] * m))
        shapes = {part.shape for part in (self.offsets, self.a, self.idle, self.groups)}
        if shapes != {(m,)} or self._gram.shape != (m, m) or len(self.places) != m:
            raise ValueError(f"the {m} planes do not fit together")


# Where some weights are held >= 0, D is concave and piecewise quadratic: with u = prior + v / r^2, held ones
# with u_k <= 0 are clipped and count no more.  Step to the optimum of the piece that a lies on, whose Gram
# matrix leaves the clipped coordinates out; search the way there exactly; and again, until the piece stays
# the same.


def _solve_nonnegative(planes, tol):
    """Improve planes.a and planes.free_values until the gap over the planes is at most `tol`."""
    regulariser, G = planes.regulariser, planes.normals.matrix
    F = G[:, regulariser.free] if regulariser.n_free else None
    piece = _Piece(planes)
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


class _Piece:
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

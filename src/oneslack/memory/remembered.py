"""Remembered cuts of each example, with their duals: the working set of n-slack and dual methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..certificate.rounding import Proof, dual_proof, gamma
from ..objective import KeptWeights
from ..result import Torn
from .arenas import SparseArena, arena_of, smallest, with_room
from .state_coding import check_apart, check_places, column

#: By what share an answer must beat all remembered cuts to be new, and by what share to be surely another.
NEW, OTHER = 1e-12, 1e-8
#: No run counts so far: sums of what is below do not overflow.
LATEST = 1 << 62

_POOL = ("base", "counts", "slots", "alpha", "used", "gram_base", "gram")
_STATE = (*_POOL, "room", "size", "gram_size", "now")


class Hinges(NamedTuple):
    """Hinges of examples at some w: the largest that an output has been found for, and what they are at most,
    which is the same where the decoder is exact."""

    values: np.ndarray
    uppers: np.ndarray

    @staticmethod
    def of(cuts, values, known) -> Hinges:
        """Of cuts that were asked for, with their `values`, where other outputs are `known`."""
        found = np.maximum(values, known)
        return Hinges(found, found if cuts.excess is None else np.maximum(values + cuts.excess, found))

    def sums(self, weights) -> tuple[float, float]:
        """(sum of weights times what they are at most, how much of it is above what was found)."""
        most = float(weights @ self.uppers)
        return most, 0.0 if self.uppers is self.values else float(weights @ (self.uppers - self.values))


class Remembered:
    """Cuts (x_j, b_j) of a problem's examples in an arena, duals alpha, and w, the point of sum alpha_j x_j.

    Example i has room for room_i cuts in the pool (_jit/groups.py), from base_i on; when it is full it moves
    to a larger place at the end.

    limit  cuts an example keeps at most where some of them hold no dual: the one longest without goes
    duals  whether there are any; without, neither w nor products of cuts are kept
    """

    #: What a state holds, beside the weights and the arena.
    fields = _STATE
    #: Which of it have a number a group.
    by_group = ("base", "counts", "gram_base", "room")

    def __init__(self, problem, upper, limit=50, duals=True):
        n = problem.n
        self.regulariser, self.limit, self.duals = problem.regulariser, limit, duals
        self.kept_weights = KeptWeights(problem.n_params, self.regulariser) if duals else KeptWeights(0)
        # Scaled and held weights are met as plain rows only.
        is_plain = self.kept_weights.q is None
        self.arena = arena_of(problem) if is_plain else SparseArena(problem.n_params)
        self.upper = np.ascontiguousarray(upper, dtype=np.float64)
        self.base, self.counts, self.room, self.gram_base = np.zeros((4, n), np.int64)
        self.slots, self.alpha, self.used = np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64)
        self.gram = np.empty(0)
        self.gained = np.zeros(n)  # growth of the dual by the last visit to each group
        self._zeros = None
        self.now = self.size = self.gram_size = 0
        self.is_whole = True
        self.scale = 1.0  # how far a step moves w, beside what it adds to the sum

    def __len__(self):
        return int(self.counts.sum())

    @property
    def w(self):
        return self.kept_weights.w

    @property
    def pool(self):
        return tuple(getattr(self, name) for name in _POOL)

    # Adding.

    def add(self, cuts):
        """Remember cuts, at most one an example."""
        from .._jit.groups import find_places

        self.is_whole = False  # Ctrl-C may come: cuts in the middle of a change prove nothing
        index = np.asarray(cuts.index, np.int64)
        first, places = self.arena.append(cuts), np.empty(len(index), np.int64)
        find_places(self.pool, index, self.limit, places)
        self._grow(index[places == self.room[index]])
        self.counts[index] = np.maximum(self.counts[index], places + 1)
        flat = self.base[index] + places
        self.slots[flat] = first + np.arange(len(index))
        self.alpha[flat], self.used[flat] = 0.0, self.now
        if self.duals:
            self._fill_gram(index, places)
        elif self.arena.n_rows > 2 * len(self) + 64:
            self._compact()
        self.is_whole = True

    def _grow(self, full):
        """Larger places for the examples `full`, at the end of the pool."""
        from .._jit.groups import move_groups

        if not len(full):
            return
        old = self.pool
        self.base, self.gram_base = self.base.copy(), self.gram_base.copy()
        self.room[full] += np.maximum(2, self.room[full] // 2)
        self._lay_out(full)
        move_groups(old, self.pool, full, np.empty(0, bool), self.duals)

    def _lay_out(self, groups):
        """Places for the groups at the end of the pool, one behind the other."""
        room = self.room[groups]
        self.base[groups] = self.size + np.cumsum(room) - room
        self.size += int(room.sum())
        for name in ("slots", "alpha", "used"):
            setattr(self, name, with_room(getattr(self, name), self.size))
        if self.duals:
            products = room * (room + 1) // 2
            self.gram_base[groups] = self.gram_size + np.cumsum(products) - products
            self.gram_size += int(products.sum())
            self.gram = with_room(self.gram, self.gram_size)

    def _fill_gram(self, index, places):
        from .._jit.groups import fill_gram

        if self._zeros is None:
            self._zeros = self.kept_weights.room()
        fill_gram(self.arena.view(), self.pool, index, places, self._zeros)

    # Forgetting.

    def forget(self, idle):
        """Drop the cuts without dual for more than `idle` passes, and their rows."""
        present = self._present()
        keep = np.zeros(self.size, bool)
        keep[present] = (self.alpha[present] > 0.0) | (self.used[present] >= self.now - idle)
        if keep.sum() < len(present) or self.arena.n_rows > 2 * len(present) + 64:
            self.is_whole = False
            self._compact(keep)
            self.is_whole = True

    def _compact(self, keep=None):
        """Only what is present, or what `keep` marks, and no gaps between it."""
        from .._jit.groups import move_groups

        old, everyone = self.pool, np.arange(len(self.counts))
        if keep is None:
            keep = np.empty(0, bool)
        else:
            ends = np.concatenate([[0], np.cumsum(keep)])
            self.counts = ends[self.base + self.counts] - ends[self.base]
        self.base, self.gram_base = np.zeros((2, len(everyone)), np.int64)
        self.room = self.counts.copy()
        self.size = self.gram_size = 0
        for name in ("slots", "alpha", "used", "gram"):
            setattr(self, name, np.empty(0, getattr(self, name).dtype))
        self._lay_out(everyone)
        move_groups(old, self.pool, everyone, keep, self.duals)
        present = self._present()
        self.arena.keep(self.slots[present])
        self.slots[present] = np.arange(len(present))

    def _present(self):
        """Places of all cuts in the pool, example by example."""
        before = np.cumsum(self.counts) - self.counts
        return np.arange(self.counts.sum()) + np.repeat(self.base - before, self.counts)

    # The dual.

    def visit(self, order, precision=1e-3):
        """Exact block steps on the examples `order`; (sum of their gaps before, growth of the dual)."""
        from .._jit.groups import visit

        self.now += 1
        order = np.asarray(order, np.int64)
        arena = self.arena
        point = (self.kept_weights.loops, precision, self.scale, self.gained)
        return visit(arena.view(), arena.b, self.pool, self.upper, self.now, order, *point)

    def members(self, examples):
        """The groups of these examples: each is one."""
        return examples

    def in_any_order(self, rng):
        """All groups that hold something."""
        return rng.permutation(np.flatnonzero(self.counts))

    def expected_growth(self):
        """What visits to all groups would raise the dual by, if each did what its last one has."""
        return float(self.gained.sum())

    def visit_work(self):
        """(groups,): numbers that a visit to each reads; None where that is not counted."""
        return None

    def refresh(self):
        """w anew from the duals, without the rounding of many small steps."""
        places = self._with_dual()
        self.kept_weights.reset()
        self.sum(self.slots[places], self.alpha[places], self.kept_weights.loops)

    def sum(self, rows, coefficients, out):
        """Add the sum of coefficients times cuts, given by their numbers in the arena, to `out`."""
        from .._jit.cut_rows import add_cuts

        add_cuts(self.arena.view(), rows, coefficients, out)

    @property
    def linear(self) -> float:
        """sum alpha_j b_j."""
        places = self._with_dual()
        return float(self.alpha[places] @ self.arena.b[self.slots[places]])

    @property
    def dual(self) -> float:
        """D at the duals."""
        if self.regulariser.is_plain:
            return self.linear - self.regulariser.value(self.w)
        return self.regulariser.dual_at(self.kept_weights.u, self.linear)

    def proof(self, problem) -> Proof:
        """The dual point, with v summed up anew."""
        if not self.is_whole:
            raise Torn
        places, extent = self._with_dual(), problem.extent
        rows, alpha = self.slots[places], self.alpha[places]
        v = np.zeros(problem.n_params)
        self.sum(rows, alpha, v)
        given = np.zeros(len(self.counts))
        np.add.at(given, np.repeat(np.arange(len(self.counts)), self.counts)[self._is_dual()], alpha)
        over = np.divide(given, self.upper, out=np.zeros_like(given), where=self.upper > 0)
        most = int(self.counts.max(initial=0))
        excess = max(float(over.max(initial=0.0)) - 1.0, 0.0) + gamma(most + 16)
        mass = float((given * self._lengths(problem)).sum())
        loss = float(np.einsum("i,i", alpha, np.abs(self.arena.b[rows])))
        sums = len(places) + extent.terms + 16
        return dual_proof(self.regulariser, v, self.linear, mass, loss, sums, excess, point=self.written)

    def written(self) -> dict | None:
        """The dual point as `Proof.point` gives it: outputs of examples, with their duals."""
        places = self._with_dual()
        alpha, outputs = self.alpha[places], self.arena.outputs(self.slots[places])
        if outputs is None:
            return None
        examples = np.repeat(np.arange(len(self.counts)), self.counts)[self._is_dual()]
        flat = np.concatenate([np.zeros(0, np.int8), *outputs])
        return {"duals": alpha, "examples": examples.astype(np.int32), "outputs": smallest(flat)}

    def _lengths(self, problem):
        """No cut of a group is longer."""
        return problem.cut_lengths()

    def _is_dual(self):
        """Of all cuts, example by example."""
        return self.alpha[self._present()] > 0.0

    def _with_dual(self):
        return self._present()[self._is_dual()]

    # Asking.

    def best(self, w, index):
        """(values, places) of the most violated remembered cut of the examples `index`; -1 for none."""
        from .._jit.groups import best_remembered

        values, places = np.empty(len(index)), np.empty(len(index), np.int64)
        index, arena = np.asarray(index, np.int64), self.arena
        best_remembered(arena.view(), arena.b, self.pool, w, index, values, places)
        return values, places

    def ask(self, problem, w, block, precision=0.0):
        """(cuts, values, known, places): the oracle's cuts of the examples `block` at w, and for each of the
        block what the oracle's cut and what the best remembered one is worth there, and which that is; 0 is
        the truth."""
        cuts = problem.cuts(w, block, precision)
        values = np.zeros(len(block))
        values[np.searchsorted(block, cuts.index)] = cuts.found_values(w)
        return cuts, values, *self.best(w, block)

    def learn(self, problem, w, block, precision=0.0) -> Hinges:
        """Ask, and remember what is worse than all that is remembered.  Returns the examples' hinges: an
        answer that is no better than a remembered cut is replaced by it."""
        cuts, values, known, places = self.ask(problem, w, block, precision)
        asked = np.searchsorted(block, cuts.index)
        beyond, scale = (values - known)[asked], (1.0 + known)[asked]
        new = beyond > NEW * scale
        # The same cut, summed in another order, may seem to be better than itself.
        for k in np.flatnonzero(new & (beyond <= OTHER * scale) & (places[asked] >= 0)):
            row = self.slots[self.base[cuts.index[k]] + places[asked[k]]]
            new[k] = not self.arena.is_same(row, cuts, k)
        self.add_some(cuts, new)
        return Hinges.of(cuts, values, known)

    def add_some(self, cuts, new):
        """Remember the cuts where `new` is true; returns how many."""
        if new.any():
            self.add(cuts.some(new))
        return int(new.sum())

    def state(self):
        state = {name: np.copy(getattr(self, name)) for name in self.fields}
        weights = {name: np.copy(value) for name, value in self.kept_weights.state().items()}
        return state | weights | {"arena": self.arena.state()}

    def restore(self, state):
        for name in self.fields:
            known, value, of_pool = getattr(self, name), state[name], f"{name} of the pool"
            if isinstance(known, int):
                check_places(of_pool, value, LATEST)
                setattr(self, name, value.item())
            else:
                setattr(self, name, column(of_pool, value, known.dtype))
        self.kept_weights.restore(state)
        self.arena.restore(state["arena"])
        self._check()

    def _check(self):
        """Raise where the pool and the arena do not fit each other."""
        if any(len(getattr(self, name)) != len(self.upper) for name in self.by_group):
            raise ValueError("the pool has not the size of the problem")
        places, products = self.size, self.gram_size
        check_places("size of the pool", [places], 1 + min(map(len, (self.slots, self.alpha, self.used))))
        check_places("gram_size of the pool", [products], 1 + len(self.gram))
        check_places("base of the pool", self.base, places + 1)
        check_places("room of the pool", self.room, places + 1)
        check_places("ends of the pool", [*(self.base + self.room), self.room.sum()], places + 1)
        check_places("counts of the pool", self.room - self.counts, places + 1)
        check_places("counts of the pool", self.counts, places + 1)
        check_places("slots of the pool", self.slots[self._present()], self.arena.n_rows)
        check_apart("places of the pool", self.base, self.room)
        if self.duals:
            check_places("gram_base of the pool", self.gram_base, products + 1)
            sizes = self.room * (self.room + 1) // 2
            check_places("gram of the pool", self.gram_base + sizes, products + 1)
            check_apart("products of the pool", self.gram_base, sizes)

    def take_over(self, start):
        """The cuts and duals of another solver's state, or of one at another C, where there are any that are
        kept in the same way."""
        state, ratio = start["cuts"] if "cuts" in start else (start.get("store"), 1.0)
        if state is not None and set(state["arena"]) == {*self.arena.short, *self.arena.long}:
            self.restore_at_other_C(state, ratio)

    def restore_at_other_C(self, state, ratio):
        """The cuts of a store whose duals had other bounds; the duals are the same shares of them."""
        self.restore(state)
        self.alpha *= ratio
        self.refresh()

"""Remembered cuts of sequences, stretch by stretch: a working set that knows more than it was told.

Where two outputs of a sentence are wrong in stretches of tokens that lie far enough apart, the output that is
wrong in both is one too, and both its features' difference and its loss are the sums of theirs: a chain's
score looks at as many neighbours as its order, its loss at single tokens.  So let the stretches of a sentence
be groups of cuts, each cut wrong within its stretch only, no stretch near another, and let the duals of each
group sum to at most the sentence's bound.  Such duals are those of a distribution over outputs, the one that
draws a cut of each group independently of the others:

    { duals of all combinations of cuts, one of each group }  =  the product of the groups' simplices

as far as w and the dual can tell.  With k cuts in each of g groups there are k^g outputs in it, of which an
oracle would have to tell one after the other; and a group is smaller than a sentence's working set.

An output that is wrong across several stretches makes them one.  Their duals, each the masses of its cuts
and the rest for the truth, are laid side by side and paired up, which changes none of the sums.
"""

from __future__ import annotations

import numpy as np

from .arenas import RunArena, ranges, with_room
from .remembered import _STATE, Hinges, Remembered
from .state_coding import check_places, column

#: Up to this share of its gap a group's block is solved: its neighbours will move it again.
PRECISION = 0.1
#: Arrays with a number a group, beside those of the pool.
_PLACE = ("room", "upper", "owner", "lo", "hi", "following")
_GROUP = ("base", "counts", "gram_base", "gained", *_PLACE)


def store_of(problem):
    """An empty store for the cuts of a problem, with duals."""
    regulariser = problem.regulariser
    is_plain = regulariser.scale is None and regulariser.nonnegative is None
    if (
        problem.has_batches
        and is_plain
        and problem.rescaling == "margin"
        and hasattr(problem.model, "run_view")
    ):
        return Stretches(problem)
    return Remembered(problem, problem.upper_duals)


class Stretches(Remembered):
    """Cuts of a problem's sequences in groups of tokens, as many as it takes; groups that hold nothing are
    room for others."""

    by_group = (*Remembered.by_group, "owner", "lo", "hi", "gained")
    fields = (*_STATE, "owner", "lo", "hi", "gained", "n_groups")

    def __init__(self, problem, limit=50):
        super().__init__(problem, problem.upper_duals, limit)
        self.model, self.data = problem.model, problem.data
        self.arena = RunArena(self.model, self.data)
        self.bounds, self.heads = self.upper, np.full(problem.n, -1)
        self._numbers = self.data.numbers_before
        T = self.data.X.lengths.max(initial=0)
        self._room = np.empty((4, T + 1), np.int64), np.empty(T + 1)
        view = self.arena.view()
        self._outputs = view.truth, view.offsets
        self.n_groups = 0
        for name in _GROUP:
            setattr(self, name, np.zeros(0, np.float64 if name in ("upper", "gained") else np.int64))

    # Adding.

    def learn(self, problem, w, block, precision=0.0):
        """Ask, and remember in which stretches answers are wrong; the examples' hinges."""
        cuts = problem.cuts(w, block, precision)
        hinges = np.zeros(len(block))
        hinges[np.searchsorted(block, cuts.index)] = cuts.found_values(w)
        if len(cuts):
            self.is_whole = False
            self._absorb(cuts)
            self.is_whole = True
        return Hinges.of(cuts, hinges, 0.0)

    def _absorb(self, cuts):
        from .._jit.stretches import absorb

        outputs, index = cuts.outputs, np.asarray(cuts.index, np.int64)
        starts = np.cumsum([0, *map(len, outputs)])[:-1]
        asked = self._asked(index, np.concatenate(outputs), starts)
        done = 0
        while True:
            done = self._change(absorb, asked, done, self.limit, self.now)
            if done == len(index):
                return self._fill_products(self.members(index))
            i = index[done]
            cuts = int(self.counts[self.members([i])].sum())
            self._reserve(cuts, self.data.X.lengths[i], self.data.X.lengths[i])

    def _split(self):
        """Divide groups that fall apart."""
        from .._jit.stretches import split

        none, done = np.empty(0, np.int64), 0
        asked, n_groups = self._asked(none, np.empty(0, self.arena.Z.dtype), none), self.n_groups
        while True:
            done = self._change(split, asked, done)
            if done >= n_groups:
                return self._fill_products(np.arange(n_groups, self.n_groups))
            T = self.hi[done] - self.lo[done]
            self._reserve(self.counts[done] * T, T, T)

    def _asked(self, index, Z, starts):
        from .._jit.stretch_cuts import Asked

        return Asked(index, Z, starts, self.model.loss_table, self.data.y, self.model.order, *self._room)

    def _change(self, loop, *arguments):
        """Run a compiled loop that appends to the arrays."""
        from .._jit.stretch_cuts import Groups, Outputs

        arena = self.arena
        filled = np.array([self.n_groups, self.size, self.gram_size, arena.n_rows, arena.size])
        groups = Groups(*(getattr(self, name) for name in _PLACE), self.heads, self.bounds, filled)
        cuts = (arena.Z, arena.starts, arena.firsts, arena.lengths, arena.examples, arena.b)
        rows = Outputs(*self._outputs, *cuts)
        done = loop(rows, self.pool, groups, *arguments)
        self.n_groups, self.size, self.gram_size, arena.n_rows, arena.size = filled.tolist()
        return done

    def _fill_products(self, some):
        from .._jit.stretch_cuts import fill_products

        if self._zeros is None:
            self._zeros = self.kept_weights.room()
        fill_products(self.arena.view(), self.pool, some, self._zeros)

    def _reserve(self, cuts, runs, T):
        """Room as has_room of _jit/stretch_cuts.py counts it."""
        more = 2 * cuts + 8 * (runs + 1)
        for name in _GROUP:
            setattr(self, name, with_room(getattr(self, name), self.n_groups + runs))
        for name in ("slots", "alpha", "used"):
            setattr(self, name, with_room(getattr(self, name), self.size + more))
        self.gram = with_room(self.gram, self.gram_size + more * more)
        self.arena.reserve(cuts + runs, (cuts + runs) * T)

    def members(self, examples):
        """The groups of these examples, one example after the other."""
        from .._jit.stretches import list_members

        examples = np.asarray(examples, np.int64)
        out = np.empty(self.n_groups + 1, np.int64)
        return out[: list_members(self.heads, self.following, examples, out)]

    def in_any_order(self, rng):
        """Sentence by sentence: the stretches of one share weights."""
        return self.members(rng.permutation(len(self.heads)))

    def expected_growth(self):
        return float(self.gained[self.counts > 0].sum())

    def visit_work(self):
        """(groups,): numbers that a visit reads, two weights for each number of a token that a cut has wrong;
        right tokens between wrong ones are counted too."""
        arena, present = self.arena, self._present()
        rows = self.slots[present]
        firsts = arena.firsts[rows]
        work = 2.0 * (self._numbers[firsts + arena.lengths[rows]] - self._numbers[firsts])
        group = np.repeat(np.arange(len(self.counts)), self.counts)
        return np.bincount(group, work, minlength=len(self.counts))

    # Forgetting.

    def _compact(self, keep=None):
        super()._compact(keep)
        used = np.flatnonzero(self.counts)
        for name in _GROUP:
            setattr(self, name, getattr(self, name)[used])
        self.n_groups = len(used)
        self._tighten()
        self._split()
        self._link()

    def _tighten(self):
        """The tokens of each group, by those of its cuts."""
        if not self.n_groups:
            return
        present, arena = self._present(), self.arena
        rows, begins = self.slots[present], np.cumsum(self.counts) - self.counts
        self.lo = np.minimum.reduceat(arena.firsts[rows], begins)
        self.hi = np.maximum.reduceat(arena.firsts[rows] + arena.lengths[rows], begins)

    def _link(self):
        """The groups of each example as a list, by their tokens."""
        used = np.flatnonzero(self.counts)
        order = used[np.argsort(self.lo[used], kind="stable")]
        owner = self.owner[order]
        self.following = np.full(len(self.counts), -1)
        same = owner[1:] == owner[:-1]
        self.following[order[:-1][same]] = order[1:][same]
        self.heads = np.full(len(self.bounds), -1)
        is_first = np.concatenate([[True], ~same])[: len(order)]
        self.heads[owner[is_first]] = order[is_first]

    # The dual.

    def visit(self, order, precision=PRECISION):
        return super().visit(order, precision)

    def _lengths(self, problem):
        return problem.cut_lengths()[self.owner]

    def written(self) -> dict:
        """The dual point as whole outputs with their duals, as few as there are cuts: those of an example's
        groups are laid side by side from 0 on, and wherever one of them ends a new output begins."""
        places, arena = self._with_dual(), self.arena
        rows, alpha = self.slots[places], self.alpha[places]
        group = np.repeat(np.arange(len(self.counts)), self.counts)[self._is_dual()]
        owner, ends, before = self.owner[group], *_laid_out(group, alpha)
        order = np.lexsort((ends, owner))
        is_new = np.ones(len(order), bool)
        is_new[1:] = (np.diff(owner[order]) > 0) | (np.diff(ends[order]) > 0)
        number = np.empty(len(order), np.int64)  # of the last output that each cut is in
        number[order] = np.cumsum(is_new) - 1
        examples, until = owner[order][is_new], ends[order][is_new]
        duals = np.diff(until, prepend=0.0)
        is_first = np.diff(examples, prepend=-1) > 0
        duals[is_first] = until[is_first]
        first = np.where(before >= 0, number[before] + 1, np.searchsorted(examples, owner))
        # The truth, but where a cut is wrong.
        offsets, sizes = self.data.offsets[examples], self.data.X.lengths[examples]
        outputs = self.data.y[ranges(offsets, sizes)].astype(arena.Z.dtype)
        place = np.cumsum(sizes) - sizes - offsets  # of a token of the data in each output
        times = number - first + 1
        at, cut = ranges(first, times), np.repeat(np.arange(len(rows)), times)
        lengths = arena.lengths[rows[cut]]
        wrong = ranges(place[at] + arena.firsts[rows[cut]], lengths)
        outputs[wrong] = arena.Z[ranges(arena.starts[rows[cut]], lengths)]
        return {"duals": duals, "examples": examples.astype(np.int32), "outputs": outputs}

    def restore(self, state):
        owner = column("owner of the groups", state["owner"], np.int64)
        check_places("owner of the groups", owner, len(self.bounds))
        self.upper = self.bounds[owner]
        super().restore(state)
        self._link()

    def _check(self):
        """Raise also where groups do not lie apart: their duals would prove nothing."""
        super()._check()
        check_places("groups", [self.n_groups], len(self.counts) + 1)
        check_places("tokens of the groups", [self.lo, self.hi], len(self.data.y) + 1)
        used, arena = np.flatnonzero(self.counts), self.arena
        check_places("numbers of the groups", used, self.n_groups)
        present = self._present()
        rows, group = self.slots[present], np.repeat(np.arange(len(self.counts)), self.counts)
        first, end = arena.firsts[rows], arena.firsts[rows] + arena.lengths[rows]
        inside = (self.data.offsets[self.owner] <= self.lo) & (self.hi <= self.data.offsets[self.owner + 1])
        within = (self.lo[group] <= first) & (end <= self.hi[group]) & inside[group]
        mine = arena.examples[rows] == self.owner[group]
        order = used[np.argsort(self.lo[used], kind="stable")]
        same = self.owner[order[1:]] == self.owner[order[:-1]]
        apart = self.lo[order[1:]] >= self.hi[order[:-1]] + self.model.order
        if not (within.all() and mine.all() and apart[same].all()):
            raise ValueError("the groups do not lie where their cuts do, or too near to each other")


def _laid_out(group, alpha):
    """(where each cut ends if those of its group, which are neighbours, are laid end to end, which cut is the
    one before it, or -1)."""
    ends, before = alpha.copy(), np.arange(len(group)) - 1
    before[np.diff(group, prepend=-1) > 0] = -1
    at = np.flatnonzero(before < 0)
    while len(at := at[at + 1 < len(group)] + 1):
        at = at[before[at] >= 0]
        ends[at] += ends[at - 1]
    return ends, before

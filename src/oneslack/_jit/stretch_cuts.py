"""Stretches: the groups of groups.py, where a group is a stretch of tokens of a sentence; their arrays, and
how cuts and groups are appended to them.

memory/stretches.py says why.  A `Groups` holds where stretches lie; those of a sentence are a list, in the
order of their tokens, that begins with heads_i and goes on with following_g; -1 ends it.  Arrays have room at
their ends, and `filled` says how much of it is taken.  Where the product of a cut with itself is nan, its
products are still owed.

Helpers are given the arrays that they touch, not the tuples that hold them: numba takes a tuple apart and
puts it together again at each call, array by array, which takes longer to compile than most of the work here.
"""

from typing import Any, NamedTuple

import numpy as np

from .compiler import njit, register_jitable
from .cut_rows import cut_add, cut_clear, cuts_dot
from .groups import triangle


class Groups(NamedTuple):
    """room: of cuts; upper: of the sum of duals; owner: the sentence; lo <= t < hi: its tokens.

    bounds  (n,): upper of the groups of each sentence
    filled  (5,): groups, places in the pool, products, cuts, labels of cuts that are in use
    """

    room: Any
    upper: Any
    owner: Any
    lo: Any
    hi: Any
    following: Any
    heads: Any
    bounds: Any
    filled: Any


class Outputs(NamedTuple):
    """What of RunCuts (chain_runs.py) tells the outputs, and the losses b."""

    truth: Any
    offsets: Any
    Z: Any
    starts: Any
    firsts: Any
    lengths: Any
    examples: Any
    b: Any


class Asked(NamedTuple):
    """Outputs of the sentences `index`: labels Z[starts_k :]; apart: so many right tokens make what is on
    either side of them independent; losses[y_t, z_t] with y the labels that the loss counts.

    room  (4, T + 1), left (T + 1,): overwritten; sentences have at most T tokens
    """

    index: Any
    Z: Any
    starts: Any
    losses: Any
    y: Any
    apart: Any
    room: Any
    left: Any


@register_jitable
def sizes(rows, pool, groups):
    """The room for all that `filled` counts."""
    return groups.owner.shape[0], pool[2].shape[0], pool[6].shape[0], rows.b.shape[0], rows.Z.shape[0]


@register_jitable
def has_room(filled, room, cuts, n_runs, T):
    """Whether there is room for so many runs beside as many cuts, made anew, in sentences of length T; be it
    that all are of one group."""
    more = 2 * cuts + 8 * (n_runs + 1)
    return (
        filled[0] + n_runs <= room[0]
        and filled[1] + more <= room[1]
        and filled[2] + more * more <= room[2]
        and filled[3] + cuts + n_runs <= room[3]
        and filled[4] + (cuts + n_runs) * T <= room[4]
    )


@register_jitable
def new_places(base, gram_base, rooms, filled, g, room):
    """A place for `room` cuts of group g, at the end of the pool."""
    rooms[g], base[g], gram_base[g] = room, filled[1], filled[2]
    filled[1] += room
    filled[2] += room * (room + 1) // 2


@register_jitable
def new_row(rows, filled, i, first, loss, length):
    """The number of a new cut, whose labels are still to be written."""
    row = filled[3]
    rows.examples[row], rows.firsts[row], rows.lengths[row] = i, first, length
    rows.starts[row], rows.b[row] = filled[4], loss
    filled[3] += 1
    filled[4] += length
    return row


@register_jitable
def new_group(offsets, pool, groups, i, room):
    """An empty group of sentence i."""
    filled = groups.filled
    new = filled[0]
    filled[0] += 1
    groups.owner[new], groups.upper[new] = i, groups.bounds[i]
    groups.lo[new], groups.hi[new] = offsets[i + 1], offsets[i]
    pool[1][new] = 0
    new_places(pool[0], pool[5], groups.room, filled, new, room)
    return new


@register_jitable
def owe_products(gram, gram_base, a):
    """The products of cut a of a group are to be filled in."""
    gram[gram_base + triangle(a, a)] = np.nan


@njit(nogil=True, cache=True)
def fill_products(rows, pool, some, zeros):
    """What the groups `some` owe; zeros is as long as w, and all zeros before and after."""
    base, counts, slots, _, _, gram_base, gram = pool
    largest = 0
    for g in some:
        largest = max(largest, counts[g])
    found = np.empty(largest)
    for g in some:
        mine, products = slots[base[g] : base[g] + counts[g]], gram[gram_base[g] :]
        for a in range(counts[g]):
            if np.isnan(products[triangle(a, a)]):
                cut_add(rows, mine[a], 1.0, zeros)
                cuts_dot(rows, mine, zeros, found)
                for other in range(counts[g]):
                    if other <= a or not np.isnan(products[triangle(other, other)]):
                        products[triangle(a, other)] = found[other]
                cut_clear(rows, mine[a], zeros)


@register_jitable
def find_cut(rows, mine, first, z):
    """The place of a cut among those numbered `mine`, -1 where it is none of them."""
    Z, starts, firsts, lengths = rows.Z, rows.starts, rows.firsts, rows.lengths
    for k in range(mine.shape[0]):
        row = mine[k]
        if firsts[row] == first and lengths[row] == z.shape[0]:
            start, same = starts[row], True
            for t in range(z.shape[0]):
                same = same and Z[start + t] == z[t]
            if same:
                return k
    return -1


@register_jitable
def write_cut(rows, filled, losses, y, i, first, z):
    """The number of a new cut with the labels z from token `first` on."""
    truth, Z, loss = rows.truth, rows.Z, 0.0
    for t in range(z.shape[0]):
        if z[t] != truth[first + t]:
            loss += losses[y[first + t], z[t]]
    row = new_row(rows, filled, i, first, loss, z.shape[0])
    start = rows.starts[row]
    for t in range(z.shape[0]):
        Z[start + t] = z[t]
    return row


@register_jitable
def cover(lo, hi, g, first, end):
    lo[g], hi[g] = min(lo[g], first), max(hi[g], end)

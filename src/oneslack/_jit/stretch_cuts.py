"""Stretches: the groups of groups.py, where a group is a stretch of tokens of a sentence; their arrays, and
how cuts and groups are appended to them.

memory/stretches.py says why.  A `Groups` holds where stretches lie; those of a sentence are a list, in the
order of their tokens, that begins with heads_i and goes on with following_g; -1 ends it.  Arrays have room at
their ends, and `filled` says how much of it is taken.  Where the product of a cut with itself is nan, its
products are still owed.
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


class Asked(NamedTuple):
    """Outputs of the sentences `index`: labels Z[starts_k :]; apart: so many right tokens make what is on
    either side of them independent; losses[y_t, z_t] with y the labels that the loss counts."""

    index: Any
    Z: Any
    starts: Any
    losses: Any
    y: Any
    apart: Any


@register_jitable
def has_room(rows, b, pool, groups, cuts, n_runs, T):
    """Whether there is room for so many runs beside as many cuts, made anew, in sentences of length T; be it
    that all are of one group."""
    n_groups, places, products, n_rows, labels = groups.filled
    more = 2 * cuts + 8 * (n_runs + 1)
    return (
        n_groups + n_runs <= groups.owner.shape[0]
        and places + more <= pool[2].shape[0]
        and products + more * more <= pool[6].shape[0]
        and n_rows + cuts + n_runs <= b.shape[0]
        and labels + (cuts + n_runs) * T <= rows.Z.shape[0]
    )


@register_jitable
def new_places(pool, groups, g, room):
    """A place for `room` cuts of group g, at the end of the pool."""
    groups.room[g] = room
    pool[0][g] = groups.filled[1]
    pool[5][g] = groups.filled[2]
    groups.filled[1] += room
    groups.filled[2] += room * (room + 1) // 2


@register_jitable
def new_row(rows, b, groups, i, first, loss, length):
    """The number of a new cut, whose labels are still to be written."""
    row = groups.filled[3]
    rows.examples[row], rows.firsts[row], rows.lengths[row] = i, first, length
    rows.starts[row], b[row] = groups.filled[4], loss
    groups.filled[3] += 1
    groups.filled[4] += length
    return row


@register_jitable
def new_group(rows, pool, groups, i, room):
    """An empty group of sentence i."""
    new = groups.filled[0]
    groups.filled[0] += 1
    groups.owner[new], groups.upper[new] = i, groups.bounds[i]
    groups.lo[new], groups.hi[new] = rows.offsets[i + 1], rows.offsets[i]
    pool[1][new] = 0
    new_places(pool, groups, new, room)
    return new


@register_jitable
def owe_products(pool, g, a):
    """The products of cut a of a group are to be filled in."""
    pool[6][pool[5][g] + triangle(a, a)] = np.nan


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
def find_cut(rows, pool, g, first, z):
    """The place of a cut in the pool, -1 where group g does not have it."""
    base, counts, slots = pool[:3]
    for k in range(base[g], base[g] + counts[g]):
        row = slots[k]
        if rows.firsts[row] == first and rows.lengths[row] == z.shape[0]:
            start, same = rows.starts[row], True
            for t in range(z.shape[0]):
                same = same and rows.Z[start + t] == z[t]
            if same:
                return k
    return -1


@register_jitable
def write_cut(rows, b, groups, asked, i, first, z):
    """The number of a new cut with the labels z from token `first` on."""
    loss = 0.0
    for t in range(z.shape[0]):
        if z[t] != rows.truth[first + t]:
            loss += asked.losses[asked.y[first + t], z[t]]
    row = new_row(rows, b, groups, i, first, loss, z.shape[0])
    for t in range(z.shape[0]):
        rows.Z[rows.starts[row] + t] = z[t]
    return row


@register_jitable
def cover(groups, g, first, end):
    groups.lo[g], groups.hi[g] = min(groups.lo[g], first), max(groups.hi[g], end)

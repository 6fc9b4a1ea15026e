"""Compiled loops of ranking: which pairs of a group lack their margin, counted for every item.

Items lie in the order of their targets, group by group; `rank` numbers the distinct targets of all
groups and `starts[r]` is the first item of rank r.  With scores f and weights s, a pair of an upper
item i and a lower item j of the same group is active where f_i < f_j + 1, and

    c_i = sum of s_j over its active pairs below  -  sum of s_j over its active pairs above

is what the subgradient of the pairs' hinges needs (the c+ and c- of Joachims 2006, Algorithm 2).
s is None where all weights are equal: then everything is a count.

A large group is sorted once by score and becomes a list of events: item i is met twice, at f_i as an
upper item and at f_i + 1 as a lower one, which comes first where both are equal.  A pair is active if
and only if its upper event comes first.  The events of a node (a range of ranks) are counted against
each other by child and handed down to the children in the same order, so that each level of the tree
costs one pass over memory.  Both ends of a pair see one comparison, so rounding cannot part them.
"""

import numpy as np

from .compiler import njit, register_jitable
from .sorting import stable_order

#: Up to so many items, all pairs are tried: in a group, where this saves the sort, and in a node.
SMALL_GROUP = 320
SMALL_NODE = 96

# An event is a word: rank in the group, item, and 1 for upper.
RANK_BITS = 32
ITEM = (1 << 31) - 1

#: A node has up to eight children: eight counters of eight bits fit in a word.
DIGIT_BITS = 3
LANES = 0x0101010101010101
#: Counters are emptied before one of them can overflow.
BLOCK = 255


def _lanes():
    """What an event adds to the eight counters, by 2 digit + upper: (by uppers, by lowers)."""
    upper, lower = np.zeros((2, 16), np.uint64)
    for digit in range(8):
        below = (1 << (8 * digit)) - 1
        through = (1 << (8 * digit + 8)) - 1
        upper[2 * digit + 1] = LANES & below
        lower[2 * digit] = LANES & ~through
    return upper, lower


UPPER_LANES, LOWER_LANES = _lanes()


@njit(nogil=True, cache=True)
def pair_mass(s, starts, groups):
    """The sum of s_i s_j over all pairs; nothing is taken away from a sum, so that no digits are lost."""
    total = 0.0
    for g in range(groups.shape[0] - 1):
        below = 0.0
        for r in range(groups[g], groups[g + 1]):
            mass = 0.0
            for p in range(starts[r], starts[r + 1]):
                mass += s[p]
            total += mass * below
            below += mass
    return total


@njit(nogil=True, cache=True)
def gather(rows, S, dS, t, f):
    """f = (S + t dS)[rows]; dS may be None."""
    for p in range(rows.shape[0]):
        i = rows[p]
        f[p] = S[i] if dS is None else S[i] + t * dS[i]


@njit(nogil=True, cache=True)
def weighted_sum(rows, c, s, values):
    """sum_p s_p c_p values[rows_p]; rows None for values by position."""
    total = 0.0
    for p in range(c.shape[0]):
        total += _weight(s, p) * c[p] * (values[p] if rows is None else values[rows[p]])
    return total


@njit(nogil=True, cache=True)
def spread(rows, c, s, scale, coefficients):
    """coefficients[rows_p] = scale s_p c_p."""
    for p in range(rows.shape[0]):
        coefficients[rows[p]] = scale * (_weight(s, p) * c[p])


@njit(nogil=True, cache=True)
def active_pairs(f, s, rank, starts, groups, words, other, values, c):
    """Fill c; return the sum of s_i s_j over active pairs.

    groups[g] is the first rank of group g, groups[-1] ends the last; f, s, rank and c begin with the
    first item of the first group.  With m = largest_sorted(starts, groups), words and other (2 m,)
    int64 and values (m,) are overwritten; the caller keeps them, as fresh memory costs a third of a call.
    """
    base = starts[groups[0]]
    c[:] = 0
    total = 0 * _weight(s, 0)
    for g in range(groups.shape[0] - 1):
        r0, r1 = groups[g], groups[g + 1]
        lo, hi = starts[r0] - base, starts[r1] - base
        if r1 - r0 < 2:
            continue
        f_g, s_g, rank_g, c_g = f[lo:hi], _part(s, lo, hi), rank[lo:hi], c[lo:hi]
        if hi - lo <= SMALL_GROUP:
            total += _try_all(f_g, s_g, rank_g, c_g, starts, starts[r0])
        elif r1 - r0 == 2:
            total += _two_ranks(f_g, s_g, c_g, starts[r0 + 1] - starts[r0], words, other, values)
        else:
            _make_events(f_g, rank_g, r0, words, other, values)
            total += _tree(f_g, s_g, rank_g, c_g, starts, r0, r1, words, other)
    return total


@njit(nogil=True, cache=True)
def largest_sorted(starts, groups):
    """The size of the largest group that will be sorted."""
    largest = 0
    for g in range(groups.shape[0] - 1):
        size = starts[groups[g + 1]] - starts[groups[g]]
        if size > SMALL_GROUP and groups[g + 1] - groups[g] > 1:
            largest = max(largest, size)
    return largest


@register_jitable
def _weight(s, p):
    return 1 if s is None else s[p]


@register_jitable
def _part(s, lo, hi):
    return None if s is None else s[lo:hi]


# Few items: every pair.


@register_jitable
def _try_all(f, s, rank, c, starts, origin):
    """All pairs of the items, of which the first is item `origin`."""
    if s is None:
        return _count_all(f, rank, c, starts, origin)
    return _weigh_all(f, s, rank, c, starts, origin)


@register_jitable
def _count_all(f, rank, c, starts, origin):
    total = 0
    for i in range(f.shape[0]):
        count = 0
        for j in range(starts[rank[i]] - origin):
            active = 1 if f[i] < f[j] + 1.0 else 0
            count += active
            c[j] -= active
        c[i] += count
        total += count
    return total


@register_jitable
def _weigh_all(f, s, rank, c, starts, origin):
    """Uppers and lowers in turn: no loop sums into one number, which the compiler could not speed up."""
    n = f.shape[0]
    below, above = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(starts[rank[i]] - origin):
            above[j] += s[i] if f[i] < f[j] + 1.0 else 0.0
    for j in range(n):
        first = starts[rank[j] + 1] - origin
        f_upper, below_upper = f[first:], below[first:]
        for i in range(f_upper.shape[0]):
            below_upper[i] += s[j] if f_upper[i] < f[j] + 1.0 else 0.0
    total = 0.0
    for i in range(n):
        total += s[i] * below[i]
        c[i] += below[i] - above[i]
    return total


# Two ranks: each item is met once.


@register_jitable
def _two_ranks(f, s, c, n_lower, words, other, values):
    n = f.shape[0]
    left = 0 * _weight(s, 0)
    for p in range(n):
        values[p] = f[p] + 1.0 if p < n_lower else f[p]
        left += _weight(s, p) if p < n_lower else 0
    stable_order(values[:n], words[:n], other[:n])
    seen, total = 0 * left, 0 * left
    for k in range(n):
        p = words[k] & ITEM
        w = _weight(s, p)
        upper = p >= n_lower
        c[p] = left if upper else -seen
        total += w * left if upper else 0
        seen += w if upper else 0
        left -= 0 if upper else w
    return total


# Many ranks: events and their tree.


@register_jitable
def _make_events(f, rank, r0, words, other, values):
    """Fill words[:2 n] with the events in ascending order; `other` and `values` are overwritten."""
    n = f.shape[0]
    order, codes = other[:n], other[n : 2 * n]
    stable_order(f, order, words[:n])
    for k in range(n):
        p = order[k] & ITEM
        values[k] = f[p]
        codes[k] = (np.int64(rank[p] - r0) << RANK_BITS) | (p << 1)
    i = j = k = np.uint64(0)
    end = np.uint64(n)
    while i < end and j < end:
        upper = np.uint64(values[i] < values[j] + 1.0)
        words[k] = codes[j + upper * (i - j)] | np.int64(upper)  # without a branch that is hard to guess
        i += upper
        j += np.uint64(1) - upper
        k += np.uint64(1)
    while i < end:  # only where scores are infinite
        words[k] = codes[i] | 1
        i += np.uint64(1)
        k += np.uint64(1)
    while j < end:
        words[k] = codes[j]
        j += np.uint64(1)
        k += np.uint64(1)


@register_jitable
def _tree(f, s, rank, c, starts, r0, r1, words, other):
    """Depth first, so that small nodes stay in the cache.  A node is 2^height ranks from rank r on."""
    origin = starts[r0]
    height = 1
    while 1 << height < r1 - r0:
        height += 1
    stack = np.empty((8 * 32, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = r0, height, 0
    edges = np.empty(9, np.int64)
    total = 0 * _weight(s, 0)
    count = 1
    while count:
        count -= 1
        r, height, turn = stack[count, 0], stack[count, 1], stack[count, 2]
        source, target = (other, words) if turn else (words, other)
        shift = max(height - DIGIT_BITS, 0)
        n_children = 1 << (height - shift)
        for k in range(n_children + 1):
            edges[k] = starts[min(r + (k << shift), r1)] - origin
        if s is None:
            total += _count_children(source, target, shift, edges[: n_children + 1], c)
        else:
            total += _weigh_children(source, target, shift, edges[: n_children + 1], s, c)
        for k in range(n_children):
            lo, hi = edges[k], edges[k + 1]
            if hi - lo > SMALL_NODE and shift:
                stack[count, 0], stack[count, 1], stack[count, 2] = r + (k << shift), shift, 1 - turn
                count += 1
            elif shift:
                s_k = _part(s, lo, hi)
                total += _try_all(f[lo:hi], s_k, rank[lo:hi], c[lo:hi], starts, origin + lo)
    return total


@register_jitable
def _count_children(source, target, shift, edges, c):
    """Count active pairs of items in different children, up to eight; hand the events down.

    standing[2 d + 1] is the number of lower items to come in children below d, standing[2 d] minus that
    of the upper items met in children above d: what an event of child d adds to its c.  Inside a
    block the change of both is kept in eight counters of eight bits.
    """
    mask = edges.shape[0] - 2
    shift += RANK_BITS
    standing = np.zeros(16, np.int64)
    place = np.zeros(8, np.int64)
    for k in range(mask + 1):
        standing[2 * k + 1] = edges[k] - edges[0]
        place[k] = 2 * edges[k]
    total = 0
    for start in range(2 * edges[0], 2 * edges[-1], BLOCK):
        block = source[start : min(start + BLOCK, 2 * edges[-1])]
        uppers, lowers = np.uint64(0), np.uint64(0)
        for k in range(block.shape[0]):
            event = block[k]
            d = (event >> shift) & mask & 7
            upper = event & 1
            kind = 2 * d + upper
            met = uppers ^ ((uppers ^ lowers) & np.uint64(-upper))
            change = standing[kind] - np.int64((met >> np.uint64(8 * d)) & np.uint64(255))
            uppers += UPPER_LANES[kind]
            lowers += LOWER_LANES[kind]
            total += change & -upper
            c[(event >> 1) & ITEM] += change
            target[place[d]] = event
            place[d] += 1
        for d in range(8):
            standing[2 * d] -= np.int64((uppers >> np.uint64(8 * d)) & np.uint64(255))
            standing[2 * d + 1] -= np.int64((lowers >> np.uint64(8 * d)) & np.uint64(255))
    return total


@register_jitable
def _weigh_children(source, target, shift, edges, s, c):
    """The same with weights, bit by bit of the child: a counter each for the seven forks.

    Fork 1 parts children 0-3 from 4-7, fork 2 parts 0-1 from 2-3, and so on.  At a fork, `left` is the
    weight of the lower items still to come on its lower side and `met` that of the upper items met on
    its upper side.  No other events have pairs there.
    """
    mask = edges.shape[0] - 2
    shift += RANK_BITS
    left, met = np.zeros(8), np.zeros(8)
    place = np.zeros(8, np.int64)
    for k in range(mask + 1):
        place[k] = 2 * edges[k]
        weight = 0.0
        for p in range(edges[k], edges[k + 1]):
            weight += s[p]
        for depth in range(DIGIT_BITS):
            if not (k >> (2 - depth)) & 1:
                left[(8 + k) >> (3 - depth)] += weight
    total = 0.0
    events = source[2 * edges[0] : 2 * edges[-1]]
    for k in range(events.shape[0]):
        event = events[k]
        d = (event >> shift) & mask & 7
        upper = event & 1
        p = (event >> 1) & ITEM
        w = s[p]
        gain = 0.0
        for depth in range(DIGIT_BITS):
            fork = (8 + d) >> (3 - depth)
            bit = (d >> (2 - depth)) & 1
            above, below = np.float64(bit & upper), np.float64(1 - (bit | upper))
            gain += above * left[fork] - below * met[fork]
            met[fork] += above * w
            left[fork] -= below * w
        c[p] += gain
        total += gain * w * upper
        target[place[d]] = event
        place[d] += 1
    return total

"""Compiled loops over remembered cuts: groups of rows that share a slack.

A pool is a tuple of arrays (base, counts, slots, alpha, used, gram_base, gram).  Group i remembers the cuts
slots[k], base_i <= k < base_i + counts_i, each a row x_j (cut_rows.py) with a margin b_j; its duals
alpha[k] are >= 0 and sum to at most upper_i, the rest belonging to the zero cut.  used[k] says when the cut
last held some dual.  w = sum alpha x is kept up to date.  From gram_base_i on lie the products of the group's
rows, those of its cut a with its cuts 0 .. a at a (a + 1) / 2, so that its block of the dual

    max  sum_j alpha_j b_j - 1/2 |w|^2          is solved without touching the rows again.

Where weights are scaled or held >= 0, w is a Held (held.py) and the products are in its metric: the block is
then that of a function that lies under the dual and touches it, as held weights bend it less than the metric
says.
"""

import numpy as np

from .compiler import njit, register_jitable
from .cut_rows import cut_add, cut_clear, cut_dot, cuts_add, cuts_dot
from .held import weights


@register_jitable
def triangle(a, b):
    """Where the product of the cuts a and b of a group lies."""
    if a < b:
        a, b = b, a
    return a * (a + 1) // 2 + b


@njit(nogil=True, cache=True)
def fill_gram(rows, pool, groups, places, room):
    """The products of the cuts `places` of the groups; `room` is as long as w, and all zeros before and
    after."""
    base, counts, slots, _, _, gram_base, gram = pool
    values = weights(room)
    for k in range(groups.shape[0]):
        i, a = groups[k], places[k]
        mine = slots[base[i] : base[i] + counts[i]]
        products = gram[gram_base[i] :]
        cut_add(rows, mine[a], 1.0, room)
        for b in range(counts[i]):
            products[triangle(a, b)] = cut_dot(rows, mine[b], values)
        cut_clear(rows, mine[a], room)


@njit(nogil=True, cache=True)
def find_places(pool, groups, limit, places):
    """Where the next cut of each group goes: behind the others, or, where there are `limit` of them, in the
    place of the one that is longest without dual."""
    base, counts, _, alpha, used, _, _ = pool
    for k in range(groups.shape[0]):
        first, m = base[groups[k]], counts[groups[k]]
        places[k] = m
        if m < limit:
            continue
        for j in range(m):
            if alpha[first + j] == 0.0 and (places[k] == m or used[first + j] < used[first + places[k]]):
                places[k] = j


@njit(nogil=True, cache=True)
def move_groups(source, target, groups, keep, with_gram):
    """Copy the groups from one pool to another, or to another place of the same; only the cuts that `keep`
    marks, by their places in the source, or all where it is empty.  Bases of both are set already."""
    base, counts, slots, alpha, used, gram_base, gram = source
    to_base, _, to_slots, to_alpha, to_used, to_gram_base, to_gram = target
    everything = keep.shape[0] == 0
    for k in range(groups.shape[0]):
        i = groups[k]
        n_kept = 0
        for j in range(counts[i]):
            place = base[i] + j
            if not (everything or keep[place]):
                continue
            goal = to_base[i] + n_kept
            to_slots[goal], to_alpha[goal], to_used[goal] = slots[place], alpha[place], used[place]
            if with_gram:
                n_before = 0
                for b in range(j + 1):
                    if everything or keep[base[i] + b]:
                        value = gram[gram_base[i] + triangle(j, b)]
                        to_gram[to_gram_base[i] + triangle(n_kept, n_before)] = value
                        n_before += 1
            n_kept += 1


@register_jitable
def _solve_block(g, alpha, gram, m, upper, change, precision, scale):
    """Pairwise steps on one group until its gap is `precision` times the first; g and alpha move.

    A step takes dual from the worst cut that has some to the best one; the zero cut, whose g is 0, is
    number m.  Returns the growth of the dual.
    """
    rest = upper
    for j in range(m):
        rest -= alpha[j]
        change[j] = 0.0
    growth, first = 0.0, -1.0
    for _ in range(20 + 10 * m):
        high, low = m, m if rest > 0.0 else -1
        g_high, g_low = 0.0, 0.0 if rest > 0.0 else np.inf
        offered = 0.0
        for j in range(m):
            offered += alpha[j] * g[j]
            if g[j] > g_high:
                high, g_high = j, g[j]
            if alpha[j] > 0.0 and g[j] < g_low:
                low, g_low = j, g[j]
        violation = g_high - g_low
        if low < 0 or violation <= 0.0:
            break
        gap = upper * g_high - offered
        if first < 0.0:
            first = gap
        elif gap <= precision * first:
            break
        q = 0.0
        if high < m:
            q += gram[triangle(high, high)]
        if low < m:
            q += gram[triangle(low, low)]
        if high < m and low < m:
            q -= 2.0 * gram[triangle(high, low)]
        q *= scale
        available = alpha[low] if low < m else rest
        t = min(violation / q, available) if q > 0.0 else available
        if high < m:
            alpha[high] += t
            change[high] += t
        else:
            rest += t
        if low < m:
            alpha[low] = 0.0 if t == available else alpha[low] - t
            change[low] -= t
        else:
            rest = 0.0 if t == available else rest - t
        growth += t * violation - 0.5 * t * t * q
        for j in range(m):
            if high < m:
                g[j] -= scale * t * gram[triangle(j, high)]
            if low < m:
                g[j] += scale * t * gram[triangle(j, low)]
    return growth


@njit(nogil=True, cache=True)
def visit(rows, b, pool, upper, now, order, w, precision, scale, gained):
    """One exact block step for each group of `order`.  Returns the sum of the groups' own gaps,
    upper max(0, max g) - sum alpha g, before their steps, and the growth of the dual; gained[i] is that of
    group i.

    used[k] = `now` where a cut holds some dual.  A step moves w `scale` times as far, where others move at
    the same time (solvers/distributed/cuts.py).
    """
    base, counts, slots, alpha, used, gram_base, gram = pool
    largest = 0
    for i in order:
        largest = max(largest, counts[i])
    g, change = np.empty(largest), np.empty(largest)
    gap, growth = 0.0, 0.0
    values = weights(w)
    for i in order:
        m, first = counts[i], base[i]
        if m == 0:
            continue
        mine = slots[first : first + m]
        cuts_dot(rows, mine, values, g)
        best, offered = 0.0, 0.0
        for j in range(m):
            g[j] = b[mine[j]] - g[j]
            best = max(best, g[j])
            offered += alpha[first + j] * g[j]
        gap += upper[i] * best - offered
        gained[i] = _solve_block(
            g, alpha[first : first + m], gram[gram_base[i] :], m, upper[i], change, precision, scale
        )
        growth += gained[i]
        cuts_add(rows, mine, change, scale, w)
        for j in range(m):
            if alpha[first + j] > 0.0:
                used[first + j] = now
    return gap, growth


@njit(nogil=True, cache=True)
def best_remembered(rows, b, pool, w, groups, values, places):
    """The most violated remembered cut of each of the groups, or (0, -1) for the zero cut."""
    base, counts, slots, _, _, _, _ = pool
    largest = 0
    for i in groups:
        largest = max(largest, counts[i])
    products = np.empty(largest)
    for k in range(groups.shape[0]):
        i = groups[k]
        values[k], places[k] = 0.0, -1
        if counts[i] == 0:
            continue
        mine = slots[base[i] : base[i] + counts[i]]
        cuts_dot(rows, mine, w, products)
        for j in range(counts[i]):
            value = b[mine[j]] - products[j]
            if value > values[k]:
                values[k], places[k] = value, j

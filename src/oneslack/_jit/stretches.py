"""Stretches that grow, meet and part (stretch_cuts.py has their arrays)."""

import numpy as np

from .compiler import njit, register_jitable
from .stretch_cuts import cover, find_cut, has_room, new_group, new_places, new_row, owe_products, write_cut

#: The share of a sum that rounding can leave of a difference.
DUST = 1e-15


@njit(nogil=True, cache=True)
def list_members(heads, following, examples, out):
    """The stretches of these sentences, one after the other; returns how many."""
    n = 0
    for i in examples:
        g = heads[i]
        while g >= 0:
            out[n] = g
            n += 1
            g = following[g]
    return n


@njit(nogil=True, cache=True)
def absorb(rows, b, pool, groups, asked, begin, limit, now):
    """Remember what is wrong in the outputs from number `begin` on.

    Stretches that an output connects become one.  Returns the number of outputs done: fewer than all where
    room is short.
    """
    longest = 0
    for i in asked.index:
        longest = max(longest, rows.offsets[i + 1] - rows.offsets[i])
    firsts, ends, mine = np.empty((3, longest + 1), np.int64)
    for k in range(begin, asked.index.shape[0]):
        i = asked.index[k]
        a, T = rows.offsets[i], rows.offsets[i + 1] - rows.offsets[i]
        z = asked.Z[asked.starts[k] : asked.starts[k] + T]
        n_runs = _find_runs(rows.truth[a : a + T], z, asked.apart, a, firsts, ends)
        n_mine = list_members(groups.heads, groups.following, asked.index[k : k + 1], mine)
        cuts = 0
        for g in mine[:n_mine]:
            cuts += pool[1][g]
        if not has_room(rows, b, pool, groups, cuts, n_runs, T):
            return k
        r, m, last = 0, 0, -1
        groups.heads[i] = -1
        while r < n_runs or m < n_mine:
            # All that hangs together: runs r .. to, stretches m .. until.
            to, until, hi = r, m, -1
            while to < n_runs or until < n_mine:
                is_run = to < n_runs and (until == n_mine or firsts[to] <= groups.lo[mine[until]])
                lo, end = (
                    (firsts[to], ends[to]) if is_run else (groups.lo[mine[until]], groups.hi[mine[until]])
                )
                if hi >= 0 and lo >= hi + asked.apart:
                    break
                hi = max(hi, end)
                if is_run:
                    to += 1
                else:
                    until += 1
            g = mine[m] if until > m else -1
            if to > r:
                if until != m + 1:
                    g = _united(rows, b, pool, groups, i, mine[m:until])
                first, end = firsts[r], ends[to - 1]
                _remember(rows, b, pool, groups, g, first, z[first - a : end - a], asked, limit, now)
            if last < 0:
                groups.heads[i] = g
            else:
                groups.following[last] = g
            groups.following[g] = -1
            last = g
            r, m = to, until
    return asked.index.shape[0]


@register_jitable
def _find_runs(truth, z, apart, a, firsts, ends):
    """Where z is wrong, with fewer than `apart` right tokens between; returns how many such runs there are.
    Tokens are counted from `a`."""
    n, last = 0, -apart - 1
    for t in range(z.shape[0]):
        if z[t] != truth[t]:
            if n == 0 or t - last > apart:
                firsts[n] = a + t
                n += 1
            ends[n - 1] = a + t + 1
            last = t
    return n


@register_jitable
def _remember(rows, b, pool, groups, g, first, z, asked, limit, now):
    """The stretch z of an output as a cut of group g, unless it is one already."""
    base, counts, slots, alpha, used, gram_base, gram = pool
    if find_cut(rows, pool, g, first, z) >= 0:
        return
    row = write_cut(rows, b, groups, asked, groups.owner[g], first, z)
    cover(groups, g, first, first + z.shape[0])
    m = counts[g]
    place = m
    if m >= limit:
        for j in range(m):
            k = base[g] + j
            if alpha[k] == 0.0 and (place == m or used[k] < used[base[g] + place]):
                place = j
    if place == groups.room[g]:
        old, old_products = base[g], gram_base[g]
        new_places(pool, groups, g, m + max(2, m // 2))
        for j in range(m):
            slots[base[g] + j], alpha[base[g] + j] = slots[old + j], alpha[old + j]
            used[base[g] + j] = used[old + j]
        for j in range(m * (m + 1) // 2):
            gram[gram_base[g] + j] = gram[old_products + j]
    counts[g] = max(m, place + 1)
    slots[base[g] + place], alpha[base[g] + place], used[base[g] + place] = row, 0.0, now
    owe_products(pool, g, place)


@register_jitable
def _united(rows, b, pool, groups, i, parts):
    """One group for several of a sentence, or a new one where there are none.

    Each part has its upper bound to give away, alpha_j to its cuts and the rest to the zero cut, the truth.
    Laid side by side from the same end, zero cuts first, these masses pair up cuts of all parts; a pair's
    cut is the sum of its parts'.  Sums over each part stay as they are, and so do w and the dual, but for
    rounding: masses that only that can have left are dropped.  Cuts without dual are left out.
    """
    base, counts, slots, alpha, used, _, _ = pool
    n_parts, most = parts.shape[0], 2
    for g in parts:
        most += counts[g]
    new = new_group(rows, pool, groups, i, most)
    if n_parts == 0:
        return new
    at, left = np.full(n_parts, -1), np.empty(n_parts)
    for p in range(n_parts):
        g = parts[p]
        left[p] = groups.upper[g]
        for k in range(base[g], base[g] + counts[g]):
            left[p] -= alpha[k]
        cover(groups, new, groups.lo[g], groups.hi[g])
    exhausted = False
    while not exhausted:
        share = max(left.min(), 0.0)
        if share > DUST * groups.bounds[i] and at.max() >= 0:
            place = base[new] + counts[new]
            slots[place] = _joined(rows, b, pool, groups, i, parts, at)
            alpha[place], used[place] = share, 0
            for p in range(n_parts):
                if at[p] >= 0:
                    used[place] = max(used[place], used[base[parts[p]] + at[p]])
            counts[new] += 1
        for p in range(n_parts):
            left[p] -= share
            g = parts[p]
            while left[p] <= 0.0 and not exhausted:
                at[p] += 1
                if at[p] == counts[g]:
                    exhausted = True
                else:
                    left[p] = alpha[base[g] + at[p]]
    for g in parts:
        counts[g] = 0
    for a in range(counts[new]):
        owe_products(pool, new, a)
    return new


@register_jitable
def _joined(rows, b, pool, groups, i, parts, at):
    """The cut that is wrong where one of the parts' cuts is, which are numbered `at`; -1 is the truth."""
    base, slots = pool[0], pool[2]
    first, end, loss = rows.offsets[i + 1], rows.offsets[i], 0.0
    for p in range(parts.shape[0]):
        if at[p] >= 0:
            row = slots[base[parts[p]] + at[p]]
            first, end = min(first, rows.firsts[row]), max(end, rows.firsts[row] + rows.lengths[row])
            loss += b[row]
    new = new_row(rows, b, groups, i, first, loss, end - first)
    start = rows.starts[new]
    for t in range(first, end):
        rows.Z[start + t - first] = rows.truth[t]
    for p in range(parts.shape[0]):
        if at[p] >= 0:
            row = slots[base[parts[p]] + at[p]]
            for t in range(rows.lengths[row]):
                rows.Z[start + rows.firsts[row] - first + t] = rows.Z[rows.starts[row] + t]
    return new


@njit(nogil=True, cache=True)
def split(rows, b, pool, groups, asked, begin):
    """Divide the groups from number `begin` on that fall apart: where no cut is wrong any more in `apart`
    tokens between others.

    A part gets what of each cut is wrong there, with the cut's dual: sums over cuts stay as they are.
    Returns the number of groups done: fewer than all where room is short.
    """
    base, counts, slots, alpha, used, _, _ = pool
    n_groups = groups.filled[0]
    longest = 0
    for g in range(begin, n_groups):
        longest = max(longest, groups.hi[g] - groups.lo[g])
    firsts, ends = np.empty((2, longest + 1), np.int64)
    marks = np.empty(longest + 1, np.bool_)
    nothing = np.zeros(longest + 1, np.bool_)
    for g in range(begin, n_groups):
        lo, T = groups.lo[g], groups.hi[g] - groups.lo[g]
        mine = slots[base[g] : base[g] + counts[g]]
        marks[:T] = False
        for row in mine:
            for t in range(rows.lengths[row]):
                here = rows.firsts[row] + t
                marks[here - lo] |= rows.Z[rows.starts[row] + t] != rows.truth[here]
        n_parts = _find_runs(nothing[:T], marks[:T], asked.apart, lo, firsts, ends)
        if n_parts < 2:
            continue
        if not has_room(rows, b, pool, groups, n_parts * mine.shape[0], n_parts, T):
            return g
        for p in range(n_parts):
            new = new_group(rows, pool, groups, groups.owner[g], mine.shape[0])
            for j in range(mine.shape[0]):
                row = mine[j]
                first, end = _wrong_within(rows, row, firsts[p], ends[p])
                if first == end:
                    continue
                start = rows.starts[row] + first - rows.firsts[row]
                z = rows.Z[start : start + end - first]
                k = find_cut(rows, pool, new, first, z)
                if k < 0:
                    k = base[new] + counts[new]
                    slots[k] = write_cut(rows, b, groups, asked, groups.owner[g], first, z)
                    alpha[k], used[k] = 0.0, 0
                    counts[new] += 1
                    cover(groups, new, first, end)
                alpha[k] += alpha[base[g] + j]
                used[k] = max(used[k], used[base[g] + j])
            for j in range(counts[new]):
                owe_products(pool, new, j)
        counts[g] = 0
    return n_groups


@register_jitable
def _wrong_within(rows, row, first, end):
    """The first wrong token of a cut at or after `first`, and the end of its last one before `end`."""
    low, high = end, end
    for t in range(max(first, rows.firsts[row]), min(end, rows.firsts[row] + rows.lengths[row])):
        if rows.Z[rows.starts[row] + t - rows.firsts[row]] != rows.truth[t]:
            if low == end:
                low = t
            high = t + 1
    return low, high

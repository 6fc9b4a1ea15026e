"""Stretches that grow, meet and part (stretch_cuts.py has their arrays)."""

from .compiler import njit, register_jitable
from .stretch_cuts import (
    cover,
    find_cut,
    has_room,
    new_group,
    new_places,
    new_row,
    owe_products,
    sizes,
    write_cut,
)

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


@njit(nogil=True, cache=True, _nrt=False)
def absorb(rows, pool, groups, asked, begin, limit, now):
    """Remember what is wrong in the outputs from number `begin` on.

    Stretches that an output connects become one.  Returns the number of outputs done: fewer than all where
    room is short.
    """
    firsts, ends, mine = asked.room[0], asked.room[1], asked.room[2]
    index, apart, counts, offsets, truth = asked.index, asked.apart, pool[1], rows.offsets, rows.truth
    group_lo, group_hi, heads, following = groups.lo, groups.hi, groups.heads, groups.following
    room = sizes(rows, pool, groups)
    for k in range(begin, index.shape[0]):
        i = index[k]
        a, T = offsets[i], offsets[i + 1] - offsets[i]
        z = asked.Z[asked.starts[k] : asked.starts[k] + T]
        n_runs = _find_runs(truth[a : a + T], z, apart, a, firsts, ends)
        n_mine, cuts, g = 0, 0, heads[i]
        while g >= 0:
            mine[n_mine] = g
            n_mine, cuts, g = n_mine + 1, cuts + counts[g], following[g]
        if not has_room(groups.filled, room, cuts, n_runs, T):
            return k
        r, m, last = 0, 0, -1
        heads[i] = -1
        while r < n_runs or m < n_mine:
            # All that hangs together: runs r .. to, stretches m .. until.
            to, until, hi = r, m, -1
            while to < n_runs or until < n_mine:
                is_run = to < n_runs and (until == n_mine or firsts[to] <= group_lo[mine[until]])
                lo = firsts[to] if is_run else group_lo[mine[until]]
                if hi >= 0 and lo >= hi + apart:
                    break
                if is_run:
                    hi = max(hi, ends[to])
                    to += 1
                else:
                    hi = max(hi, group_hi[mine[until]])
                    until += 1
            g = mine[m] if until > m else -1
            if to > r:
                if until != m + 1:
                    g = _united(rows, pool, groups, i, mine[m:until], asked.room[3], asked.left)
                first, end = firsts[r], ends[to - 1]
                part = z[first - a : end - a]
                _remember(rows, pool, groups, g, first, part, asked.losses, asked.y, limit, now)
            if last < 0:
                heads[i] = g
            else:
                following[last] = g
            following[g] = -1
            last = g
            r, m = to, until
    return index.shape[0]


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
def _remember(rows, pool, groups, g, first, z, losses, y, limit, now):
    """The stretch z of an output as a cut of group g, unless it is one already."""
    base, counts, slots, alpha, used, gram_base, gram = pool
    m = counts[g]
    if find_cut(rows, slots[base[g] : base[g] + m], first, z) >= 0:
        return
    row = write_cut(rows, groups.filled, losses, y, groups.owner[g], first, z)
    cover(groups.lo, groups.hi, g, first, first + z.shape[0])
    place = m
    if m >= limit:
        for j in range(m):
            k = base[g] + j
            if alpha[k] == 0.0 and (place == m or used[k] < used[base[g] + place]):
                place = j
    if place == groups.room[g]:
        old, old_products = base[g], gram_base[g]
        new_places(base, gram_base, groups.room, groups.filled, g, m + max(2, m // 2))
        for j in range(m):
            slots[base[g] + j], alpha[base[g] + j] = slots[old + j], alpha[old + j]
            used[base[g] + j] = used[old + j]
        for j in range(m * (m + 1) // 2):
            gram[gram_base[g] + j] = gram[old_products + j]
    counts[g] = max(m, place + 1)
    slots[base[g] + place], alpha[base[g] + place], used[base[g] + place] = row, 0.0, now
    owe_products(gram, gram_base[g], place)


@register_jitable
def _united(rows, pool, groups, i, parts, at, left):
    """One group for several of a sentence, or a new one where there are none; at and left are overwritten.

    Each part has its upper bound to give away, alpha_j to its cuts and the rest to the zero cut, the truth.
    Laid side by side from the same end, zero cuts first, these masses pair up cuts of all parts; a pair's
    cut is the sum of its parts'.  Sums over each part stay as they are, and so do w and the dual, but for
    rounding: masses that only that can have left are dropped.  Cuts without dual are left out.
    """
    base, counts, slots, alpha, used, gram_base, gram = pool
    n_parts, most = parts.shape[0], 2
    for g in parts:
        most += counts[g]
    new = new_group(rows.offsets, pool, groups, i, most)
    if n_parts == 0:
        return new
    for p in range(n_parts):
        g = parts[p]
        at[p], left[p] = -1, groups.upper[g]
        for k in range(base[g], base[g] + counts[g]):
            left[p] -= alpha[k]
        cover(groups.lo, groups.hi, new, groups.lo[g], groups.hi[g])
    exhausted = False
    while not exhausted:
        share, furthest = left[0], -1
        for p in range(n_parts):
            share, furthest = min(share, left[p]), max(furthest, at[p])
        share = max(share, 0.0)
        if share > DUST * groups.bounds[i] and furthest >= 0:
            place = base[new] + counts[new]
            slots[place] = _joined(rows, base, slots, groups.filled, i, parts, at)
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
        owe_products(gram, gram_base[new], a)
    return new


@register_jitable
def _joined(rows, base, slots, filled, i, parts, at):
    """The cut that is wrong where one of the parts' cuts is, which are numbered `at`; -1 is the truth."""
    truth, offsets, Z, starts, firsts, lengths, _, b = rows
    first, end, loss = offsets[i + 1], offsets[i], 0.0
    for p in range(parts.shape[0]):
        if at[p] >= 0:
            row = slots[base[parts[p]] + at[p]]
            first, end = min(first, firsts[row]), max(end, firsts[row] + lengths[row])
            loss += b[row]
    new = new_row(rows, filled, i, first, loss, end - first)
    start = starts[new]
    for t in range(first, end):
        Z[start + t - first] = truth[t]
    for p in range(parts.shape[0]):
        if at[p] >= 0:
            row = slots[base[parts[p]] + at[p]]
            for t in range(lengths[row]):
                Z[start + firsts[row] - first + t] = Z[starts[row] + t]
    return new


@njit(nogil=True, cache=True, _nrt=False)
def split(rows, pool, groups, asked, begin):
    """Divide the groups from number `begin` on that fall apart: where no cut is wrong any more in `apart`
    tokens between others.

    A part gets what of each cut is wrong there, with the cut's dual: sums over cuts stay as they are.
    Returns the number of groups done: fewer than all where room is short.
    """
    base, counts, slots, alpha, used, gram_base, gram = pool
    filled, owner, apart = groups.filled, groups.owner, asked.apart
    n_groups, room = filled[0], sizes(rows, pool, groups)
    firsts, ends, marks, nothing = asked.room[0], asked.room[1], asked.room[2], asked.room[3]
    nothing[:] = 0
    for g in range(begin, n_groups):
        lo, T = groups.lo[g], groups.hi[g] - groups.lo[g]
        mine = slots[base[g] : base[g] + counts[g]]
        marks[:T] = 0
        for row in mine:
            _mark_wrong(rows.truth, rows.Z, rows.starts[row], rows.firsts[row], rows.lengths[row], lo, marks)
        n_parts = _find_runs(nothing[:T], marks[:T], apart, lo, firsts, ends)
        if n_parts < 2:
            continue
        if not has_room(filled, room, n_parts * mine.shape[0], n_parts, T):
            return g
        for p in range(n_parts):
            new = new_group(rows.offsets, pool, groups, owner[g], mine.shape[0])
            for j in range(mine.shape[0]):
                row = mine[j]
                first, end, start = _wrong_within(rows, row, firsts[p], ends[p])
                if first == end:
                    continue
                z = rows.Z[start : start + end - first]
                k = find_cut(rows, slots[base[new] : base[new] + counts[new]], first, z)
                if k < 0:
                    k = counts[new]
                    counts[new] += 1
                    here = base[new] + k
                    slots[here] = write_cut(rows, filled, asked.losses, asked.y, owner[g], first, z)
                    alpha[here], used[here] = 0.0, 0
                    owe_products(gram, gram_base[new], k)
                    cover(groups.lo, groups.hi, new, first, end)
                k += base[new]
                alpha[k] += alpha[base[g] + j]
                used[k] = max(used[k], used[base[g] + j])
        counts[g] = 0
    return n_groups


@register_jitable
def _mark_wrong(truth, Z, start, first, length, lo, marks):
    for t in range(length):
        if Z[start + t] != truth[first + t]:
            marks[first + t - lo] = 1


@register_jitable
def _wrong_within(rows, row, first, end):
    """The first wrong token of a cut at or after `first`, the end of its last one before `end`, and where the
    label of the first lies in Z."""
    truth, Z, start, begin = rows.truth, rows.Z, rows.starts[row], rows.firsts[row]
    low, high = end, end
    for t in range(max(first, begin), min(end, begin + rows.lengths[row])):
        if Z[start + t - begin] != truth[t]:
            if low == end:
                low = t
            high = t + 1
    return low, high, start + low - begin

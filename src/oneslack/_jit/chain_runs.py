"""Cuts of label sequences that differ from the truth in one stretch of tokens only.

The labels of cut j are Z[starts_j :] for the lengths_j tokens from firsts_j on, the first and the last of
them wrong, and the truth everywhere else.  Its row delta touches these tokens, and the steps into, in and out
of the stretch.

Cuts of one group are often wrong in the same tokens in the same way: what such a token's features say is
looked up once for all of them, and added once.
"""

from typing import Any, NamedTuple

import numpy as np

from .chain_features import _ADD, _CLEAR, _DOT, _place, _token, _weight
from .compiler import register_jitable
from .cut_rows import know


class RunCuts(NamedTuple):
    """X, layout, truth and offsets as in ChainCuts; cut j belongs to sentence examples_j.

    scores, shares  room for a number a token of a sentence and label: nan and 0 outside of the functions here
    """

    X: Any
    layout: Any
    truth: Any
    offsets: Any
    Z: Any
    starts: Any
    firsts: Any
    lengths: Any
    examples: Any
    scores: Any
    shares: Any


@register_jitable
def _label(truth, z, first, t):
    """The label of token t."""
    return np.int64(z[t - first]) if first <= t < first + z.shape[0] else np.int64(truth[t])


@register_jitable
def _steps(layout, truth, z, first, a, b, w, c, job):
    """The order of the truth instead of that of z, in the sentence of the tokens a <= t < b."""
    L, pairs, triples, start, end = layout
    last = first + z.shape[0]
    total = 0.0
    if start >= 0 and first == a:
        total += _weight(w, start + np.int64(truth[a]), start + np.int64(z[0]), c, job)
    if end >= 0 and last == b:
        total += _weight(w, end + np.int64(truth[b - 1]), end + np.int64(z[last - 1 - first]), c, job)
    for t in range(max(first, a + 1), min(last + 1, b)):
        y0, y1 = np.int64(truth[t - 1]), np.int64(truth[t])
        z0, z1 = _label(truth, z, first, t - 1), _label(truth, z, first, t)
        if y0 != z0 or y1 != z1:
            total += _weight(w, pairs + _place(L, y0, y1), pairs + _place(L, z0, z1), c, job)
    if triples >= 0:
        for t in range(max(first, a + 2), min(last + 2, b)):
            y0, y1, y2 = np.int64(truth[t - 2]), np.int64(truth[t - 1]), np.int64(truth[t])
            z0, z1 = _label(truth, z, first, t - 2), _label(truth, z, first, t - 1)
            z2 = _label(truth, z, first, t)
            if y0 != z0 or y1 != z1 or y2 != z2:
                p, q = _place(L, _place(L, y0, y1), y2), _place(L, _place(L, z0, z1), z2)
                total += _weight(w, triples + p, triples + q, c, job)
    return total


@register_jitable
def _walk(rows, j, c, w, job):
    """All that cut j touches."""
    X, layout, truth, offsets, Z, starts, firsts, lengths, examples, _, _ = rows
    first, z = firsts[j], Z[starts[j] : starts[j] + lengths[j]]
    L = layout[0]
    W = w[: layout[1]].reshape((layout[1] // L, L))
    total = 0.0
    for k in range(z.shape[0]):
        y = truth[first + k]
        if y != z[k]:
            total += _token(X, first + k, W, np.uintp(y), np.uintp(z[k]), c, job)
    i = examples[j]
    return total + _steps(layout, truth, z, first, offsets[i], offsets[i + 1], w, c, job)


@register_jitable
def _run_dot(rows, j, w):
    return _walk(rows, j, 0.0, w, _DOT)


@register_jitable
def _run_add(rows, j, c, w):
    _walk(rows, j, c, w, _ADD)


@register_jitable
def _run_clear(rows, j, w):
    _walk(rows, j, 0.0, w, _CLEAR)


@register_jitable
def _run_dots(rows, numbers, w, out):
    """Of cuts of one sentence."""
    X, layout, truth, offsets, Z, starts, firsts, lengths, examples, scores, _ = rows
    L = layout[0]
    W = w[: layout[1]].reshape((layout[1] // L, L))
    i = examples[numbers[0]]
    a, b = offsets[i], offsets[i + 1]
    for k in range(numbers.shape[0]):
        j = numbers[k]
        first, z = firsts[j], Z[starts[j] : starts[j] + lengths[j]]
        total = 0.0
        for t in range(z.shape[0]):
            y = truth[first + t]
            if y != z[t]:
                place = (first + t - a) * L + np.int64(z[t])
                score = scores[place]
                if np.isnan(score):
                    score = _token(X, first + t, W, np.uintp(y), np.uintp(z[t]), 0.0, _DOT)
                    scores[place] = score
                total += score
        out[k] = total + _steps(layout, truth, z, first, a, b, w, 0.0, _DOT)
    for j in numbers:
        for t in range(lengths[j]):
            scores[(firsts[j] + t - a) * L + np.int64(Z[starts[j] + t])] = np.nan


@register_jitable
def _run_adds(rows, numbers, coefficients, c, w):
    """Of cuts of one sentence."""
    X, layout, truth, offsets, Z, starts, firsts, lengths, examples, _, shares = rows
    L = layout[0]
    W = w[: layout[1]].reshape((layout[1] // L, L))
    i = examples[numbers[0]]
    a, b = offsets[i], offsets[i + 1]
    for k in range(numbers.shape[0]):
        share, j = c * coefficients[k], numbers[k]
        if share != 0.0:
            first, z = firsts[j], Z[starts[j] : starts[j] + lengths[j]]
            for t in range(z.shape[0]):
                if truth[first + t] != z[t]:
                    shares[(first + t - a) * L + np.int64(z[t])] += share
            _steps(layout, truth, z, first, a, b, w, share, _ADD)
    for j in numbers:
        for t in range(lengths[j]):
            token, z = firsts[j] + t, Z[starts[j] + t]
            place = (token - a) * L + np.int64(z)
            if shares[place] != 0.0:
                _token(X, token, W, np.uintp(truth[token]), np.uintp(z), shares[place], _ADD)
                shares[place] = 0.0


know(RunCuts, _run_dot, _run_add, _run_clear, _run_dots, _run_adds)

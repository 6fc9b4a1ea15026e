"""Blocks of a kernel matrix: who works on which, in which room, and the products and norms of their rows."""

from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from ..engines.threads import single_blas_thread

#: Rows and columns of a block: about a megabyte of float32.
BLOCK_ROWS, BLOCK_COLUMNS = 256, 1024
#: Rows that are copied at a time.
COPY_ROWS = 16_384


class Rooms(threading.local):
    """Room for one block in each thread: a fresh megabyte costs as much as filling it."""

    def __init__(self, dtype, size):
        self.dtype, self.size, self.room = dtype, size, None

    def mine(self):
        if self.room is None:
            self.room = np.empty(self.size, self.dtype)
        return self.room


def over_blocks(fill, n, engine):
    """Call fill(span) for blocks of the n rows; a thread takes several at a time."""
    all_spans = spans(n, BLOCK_ROWS)
    tasks = [all_spans[lo:hi] for lo, hi in spans(len(all_spans), min(max(len(all_spans) // 8, 1), 16))]

    def run(task):
        for span in task:
            fill(span)

    with single_blas_thread():
        engine.map(run, tasks)


def spans(n, size):
    """(lo, hi) of ranges of `size` of n rows."""
    bounds = [*range(0, n, size), n]
    return [(lo, hi) for lo, hi in pairwise(bounds) if hi > lo]


def runs(offsets):
    """(lo, hi, groups) of runs of whole groups with about BLOCK_COLUMNS columns; a group is (k, lo, hi)."""
    runs, groups = [], []
    for k, (lo, hi) in enumerate(pairwise(offsets)):
        groups.append((k, lo, hi))
        if hi - groups[0][1] >= BLOCK_COLUMNS or k == len(offsets) - 2:
            runs.append((groups[0][1], hi, groups))
            groups = []
    return [run for run in runs if run[1] > run[0]]


def inner_products(A, B, room=None):
    """A B', dense, in the `room` where there is one."""
    if sp.issparse(A) or sp.issparse(B):
        product = A @ B.T
        return product.toarray() if sp.issparse(product) else np.asarray(product)
    if room is None:
        return A @ B.T
    return np.matmul(A, B.T, out=room[: len(A) * len(B)].reshape(len(A), len(B)))


def swapped(rows):
    """With the last two columns in each other's place."""
    if sp.issparse(rows):
        order = np.arange(rows.shape[1])
        order[-2:] = order[-1], order[-2]
        return rows[:, order]
    swapped = rows.copy()
    swapped[:, -2], swapped[:, -1] = rows[:, -1], rows[:, -2]
    return swapped


def squared_norms(rows):
    """(n,): |a|^2 of each row."""
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", rows, rows)


def offset_of(X) -> float:
    """Which share of the mean |x|^2 is the square of the mean x."""
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    parts = (squared_norms(X[lo:hi]) for lo, hi in spans(X.shape[0], COPY_ROWS))
    total = sum(float(np.sum(part, dtype=np.float64)) for part in parts)
    return float(mean @ mean) * X.shape[0] / total if total > 0 else 0.0


def dense(rows):
    """A block as compiled loops take it."""
    return (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64, copy=False)

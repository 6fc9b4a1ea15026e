"""Rows in an order where neighbours are near each other: halves of halves, each time along the direction in
which a part is widest."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

#: Directions that are looked at, and rows by which they are found.
DIRECTIONS, LOOKED_AT = 8, 2000


def coordinates(rows) -> np.ndarray:
    """A few coordinates of each row, those along which the rows (n, d), dense or CSR, differ most."""
    n = rows.shape[0]
    some = rows[np.sort(np.random.default_rng(0).choice(n, min(LOOKED_AT, n), replace=False))]
    if rows.shape[1] <= DIRECTIONS:
        return rows.toarray() if sp.issparse(rows) else rows
    if sp.issparse(rows):
        return np.asarray(rows @ _directions(some))
    directions = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)[2][:DIRECTIONS]
    return np.asarray(rows @ directions.T)


def _directions(rows):
    """(d, DIRECTIONS or fewer): the same for CSR rows, which may have too many columns to be unpacked: the
    eigenvectors u of the centred products of rows give the directions rows' u."""
    from scipy.linalg import eigh

    products = (rows @ rows.T).toarray().astype(np.float64, copy=False)
    products -= products.mean(axis=0)
    products -= products.mean(axis=1, keepdims=True)
    m = len(products)
    values, vectors = eigh(products, subset_by_index=[max(m - DIRECTIONS, 0), m - 1])
    return rows.T @ (vectors / np.sqrt(np.maximum(values, 1e-6 * max(values[-1], 1e-12))))


def near_order(Z, parts) -> np.ndarray:
    """(n,): the rows of Z (n, d) in an order where neighbours are near, halved until there are `parts`."""
    order, spans = np.arange(len(Z)), [(0, len(Z))]
    while len(spans) < parts and spans[0][1] > 2:
        halves = []
        for lo, hi in spans:
            part = order[lo:hi]
            widest = int(np.argmax(Z[part[:: max(len(part) // 256, 1)]].var(axis=0)))
            middle = (hi - lo) // 2
            order[lo:hi] = part[np.argpartition(Z[part, widest], middle)]
            halves += [(lo, lo + middle), (lo + middle, hi)]
        spans = halves
    return order

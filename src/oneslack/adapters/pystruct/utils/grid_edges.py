"""Edges between the neighbouring cells of a grid, numbered row by row."""

from __future__ import annotations

import numpy as np

#: Steps to a neighbour of a cell, (down, right): to the right, down, and on the diagonals.
STEPS = {4: ((0, 1), (1, 0)), 8: ((0, 1), (1, 0), (-1, 1), (1, 1))}


def make_grid_edges(x, neighborhood=4, return_lists=False):
    """Edges (m, 2) of a grid x (height, width, ...); as a list of those of each direction if asked for.

    >>> import numpy as np
    >>> make_grid_edges(np.zeros((2, 2, 3))).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    if neighborhood not in STEPS:
        raise ValueError(f"neighborhood can only be 4 or 8; got {neighborhood!r}")
    height, width = x.shape[:2]
    cells = np.arange(height * width, dtype=np.int64).reshape(height, width)
    edges = []
    for down, right in STEPS[neighborhood]:
        start = cells[max(-down, 0) : height - max(down, 0), : width - right]
        edges.append(np.c_[start.ravel(), start.ravel() + down * width + right])
    return edges if return_lists else np.concatenate(edges)


def edge_list_to_features(edge_list):
    """(m, 2): whether an edge is of the first direction, or of another.

    >>> import numpy as np
    >>> edge_list_to_features(make_grid_edges(np.zeros((1, 2)), return_lists=True)).tolist()
    [[1.0, 0.0]]
    """
    is_first = np.repeat(np.arange(len(edge_list)) == 0, [len(edges) for edges in edge_list])
    return np.c_[is_first, ~is_first].astype(float)

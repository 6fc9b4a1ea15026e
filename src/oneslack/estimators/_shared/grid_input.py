"""Pictures as packed graphs: cells are nodes, neighbours are joined, and nobody lists edges."""

from __future__ import annotations

import numpy as np

from ...data.rows import Ragged
from ...models.graph import GraphData

#: Steps to neighbours, each (rows, columns): those of 4, then the diagonal ones of 8.
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


def edges_of(rows, columns, neighbours):
    """(m, 2) numbers of cells, row by row, and (m,) which step each edge takes."""
    cells = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    pairs, steps = [np.empty((0, 2), np.int32)], [np.empty(0, np.int64)]
    for k, (down, right) in enumerate(STEPS[: neighbours // 2]):
        tails = cells[: rows - down, max(-right, 0) : columns - max(right, 0)]
        heads = cells[down:, max(right, 0) : columns + min(right, 0)]
        pairs.append(np.column_stack([tails.ravel(), heads.ravel()]))
        steps.append(np.full(tails.size, k))
    return np.concatenate(pairs), np.concatenate(steps)


def pictures_of(X):
    """Checked (rows, columns, channels) arrays; one channel may be left out."""
    found = []
    for i, x in enumerate(X):
        picture = np.asarray(x)
        picture = picture[:, :, None] if picture.ndim == 2 else picture
        if picture.ndim != 3 or picture.dtype.kind not in "biuf":
            raise ValueError(
                f"picture {i} has shape {np.shape(x)} of {picture.dtype}, expected numbers (rows, columns, "
                "channels)"
            )
        if found and picture.shape[2] != found[0].shape[2]:
            raise ValueError(
                f"picture {i} has {picture.shape[2]} channels, but picture 0 has {found[0].shape[2]}"
            )
        found.append(picture.astype(float))
    return found


def contrast_scale(pictures, neighbours) -> float:
    """The mean |x_a - x_b|^2 of neighbours; 1 where all are the same."""
    total = count = 0.0
    for picture in pictures:
        values = picture.reshape(-1, picture.shape[2])
        pairs, _ = edges_of(*picture.shape[:2], neighbours)
        total += float(((values[pairs[:, 0]] - values[pairs[:, 1]]) ** 2).sum())
        count += len(pairs)
    return total / count if total > 0.0 else 1.0


def grids_of(pictures, neighbours, scale, channels) -> GraphData:
    """Packed, without labels.  Cells have their channels and a constant; edges a constant for each kind of
    step (along, diagonal), and, where `scale` is given, exp(-|x_a - x_b|^2 / 2 scale) of each, too: near 1
    where neighbours look alike, near 0 across a contrast."""
    known = {}
    nodes, edges, features, sizes, counts = [], [], [], [0], [0]
    kinds = neighbours // 4
    for picture in pictures:
        shape = picture.shape[:2]
        if shape not in known:
            known[shape] = edges_of(*shape, neighbours)
        pairs, steps = known[shape]
        values = picture.reshape(-1, channels)
        F = np.zeros((len(pairs), kinds * (1 if scale is None else 2)))
        rows, kind = np.arange(len(pairs)), steps // 2
        F[rows, kind] = 1.0
        if scale is not None:
            squares = ((values[pairs[:, 0]] - values[pairs[:, 1]]) ** 2).sum(axis=1)
            F[rows, kinds + kind] = np.exp(-squares / (2.0 * scale))
        nodes.append(np.column_stack([values, np.ones(len(values))]))
        edges.append(pairs)
        features.append(F)
        sizes.append(sizes[-1] + len(values))
        counts.append(counts[-1] + len(pairs))
    width = kinds * (1 if scale is None else 2)
    F = np.concatenate([np.empty((0, width)), *features])
    if width == 1:
        F = np.empty((len(F), 0))  # a constant alone: one table for all edges
    data = GraphData(
        Ragged(np.concatenate([np.empty((0, channels + 1)), *nodes]), sizes),
        Ragged(np.concatenate([np.empty((0, 2), np.int32), *edges]), counts),
        F, np.full(sizes[-1], -1, np.int32), None, np.ones(len(pictures)), 1,
    )  # fmt: skip
    data.check_finite()
    return data

"""Graphs of a report: nodes in the colours of their labels, with the truth beside those that are wrong."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..look import PALETTE
from .drawings import chart, heat_map
from .grids import legend
from .html import figure, number, paragraph, share, table
from .quality import errors

#: Graphs that are drawn, their nodes at most, and pixels.
DRAWN, MOST, SIZE, EDGE, RADIUS = 4, 120, 420, 22, 7
#: Node features and tables of edge features that are shown.
FEATURES, TABLES = 24, 6
#: Steps of the springs, and how far nodes move at first, in a square of side 1.
STEPS, FIRST = 150, 0.1


def graph_errors(edges, truth, predicted, labels, shown) -> str:
    """The graphs with the most wrong nodes: a table, and drawings of the first.

    edges: (m, 2) of each graph; truth, predicted: (n,) of places in `labels`, -1 where the truth is
    not known.
    """
    wrong = [int(((y != z) & (y >= 0)).sum()) for y, z in zip(truth, predicted, strict=True)]
    order = [int(i) for i in np.argsort(-np.array(wrong), kind="stable") if wrong[i]][:shown]
    if not order:
        return errors(paragraph("There is none: all nodes got their label."))
    rows = (
        [
            number(i + 1),
            number(len(truth[i])),
            number(wrong[i]),
            share(1 - wrong[i] / max((truth[i] >= 0).sum(), 1)),
        ]
        for i in order
    )
    parts = [table("Graphs with the most errors", ("graph", "nodes", "wrong", "right"), rows)]
    small = [i for i in order if len(truth[i]) <= MOST][:DRAWN]
    parts += [legend(labels)] if small else []
    for i in small:
        words = f"Graph {i + 1}: labels as predicted; a ring is the true label of a node that is wrong."
        parts.append(figure(drawing(edges[i], truth[i], predicted[i], labels), words))
    return errors(*parts)


def looks(model, weights, labels, node_names, edge_names) -> list[str]:
    """Weights of nodes by label, and of joined labels by edge feature, as coloured squares."""
    first, L = model.layout.first, len(labels)
    nodes = weights[:first].reshape(-1, L)
    shown = np.argsort(-np.abs(nodes).max(axis=1, initial=0.0), kind="stable")[:FEATURES]
    names = [node_names[k] for k in shown]
    parts = [_squares(nodes[shown], names, labels, "Weights of a node's features for each label.")]
    for name, joined in list(zip(edge_names, model._tables(weights), strict=True))[:TABLES]:
        words = f"Weights of labels that are joined, {name}."
        parts.append(_squares(joined, [str(label) for label in labels], labels, words))
    return [part for part in parts if part]


def _squares(values, rows, labels, words) -> str:
    if not len(rows):
        return ""
    names = [str(label) for label in labels]

    def tell(i, j):
        return f"{rows[i]}, {names[j]}: {values[i][j]:.4g}"

    return figure(heat_map(values.tolist(), rows, names, "weights", tell), words)


def drawing(edges, truth, predicted, labels) -> str:
    """SVG of one graph."""
    places = EDGE + (SIZE - 2 * EDGE) * layout(len(truth), edges)
    lines = "".join(
        f"M{places[a][0]:.1f} {places[a][1]:.1f}L{places[b][0]:.1f} {places[b][1]:.1f}" for a, b in edges
    )
    parts, points = [f'<path class="branch" d="{lines}"/>'], []
    for s, (x, y) in enumerate(places):
        true, found = int(truth[s]), int(predicted[s])
        told = "not known" if true < 0 else labels[true]
        points.append((x, y, f"node {s}: predicted {labels[found]}, true {told}"))
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="{_shade(found)}"/>')
        if true not in (found, -1):
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS + 4}" fill="none" stroke-width="3" '
                f'stroke="{_shade(true)}"/>'
            )
    right = int((truth == predicted).sum())
    return chart("".join(parts), points, f"{right} of {len(truth)} nodes right", SIZE, SIZE)


def _shade(code):
    return PALETTE[code % len(PALETTE)]


def layout(n, edges) -> np.ndarray:
    """(n, 2) in the unit square: by distances along edges (classical scaling), then springs (Fruchterman &
    Reingold 1991).  The same graph is always drawn in the same way.

    >>> layout(3, np.array([[0, 1], [1, 2]])).shape
    (3, 2)
    """
    from scipy.sparse.csgraph import shortest_path

    edges = np.asarray(edges, int).reshape(-1, 2)
    if n < 2:
        return np.full((n, 2), 0.5)
    joined = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    far = shortest_path(joined, directed=False, unweighted=True)
    known = np.isfinite(far)
    far[~known] = far[known].max() + 2.0
    centre = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ far**2 @ centre)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    places = _in_square(places + 1e-3 * np.random.default_rng(0).normal(size=places.shape))
    length = 0.8 / np.sqrt(n)
    for step in range(STEPS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-4)
        force = (apart * (length**2 / distance**2)[:, :, None]).sum(axis=1)
        pull = apart[edges[:, 0], edges[:, 1]] * (distance[edges[:, 0], edges[:, 1]] / length)[:, None]
        np.add.at(force, edges[:, 0], -pull)
        np.add.at(force, edges[:, 1], pull)
        size = np.maximum(np.sqrt((force**2).sum(axis=1)), 1e-9)
        places = places + force * (np.minimum(size, FIRST * (1.0 - step / STEPS)) / size)[:, None]
    return _in_square(places)


def _in_square(places):
    low = places.min(axis=0)
    spread = places.max(axis=0) - low
    return (places - low) / np.where(spread > 0.0, spread, 1.0)

"""Graphs as JSON lines, one object a line, a graph each, or as arrays in an .npz file.

    {"nodes": [[0.5, 1], [2, 0]], "edges": [[0, 1]], "edge_features": [[1.5]], "labels": ["sky", "tree"]}

`edge_features` and `labels` may be left out; a label of null is not known.  The arrays of an .npz file hold
all graphs, one behind the other: `sizes` (n, 2) nodes and edges of each, `nodes` (N, d), `edges` (M, 2)
numbered within each graph, and perhaps `edge_features` (M, k) and `labels` (N,).
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

import numpy as np

from ..errors import FormatError
from .lines import read_text
from .pictures import arrays_of


class GraphFile(NamedTuple):
    """Graphs X as GraphTagger takes them, and their labels Y, None where the file has none."""

    X: list
    Y: list | None


def read_graphs(path) -> GraphFile:
    """Read graphs, one a line.

    >>> from oneslack.formats.graphs import read_graphs
    >>> with open("two.jsonl", "w") as file:
    ...     _ = file.write('{"nodes": [[1], [2]], "edges": [[0, 1]], "labels": ["a", "b"]}\\n')
    >>> read_graphs("two.jsonl").Y
    [['a', 'b']]
    """
    path = os.fspath(path)
    if path.endswith(".npz"):
        return _from_arrays(path)
    X, Y = [], []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            x, y = _graph(f"{path}, line {number}", line)
            X.append(x)
            Y.append(y)
    if not X:
        raise FormatError(f'{path}: holds no graph; give one a line, as {{"nodes": ..., "edges": ...}}.')
    known = [y is not None for y in Y]
    if any(known) and not all(known):
        raise FormatError(
            f"{path}: graph {known.index(False) + 1} has no labels, though others have; add them."
        )
    return GraphFile(X, Y if all(known) else None)


def _from_arrays(path):
    found = arrays_of(path)
    expected = "sizes (n, 2), nodes (N, d), edges (M, 2), and perhaps edge_features (M, k) and labels (N,)"
    if missing := {"sizes", "nodes", "edges"} - set(found):
        raise FormatError(f"{path}: has no array {', '.join(sorted(missing))}; expected {expected}.")
    sizes, nodes, edges = (np.asarray(found[name]) for name in ("sizes", "nodes", "edges"))
    if sizes.ndim != 2 or sizes.shape[1] != 2 or sizes.dtype.kind not in "iu" or (sizes < 0).any():
        raise FormatError(f"{path}: sizes must be (n, 2) whole numbers: nodes and edges of each graph.")
    counts = dict(zip(("nodes", "edges"), sizes.sum(axis=0).tolist(), strict=True))
    rows = {"nodes": nodes, "edges": edges}
    rows |= {name: np.asarray(found[name]) for name in ("edge_features", "labels") if name in found}
    for name, array in rows.items():
        wanted = counts["nodes" if name in ("nodes", "labels") else "edges"]
        if array.ndim != (1 if name == "labels" else 2) or len(array) != wanted:
            raise FormatError(
                f"{path}: {name} has shape {array.shape}, but sizes tell of {wanted:,} rows; expected "
                f"{expected}."
            )
    if edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise FormatError(f"{path}: edges must be (M, 2) whole numbers of nodes; got {edges.shape}.")
    at, first = (np.append(0, np.cumsum(sizes[:, k])) for k in range(2))
    owner = np.repeat(np.arange(len(sizes)), sizes[:, 1])
    bad = np.flatnonzero(((edges < 0) | (edges >= sizes[owner, :1])).any(axis=1))
    if len(bad):
        i = int(owner[bad[0]])
        raise FormatError(
            f"{path}: graph {i}: edges must be pairs of numbers 0 .. {sizes[i, 0] - 1} of nodes."
        )
    X, Y = [], []
    for i in range(len(sizes)):
        mine, joined = slice(at[i], at[i + 1]), slice(first[i], first[i + 1])
        more = [rows["edge_features"][joined]] if "edge_features" in rows else []
        X.append((nodes[mine], edges[joined], *more))
        Y.append(rows["labels"][mine].tolist() if "labels" in rows else None)
    return GraphFile(X, Y if "labels" in rows else None)


def _graph(where, line):
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise FormatError(f"{where}: is no JSON ({error}).") from error
    if not isinstance(found, dict) or not {"nodes", "edges"} <= set(found):
        raise FormatError(f'{where}: is no object with "nodes" and "edges".')
    nodes = _table(where, "nodes", found["nodes"], None)
    edges = _table(where, "edges", found["edges"], 2)
    if len(edges) and not ((edges == np.floor(edges)) & (edges >= 0) & (edges < len(nodes))).all():
        raise FormatError(f"{where}: edges must be pairs of numbers 0 .. {len(nodes) - 1} of nodes.")
    x = [nodes, edges.astype(int).reshape(-1, 2)]
    if found.get("edge_features") is not None:
        features = _table(where, "edge_features", found["edge_features"], None)
        if len(features) != len(edges):
            raise FormatError(f"{where}: has {len(edges)} edges but features of {len(features)}.")
        x.append(features)
    labels = found.get("labels")
    if labels is not None and (not isinstance(labels, list) or len(labels) != len(nodes)):
        raise FormatError(f'{where}: "labels" must be a list of {len(nodes)}, one a node.')
    return tuple(x), labels


def _table(where, name, rows, width):
    """Lists of numbers of one length."""
    try:
        table = np.array(rows, dtype=float)
    except (TypeError, ValueError):
        table = None
    if table is not None and table.size == 0:
        return np.empty((0 if width else len(rows), width or 0))
    if table is None or table.ndim != 2 or (width and table.shape[1] != width):
        raise FormatError(f'{where}: "{name}" must be a list of lists of {width or "as many"} numbers each.')
    return table

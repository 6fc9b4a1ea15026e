"""Graphs as JSON lines: one object a line, a graph each.

    {"nodes": [[0.5, 1], [2, 0]], "edges": [[0, 1]], "edge_features": [[1.5]], "labels": ["sky", "tree"]}

`edge_features` and `labels` may be left out; a label of null is not known.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

import numpy as np

from ..errors import FormatError
from .lines import read_text


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

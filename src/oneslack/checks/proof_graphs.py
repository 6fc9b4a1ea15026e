"""The problem of a fitted GraphTagger or GridSegmenter for the checker.

The numbers that bound hinges are those of the decoder, found anew: the checker takes them from anybody.
"""

from __future__ import annotations

import numpy as np

from ..data.rows import Ragged
from ..errors import OneslackError, ProofError
from ..estimators._shared.graph_input import labels_of
from ..estimators._shared.grid_input import contrast_scale, pictures_of
from ..verify.graphs import Graphs
from ..verify.penalty import Penalty
from ..verify.structured import Structured
from .proof_examples import codes_among, weights_of_examples


def graph_problem(model, C, X, Y, sample_weight):
    """Yield the one problem of a model."""
    data, graph = model._graphs(X), model.model_
    labels, known = labels_of([np.ravel(y) for y in Y], data)
    if not known.all():
        raise OneslackError("no checker is written for graphs with labels that are not known")
    codes = codes_among(model.classes_, labels)
    _refuse_other_graphs(model, graph, X, codes)
    data = graph.pack(data, Ragged(codes.astype(np.int32), data.offsets))
    ends, edge_ends = (np.asarray(each, np.int64) for each in (data.offsets, data.edges.offsets))
    edges = data.edges.values + np.repeat(ends[:-1], np.diff(edge_ends))[:, None]
    F = data.F if data.F.shape[1] else np.ones((len(edges), 1))
    examples = Graphs(
        data.X.values, ends, codes, edges, edge_ends, F, graph.layout.first, graph.layout.pairs,
        np.asarray(graph.label_losses), graph.reparametrisation(data, model.coef_),
    )  # fmt: skip
    held = np.zeros(len(model.coef_), bool)
    held[graph.blocks["edges"]] = graph.attractive
    yield Structured(
        examples, C * weights_of_examples(data.n, sample_weight), model.coef_, Penalty(held=held)
    )


def _refuse_other_graphs(model, graph, X, codes):
    """Raise unless a GraphModel is the one that the parameters make."""
    same = model._losses(model.classes_, codes), bool(getattr(model, "directed", False)), model.attractive
    if not np.array_equal(graph.label_losses, same[0]) or (graph.directed, graph.attractive) != same[1:]:
        raise ProofError("the model counts labels or edges otherwise than its parameters say")
    if hasattr(model, "contrast_scale_"):
        scale = contrast_scale(pictures_of(X), model.neighbours) if model.contrast else None
        if model.contrast_scale_ != scale:
            raise ProofError("contrasts are measured otherwise than by the pictures")

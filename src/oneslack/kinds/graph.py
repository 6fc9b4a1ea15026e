"""Labels for the nodes of graphs."""

from __future__ import annotations

from ..errors import OneslackError
from .classify import confusion_table, rates_by_class
from .printing import percent, show_measures
from .registry import Examples, Kind
from .targets import Subject

#: Graphs with the most errors that a report shows.
SHOWN = 10
MEASURES = {"accuracy": "node accuracy", "graph_accuracy": "graph accuracy"}


def _read(path, saved, with_outputs) -> Examples:
    from ..formats.graphs import read_graphs

    found = read_graphs(path)
    if with_outputs and found.Y is None:
        raise OneslackError(f'{path}: its graphs have no "labels"; they are needed to train and to evaluate.')
    return Examples(path, found.X, found.Y)


def _subject(examples, model) -> Subject:
    labels = sorted({str(label) for y in examples.y for label in y if label is not None})
    return Subject(f"{len(labels)} labels", {"classes": labels})


def _facts(saved) -> dict:
    model = saved.model.model_
    return {
        "predicts": "labels of nodes",
        "classes": saved.model.classes_.tolist(),
        "node_features": saved.model._width,
        "edge_features": model.n_edge_features,
        "directed": model.directed,
        "attractive": model.attractive,
    }


def _cells(saved, X, scores, say=None):
    """The labels of each graph, one line a graph; with scores, how far its score may be from the best before
    them."""
    import json

    labels = [[json.dumps(y)] for y in saved.model.predict(X)]
    if not scores:
        return labels
    gaps = saved.model.predict_gaps(X).tolist()
    return [[f"{gap:.3g}", *cell] for gap, cell in zip(gaps, labels, strict=True)]


def measure(saved, examples) -> dict:
    """How many nodes, and how many whole graphs, are right."""
    import numpy as np

    model, flat = saved.model, [label for y in examples.y for label in y]
    number = {label: k for k, label in enumerate(model.classes_.tolist())}
    known = np.array([label is not None for label in flat], dtype=bool)
    y = _codes(flat, number)
    predicted = model.predict_codes(examples.X)
    right = (y == predicted.values) | ~known
    if not known.any():
        raise OneslackError(f"{examples.path}: no node has a label, so there is nothing to compare with.")
    whole = [right[lo:hi].all() for lo, hi in zip(predicted.offsets[:-1], predicted.offsets[1:], strict=True)]
    confusion = confusion_table(y[known], predicted.values[known], len(number))
    return {
        "examples": len(examples.X),
        "nodes": int(known.sum()),
        "measures": {"accuracy": float(right[known].mean()), "graph_accuracy": float(np.mean(whole))},
        "classes": rates_by_class(list(number), confusion),
        "confusion": confusion[: len(number)].tolist(),
    }


def _codes(labels, number):
    """Their numbers, -1 where a label is not known."""
    import numpy as np

    return np.array([number.get(label, -1) for label in labels], dtype=int)


def _sections(saved, examples, facts):
    from ..viz.report import quality
    from ..viz.report.graphs import graph_errors

    model = saved.model
    labels = model.classes_.tolist()
    number = {label: k for k, label in enumerate(labels)}
    truth = [_codes(y, number) for y in examples.y]
    predicted = model.predict_codes(examples.X)
    parts, edges = [predicted[i] for i in range(len(truth))], model._graphs(examples.X).edges
    edges = [edges[i] for i in range(len(truth))]
    note = f"{facts['examples']:,} graphs, {facts['nodes']:,} nodes with a label."
    pairs = [(MEASURES[name], percent(value)) for name, value in facts["measures"].items()]
    good = quality.quality(pairs, [note], quality.confusion(facts, "nodes"))
    return good, graph_errors(edges, truth, parts, labels, SHOWN)


def _show(facts):
    notes = {
        "accuracy": [f"of {facts['nodes']:,} nodes"],
        "graph_accuracy": [f"of {facts['examples']:,} graphs"],
    }
    show_measures(facts, notes, MEASURES, "label", "nodes")


def _looks(saved) -> list[str]:
    from ..viz.report.graphs import looks

    tagger, model = saved.model, saved.model.model_
    name = "feature" if tagger.basis_ is None else "basis function"
    nodes = [f"{name} {k}" for k in range(model.n_features)]
    edges = [f"by edge feature {k}" for k in range(model.n_edge_features)] or ["whatever the edge"]
    return looks(model, tagger.coef_, tagger.classes_.tolist(), nodes, edges)


KIND = Kind(
    _facts,
    "own",
    _read,
    _cells,
    measure,
    _show,
    sections=_sections,
    looks=_looks,
    command="graph",
    subject=_subject,
    about="Train labels for the nodes of graphs (GraphTagger).",
    holds='Graphs as JSON lines: {"nodes": [[...], ...], "edges": [[0, 1], ...], "labels": [...]}; or .npz.',
    parameters={
        "C": (0.1, "Weight of the sum over graphs."),
        "directed": (False, "Whether the labels at the ends of an edge are in order."),
        "attractive": (False, "Whether edges only like the same labels: exact with two labels."),
        "passes": (60, "Message passes over a graph, at most."),
        "backtracks": (0, "Of toulbar2 (pytoulbar2) where messages leave something open; 0: no search."),
        "relaxed": (False, "Train against fractional labels, too: no gap of inference, but slow."),
    },
)

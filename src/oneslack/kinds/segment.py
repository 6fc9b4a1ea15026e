"""Labels for the cells of pictures."""

from __future__ import annotations

from . import graph
from .printing import percent, show_measures
from .registry import Examples, Kind
from .targets import Subject

MEASURES = {"accuracy": "cell accuracy", "graph_accuracy": "picture accuracy"}


def _read(path, saved, with_outputs) -> Examples:
    from ..errors import OneslackError
    from ..formats.pictures import read_pictures

    found = read_pictures(path)
    if with_outputs and found.Y is None:
        raise OneslackError(
            f"{path}: its pictures have no labels y; they are needed to train and to evaluate."
        )
    return Examples(path, found.X, found.Y)


def _subject(examples, model) -> Subject:
    labels = sorted({str(label) for y in examples.y for label in y.ravel().tolist()})
    return Subject(f"{len(labels)} labels", {"classes": labels})


def _facts(saved) -> dict:
    model = saved.model
    return {
        "predicts": "labels of cells",
        "classes": model.classes_.tolist(),
        "channels": model._width - 1,
        "neighbours": model.neighbours,
        "contrast": model.contrast,
        "attractive": model.attractive,
    }


def _cells(saved, X, scores, say=None):
    """The labels of each picture as lists of rows, one line a picture."""
    import json

    labels = [[json.dumps(y.tolist())] for y in saved.model.predict(X)]
    if not scores:
        return labels
    gaps = saved.model.predict_gaps(X).tolist()
    return [[f"{gap:.3g}", *cell] for gap, cell in zip(gaps, labels, strict=True)]


def _measure(saved, examples) -> dict:
    flat = Examples(examples.path, examples.X, [y.ravel().tolist() for y in examples.y])
    return graph.measure(saved, flat)


def _sections(saved, examples, facts):
    import numpy as np

    from ..viz.report import quality
    from ..viz.report.grids import grid_errors

    model = saved.model
    labels = model.classes_.tolist()
    number = {label: k for k, label in enumerate(labels)}
    truth, predicted = (
        [np.array([number.get(label, -1) for label in y.ravel().tolist()], int).reshape(y.shape) for y in Y]
        for Y in (examples.y, model.predict(examples.X))
    )
    note = f"{facts['examples']:,} pictures, {facts['nodes']:,} cells with a label."
    pairs = [(MEASURES[name], percent(value)) for name, value in facts["measures"].items()]
    good = quality.quality(pairs, [note], quality.confusion(facts, "cells"))
    return good, grid_errors(examples.X, truth, predicted, labels, graph.SHOWN)


def _show(facts):
    notes = {
        "accuracy": [f"of {facts['nodes']:,} cells"],
        "graph_accuracy": [f"of {facts['examples']:,} pictures"],
    }
    show_measures(facts, notes, MEASURES, "label", "cells")


def _looks(saved) -> list[str]:
    from ..viz.report.graphs import looks

    segmenter, model = saved.model, saved.model.model_
    cells = [*(f"channel {k}" for k in range(model.n_features - 1)), "constant"]
    if segmenter.basis_ is not None:
        cells = [f"basis function {k}" for k in range(model.n_features)]
    ways = ["side by side", "at corners"][: segmenter.neighbours // 4]
    edges = [*ways, *(f"{way}, where they look alike" for way in ways)] if segmenter.contrast else ways
    return looks(model, segmenter.coef_, segmenter.classes_.tolist(), cells, edges)


KIND = Kind(
    _facts,
    "own",
    _read,
    _cells,
    _measure,
    _show,
    sections=_sections,
    looks=_looks,
    command="segment",
    subject=_subject,
    about="Train labels for the cells of pictures (GridSegmenter).",
    holds="A folder of .npz files with x (rows, columns, channels) and y, or images and their _labels.png.",
    parameters={
        "C": (0.1, "Weight of the sum over pictures."),
        "neighbours": (4, "Of a cell: 4 or 8."),
        "contrast": (True, "Whether labels change more easily where the picture does."),
        "attractive": (True, "Whether neighbours only like the same label: exact with two labels."),
        "passes": (60, "Message passes over a picture, at most."),
        "backtracks": (0, "Of toulbar2 (pytoulbar2) where messages leave something open; 0: no search."),
        "relaxed": (False, "Train against fractional labels, too: no gap of inference, but slow."),
    },
)

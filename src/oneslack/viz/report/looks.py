"""What a model looks at: its largest weights, and the orders of labels that it likes."""

from __future__ import annotations

import numpy as np

from ..named_weights import largest_weights, transitions_of
from . import drawings
from .html import facts, figure, folded, number, paragraph, section, table, text

#: Weights in the drawing, and in the table.
DRAWN, LISTED = 20, 200
#: Weights below this are rounding.
NOTHING = 1e-9
#: Labels up to which every pair of neighbours gets a square.
MOST_LABELS = 40


def looks(parts) -> str:
    """The section, of what the kind of model has."""
    return section("looks", "What the model looks at", *parts)


def weights(model, feature_names) -> str:
    """The largest weights; of basis functions, what they are."""
    if getattr(model, "basis_", None) is not None:
        count, name = len(model.basis_.mapping_), model.basis_._kernel.name
        return paragraph(f"It scores by {count:,} basis functions of the kernel {name}.")
    found = largest_weights(model, LISTED, feature_names)
    if not found or max(abs(one.value) for one in found) < NOTHING:
        return paragraph("All weights are zero: the model looks at nothing.")
    drawn = sorted(found, key=lambda one: -abs(one.value))[:DRAWN]
    drawn.sort(key=lambda one: -one.value)
    several = any(one.output for one in found)
    names = ("feature", "for", "weight") if several else ("feature", "weight")
    rows = (
        [text(one.feature), *([text(one.output)] if several else []), number(one.value, "{:.4g}")]
        for one in sorted(found, key=lambda one: -abs(one.value))
    )
    classes = [str(label) for label in getattr(model, "classes_", ())]
    words = "Weights of the largest size. They depend on the scale of the features."
    if len(classes) == 2 and not several:
        words += f" To the right they speak for {classes[1]}, to the left for {classes[0]}."
    elif several:
        words += " In brackets the class or label for which they speak."
    listed = folded("The largest weights as a table", table("Largest weights", names, rows))
    return figure(drawings.bars(drawn), words) + listed


def thresholds(model) -> str:
    """Where classes in an order meet."""
    classes = [str(label) for label in model.classes_]
    pairs = zip(classes, classes[1:], np.ravel(model.thresholds_).tolist())
    rows = ([text(f"{low} | {high}"), number(cut, "{:.6g}")] for low, high, cut in pairs)
    return table("Where the score passes from one class to the next", ("classes", "threshold"), rows)


def transitions(tagger) -> str:
    """Which label follows which."""
    labels = [str(label) for label in tagger.classes_]
    if len(labels) > MOST_LABELS:
        return paragraph(f"There are {len(labels):,} labels: too many to draw which follows which.")
    liked = transitions_of(tagger).tolist()

    def tell(i, j):
        return f"{labels[j]} after {labels[i]}: {liked[i][j]:.4g}"

    words = "Which label (column) follows which (row): blue is liked, orange disliked, empty neither."
    return figure(drawings.heat_map(liked, labels, labels, "weights", tell), words)


def support_vectors(model) -> str:
    """What a kernel model compares with."""
    kernel = model._kernel
    pairs = [
        ("kernel", kernel.name),
        ("gamma", f"{kernel.gamma:.6g}" if kernel.name in ("rbf", "laplacian", "poly") else None),
        ("degree", f"{kernel.degree:g}" if kernel.name == "poly" else None),
        ("method", model.method_),
        ("support vectors", f"{len(model.support_):,}"),
    ]
    size = np.abs(model.dual_coef_).sum(axis=0)
    order = np.argsort(-size, kind="stable")[:LISTED]
    rows = ([number(int(model.support_[k])), number(float(size[k]), "{:.4g}")] for k in order)
    words = "It compares an example with those of the training; these count most."
    names = ("example of the training, from 0", "size of its coefficients")
    return facts(pairs) + paragraph(words) + folded("Support vectors", table("Support vectors", names, rows))

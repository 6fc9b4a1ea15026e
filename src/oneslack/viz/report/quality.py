"""How good a model is on data, and the errors worth seeing, for each kind of output."""

from __future__ import annotations

import numpy as np

from ..tags import tagged_html
from ..thresholds import rates
from ..trees import wrong_nodes
from . import drawings
from .html import figure, number, paragraph, section, share, table, text
from .training import label_table, measures

#: Classes up to which the confusion is drawn.
MOST_CLASSES = 40
#: Pairs of classes that are listed as confused.
PAIRS = 12
#: Errors that are shown: rows of a table, sentences, trees.
ROWS, SENTENCES, TREES = 50, 20, 6
#: Words up to which a tree is drawn.
MOST_WORDS = 25
#: Points of a scatter.
POINTS = 1500


def quality(pairs, notes, *parts) -> str:
    """The section of measures (name, words) and of whatever the kind of output has."""
    return section("quality", "How good it is", measures(pairs, notes), *parts)


def errors(*parts) -> str:
    """The section of errors."""
    return section("errors", "Errors worth seeing", *parts)


# Classes.


def confusion(facts, what="examples") -> str:
    """Rates by class, the confusion drawn where it fits, and the pairs that are confused most."""
    labels, counts = [str(row["label"]) for row in facts["classes"]], facts["confusion"]
    parts = [label_table("By class", "class", facts["classes"], [("examples", what)])]

    def tell(i, j):
        return f"{counts[i][j]:,} {what} of {labels[i]} were taken for {labels[j]}"

    if len(labels) <= MOST_CLASSES:
        words = "How often each class (row) was taken for which (column)."
        parts.append(figure(drawings.heat_map(counts, labels, labels, "counts", tell), words))
    pairs = [
        (counts[i][j], labels[i], labels[j])
        for i in range(len(labels))
        for j in range(len(labels))
        if i != j and counts[i][j]
    ]
    pairs.sort(key=lambda pair: -pair[0])
    if pairs and len(labels) > 2:
        rows = ([text(true), text(taken), number(count)] for count, true, taken in pairs[:PAIRS])
        parts.append(table("Confused most often", ("true", "taken for", what), rows))
    return "".join(parts)


def curves(positive, scores) -> str:
    """ROC and precision-recall curves with the point of the model's threshold."""
    if positive.all() or not positive.any():
        return ""
    found = rates(positive, scores)
    at = found.at(0.0)
    words = [
        f"scores from {cut:.4g} on: recall {100 * r:.1f} %, precision {100 * p:.1f} %, "
        f"false alarms {100 * f:.1f} %"
        for cut, r, p, f in zip(found.score, found.recall, found.precision, found.false_alarms)
    ]
    roc = drawings.curve(found.false_alarms, found.recall, words, at, ("false alarms", "recall"))
    both = drawings.curve(found.recall, found.precision, words, at, ("recall", "precision"))
    return (
        f'<div class="pair curves">{figure(roc, "ROC curve; the dot is the threshold of the model.")}'
        f"{figure(both, 'Precision and recall.')}</div>"
    )


def class_errors(truth, predicted, margins, why=None) -> str:
    """The wrong examples that the model was surest of; why(i) are words on what spoke for the error."""
    wrong = np.flatnonzero([a != b for a, b in zip(truth, predicted)])
    if not len(wrong):
        return errors(paragraph("There is none: all examples got their class."))
    order = wrong[np.argsort(-margins[wrong], kind="stable")][:ROWS]
    rows = (
        [
            number(int(i) + 1),
            text(truth[i]),
            text(predicted[i]),
            number(float(margins[i]), "{:.4g}"),
            *([text(why(i))] if why else []),
        ]
        for i in order
    )
    names = ("example", "true", "predicted", "ahead by", *(["what spoke for it"] if why else []))
    words = (
        f"{len(wrong):,} of {len(truth):,} are wrong; first those where the wrong class was ahead by most."
    )
    return errors(paragraph(words), table("Surest errors", names, rows))


# Numbers.


def residuals(truth, predicted) -> str:
    """Predicted against true numbers; of many examples some."""
    some = np.arange(len(truth))
    if len(some) > POINTS:
        some = np.sort(np.random.default_rng(0).choice(len(truth), POINTS, replace=False))
    words = [f"example {i + 1}: {predicted[i]:.5g} for {truth[i]:.5g}" for i in some]
    drawing = drawings.scatter(truth[some], predicted[some], words, ("true", "predicted"))
    told = "Predicted against true numbers" + (f", {POINTS:,} of them" if len(some) < len(truth) else "")
    return figure(drawing, f"{told}; on the line both are the same.")


def number_errors(truth, predicted) -> str:
    """The largest errors."""
    order = np.argsort(-np.abs(truth - predicted), kind="stable")[:ROWS]
    rows = (
        [
            number(int(i) + 1),
            number(float(truth[i]), "{:.6g}"),
            number(float(predicted[i]), "{:.6g}"),
            number(float(predicted[i] - truth[i]), "{:+.6g}"),
        ]
        for i in order
    )
    return errors(table("Largest errors", ("example", "true", "predicted", "too much by"), rows))


# Rankings.


def query_errors(queries) -> str:
    """Queries whose order is worst: dicts with query, examples, pairs, ordered and best (words)."""
    if not queries:
        return ""
    rows = (
        [
            text(row["query"]),
            number(row["examples"]),
            number(row["pairs"]),
            share(row["ordered"]),
            text(row["first"]),
        ]
        for row in sorted(queries, key=lambda row: row["ordered"])
    )
    names = ("query", "examples", "pairs", "pairs in order", "target of the example put first (best)")
    return errors(table("Queries, the worst first", names, rows))


# Sentences.


def sentence_errors(sentences, truth, predicted, margins) -> str:
    """Sentences with wrong labels in colour: those with the surest errors first."""
    worst = []
    for i, (right, guess) in enumerate(zip(truth, predicted)):
        wrong = [t for t in range(len(right)) if right[t] != guess[t]]
        if wrong:
            worst.append((max(float(margins[i][t]) for t in wrong), i))
    if not worst:
        return errors(paragraph("There is none: all tokens got their label."))
    order = [i for _, i in sorted(worst, reverse=True)[:SENTENCES]]
    chosen = ([group[i] for i in order] for group in (sentences, predicted, truth))
    words = (
        f"{len(worst):,} of {len(truth):,} sentences hold a wrong label; first those where a wrong label was "
        "ahead by most. Wrong tokens are underlined: predicted ≠ true."
    )
    return errors(paragraph(words), tagged_html(*chosen))


# Trees.


def tree_errors(truth, predicted, scores) -> str:
    """Trees that differ most from the truth, both drawn; scores are F1 by tree."""
    wrong = [i for i in np.argsort(scores, kind="stable") if scores[i] < 1]
    if not wrong:
        return errors(paragraph("There is none: all trees are right."))
    rows = (
        [number(int(i) + 1), number(len(truth[i].words())), share(float(scores[i])), text(_some(truth[i]))]
        for i in wrong[:ROWS]
    )
    parts = [table("Trees with the lowest F1", ("tree", "words", "bracket F1", "sentence"), rows)]
    short = [i for i in wrong if len(truth[i].words()) <= MOST_WORDS][:TREES]
    for i in short:
        ours = drawings.tree(predicted[i], wrong_nodes(predicted[i], truth[i]))
        parts.append(
            f'<h3>Tree {i + 1}</h3><div class="pair">{figure(ours, "predicted; wrong phrases stand out")}'
            f"{figure(drawings.tree(truth[i]), 'true')}</div>"
        )
    return errors(*parts)


def _some(tree) -> str:
    return drawings.shortened(" ".join(tree.words()), 90)

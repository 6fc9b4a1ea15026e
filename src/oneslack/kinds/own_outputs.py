"""Outputs of a model of the user's own, whose loss says how good they are; and sentences in lists."""

from __future__ import annotations

from itertools import pairwise

#: Errors that are listed, letters of each output, and weights.
ROWS, LETTERS, WEIGHTS = 50, 120, 20


def sections(estimator, X, Y):
    """(HTML of how good it is, HTML of its errors) by the loss of the model itself."""
    from ..viz.report import quality
    from ..viz.report.html import number, paragraph, table, text

    found = list(estimator.predict(X))
    truth = list(Y)
    loss = estimator.model.loss if hasattr(estimator, "model") else estimator.model_.loss
    losses = [float(loss(y, z)) for y, z in zip(truth, found, strict=True)]
    n = len(losses)
    right = sum(value == 0 for value in losses)
    pairs = [("mean loss", f"{sum(losses) / n:.6g}"), ("without a loss", f"{100 * right / n:.2f} %")]
    good = quality.quality(pairs, [f"{n:,} examples; the loss is that of the model."])
    worst = [i for i in sorted(range(n), key=lambda i: -losses[i]) if losses[i] > 0][:ROWS]
    if not worst:
        return good, quality.errors(paragraph("There is none: all outputs are without a loss."))
    rows = (
        [number(i + 1), number(losses[i], "{:.4g}"), text(_short(truth[i])), text(_short(found[i]))]
        for i in worst
    )
    names = ("example", "loss", "true", "predicted")
    words = f"{n - right:,} of {n:,} have a loss; first those with the largest."
    return good, quality.errors(paragraph(words), table("Largest losses", names, rows))


def looks(estimator):
    """HTML of the largest weights, by number: only the model knows their names."""
    import numpy as np

    from ..viz.report.html import number, paragraph, table

    w = np.ravel(estimator.coef_)
    order = np.argsort(-np.abs(w), kind="stable")[:WEIGHTS]
    rows = ([number(int(k)), number(float(w[k]), "{:.4g}")] for k in order if w[k])
    words = f"{len(w):,} weights, {np.count_nonzero(w):,} of them not 0; what they weigh, joint_feature says."
    return [paragraph(words), table("Largest weights", ("number, from 0", "weight"), rows)]


def sentences(tagger, X, y):
    """The same of a tagger, whose sentences may be in lists."""
    from ..metrics import phrase_scores, token_accuracy
    from ..viz.report import quality
    from .tag import is_iob

    found = tagger.predict(X)
    truth = _labels(X, y)
    right = sum(a == b for a, b in zip(truth, found, strict=True))
    pairs = [
        ("accuracy", f"{100 * token_accuracy(truth, found):.2f} %"),
        ("sentences without a mistake", f"{100 * right / len(truth):.2f} %"),
    ]
    if is_iob({label for labels in truth for label in labels}):
        pairs.insert(0, ("phrase F1", f"{100 * phrase_scores(truth, found)[None].f1:.2f} %"))
    good = quality.quality(pairs, [f"{len(truth):,} sentences, {sum(map(len, truth)):,} tokens."])
    margins = (
        tagger.predict_margins(X) if hasattr(tagger, "predict_margins") else [[0.0] * len(z) for z in found]
    )
    return good, quality.sentence_errors(_words(X, truth), truth, found, margins)


def _labels(X, y):
    """Lists of labels; y may be the name of a column of Sentences."""
    if not isinstance(y, str):
        return [list(labels) for labels in y]
    flat, offsets = X.columns[y].strings().tolist(), X.offsets.tolist()
    return [flat[lo:hi] for lo, hi in pairwise(offsets)]


def _words(X, truth):
    """A text for each token."""
    if hasattr(X, "columns"):
        return _labels(X, "w" if "w" in X.columns else next(iter(X.columns)))
    return [[_word(t, token) for t, token in enumerate(x)] for x in X]


def _word(t, token):
    if isinstance(token, str):
        return token
    return _short(", ".join(map(str, token))) if isinstance(token, dict) else f"token {t + 1}"


def _short(value):
    words = str(value)
    return words if len(words) <= LETTERS else words[: LETTERS - 1] + "…"

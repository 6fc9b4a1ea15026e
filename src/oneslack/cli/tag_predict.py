"""`oneslack predict` with a tagger: the text again, with a label for every token."""

from __future__ import annotations

from itertools import chain

from .tag_model import read_numbers, reading_of


def tagged_lines(saved, path, scores, options):
    """The lines of the output, made block by block."""
    reading = reading_of(saved, path, options)
    if reading.kind == "svmhmm":
        return _number_lines(saved, path, scores, options.zero_based)
    from ..formats import conll_blocks

    if reading.kind == "conllu":
        blocks = conll_blocks.conllu_blocks(path, reading.places)
    else:
        blocks = conll_blocks.conll_blocks(path, reading.places, tabs=reading.tabs)
    return chain.from_iterable(_block_lines(saved.model, block, reading, scores) for block in blocks)


def _block_lines(model, block, reading, scores):
    from ..formats.conll_blocks import with_column, with_last_column

    labels, margins = [], []
    if block.sentences is not None:
        labels, margins = _labels(model, block.sentences), _margins(model, block.sentences, scores)
    if reading.kind == "conllu":
        notes = [f"Margin={margin}" for margin in margins] if scores else None
        return with_column(block, reading.label, labels, notes)
    if scores:
        cut = "\t" if reading.tabs else " "
        labels = [f"{label}{cut}{margin}" for label, margin in zip(labels, margins, strict=True)]
    return with_last_column(block, labels, reading.tabs)


def _number_lines(saved, path, scores, zero_based):
    X, _ = read_numbers(path, saved, zero_based)
    labels = _labels(saved.model, X)
    if scores:
        labels = map("{}\t{}".format, labels, _margins(saved.model, X, scores))
    return (f"{label}\n" for label in labels)


def _labels(model, X):
    return [str(label) for label in model.classes_[model.predict_codes(X).values].tolist()]


def _margins(model, X, scores):
    """By how much each label beats the best sequence with another one, as text."""
    if not scores:
        return []
    return [f"{margin:.6g}" for margins in model.predict_margins(X) for margin in margins.tolist()]

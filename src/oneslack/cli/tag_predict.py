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
    return chain.from_iterable(_block_lines(saved, block, reading, scores) for block in blocks)


def _block_lines(saved, block, reading, scores):
    from ..formats.conll_blocks import with_column, with_last_column

    cells = [] if block.sentences is None else saved.kind.cells(saved, block.sentences, scores)
    if reading.kind == "conllu":
        notes = [f"Margin={margin}" for _, margin in cells] if scores else None
        return with_column(block, reading.label, [texts[0] for texts in cells], notes)
    cut = "\t" if reading.tabs else " "
    return with_last_column(block, [cut.join(texts) for texts in cells], reading.tabs)


def _number_lines(saved, path, scores, zero_based):
    X, _ = read_numbers(path, saved, zero_based)
    return ("\t".join(texts) + "\n" for texts in saved.kind.cells(saved, X, scores))

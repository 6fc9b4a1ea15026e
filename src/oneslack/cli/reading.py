"""Files for a model that exists: read as its kind takes them, and written with its predictions."""

from __future__ import annotations

from .data import read_for_model
from .output import complain
from .tag_model import refuse_tag_options, tagged_examples, tagged_lines


def examples_for(saved, path, options):
    """What a file holds, with the outputs that the model's are compared with."""
    if saved.kind.takes == "sentences":
        return tagged_examples(saved, path, options)
    refuse_tag_options(saved, options)
    if saved.kind.takes == "rows":
        return read_for_model(path, saved, options.label, options.zero_based, options.group, need_labels=True)
    return saved.kind.read(path, saved, with_outputs=True)


def predicted_lines(saved, path, scores, options):
    """The lines of the output: one an example, or the text of a file again."""
    if saved.kind.takes == "sentences":
        return tagged_lines(saved, path, scores, options)
    refuse_tag_options(saved, options)
    if saved.kind.takes != "rows":
        return _lines(saved, saved.kind.read(path, saved, with_outputs=False).X, scores)
    X = read_for_model(path, saved, options.label, options.zero_based, options.group).X
    if hasattr(X, "manifest"):  # shards, one after the other
        return (line for shard in X for line in _lines(saved, shard.X, scores))
    return _lines(saved, X, scores)


def _lines(saved, X, scores):
    return ("\t".join(cells) + "\n" for cells in saved.kind.cells(saved, X, scores, complain))

"""`oneslack evaluate`: how well a model does on examples with labels or targets."""

from __future__ import annotations

from dataclasses import replace

from .data import read_for_model
from .options import AnyFile, FileOptions, Json, ModelFile, PosLabel
from .output import Exit, Refusal, guarded, print_json
from .tag_model import refuse_tag_options, tagged_examples


@guarded
def evaluate(
    *,
    model: ModelFile,
    file: AnyFile,
    options: FileOptions,
    pos_label: PosLabel = None,
    as_json: Json = False,
):
    """Compare a model's predictions with the labels or targets in FILE.

    The measures are those that fit the model, the one it was trained for first. The last line is the share
    of predictions that are settled: no more training would change them, right or wrong.
    """
    from ..kinds.settled import settled_facts, settled_words
    from .model_store import load_to_predict

    saved = with_positive(load_to_predict(model), pos_label)
    examples = examples_for(saved, file, options)
    facts = {"model": saved.path, "data": file, **saved.kind.measure(saved, examples)}
    facts |= settled_facts(saved, examples)
    if as_json:
        print_json(facts)
        return
    saved.kind.show(facts)
    if words := settled_words(facts):
        print(words)


def with_positive(saved, pos_label):
    """The model with a class that measures look for; refused where it has no two classes."""
    if pos_label is None:
        return saved
    if len(getattr(saved.model, "classes_", ())) != 2 or hasattr(saved.model, "thresholds_"):
        raise Refusal(f"{saved.path}: does not tell two classes apart; drop --pos-label.", Exit.USAGE)
    return replace(saved, pos_label=pos_label)


def examples_for(saved, path, options):
    """What a file holds, with the outputs that the model's are compared with."""
    if saved.kind.takes == "sentences":
        return tagged_examples(saved, path, options)
    refuse_tag_options(saved, options)
    if saved.kind.takes == "rows":
        return read_for_model(path, saved, options.label, options.zero_based, options.group, need_labels=True)
    return saved.kind.read(path, saved, with_outputs=True)

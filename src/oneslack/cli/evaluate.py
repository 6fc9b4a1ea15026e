"""`oneslack evaluate`: how well a model does on examples with labels or targets."""

from __future__ import annotations

from .options import AnyFile, Group, Json, Label, ModelFile, ZeroBased
from .output import guarded, print_json
from .tag_options import Columns, Format


@guarded
def evaluate(
    model: ModelFile,
    file: AnyFile,
    label: Label = None,
    group: Group = None,
    zero_based: ZeroBased = None,
    columns: Columns = None,
    format: Format = None,
    as_json: Json = False,
):
    """Compare a model's predictions with the labels or targets in FILE.

    The measures are those that fit the model, the one it was trained for first.
    """
    from .model_store import load_to_predict
    from .reading import examples_for
    from .tag_model import TagOptions

    saved = load_to_predict(model)
    examples = examples_for(saved, file, TagOptions(label, columns, format, group, zero_based))
    facts = {"model": saved.path, "data": file, **saved.kind.measure(saved, examples)}
    if as_json:
        print_json(facts)
    else:
        saved.kind.show(facts)

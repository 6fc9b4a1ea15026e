"""`oneslack evaluate`: how well a model does on examples with labels or targets."""

from __future__ import annotations

from .options import AnyFile, FileOptions, Json, ModelFile
from .output import guarded, print_json


@guarded
def evaluate(
    *,
    model: ModelFile,
    file: AnyFile,
    options: FileOptions,
    as_json: Json = False,
):
    """Compare a model's predictions with the labels or targets in FILE.

    The measures are those that fit the model, the one it was trained for first.
    """
    from .model_store import load_to_predict
    from .reading import examples_for

    saved = load_to_predict(model)
    examples = examples_for(saved, file, options)
    facts = {"model": saved.path, "data": file, **saved.kind.measure(saved, examples)}
    if as_json:
        print_json(facts)
    else:
        saved.kind.show(facts)

"""`oneslack verify`: prove anew what a model file claims, from its proof and the data it was trained on."""

from __future__ import annotations

import time

from .evaluate import examples_for
from .options import AnyFile, FileOptions, Json, ModelFile
from .output import Exit, complain, guarded, print_json


@guarded
def verify(
    *,
    model: ModelFile,
    file: AnyFile,
    options: FileOptions,
    as_json: Json = False,
):
    """Recompute both bounds of a model that was trained with --proof from FILE, the data it was trained on.

    It says how far above the optimum the model is at most, by code that shares nothing with the training, or
    which line of the proof fails, with exit code 5.
    """
    from ..checks.proof import check_proof
    from ..errors import ProofError
    from .model_store import load_to_predict
    from .packed import PackedTable, in_memory

    saved = load_to_predict(model)
    examples = examples_for(saved, file, options)
    if isinstance(examples, PackedTable):
        examples = in_memory(examples.X)
    weights, groups = (getattr(examples, name, None) for name in ("sample_weight", "qid"))
    facts, clock = {"model": model, "data": file}, time.perf_counter()
    try:
        report = check_proof(model, examples.X, _outputs(saved, examples), weights, groups=groups)
    except ProofError as error:
        if as_json:
            print_json(facts | {"proven": False, "why": str(error)})
        complain(error)
        return Exit.NOT_PROVEN
    facts |= {
        "proven": True, "relative_gap": report.gap, "primal": report.primal, "dual": report.dual,
        "problems": report.n_problems, "seconds": time.perf_counter() - clock, "lines": report.lines,
        "remark": report.remark,
    }  # fmt: skip
    if as_json:
        print_json(facts)
    else:
        print(report)
    return Exit.OK


def _outputs(saved, examples):
    """Labels as the model knows them: text, or numbers."""
    classes, y = getattr(saved.model, "classes_", None), examples.y
    is_text = classes is not None and classes.dtype.kind in "OU" and hasattr(y, "dtype")
    return y.astype(str) if is_text and y.dtype.kind not in "OU" else y

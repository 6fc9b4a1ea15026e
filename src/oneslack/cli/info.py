"""`oneslack info`: what a model file or a data file holds."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ..kinds.targets import in_order
from .options import FileOptions, Json
from .output import Exit, Refusal, guarded, print_json
from .packed import is_packed, packed_facts
from .tag_info import tagged_facts

MANY = 20


@guarded
def info(
    *,
    file: Annotated[
        str | None,
        typer.Argument(metavar="MODEL|FILE", help="A saved model, or a file of examples."),
    ] = None,
    options: FileOptions,
    as_json: Json = False,
    as_markdown: Annotated[
        bool,
        typer.Option("--markdown", help="For bug reports: the same as a table, with versions and the "
                     "machine; without a file those alone."),
    ] = False,
):  # fmt: skip
    """Show what a model or a data file holds."""
    if as_json and as_markdown:
        raise Refusal("--json and --markdown do not go together; drop one of them.", Exit.USAGE)
    if file is None and not as_markdown:
        raise Refusal("Missing argument 'MODEL|FILE'; see `oneslack info --help`.", Exit.USAGE)
    facts = {} if file is None else _facts(file, options)
    if as_json:
        print_json(facts)
    elif as_markdown:
        from .info_markdown import markdown

        print(markdown(words_of(facts)))
    else:
        shown = words_of(facts)
        width = max(map(len, shown))
        for name, text in shown.items():
            print(f"{name:<{width}}  {text}")


def _facts(file, options) -> dict:
    from ..formats.registry import format_of
    from .model_store import looks_like_model

    if is_packed(file):
        return packed_facts(file)
    if looks_like_model(file) or _looks_like_pickle(file):
        return model_facts(file)
    is_tagged = any(value is not None for value in options.of_tags().values())
    if is_tagged or format_of(file).holds == "sentences":
        return tagged_facts(file, options.format, options.columns, options.label)
    return _data_facts(file, options)


def _looks_like_pickle(path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(1) == b"\x80"
    except OSError:
        return False


def model_facts(path) -> dict:
    """What a model file holds; None for what it does not say."""
    from .model_store import load

    saved = load(path)
    training = saved.header.get("training", {})
    return {
        "file": path,
        "holds": f"{'an' if saved.header['kind'][0] in 'AEIOU' else 'a'} {saved.header['kind']} model",
        **saved.kind.facts(saved),
        "queries": training.get("queries"),
        "pairs": training.get("pairs"),
        "tokens": training.get("tokens"),
        "features": saved.n_features,
        **saved.kind.weights(saved.model),
        "certificate": {
            name: value for name, value in saved.header["certificate"].items() if name != "trace"
        },
        "proof": "carried: `oneslack verify` proves it anew" if "proof" in saved.header else None,
        "status": training.get("status"),
        "trained_on": training.get("data"),
        "examples": training.get("examples"),
        "solver": training.get("solver"),
        "seconds": training.get("seconds"),
        "parameters": saved.header["parameters"],
        "oneslack": saved.header.get("oneslack"),
        "bytes": os.path.getsize(path),
    }


def _data_facts(path, options) -> dict:
    from ..errors import FormatError
    from ..formats.registry import format_of
    from .data import read_any
    from .table_info import facts_of

    try:
        table, source = read_any(path, options.label, options.zero_based, options.group)
    except FormatError:
        if format_of(path, "table").name != "csv":
            raise
        return facts_of(path, options.label)  # which raises what is wrong with it as a CSV
    n, d = table.X.shape
    stored = int((table.X != 0).sum())
    return {
        "file": path,
        "holds": f"{source.kind} data",
        "examples": n,
        "features": d,
        "density": stored / (n * d) if n * d else 0.0,
        "zero_based": source.zero_based,
        "feature_names": source.feature_names,
        "queries": None if table.qid is None else len(set(table.qid.tolist())),
        "labels": _label_facts(table.y),
        "bytes": os.path.getsize(path),
    }


def _label_facts(y):
    """{label: how often}, or for numbers of many values their range."""
    import numpy as np

    if y is None:
        return None
    values, counts = np.unique(y, return_counts=True)
    if y.dtype.kind == "f" and len(values) > MANY:
        return {"values": len(values), "lowest": float(values[0]), "highest": float(values[-1])}
    return {"classes": len(values), "counts": dict(zip(map(str, values.tolist()), counts.tolist()))}


def words_of(facts) -> dict:
    """The facts that are known, each in words."""
    shown = {name: _text(name, value) for name, value in facts.items() if value is not None}
    if "thresholds" in facts:
        shown["classes"] = f"{len(facts['classes'])}, in this order: {in_order(facts['classes'])}"
    return {name.replace("_", " "): text for name, text in shown.items()}


def _text(name, value) -> str:
    if name == "certificate":
        return _certificate_text(value)
    if name == "density":
        return f"{100 * value:.3g} %"
    if name == "seconds":
        return f"{value:.2f}"
    if name == "thresholds":
        return _some([f"{threshold:.6g}" for threshold in value])
    if name in ("labels", "phrases") and "counts" in value:
        counts = [f"{label} ({count:,})" for label, count in value["counts"].items()]
        return f"{value['classes']} {'classes' if name == 'labels' else 'types'}: {_some(counts)}"
    if name == "columns" and isinstance(value, dict):
        return f"{len(value):,}" + "".join(
            f"\n    {key or '(no name)'}: {item}" for key, item in value.items()
        )
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, list):
        return f"{len(value):,}: {_some(value)}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _certificate_text(certificate) -> str:
    from ..certificate.words import distance
    from .progress import number

    primal, dual = certificate["primal"], certificate["dual"]
    return (
        f"{distance(primal, dual)} (objective {number(primal)}, optimum at least {number(dual)}, "
        f"{certificate['n_iter']:,} steps)"
    )


def _some(values) -> str:
    """The first of many."""
    text = ", ".join(map(str, values[:MANY]))
    return text + (", ..." if len(values) > MANY else "")

"""`oneslack info`: what a model file or a data file holds."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from .options import Group, Json, Label, ZeroBased
from .output import guarded, print_json
from .parse_output import is_parser, parser_facts
from .tag_info import tagged_facts, tagger_facts
from .tag_model import is_tagger
from .tag_options import Columns, Format
from .targets import in_order

MANY = 20


@guarded
def info(
    file: Annotated[
        str,
        typer.Argument(metavar="MODEL|FILE", help="A saved model, or a file of examples.",
                       show_default=False),
    ],
    label: Label = None,
    group: Group = None,
    zero_based: ZeroBased = None,
    columns: Columns = None,
    format: Format = None,
    as_json: Json = False,
):  # fmt: skip
    """Show what a model or a data file holds."""
    from .model_store import looks_like_model
    from .tag_data import looks_tagged

    if looks_like_model(file):
        facts = _model_facts(file)
    elif format is not None or columns is not None or looks_tagged(file):
        facts = tagged_facts(file, format and format.value, columns, label)
    else:
        facts = _data_facts(file, label, zero_based, group)
    if as_json:
        print_json(facts)
    else:
        _print(facts)


def _model_facts(path) -> dict:
    from .model_store import load

    saved = load(path)
    model, training = saved.model, saved.header.get("training", {})
    return {
        "file": path,
        "holds": f"{'an' if saved.header['kind'][0] in 'AEIOU' else 'a'} {saved.header['kind']} model",
        **_output_facts(saved),
        "queries": training.get("queries"),
        "pairs": training.get("pairs"),
        "tokens": training.get("tokens"),
        "features": saved.n_features,
        **_weight_facts(model),
        "certificate": saved.header["certificate"],
        "status": training.get("status"),
        "trained_on": training.get("data"),
        "examples": training.get("examples"),
        "solver": training.get("solver"),
        "seconds": training.get("seconds"),
        "parameters": saved.header["parameters"],
        "oneslack": saved.header.get("oneslack"),
        "bytes": os.path.getsize(path),
    }


def _output_facts(saved) -> dict:
    """What the model predicts, and what it was trained for."""
    model = saved.model
    if is_tagger(saved):
        return tagger_facts(saved)
    if is_parser(saved):
        return parser_facts(saved)
    if not hasattr(model, "n_features_in_"):
        return {"model": saved.header["model"]["name"]}
    of_numbers = "numbers" if saved.header["kind"] == "LinearSVR" else "scores to rank by"
    facts = {"predicts": of_numbers if not hasattr(model, "classes_") else None}
    if saved.header["kind"] == "LinearSVR":
        facts["tube"] = float(model.epsilon)
    if hasattr(model, "classes_"):
        facts["classes"] = model.classes_.tolist()
    if hasattr(model, "thresholds_"):
        facts["thresholds"] = model.thresholds_.tolist()
    if hasattr(model, "metric"):
        several = model.multilabel_ or len(model.classes_) > 2
        facts["metric"] = model.metric
        facts["k"] = model.k if model.metric in ("precision_at_k", "recall_at_k") else None
        facts["beta"] = model.beta if model.metric == "fbeta" else None
        facts["positive_class"] = None if several else model.classes_[1].item()
        facts["labels_an_example"] = "several" if model.multilabel_ else None
    return facts


def _weight_facts(model) -> dict:
    import numpy as np

    # A ranking has no intercept: it stands as one plain 0.
    intercept = getattr(model, "intercept_", 0.0)
    learned = np.append(model.coef_, intercept if np.ndim(intercept) else [])
    return {"weights": learned.size, "nonzero_weights": int((learned != 0).sum())}


def _data_facts(path, label, zero_based, group) -> dict:
    from .data import read_any

    table, source = read_any(path, label, zero_based, group)
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


def _print(facts):
    shown = {name: _text(name, value) for name, value in facts.items() if value is not None}
    if "thresholds" in facts:
        shown["classes"] = f"{len(facts['classes'])}, in this order: {in_order(facts['classes'])}"
    width = max(map(len, shown))
    for name, text in shown.items():
        print(f"{name.replace('_', ' '):<{width}}  {text}")


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
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, list):
        return f"{len(value):,}: {_some(value)}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _certificate_text(certificate) -> str:
    from .progress import distance, number

    primal, dual = certificate["primal"], certificate["dual"]
    return (
        f"{distance(primal, dual)} (objective {number(primal)}, optimum at least {number(dual)}, "
        f"{certificate['n_iter']:,} steps)"
    )


def _some(values) -> str:
    """The first of many."""
    text = ", ".join(map(str, values[:MANY]))
    return text + (", ..." if len(values) > MANY else "")

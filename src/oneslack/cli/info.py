"""`oneslack info`: what a model file or a data file holds."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from .options import Json, Label, ZeroBased
from .output import guarded, print_json

MANY = 20


@guarded
def info(
    file: Annotated[
        str,
        typer.Argument(metavar="MODEL|FILE", help="A saved model, or a file of examples.",
                       show_default=False),
    ],
    label: Label = None,
    zero_based: ZeroBased = None,
    as_json: Json = False,
):  # fmt: skip
    """Show what a model or a data file holds."""
    from .model_store import looks_like_model

    facts = _model_facts(file) if looks_like_model(file) else _data_facts(file, label, zero_based)
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
        "holds": f"a {saved.header['kind']} model",
        "classes": model.classes_.tolist(),
        "features": saved.n_features,
        "weights": int(model.coef_.size + model.intercept_.size),
        "nonzero_weights": int((model.coef_ != 0).sum() + (model.intercept_ != 0).sum()),
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


def _data_facts(path, label, zero_based) -> dict:
    from .data import read_any

    table, source = read_any(path, label, zero_based)
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
    if name == "labels" and "counts" in value:
        counts = [f"{label} ({count:,})" for label, count in value["counts"].items()]
        return f"{value['classes']} classes: {_some(counts)}"
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

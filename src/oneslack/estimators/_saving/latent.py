"""Estimators with latent values as the header and arrays of a model file, and back.

Their models are code of the user's, which a model file does not hold: it knows the model's name and how many
weights it has, and whoever loads the file brings the model along.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from sklearn.base import is_classifier

from ...errors import OneslackError
from ...latent.concave_convex import Round
from .file_fields import check_shape, count, field, flag, floats, number, table
from .linear import classes_from_file, classes_to_file, common_from_file, common_to_file


def to_file(svm):
    """(header, arrays) of a fitted LatentSVM or LatentStructuralSVM."""
    header, arrays = common_to_file(svm)
    header["model"] = {"own": type(svm.model).__name__, "n_params": int(svm.model.n_params)}
    header["rounds"] = [_round_to_file(entry) for entry in svm.rounds_]
    if hasattr(svm, "classes_"):
        header["classes"], class_arrays = classes_to_file(svm.classes_)
        arrays |= class_arrays
    return header, arrays | {"coef": np.asarray(svm.coef_, dtype=float)}


def from_file(cls, header, arrays, model):
    """The estimator with the `model` given; a ValueError, TypeError or KeyError where something is wrong."""
    svm = common_from_file(cls, header, arrays, model, is_convex=False)
    if is_classifier(svm):
        svm.classes_ = classes_from_file(table(header, "classes"), arrays)
        check_shape("class labels", svm.classes_, (2,))
    svm.rounds_ = [_round_from_file(entry) for entry in field(header, "rounds", (list,), "a list of rounds")]
    svm.coef_ = floats(arrays, "coef", (count(table(header, "model"), "n_params"),), "weights")
    return svm


def check_given(path, header, model):
    """Refuse a model where the file has its own, none where it needs one, and one that is another."""
    known = header.get("model") if isinstance(header, dict) else None
    name = known.get("own") if isinstance(known, dict) else None
    if name is None:
        if model is not None:
            raise OneslackError(f"{path}: holds all that it needs; drop model={type(model).__name__}(...).")
        return
    if model is None:
        raise OneslackError(
            f"{path}: holds the weights of {name}, a model of your own, but no code; in Python, give it: "
            f"oneslack.load({str(path)!r}, model={name}(...))."
        )
    mine, n_params = type(model).__name__, getattr(model, "n_params", None)
    if mine != name or n_params != known.get("n_params"):
        raise OneslackError(
            f"{path}: holds {known.get('n_params')} weights of {name}, but the model given is {mine} with "
            f"{n_params}; give the one that was trained."
        )


def _round_to_file(entry):
    """The first round of a start begins with no objective, which JSON has no number for."""
    values = asdict(entry)
    return values | {"objective": values["objective"] if np.isfinite(values["objective"]) else None}


def _round_from_file(values):
    first = field(values, "objective", (int, float, type(None)), "a number or nothing") is None
    return Round(
        start=count(values, "start"),
        number=count(values, "number"),
        objective=np.inf if first else number(values, "objective", finite=False),
        convex=number(values, "convex", finite=False),
        gap=number(values, "gap", 0.0, finite=False),
        changed=count(values, "changed"),
        annealed=flag(values, "annealed"),
        seconds=number(values, "seconds", 0.0),
    )

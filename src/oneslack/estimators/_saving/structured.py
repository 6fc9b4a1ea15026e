"""What estimators with a model of outputs have in common as the header and arrays of a model file, and back.

Most weights of a tagger are zero, so that only the others are stored, by their numbers; what is large is
compressed.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ...formats.compressed import compress, decompress
from ...models import Binary, Chain, Multiclass
from .file_fields import check_shape, choice, count, field, floats, integers, refuse_more_than_memory, table
from .linear import common_to_file

#: Fields of models that hold a loss for each pair of labels.
LOSSES = ("losses", "label_losses")
#: Models whose fields say all about them.
MODELS = {model.__name__: model for model in (Binary, Chain, Multiclass)}


def decompressed(header, arrays):
    """The arrays as they were; older files have none that is compressed."""
    return decompress(table({"compressed": {}} | header, "compressed"), arrays)


def compressed(header, arrays):
    """The same, with what is large made small."""
    about, arrays = compress(arrays)
    return {**header, "compressed": about}, arrays


def structured_to_file(estimator, model):
    """(header, arrays) with the model and the weights that are not zero."""
    header, arrays = common_to_file(estimator)
    header["model"], model_arrays = _model_to_file(model)
    index = np.flatnonzero(estimator.coef_)
    small = model.n_params <= np.iinfo(np.int32).max
    weights = {
        "coef.index": index.astype(np.int32 if small else np.int64),
        "coef.value": np.asarray(estimator.coef_, dtype=float)[index],
    }
    return header, arrays | model_arrays | weights


def weights_from_file(n_params, arrays):
    """(n_params,), zeros among them."""
    index = integers(arrays, "coef.index", (None,), n_params)
    value = floats(arrays, "coef.value", index.shape, "weights")
    if (np.diff(index) <= 0).any():
        raise ValueError("the numbers of the weights are not increasing integers")
    refuse_more_than_memory(n_params)
    w = np.zeros(n_params)  # room that the system gives when it is written to
    w[index] = value
    return w


def _model_to_file(model):
    """Numbers in the header, arrays beside it."""
    name = type(model).__name__
    values = {field.name: getattr(model, field.name) for field in fields(model)}
    arrays = {f"model.{field}": value for field, value in values.items() if isinstance(value, np.ndarray)}
    # Flags are written as 0 and 1, so that Chain(2, 3) and Chain(np.int64(2), 3) are the same file.
    plain = {
        field: None if value is None else int(value)
        for field, value in values.items()
        if not isinstance(value, np.ndarray)
    }
    return {"name": name, "fields": plain}, arrays


def model_from_file(header, arrays, models=MODELS):
    """The model; losses are never left to their default, whose size only the header would tell."""
    kind, plain = models[choice(header, "name", models, "the model")], table(header, "fields")
    values = {}
    for place in fields(kind):
        name = place.name
        if place.type == "int":
            values[name] = count(plain, name)
        elif place.type == "bool":
            values[name] = bool(count(plain | {name: int(plain[name])}, name, most=1))
        elif name in plain and name not in LOSSES:
            values[name] = field(plain, name, (type(None),), "an array beside the header")
        else:
            values[name] = arrays[f"model.{name}"]
            _check_table(name, values[name], values)
    return kind(**values)


def _check_table(name, array, sizes):
    """Of losses, or of what is allowed: a row and a column a label, or a place a label."""
    n = sizes.get("n_labels", sizes.get("n_classes"))
    check_shape(f"{name} of the model", array, (n, n) if name in (*LOSSES, "allowed") else (n,))
    if array.dtype != (np.float64 if name in LOSSES else np.bool_) or not np.isfinite(array).all():
        raise ValueError(f"{name} of the model is of type {array.dtype}, or holds NaN or infinity")

"""The parameters `prior`, `scale` and `nonnegative` of the estimators, as `Problem` takes them.

They are said of the weights of features; intercepts stay out of it.  One that is penalised is the weight of a
last column here, of scale 1 / intercept_scaling.
"""

from __future__ import annotations

import numpy as np

from ...problems.regulariser_input import is_grouped, weight_mask, weight_values
from .given import given_terms

DEFAULTS = {"prior": 0.0, "scale": 1.0, "nonnegative": False}


def linear_terms(estimator, task) -> list[dict]:
    """What `Problem` takes, for each problem of a task with linear scores."""
    n_rows = 1 if task.classes is None or len(task.classes) == 2 else len(task.classes)
    has_column = estimator._penalises_intercept
    rows = rows_of_terms(estimator, (n_rows, task.n_features - has_column))
    if has_column:
        rows = _with_column(rows, n_rows, task.n_features, float(estimator.intercept_scaling))
    intercept = np.zeros(n_rows)
    flat = {name: task.flat(values.astype(float), intercept) for name, values in rows.items()}
    return [
        {name: _with_default(name, flat[name][k], model) for name in flat}
        for k, (model, _, _) in enumerate(task.models())
    ]


def _with_column(rows, n_rows, d, scaling):
    """The terms with those of a penalised intercept behind."""
    if scaling != 1.0:
        rows.setdefault("scale", np.ones((n_rows, d - 1)))
    of_column = DEFAULTS | {"scale": 1.0 / scaling}
    return {name: np.column_stack([v, np.full(n_rows, of_column[name])]) for name, v in rows.items()}


def rows_of_terms(estimator, shape) -> dict:
    """Those of the three that are given, each of the shape of `coef_`."""
    columns = getattr(estimator, "feature_names_in_", None)
    names = None if columns is None else {name: [k] for k, name in enumerate(columns)}
    return {name: _rows(name, value, shape, names) for name, value in given_terms(estimator).items()}


def scale_rows(estimator, shape):
    """The scale of each weight, of the shape of `coef_`; None where none is given."""
    rows = rows_of_terms(estimator, shape)
    return np.array(rows["scale"], float) if "scale" in rows else None


def _with_default(name, values, model):
    """Of one problem; an intercept has the default."""
    values = values.astype(bool) if name == "nonnegative" else values.copy()
    values[getattr(model, "free", [])] = DEFAULTS[name]
    return values


def _rows(name, value, shape, names):
    """Values of the shape of `coef_`, from one of (d,), of that shape, or by groups of columns."""
    d = shape[1]
    is_named = isinstance(value, str) or is_grouped(value)
    array = None if is_named or value is True else np.asarray(value)
    if array is not None and array.ndim == 2:
        if array.shape != shape or array.dtype.kind not in ("b" if name == "nonnegative" else "biuf"):
            raise ValueError(_expected(name, array, shape))
        return _checked(name, array)
    if name == "nonnegative":
        mask = weight_mask(value, d, (), names)
        return np.broadcast_to(np.zeros(d, bool) if mask is None else mask, shape)
    if array is not None and array.ndim and array.shape != (d,):
        raise ValueError(_expected(name, array, shape))
    return _checked(name, np.broadcast_to(weight_values(name, value, d, DEFAULTS[name], names), shape))


def _checked(name, values):
    if name == "scale" and not (values > 0).all():
        raise ValueError("scale must hold numbers > 0")
    if name != "nonnegative" and not np.isfinite(values).all():
        raise ValueError(f"{name} must hold finite numbers")
    return values


def _expected(name, array, shape):
    kind = "a mask" if name == "nonnegative" else "numbers"
    return (
        f"{name} has shape {array.shape}, expected {kind} of shape ({shape[1]},), one a feature, or {shape}"
    )


def tagger_terms(tagger, indexer, model, classes) -> dict:
    """What `Problem` takes for a chain, whose features and labels have names."""
    given = given_terms(tagger)
    if any(isinstance(value, dict) or _is_names(value) for value in given.values()):
        blocks = ChainNames(indexer, model, classes)
        for name, value in given.items():
            if isinstance(value, dict):
                given[name] = weight_values(name, value, model.n_params, DEFAULTS[name], blocks)
            elif _is_names(value):
                given[name] = weight_mask(value, model.n_params, (), blocks)
    return given


def _is_names(value):
    return isinstance(value, str) or (
        isinstance(value, list) and any(isinstance(item, str) for item in value)
    )


class ChainNames:
    """From names to weights of a chain: its blocks, a feature (with all labels), or (feature, label)."""

    def __init__(self, indexer, model, classes):
        self.model = model
        named = indexer is not None and getattr(indexer, "hash_bits", None) is None
        self.columns = {name: k for k, name in enumerate(indexer.feature_names())} if named else {}
        self.labels = {label: a for a, label in enumerate(classes.tolist())}

    def __iter__(self):
        """A few, for a message."""
        yield from self.model.blocks
        yield from list(self.columns)[:3]

    def __contains__(self, key):
        if isinstance(key, tuple) and len(key) == 2:
            return key[0] in self.columns and key[1] in self.labels
        return key in self.model.blocks or key in self.columns

    def __getitem__(self, key):
        L = self.model.n_labels
        if isinstance(key, tuple):
            return [self.columns[key[0]] * L + self.labels[key[1]]]
        if key in self.model.blocks:
            return self.model.blocks[key]
        return slice(self.columns[key] * L, (self.columns[key] + 1) * L)

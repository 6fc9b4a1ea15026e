"""Taggers and structural SVMs as the header and arrays of a model file, and back.

Most weights of a tagger are zero, so that only the others are stored, by their numbers; what is large is
compressed.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ...errors import OneslackError
from ...features import DictIndexer, FeatureIndex
from ...formats.compressed import compress, decompress
from ...models import Binary, Chain, Multiclass
from .._shared.kernel_indexer import KernelIndexer
from .._shared.kernel_inputs import on_basis
from .basis import basis_from_file, basis_to_file
from .file_fields import check_shape, choice, count, field, floats, integers, refuse_more_than_memory, table
from .linear import classes_from_file, classes_to_file, common_from_file, common_to_file

#: Fields of models that hold a loss for each pair of labels.
LOSSES = ("losses", "label_losses")
#: Models whose fields say all about them.
MODELS = {model.__name__: model for model in (Binary, Chain, Multiclass)}
#: What turns tokens into features, by its name in the header; matrices need nothing.
INDEXERS = {"dicts": DictIndexer, "templates": FeatureIndex, "kernel": KernelIndexer, "matrices": None}


def tagger_to_file(tagger):
    """(header, arrays) of a fitted SequenceTagger."""
    header, arrays = _structured_to_file(tagger, tagger.model_)
    header["classes"], class_arrays = classes_to_file(tagger.classes_)
    indexer = tagger._indexer
    name = next(name for name, kind in INDEXERS.items() if kind is (indexer and type(indexer)))
    about, index = ({}, {}) if indexer is None else indexer.to_arrays()
    header["features"] = {"from": name, **about}
    return _compressed(header, arrays | class_arrays | index)


def tagger_from_file(kind, header, arrays):
    """The SequenceTagger; a ValueError, TypeError or KeyError where something is missing or wrong."""
    arrays = decompress(table({"compressed": {}} | header, "compressed"), arrays)
    tagger = common_from_file(kind, header, arrays)
    tagger.classes_ = classes_from_file(table(header, "classes"), arrays, at_least=1)
    tagger.model_ = _model_from_file(table(header, "model"), arrays)
    if not isinstance(tagger.model_, Chain):
        raise ValueError("a tagger has a Chain")
    check_shape("class labels", tagger.classes_, (tagger.model_.n_labels,))
    _check_allowed(tagger.model_)
    about = table(header, "features")
    indexer = INDEXERS[choice(about, "from", INDEXERS, "features from")]
    tagger._indexer = None if indexer is None else indexer.from_arrays(about, arrays)
    if indexer is not None and tagger._indexer.n_features != tagger.model_.n_features:
        raise ValueError(
            f"there are {tagger._indexer.n_features} features, expected {tagger.model_.n_features}"
        )
    tagger.coef_ = _weights(tagger.model_.n_params, arrays)
    return tagger


def _check_allowed(chain):
    """Raise unless sentences of any length have labels that may follow each other."""
    may = np.ones(chain.n_labels, bool) if chain.allowed_start is None else chain.allowed_start
    for _ in range(chain.n_labels + 1):
        if not may.any():
            raise ValueError("allowed and allowed_start of the model leave no labels for a sentence")
        before, may = may, may if chain.allowed is None else chain.allowed[may].any(axis=0)
        if (may == before).all():
            return


def structural_to_file(svm):
    """(header, arrays) of a fitted StructuralSVM with one of MODELS."""
    header, arrays = _structured_to_file(svm, svm.model)
    if getattr(svm, "basis_", None) is not None:
        header["basis"], basis = basis_to_file(svm.basis_)
        arrays |= basis
    return _compressed(header, arrays)


def structural_from_file(kind, header, arrays):
    """The StructuralSVM; a ValueError, TypeError or KeyError where something is missing or wrong."""
    arrays = decompress(table({"compressed": {}} | header, "compressed"), arrays)
    model = _model_from_file(table(header, "model"), arrays)
    svm = common_from_file(kind, header, arrays, model)
    svm.basis_ = basis_from_file(table(header, "basis"), arrays) if "basis" in header else None
    if svm.basis_ is not None and svm.basis_.n_features_in_ != model.n_features:
        raise ValueError(f"the basis has {svm.basis_.n_features_in_} columns, not {model.n_features}")
    svm.coef_ = _weights(on_basis(model, svm.basis_).n_params, arrays)
    return svm


def _compressed(header, arrays):
    about, arrays = compress(arrays)
    return {**header, "compressed": about}, arrays


def _structured_to_file(estimator, model):
    header, arrays = common_to_file(estimator)
    header["model"], model_arrays = _model_to_file(model)
    index = np.flatnonzero(estimator.coef_)
    small = model.n_params <= np.iinfo(np.int32).max
    weights = {
        "coef.index": index.astype(np.int32 if small else np.int64),
        "coef.value": np.asarray(estimator.coef_, dtype=float)[index],
    }
    return header, arrays | model_arrays | weights


def _weights(n_params, arrays):
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
    if MODELS.get(name) is not type(model):
        raise OneslackError(
            f"{name} is a model of your own, and a model file holds no code: pickle the estimator, or keep "
            f"its coef_; models that can be saved are {', '.join(MODELS)}"
        )
    values = {field.name: getattr(model, field.name) for field in fields(model)}
    arrays = {f"model.{field}": value for field, value in values.items() if isinstance(value, np.ndarray)}
    # Flags are written as 0 and 1, so that Chain(2, 3) and Chain(np.int64(2), 3) are the same file.
    plain = {
        field: None if value is None else int(value)
        for field, value in values.items()
        if not isinstance(value, np.ndarray)
    }
    return {"name": name, "fields": plain}, arrays


def _model_from_file(header, arrays):
    """The model; losses are never left to their default, whose size only the header would tell."""
    kind, plain = MODELS[choice(header, "name", MODELS, "the model")], table(header, "fields")
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

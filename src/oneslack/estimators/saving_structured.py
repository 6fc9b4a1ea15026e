"""Taggers and structural SVMs as the header and arrays of a model file, and back.

Most weights of a tagger are zero, so that only the others are stored, by their numbers; what is large is
compressed.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ..errors import OneslackError
from ..features import DictIndexer, FeatureIndex
from ..formats.compressed import compress, decompress
from ..models import Binary, Chain, Multiclass
from .kernel_indexer import KernelIndexer
from .kernel_inputs import on_basis
from .saving import (
    certificate_from_file,
    check_shape,
    classes_from_file,
    classes_to_file,
    common_to_file,
    parameters_from_file,
)
from .saving_basis import basis_from_file, basis_to_file

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
    """The SequenceTagger; a ValueError, TypeError or KeyError where something is missing."""
    arrays = decompress(header.get("compressed", {}), arrays)
    tagger = kind(**parameters_from_file(header["parameters"], arrays))
    tagger.model_ = _model_from_file(header["model"], arrays)
    if not isinstance(tagger.model_, Chain):
        raise ValueError("a tagger has a Chain")
    tagger.classes_ = classes_from_file(header["classes"], arrays, at_least=1)
    check_shape("class labels", tagger.classes_, (tagger.model_.n_labels,))
    indexer = _known(INDEXERS, header["features"]["from"], "features from")
    tagger._indexer = None if indexer is None else indexer.from_arrays(header["features"], arrays)
    if indexer is not None and tagger._indexer.n_features != tagger.model_.n_features:
        raise ValueError(
            f"there are {tagger._indexer.n_features} features, expected {tagger.model_.n_features}"
        )
    return _finish(tagger, tagger.model_, header, arrays)


def structural_to_file(svm):
    """(header, arrays) of a fitted StructuralSVM with one of MODELS."""
    header, arrays = _structured_to_file(svm, svm.model)
    if getattr(svm, "basis_", None) is not None:
        header["basis"], basis = basis_to_file(svm.basis_)
        arrays |= basis
    return _compressed(header, arrays)


def structural_from_file(kind, header, arrays):
    """The StructuralSVM; a ValueError, TypeError or KeyError where something is missing."""
    arrays = decompress(header.get("compressed", {}), arrays)
    model = _model_from_file(header["model"], arrays)
    svm = kind(model, **parameters_from_file(header["parameters"], arrays))
    svm.basis_ = basis_from_file(header["basis"], arrays) if "basis" in header else None
    if svm.basis_ is not None and svm.basis_.n_features_in_ != model.n_features:
        raise ValueError(f"the basis has {svm.basis_.n_features_in_} columns, not {model.n_features}")
    return _finish(svm, on_basis(model, svm.basis_), header, arrays)


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


def _finish(estimator, model, header, arrays):
    certificate_from_file(estimator, header["certificate"])
    estimator.coef_ = _weights(model.n_params, arrays["coef.index"], arrays["coef.value"])
    return estimator


def _weights(n_params, index, value):
    check_shape("weights", value, (index.size,))
    if index.dtype.kind != "i" or index.ndim != 1 or (np.diff(index) <= 0).any():
        raise ValueError("the numbers of the weights are not increasing integers")
    if len(index) and not 0 <= index[0] <= index[-1] < n_params:
        raise ValueError(f"weights are numbered {index[0]} to {index[-1]}, but the model has {n_params}")
    w = np.zeros(n_params)
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
    kind, plain = _known(MODELS, header["name"], "the model"), header["fields"]
    values = {}
    for field in fields(kind):
        if field.name in plain:
            value = plain[field.name]
            if not isinstance(value, int | None):
                raise ValueError(f"{field.name} of the model is {value!r}, expected a number")
            values[field.name] = bool(value) if field.type == "bool" else value
        else:
            values[field.name] = arrays[f"model.{field.name}"]
    return kind(**values)


def _known(table, name, what):
    if name not in table:
        raise ValueError(f"{what} {name!r} is not known")
    return table[name]

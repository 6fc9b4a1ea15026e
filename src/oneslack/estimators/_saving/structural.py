"""Structural SVMs as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from ...errors import OneslackError
from .._shared.kernel_inputs import on_basis
from .basis import basis_from_file, basis_to_file
from .file_fields import count, floats, table
from .linear import common_from_file, common_to_file
from .structured import (
    MODELS,
    compressed,
    decompressed,
    model_from_file,
    structured_to_file,
    weights_from_file,
)


def to_file(svm):
    """(header, arrays) of a fitted StructuralSVM; of a model of the user's own, its name and weights."""
    name = type(svm.model).__name__
    if MODELS.get(name) is not type(svm.model):
        if getattr(svm, "basis_", None) is not None:
            raise OneslackError(f"{name} is a model of your own, which is saved without a kernel only")
        header, arrays = common_to_file(svm)
        header["model"] = {"own": name, "n_params": len(svm.coef_)}
        return header, arrays | {"coef": np.asarray(svm.coef_, dtype=float)}
    header, arrays = structured_to_file(svm, svm.model)
    if getattr(svm, "basis_", None) is not None:
        header["basis"], basis = basis_to_file(svm.basis_)
        arrays |= basis
    return compressed(header, arrays)


def from_file(cls, header, arrays, *own):
    """The StructuralSVM, with the user's own model where it has one; a ValueError, TypeError or KeyError
    where something is missing or wrong."""
    if own:
        svm = common_from_file(cls, header, arrays, *own)
        svm.basis_ = None
        svm.coef_ = floats(arrays, "coef", (count(table(header, "model"), "n_params"),), "weights")
        return svm
    arrays = decompressed(header, arrays)
    model = model_from_file(table(header, "model"), arrays)
    svm = common_from_file(cls, header, arrays, model)
    svm.basis_ = basis_from_file(table(header, "basis"), arrays) if "basis" in header else None
    if svm.basis_ is not None and svm.basis_.n_features_in_ != model.n_features:
        raise ValueError(f"the basis has {svm.basis_.n_features_in_} columns, not {model.n_features}")
    svm.coef_ = weights_from_file(on_basis(model, svm.basis_).n_params, arrays)
    return svm

"""Structural SVMs as the header and arrays of a model file, and back."""

from __future__ import annotations

from ...errors import OneslackError
from .._shared.kernel_inputs import on_basis
from .basis import basis_from_file, basis_to_file
from .file_fields import table
from .linear import common_from_file
from .structured import (
    MODELS,
    compressed,
    decompressed,
    model_from_file,
    structured_to_file,
    weights_from_file,
)


def to_file(svm):
    """(header, arrays) of a fitted StructuralSVM with one of MODELS."""
    name = type(svm.model).__name__
    if MODELS.get(name) is not type(svm.model):
        raise OneslackError(
            f"{name} is a model of your own, and a model file holds no code: pickle the estimator, or keep "
            f"its coef_; models that can be saved are {', '.join(MODELS)}"
        )
    header, arrays = structured_to_file(svm, svm.model)
    if getattr(svm, "basis_", None) is not None:
        header["basis"], basis = basis_to_file(svm.basis_)
        arrays |= basis
    return compressed(header, arrays)


def from_file(cls, header, arrays):
    """The StructuralSVM; a ValueError, TypeError or KeyError where something is missing or wrong."""
    arrays = decompressed(header, arrays)
    model = model_from_file(table(header, "model"), arrays)
    svm = common_from_file(cls, header, arrays, model)
    svm.basis_ = basis_from_file(table(header, "basis"), arrays) if "basis" in header else None
    if svm.basis_ is not None and svm.basis_.n_features_in_ != model.n_features:
        raise ValueError(f"the basis has {svm.basis_.n_features_in_} columns, not {model.n_features}")
    svm.coef_ = weights_from_file(on_basis(model, svm.basis_).n_params, arrays)
    return svm

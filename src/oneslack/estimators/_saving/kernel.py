"""A fitted KernelSVC as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...errors import OneslackError
from .._shared.given import METHODS
from .basis import kernel_from_file
from .file_fields import MOST, choice, ends, flag, floats, integers, number, table
from .linear import classes_from_file, classes_to_file, common_from_file, common_to_file, inputs_from_file


def to_file(model):
    """(header, arrays) of a fitted model."""
    kernel = model._kernel
    if callable(kernel.name):
        raise OneslackError(
            "cannot save a model whose kernel is a function; use a named kernel, or pickle the model"
        )
    header, arrays = common_to_file(model)
    header["n_features"] = int(model.n_features_in_)
    header["classes"], class_arrays = classes_to_file(model.classes_)
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = [str(name) for name in model.feature_names_in_]
    header["kernel"] = {
        "name": kernel.name, "gamma": kernel.gamma, "degree": float(kernel.degree), "coef0": kernel.coef0,
        "dtype": np.dtype(kernel.dtype).name, "direct": kernel.direct,
    }  # fmt: skip
    header["fit"] = {"method": model.method_, "certified": bool(model.certified_)}
    header["fit"]["objective_error"] = model.objective_error_
    if hasattr(model, "reduction_error_"):
        header["fit"]["reduction_error"] = float(model.reduction_error_)
    arrays |= class_arrays
    arrays["support"], arrays["dual_coef"] = model.support_, model.dual_coef_
    arrays["intercept"] = model.intercept_
    if kernel.centre is not None:
        arrays["centre"] = kernel.centre
    vectors = model.support_vectors_
    if sp.issparse(vectors):
        arrays["vector_data"], arrays["vector_indices"] = vectors.data, vectors.indices
        arrays["vector_indptr"] = vectors.indptr
    else:
        arrays["vectors"] = np.ascontiguousarray(vectors)
    return header, arrays


def from_file(cls, header, arrays):
    """The model; a ValueError, TypeError or KeyError where something is missing or wrong."""
    model = common_from_file(cls, header, arrays)
    d = inputs_from_file(model, header)
    model.classes_ = classes_from_file(table(header, "classes"), arrays)
    fit = {"objective_error": 0.0} | table(header, "fit")  # older files do not have it
    model.method_, model.certified_ = choice(fit, "method", METHODS), flag(fit, "certified")
    model.objective_error_ = number(fit, "objective_error", 0.0)
    if "reduction_error" in fit:
        model.reduction_error_ = number(fit, "reduction_error", 0.0)
    model._kernel = kernel_from_file(table(header, "kernel"), "name", arrays, d)
    is_precomputed = model._kernel.is_precomputed
    model.support_ = integers(arrays, "support", (None,), d if is_precomputed else MOST)
    m, rows = len(model.support_), 1 if len(model.classes_) == 2 else len(model.classes_)
    model.dual_coef_ = floats(arrays, "dual_coef", (rows, m), "dual coefficients")
    model.intercept_ = floats(arrays, "intercept", (rows,), "intercepts")
    model.support_vectors_ = _vectors(arrays, m, 0 if is_precomputed else d)
    if not is_precomputed:
        model._kernel.diagonal(model._kernel.inputs(model.support_vectors_))  # where it overflows, it raises
    return model


def _vectors(arrays, m, d):
    if "vectors" in arrays:
        return floats(arrays, "vectors", (m, d), "support vectors")
    data = floats(arrays, "vector_data", (None,))
    indices = integers(arrays, "vector_indices", data.shape, d)
    vectors = sp.csr_matrix((data, indices, ends(arrays, "vector_indptr", m, len(data))), shape=(m, d))
    vectors.check_format()
    return vectors

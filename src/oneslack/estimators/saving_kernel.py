"""A fitted KernelSVC as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..errors import OneslackError
from ..mercer import Kernel
from .saving import (
    certificate_from_file,
    check_shape,
    classes_from_file,
    classes_to_file,
    common_to_file,
    parameters_from_file,
)

_DTYPES = {"float32": np.float32, "float64": np.float64}


def kernel_to_file(model):
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
        "dtype": np.dtype(kernel.dtype).name,
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


def kernel_from_file(kind, header, arrays):
    """The model; a ValueError, TypeError or KeyError where something is missing."""
    model = kind(**parameters_from_file(header["parameters"], arrays))
    d = model.n_features_in_ = int(header["n_features"])
    model.classes_ = classes_from_file(header["classes"], arrays)
    if "feature_names" in header:
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        check_shape("feature names", model.feature_names_in_, (d,))
    certificate_from_file(model, header["certificate"])
    model.method_, model.certified_ = str(header["fit"]["method"]), bool(header["fit"]["certified"])
    model.objective_error_ = float(header["fit"].get("objective_error", 0.0))
    if "reduction_error" in header["fit"]:
        model.reduction_error_ = float(header["fit"]["reduction_error"])
    told = header["kernel"]
    model._kernel = Kernel(
        str(told["name"]), float(told["gamma"]), float(told["degree"]), float(told["coef0"]),
        _DTYPES[told["dtype"]], arrays.get("centre"),
    )  # fmt: skip
    model.support_, model.dual_coef_ = arrays["support"], arrays["dual_coef"]
    model.intercept_ = arrays["intercept"]
    m, rows = len(model.support_), 1 if len(model.classes_) == 2 else len(model.classes_)
    check_shape("dual coefficients", model.dual_coef_, (rows, m))
    check_shape("intercepts", model.intercept_, (rows,))
    model.support_vectors_ = _vectors(arrays, m, 0 if model._kernel.is_precomputed else d)
    return model


def _vectors(arrays, m, d):
    if "vectors" in arrays:
        check_shape("support vectors", arrays["vectors"], (m, d))
        return arrays["vectors"]
    parts = (arrays["vector_data"], arrays["vector_indices"], arrays["vector_indptr"])
    vectors = sp.csr_matrix(parts, shape=(m, d))
    vectors.check_format()
    return vectors

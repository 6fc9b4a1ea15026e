"""The basis functions of a fitted KernelFeatures as a header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from ..errors import OneslackError
from ..mercer import Kernel
from .kernel_features import KernelFeatures
from .saving import check_shape

_FIELDS = ("gamma", "degree", "coef0")
_DTYPES = {"float32": np.float32, "float64": np.float64}


def basis_to_file(features: KernelFeatures):
    """(header, arrays) of a fitted one."""
    kernel = features._kernel
    if callable(kernel.name):
        raise OneslackError(
            "cannot save a model whose kernel is a function; use a named kernel, or pickle the model"
        )
    about = {"kernel": kernel.name, "dtype": np.dtype(kernel.dtype).name}
    about["columns"] = int(features.n_features_in_)
    about |= {name: float(getattr(kernel, name)) for name in _FIELDS}
    basis = features.components_
    arrays = {"basis": basis.toarray() if hasattr(basis, "toarray") else np.ascontiguousarray(basis)}
    arrays["mapping"] = features.mapping_
    if kernel.centre is not None:
        arrays["centre"] = kernel.centre
    return about, arrays


def basis_from_file(about, arrays) -> KernelFeatures:
    """The same again; a ValueError, TypeError or KeyError where something is missing."""
    d, basis, mapping = int(about["columns"]), arrays["basis"], arrays["mapping"]
    check_shape("rows of the basis", basis, (len(mapping), d))
    check_shape("mapping of the basis", mapping, (len(basis), len(basis)))
    numbers = [float(about[name]) for name in _FIELDS]
    features = KernelFeatures(str(about["kernel"]), *numbers, n_basis=max(len(basis), 1))
    features._kernel = Kernel(str(about["kernel"]), *numbers, _DTYPES[about["dtype"]], arrays.get("centre"))
    features.components_, features.mapping_ = basis, mapping
    features.n_features_in_, features._n_features_out = d, len(basis)
    return features

"""The basis functions of a fitted KernelFeatures as a header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from ...errors import OneslackError
from ...kernels.mercer import NAMES, Kernel
from ..kernel_features import KernelFeatures
from .file_fields import choice, count, flag, floats, number

KERNEL = ("gamma", "degree", "coef0")
DTYPES = {"float32": np.float32, "float64": np.float64}


def basis_to_file(features: KernelFeatures):
    """(header, arrays) of a fitted one."""
    kernel = features._kernel
    if callable(kernel.name):
        raise OneslackError(
            "cannot save a model whose kernel is a function; use a named kernel, or pickle the model"
        )
    about = {"kernel": kernel.name, "dtype": np.dtype(kernel.dtype).name, "direct": kernel.direct}
    about["columns"] = int(features.n_features_in_)
    about |= {name: float(getattr(kernel, name)) for name in KERNEL}
    basis = features.components_
    arrays = {"basis": basis.toarray() if hasattr(basis, "toarray") else np.ascontiguousarray(basis)}
    arrays["mapping"] = features.mapping_
    if kernel.centre is not None:
        arrays["centre"] = kernel.centre
    return about, arrays


def basis_from_file(about, arrays) -> KernelFeatures:
    """The same again; a ValueError, TypeError or KeyError where something is missing or wrong."""
    d = count(about, "columns", 1)
    basis = floats(arrays, "basis", (None, d), "rows of the basis")
    mapping = floats(arrays, "mapping", (len(basis), len(basis)), "mapping of the basis")
    kernel = kernel_from_file(about, "kernel", arrays, d)
    parameters = [getattr(kernel, name) for name in KERNEL]
    features = KernelFeatures(kernel.name, *parameters, n_basis=max(len(basis), 1))
    features._kernel = kernel
    features.components_, features.mapping_ = basis, mapping
    features.n_features_in_, features._n_features_out = d, len(basis)
    return features


def kernel_from_file(about, name, arrays, d) -> Kernel:
    """The kernel whose name stands in the field `name`, for d features."""
    known = choice(about, name, NAMES)
    gamma, degree = number(about, "gamma", 0.0), number(about, "degree", 0.0)
    dtype = DTYPES[choice(about, "dtype", DTYPES)]
    centre = floats(arrays, "centre", (d,)) if "centre" in arrays else None
    direct = "direct" in about and flag(about, "direct")  # older files do not have it
    return Kernel(known, gamma, degree, number(about, "coef0"), dtype, centre, direct)

"""Parameters of kernels and kernel methods: what they may be, and the kernel they make of data."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...kernels.mercer import NAMES, Kernel
from .parameters import _choice, _integer, _number

#: Up to here kernel values are float64.
WIDE = 4096
#: The parameters that say what the kernel is.
KERNEL = ("kernel", "gamma", "degree", "coef0")
METHODS = ("auto", "exact", "linear", "constant", "basis")


def _check_gamma(value):
    if isinstance(value, str):
        _choice("gamma", value, ("scale", "auto"), "or a positive number")
    else:
        _number("gamma", value, "'scale', 'auto' or a positive number", lambda gamma: gamma > 0)


def fitted_kernel(model, X, sample_weight=None) -> Kernel:
    """The kernel of the model's parameters kernel, gamma, degree and coef0 for the examples X."""
    name, gamma = model.kernel, model.gamma
    if isinstance(name, str) and name == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"Precomputed kernels must be a square matrix of all training examples; X has shape {X.shape}"
        )
    if isinstance(gamma, str):
        spread = _variance(X, sample_weight) if gamma == "scale" and name in NAMES else 0.0
        gamma = 1.0 / X.shape[1]
        gamma = gamma / spread if spread > 0 else gamma
    kernel = Kernel(name, float(gamma), model.degree, float(model.coef0)).fitted(X)
    return kernel if X.shape[0] <= WIDE else kernel.narrowed(X)


def _variance(X, weights=None):
    """Of all numbers in X, by differences from their mean; a row of weight 2 counts twice."""
    if weights is None and not sp.issparse(X):
        return float(X.var(dtype=np.float64))
    n, d = X.shape
    shares = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = shares / (shares.sum() * d)
    rows = X.tocsr() if sp.issparse(X) else None
    numbers = X if rows is None else rows.data
    stored = shares[:, None] if rows is None else np.repeat(shares, np.diff(rows.indptr))
    mean = float(np.sum(stored * numbers))
    zeros = 0.0 if rows is None else max(1.0 - float(stored.sum()), 0.0)
    return float(np.sum(stored * (numbers - mean) ** 2)) + zeros * mean**2


#: From a parameter's name to its check; _shared/parameters.py has those of all estimators.
KERNEL_CHECKS = {
    "kernel": lambda value: callable(value) or _choice("kernel", value, NAMES, "or a function"),
    "gamma": _check_gamma,
    "degree": lambda value: _number("degree", value, "a number >= 0", lambda degree: degree >= 0),
    "coef0": lambda value: _number("coef0", value, "a number", lambda coef0: True),
    "method": lambda value: _choice("method", value, METHODS),
    "sample_size": lambda value: (
        value is None or _integer("sample_size", value, "None or an integer >= 1", lambda size: size >= 1)
    ),
    "choice": lambda value: _choice("choice", value, ("random", "pivoted")),
    "n_basis": lambda value: _integer("n_basis", value, "an integer >= 1", lambda size: size >= 1),
    "memory": lambda value: _number("memory", value, "a positive number of bytes", lambda size: size > 0),
}

#: Of estimators that have a kernel only where they are asked for one; they need rows.
BASIS_CHECKS = {name: KERNEL_CHECKS[name] for name in (*KERNEL, "n_basis")} | {
    "kernel": lambda value: (
        value is None
        or callable(value)
        or _choice("kernel", value, [name for name in NAMES if name != "precomputed"], "None or a function")
    ),
}

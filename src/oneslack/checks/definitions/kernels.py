"""Kernel matrices by their definitions."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def kernel_matrix(kernel, A, B) -> np.ndarray:
    """K(A, B), (len(A), len(B)), of a fitted `Kernel`; not for precomputed ones."""
    if callable(kernel.name):
        return np.asarray(kernel.name(A, B), dtype=float)
    A, B = (np.asarray(part.toarray() if sp.issparse(part) else part, dtype=float) for part in (A, B))
    if kernel.name == "linear":
        return A @ B.T
    if kernel.name == "poly":
        return (kernel.gamma * (A @ B.T) + kernel.coef0) ** kernel.degree
    power = 2 if kernel.name == "rbf" else 1
    distances = np.array([(np.abs(a - B) ** power).sum(axis=1) for a in A]).reshape(len(A), len(B))
    return np.exp(-kernel.gamma * distances)


def basis_features(basis, X) -> np.ndarray:
    """The features (n, k) of fitted `KernelFeatures`: k(x, B) mapping."""
    return kernel_matrix(basis._kernel, X, basis.components_) @ basis.mapping_

"""Kernels for every program: features with <z(a), z(b)> = k(a, b) for a linear problem, and back again.

The best model in the span of a basis B of examples is w over z(x) = k(x, B) M, and a kernel expansion over B
with alpha = M w.  With all examples in the basis it is the optimum of all (the representer theorem), but for
directions that the kernel does not tell apart in floating point; with fewer its objective is no less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arguments import Mistake
from .light_text import LightModel, kernel_fields

#: Examples that a basis of all of them is made for: its matrices grow with their square.
LARGEST_BASIS = 10_000


@dataclass(frozen=True)
class Span:
    """Features Z (n, k) of the examples, the basis (k, d), M (k, k), and the lines of the kernel."""

    Z: np.ndarray
    basis: object
    M: np.ndarray
    fields: dict

    def model(self, w, intercept=0.0, **fields):
        """The model file's content of weights (k,) of the features."""
        from scipy.sparse import csr_matrix

        fields = self.fields | {name.replace("_", " "): value for name, value in fields.items()}
        return LightModel("SVM-light", csr_matrix(self.basis), self.M @ w, -float(intercept), fields)


def words_of(kind, degree, gamma, s, r):
    """Words of ours for the kernel of a number."""
    if kind == 1:
        return {"kernel": "poly", "degree": degree, "gamma": s, "coef0": r}
    return {"kernel": "rbf", "gamma": gamma}


def span(got, X, size=None, choice="random"):
    """The Span of -t and its like, over `size` examples or all."""
    n = X.shape[0]
    if size is None and n > LARGEST_BASIS:
        raise Mistake(
            f"-t {got['-t']}: {n} examples are too many for a kernel here, beyond {LARGEST_BASIS}; "
            "use -t 0, or svm_perf_learn with --k."
        )
    from ... import KernelFeatures

    letters = [got[flag] for flag in ("-t", "-d", "-g", "-s", "-r")]
    features = KernelFeatures(n_basis=min(size or n, n), choice=choice, **words_of(*letters))
    Z = features.fit_transform(X)
    return Span(Z, features.components_, features.mapping_, kernel_fields(*letters))

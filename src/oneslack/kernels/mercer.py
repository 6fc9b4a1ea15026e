"""Mercer kernels k(a, b), in blocks that stay in the processor's cache.

    linear     <a, b>                    rbf          exp(-gamma |a - b|^2)
    poly       (gamma <a, b> + coef0)^degree          laplacian    exp(-gamma |a - b|_1)
    precomputed, or any function(A, B) -> (len(A), len(B))

`Kernel.inputs` turns a matrix into what a kernel works on; `values` gives one block; `product` multiplies
K(A, B) by coefficients without ever holding more of K than a few blocks, and `grouped_product` does so for
several groups of B.  Values are float32 or float64, sums over blocks are float64.

rbf comes from products, |a - b|^2 = |a|^2 + |b|^2 - 2 <a, b>, which cancel where rows are near each other but
far from the origin: the exponent is off by up to 4 (d + 4) u gamma max |a|^2, u = 2^-53.  `fitted` moves the
origin into the data, and where that does not help (clusters far apart, a large gamma) the kernel is `direct`:
its distances are sums of squared differences of the rows as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..data.rows import as_rows
from ..engines.threads import single_blas_thread
from . import blocks

NAMES = ("linear", "poly", "rbf", "laplacian", "precomputed")
#: Rows by which it is seen whether a function is symmetric, and what rounding may change.
FEW, SYMMETRY = 16, 1e-5
#: A sparse matrix is unpacked when it then takes at most this many bytes.
DENSE_BYTES = 2**29
#: Rows of so many columns are multiplied in less time than their product is looked up in a large matrix.
QUICK_COLUMNS = 1000
#: Rows of so few columns are multiplied, exp included, in about the time in which a product of them that is
#: remembered comes from memory, and less than it takes to write it there.
MEMORY_COLUMNS = 64
#: exp(-gamma |a - b|^2) is computed by way of <a, b>: beyond this gamma |a|^2, float32 loses too much, ...
FLOAT32_SPREAD = 2000.0
#: ... and where the exponent may be off by more than this, float64 does, too.
EXPONENT_ERROR = 1e-10
#: A row whose scaled coordinates are larger than this is so far from all others that its values are 0.
FAR = 1e9
#: Inner products of rows are float64 where more than this share of their squares is that of their mean.
OFFSET = 0.99


@dataclass(frozen=True)
class Inputs:
    """Rows as a kernel takes them.

    rows   (n, d') dense or CSR; for rbf by products scaled and with two more columns, -|a|^2 / 2 and 1
    index  (n,) of the rows among the training examples, for a precomputed kernel, else None
    """

    rows: object
    index: np.ndarray | None = None

    def __len__(self):
        return self.rows.shape[0]

    def take(self, index) -> Inputs:
        return Inputs(self.rows[index], None if self.index is None else self.index[index])


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters; `dtype` is that of its values.  `fitted` finds `centre` and `direct`.

    >>> import numpy as np
    >>> from oneslack.kernels.mercer import Kernel
    >>> kernel = Kernel("poly", gamma=1.0, degree=2, coef0=1.0)
    >>> A = kernel.inputs(np.array([[1.0], [2.0]]))
    >>> kernel.values(A, A).tolist()
    [[4.0, 9.0], [9.0, 25.0]]
    """

    name: str | Callable = "rbf"
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0
    dtype: type = np.float64
    centre: np.ndarray | None = None
    direct: bool = False

    def __post_init__(self):
        if not callable(self.name) and self.name not in NAMES:
            raise ValueError(
                f"kernel={self.name!r} is not known; use one of {', '.join(NAMES)} or a function"
            )
        for name in ("gamma", "degree", "coef0"):
            if not np.isfinite(getattr(self, name)):
                raise ValueError(f"{name} of a kernel must be a finite number; got {getattr(self, name)!r}")
        if not self.gamma >= 0 and not callable(self.name) and self.name in ("rbf", "laplacian"):
            raise ValueError(f"kernel={self.name!r} needs a gamma >= 0; got {self.gamma!r}")

    @cached_property
    def is_precomputed(self) -> bool:
        return isinstance(self.name, str) and self.name == "precomputed"

    @property
    def itemsize(self) -> int:
        """Bytes of a value."""
        return np.dtype(self.dtype).itemsize

    @property
    def is_definite(self) -> bool:
        """Whether it is known to be positive semi-definite, on any rows."""
        if callable(self.name) or self.is_precomputed:
            return False
        whole = float(self.degree).is_integer() and self.degree >= 0
        return self.name != "poly" or (whole and self.gamma >= 0 and self.coef0 >= 0)

    @cached_property
    def _by_products(self) -> bool:
        """Whether it is rbf, with rows that are made ready for products."""
        return isinstance(self.name, str) and self.name == "rbf" and not self.direct

    def fitted(self, X) -> Kernel:
        """With the origin moved into the data, or direct: neither changes the kernel, both help rounding."""
        if not self._by_products or self.centre is not None:
            return self
        X = as_rows(X)  # a mean's last digits go by the order in memory
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is direct
            centre = None if sp.issparse(X) else np.mean(X, axis=0, dtype=np.float64)
            moved = replace(self, centre=centre)
            error = 4.0 * (X.shape[1] + 4) * 2.0**-53 * moved.spread(X)
        return moved if error <= EXPONENT_ERROR else replace(self, direct=True)

    def spread(self, X) -> float:
        """The largest gamma |x|^2 from the origin that was chosen."""
        parts = (self._moved(X[lo:hi]) for lo, hi in blocks.spans(X.shape[0], blocks.COPY_ROWS))
        far = [float(blocks.squared_norms(part.astype(np.float64, copy=False)).max()) for part in parts]
        return self.gamma * max(far, default=0.0)

    def narrowed(self, X) -> Kernel:
        """With float32 values, unless they would be too rough for this X."""
        rough = self.name == "poly"
        if self._by_products:
            rough = self.spread(X) > FLOAT32_SPREAD
        elif self.name == "linear":
            rough = blocks.offset_of(X) > OFFSET
        elif self.is_precomputed:
            rough = X.dtype != np.float32  # these are the values
        return replace(self, dtype=np.float64 if rough else np.float32)

    def _moved(self, X):
        if self.centre is None:
            return X
        return (X.toarray() if sp.issparse(X) else X) - self.centre

    def inputs(self, X, index=None) -> Inputs:
        """`X` (n, d), dense or sparse, as the kernel takes it; `index` as in `Inputs`."""
        if callable(self.name) or self.is_precomputed:
            return Inputs(X, index)
        X = as_rows(X)
        if self.centre is None and sp.issparse(X) and X.shape[0] * X.shape[1] * self.itemsize <= DENSE_BYTES:
            X = X.toarray()
        if self.name == "laplacian" or self.direct:
            return Inputs(X)  # differences need all digits
        if self.name != "rbf":
            return Inputs(X.astype(self.dtype, copy=False))
        scale = np.sqrt(2.0 * self.gamma)
        if self.centre is None and sp.issparse(X):
            Z = scale * X
            extra = np.column_stack([-0.5 * blocks.squared_norms(Z), np.ones(X.shape[0])])
            return Inputs(sp.hstack([Z, extra], format="csr").astype(self.dtype, copy=False))
        rows = np.empty((X.shape[0], X.shape[1] + 2), self.dtype)
        rows[:, -1] = 1.0
        for lo, hi in blocks.spans(X.shape[0], blocks.COPY_ROWS):  # no float64 copy of all X
            Z = np.clip(scale * self._moved(X[lo:hi]), -FAR, FAR)  # squares stay finite
            rows[lo:hi, :-2] = Z
            rows[lo:hi, -2] = -0.5 * blocks.squared_norms(Z)
        return Inputs(rows)

    def plain_rows(self, A: Inputs):
        """The rows without what is added to them: moved and scaled at most."""
        return A.rows[:, :-2] if self._by_products else A.rows

    def values(self, A: Inputs, B: Inputs) -> np.ndarray:
        """K(A, B), (len(A), len(B))."""
        return self._block(A, self._right(B))

    def _right(self, B):
        """B as the right factor.  rbf: <z_a, z_b> - |z_a|^2 / 2 - |z_b|^2 / 2 is one product when the two
        last columns of B change places."""
        return Inputs(blocks.swapped(B.rows)) if self._by_products else B

    def _block(self, A, B, room=None):
        """K(A, B) for a right factor B; `room` is a flat array of `dtype` that may be written over."""
        if self.is_precomputed:
            K = A.rows[:, B.index]
            return np.asarray(K.toarray() if sp.issparse(K) else K, dtype=self.dtype)
        if callable(self.name):
            return self._called(A, B)
        if self.name == "laplacian" or self.direct:
            return self._of_differences(A, B)
        if self.name == "rbf":
            K = blocks.inner_products(A.rows, B.rows, room)
            if self.dtype == np.float64:
                np.minimum(K, 0.0, out=K)
            return np.exp(K, out=K)
        K = blocks.inner_products(A.rows, B.rows, room)
        return self._to_the_degree(K) if self.name == "poly" else K

    def _to_the_degree(self, K):
        """(gamma K + coef0)^degree, in place."""
        K *= self.gamma
        K += self.coef0
        if not float(self.degree).is_integer() and (K < 0).any():
            raise ValueError(
                f"kernel='poly' with degree={self.degree} has no value where gamma <a, b> + coef0 is "
                f"negative, {K.min():.3g} here; use a whole degree or a larger coef0"
            )
        largest = np.abs(K).max(initial=0.0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            np.power(K, self.degree, out=K)
        if not np.isfinite(K).all():
            raise ValueError(
                f"kernel='poly' with degree={self.degree} overflows where gamma <a, b> + coef0 is "
                f"{largest:.3g}; scale X, or use a smaller gamma or degree"
            )
        return K

    def _called(self, A, B):
        K = np.asarray(self.name(A.rows, B.rows))
        if K.shape != (len(A), len(B)):
            raise ValueError(
                f"the kernel function returned an array of shape {K.shape} for {len(A)} and {len(B)} rows; "
                f"expected ({len(A)}, {len(B)})"
            )
        if K.dtype.kind not in "biuf":
            raise ValueError(f"the kernel function returned values of type {K.dtype}; expected real numbers")
        K = K.astype(self.dtype, copy=False)
        if not np.isfinite(K).all():
            bad = K[~np.isfinite(K)][0]
            raise ValueError(f"the kernel function returned {bad}; expected finite numbers")
        return K

    def check_symmetric(self, A: Inputs):
        """Raise where k(a, b) is not k(b, a): all of a given matrix is looked at, and a few rows by a
        function.  One that is symmetric but not definite certifies nothing (definite.py)."""
        if not (callable(self.name) or self.is_precomputed):
            return
        rows = np.arange(len(A))
        if self.is_precomputed and A.rows.shape != (len(A), len(A)):
            raise ValueError(f"a precomputed kernel of {len(A)} examples has shape {A.rows.shape}")
        if callable(self.name) and len(A):
            rows = np.unique(np.linspace(0, len(A) - 1, FEW).astype(int))
            A = A.take(rows)
        for lo, hi in blocks.spans(len(rows), blocks.BLOCK_ROWS):
            some = A.take(slice(lo, hi))
            _check_mirror(self.values(some, A), self.values(A, some).T, rows[lo:hi], rows)

    def _of_differences(self, A, B):
        from .._jit.kernel_blocks import city_block, squared_distances

        K = np.empty((len(A), len(B)), self.dtype)
        distance = city_block if self.name == "laplacian" else squared_distances
        distance(blocks.dense(A.rows), blocks.dense(B.rows), K)
        K *= -self.gamma
        return np.exp(K, out=K)

    def diagonal(self, A: Inputs) -> np.ndarray:
        """k(a, a) of each row, float64."""
        if self.is_precomputed:
            return np.asarray(A.rows[np.arange(len(A)), A.index], dtype=np.float64).ravel()
        if callable(self.name):
            rows = (A.take(slice(i, i + 1)) for i in range(len(A)))
            return np.array([self.values(row, row)[0, 0] for row in rows], dtype=np.float64)
        if self.name in ("rbf", "laplacian"):
            return np.ones(len(A))
        norms = blocks.squared_norms(A.rows).astype(np.float64)
        return norms if self.name == "linear" else self._to_the_degree(norms)

    def product(self, A: Inputs, B: Inputs, coefficients, engine) -> np.ndarray:
        """K(A, B) @ coefficients: (len(A), K) float64 for coefficients (len(B), K)."""
        parts = [(lo, hi, [(0, lo, hi)]) for lo, hi in blocks.spans(len(B), blocks.BLOCK_COLUMNS)]
        return self._products(A, B, coefficients, 1, parts, engine)[0]

    def grouped_product(self, A: Inputs, B: Inputs, coefficients, offsets, engine) -> np.ndarray:
        """(groups, len(A), K): K(A, B_k) @ coefficients_k, with B_k = B[offsets[k] : offsets[k + 1]]."""
        return self._products(A, B, coefficients, len(offsets) - 1, blocks.runs(offsets), engine)

    def _products(self, A, B, coefficients, n_groups, parts, engine):
        """parts: (lo, hi, groups), columns that are one block, and what of them (k, lo, hi) belongs to k."""
        out = np.zeros((n_groups, len(A), coefficients.shape[1]))
        narrow, right = coefficients.astype(self.dtype), self._right(B)
        # Never smaller: memory of one size is at hand again in the next call.
        widest = max([blocks.BLOCK_COLUMNS, *(hi - lo for lo, hi, _ in parts)])
        rooms = blocks.Rooms(self.dtype, blocks.BLOCK_ROWS * widest)
        parts = [(right.take(slice(lo, hi)), lo, groups) for lo, hi, groups in parts]

        def fill(span):
            rows, room, sums = A.take(slice(*span)), rooms.mine(), out[:, slice(*span)]
            for part, first, groups in parts:
                K = self._block(rows, part, room)
                for k, lo, hi in groups:
                    sums[k] += K[:, lo - first : hi - first] @ narrow[lo:hi]

        blocks.over_blocks(fill, len(A), engine)
        return out

    def write_rows(self, A: Inputs, B: Inputs, out, places, engine):
        """out[places[i]] = k(a_i, B) for each row of A."""
        left, width = self._right(A), max(blocks.BLOCK_ROWS * blocks.BLOCK_COLUMNS // max(len(A), 1), 64)
        rooms = blocks.Rooms(self.dtype, len(A) * width)

        def fill(span):
            # Either factor may be the one with its columns swapped.
            out[places, slice(*span)] = self._block(left, B.take(slice(*span)), rooms.mine())

        with single_blas_thread():
            engine.map(fill, blocks.spans(len(B), width))

    def is_quick(self, A: Inputs) -> bool:
        """Is a value little more than a dense product of two rows, and are these short?"""
        named = self._by_products or (isinstance(self.name, str) and self.name in ("linear", "poly"))
        return named and not sp.issparse(A.rows) and A.rows.shape[1] <= QUICK_COLUMNS

    def is_quicker_than_memory(self, A: Inputs) -> bool:
        """Is a value computed as fast as one that was remembered is read?"""
        return self.is_quick(A) and self.name != "poly" and A.rows.shape[1] <= MEMORY_COLUMNS


def _check_mirror(K, mirror, some, rows):
    """K(some, rows) against K(rows, some)'."""
    name = "the kernel of examples"
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"{name} {some[i]} and {rows[j]} is {K[i, j]}; expected a finite number")
    apart = np.abs(K - mirror) > SYMMETRY * (np.abs(K) + np.abs(mirror) + np.abs(K).max())
    if apart.any():
        i, j = np.argwhere(apart)[0]
        raise ValueError(
            f"{name} {some[i]} and {rows[j]} is {K[i, j]:g}, but {mirror[i, j]:g} the other way "
            "round; expected the same"
        )

"""NumPy files: .npy with one matrix, .npz with X and y.  Pickled objects are never loaded.

An .npz holds one of
    X, y   or   x, y   or   data, target          dense; the labels may be absent
    X_data, X_indices, X_indptr, X_shape, y       a CSR matrix, cut into its arrays
    data, indices, indptr, shape, format          a CSR matrix from scipy.sparse.save_npz, no labels
"""

import io
import os
import zipfile

import numpy as np

from oneslack.errors import FormatError
from oneslack.formats.compression import read_buffer
from oneslack.formats.table import Table

DENSE_NAMES = (("X", "y"), ("x", "y"), ("data", "target"))
CSR_PARTS = ("data", "indices", "indptr", "shape")


def read_numpy(path, *, label=None, n_features=None, dtype=np.float64):
    """Read an .npy or .npz file as a Table; X becomes `dtype`, the labels keep their type.

    label: in an .npy file the label column (None is the last one, False says there is none); in an
    .npz file the name of the labels' array, or False to leave it out.

        table = read_numpy("train.npz")
        table.X, table.y
    """
    path = os.fspath(path)
    content = _load(path)
    if isinstance(content, dict):
        X, y = _from_arrays(path, content, label)
    else:
        X, y = _from_matrix(path, content, label)
    X = _check_features(path, X, n_features, dtype)
    return Table(X=X, y=_check_labels(path, y, X.shape[0]), qid=None, path=path, kind="numpy")


def _load(path):
    """One array, or a dict of arrays."""
    try:
        content = np.load(io.BytesIO(read_buffer(path)), allow_pickle=False)
        if isinstance(content, np.lib.npyio.NpzFile):
            with content:
                members = {name: content[name] for name in content.files}
            return {name: array for name, array in members.items() if hasattr(array, "dtype")}
        return content
    except FormatError:
        raise
    except (
        ValueError,
        OSError,
        EOFError,
        KeyError,
        zipfile.BadZipFile,
        NotImplementedError,
    ) as error:
        raise FormatError(
            f"{path}: is no .npy or .npz file, is damaged, or holds Python objects, which are "
            f"never loaded ({error}); save it again with numpy.save or numpy.savez."
        ) from error


def _from_matrix(path, matrix, label):
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise FormatError(
            f"{path}: holds {matrix.dtype} of shape {matrix.shape}; expected numbers with two "
            "axes, one row an example."
        )
    if label is False:
        return matrix, None
    try:
        column = range(matrix.shape[1])[-1 if label is None else int(label)]
    except (ValueError, IndexError) as error:
        raise FormatError(
            f"{path}: there is no label column {label!r}; give a position below {matrix.shape[1]}."
        ) from error
    return np.delete(matrix, column, axis=1), matrix[:, column]


def _from_arrays(path, arrays, label):
    csr_prefix = next((p for p in ("X_", "") if all(p + part in arrays for part in CSR_PARTS)), None)
    if csr_prefix is not None:
        X, label_name = _sparse(path, arrays, csr_prefix), "y"
    else:
        names = next((names for names in DENSE_NAMES if names[0] in arrays), None)
        if names is None:
            raise FormatError(
                f"{path}: holds the arrays {', '.join(arrays)[:80] or '(none)'}; expected X and y, "
                "or X_data, X_indices, X_indptr, X_shape and y."
            )
        X, label_name = arrays[names[0]], names[1]
    if label is False:
        return X, None
    if label is not None and label not in arrays:
        raise FormatError(f"{path}: holds no array {label!r} of labels; found {', '.join(arrays)}.")
    return X, arrays.get(label or label_name)


def _sparse(path, arrays, prefix):
    from scipy.sparse import csr_matrix

    if "format" in arrays and prefix == "" and arrays["format"].item() not in (b"csr", "csr"):
        raise FormatError(f"{path}: the sparse matrix is not CSR; save X.tocsr() instead.")
    data, indices, indptr, shape = (arrays[prefix + part] for part in CSR_PARTS)
    try:
        X = csr_matrix((data, indices, indptr), shape=tuple(shape.tolist()))
        X.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise FormatError(f"{path}: its arrays form no CSR matrix ({error}); save it again.") from error
    X.sum_duplicates()
    return X


def _check_features(path, X, n_features, dtype):
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise FormatError(
            f"{path}: X is {X.dtype} of shape {X.shape}; expected numbers with two axes, one row an example."
        )
    if n_features not in (None, X.shape[1]):
        raise FormatError(
            f"{path}: found {X.shape[1]} feature columns, but n_features is {n_features}; drop "
            "n_features or choose another file."
        )
    numbers = X.data if hasattr(X, "indptr") else X
    bad = np.argwhere(~np.isfinite(numbers))
    if len(bad):
        place = f"row {bad[0][0]}, column {bad[0][1]}" if numbers is X else f"entry {bad[0][0]}"
        raise FormatError(
            f"{path}: X holds nan or infinity ({place}, counting from 0); remove or replace it."
        )
    return X.astype(dtype, copy=False)


def _check_labels(path, y, n):
    if y is None:
        return None
    if y.size == n and y.ndim == 2:
        y = y.ravel()
    if y.shape != (n,):
        raise FormatError(f"{path}: y has the shape {y.shape}; expected {n} labels, one a row of X.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = np.isfinite(y).argmin()
        raise FormatError(
            f"{path}: y holds nan or infinity (row {row}, counting from 0); remove or replace it."
        )
    return y

"""NumPy files: .npy with one matrix, .npz with X and y.  Pickled objects are never loaded.

An .npz holds one of
    X, y   or   x, y   or   data, target          dense; the labels may be absent
    X_data, X_indices, X_indptr, X_shape, y       a CSR matrix, cut into its arrays
    data, indices, indptr, shape, format          a CSR matrix from scipy.sparse.save_npz, no labels
and perhaps qid, the query of each row.
"""

import io
import math
import os
import warnings
import zipfile
from functools import partial

import numpy as np
from numpy.lib import format

from ..errors import FormatError
from .compression import read_buffer
from .format import CERTAIN, Format
from .labels import integers_if_integral, label_and_group
from .table import Table

DENSE_NAMES = (("X", "y"), ("x", "y"), ("data", "target"))
#: Bytes that one byte of an archive may stand for.
MOST_PACKED = 1032
ZIP = b"PK\x03\x04"
CSR_PARTS = ("data", "indices", "indptr", "shape")


def read_numpy(path, *, label=None, group=None, n_features=None, dtype=np.float64):
    """Read an .npy or .npz file as a Table; X becomes `dtype`, the labels keep their type.

    label: in an .npy file the label column (None is the last one, False says there is none); in an
    .npz file the name of the labels' array, or False to leave it out.
    group: in an .npy file the column that tells the query, in an .npz file the name of its array (None is
    qid, if there is one, False leaves it out).

    >>> import numpy as np
    >>> from oneslack.formats import read_numpy
    >>> np.savez("train.npz", X=np.eye(3), y=["a", "b", "b"])
    >>> table = read_numpy("train.npz")
    >>> table.X.shape, table.y.tolist()
    ((3, 3), ['a', 'b', 'b'])
    """
    path = os.fspath(path)
    content = _load(path)
    if isinstance(content, dict):
        name, label_name, is_sparse = names_in(path, content)
        X = _sparse(path, content, name) if is_sparse else content[name]
        y = array_beside(path, content, label, label_name, "labels")
        qid = array_beside(path, content, group, "qid", "groups")
    else:
        X, y, qid = _from_matrix(path, content, label, group)
    X = _check_features(path, X, n_features, dtype)
    y = _check_column(path, "y", y, X.shape[0], "labels")
    qid = _check_column(path, "qid", qid, X.shape[0], "groups")
    return Table(X, y, None if qid is None else integers_if_integral(qid), path, "numpy")


def _load(path):
    """One array, or a dict of arrays."""
    buffer = read_buffer(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that an older Python wrote
            is_archive = buffer[: len(ZIP)] == ZIP
            return _members(buffer) if is_archive else _array(io.BytesIO(buffer), len(buffer))
    except Exception as error:  # the header is a text of Python: damage in it raises whatever there is
        raise FormatError(
            f"{path}: is no .npy or .npz file, is damaged, or holds Python objects, which are "
            f"never loaded ({' '.join(str(error).split())}); save it again with numpy.save or numpy.savez."
        ) from error


def _members(buffer):
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(buffer)) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                if file.peek(len(format.MAGIC_PREFIX)).startswith(format.MAGIC_PREFIX):
                    size = min(member.file_size, MOST_PACKED * len(buffer))
                    arrays[member.filename.removesuffix(".npy")] = _array(file, size)
    return arrays


def _array(file, size):
    """The array of `size` bytes with its header; what that promises must be there before room is made."""
    version = format.read_magic(file)
    read = format.read_array_header_1_0 if version == (1, 0) else format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("Python objects")
    promised = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or promised > size - file.tell():
        raise ValueError(f"the header promises {promised} bytes, but {size - file.tell()} follow")
    file.seek(0)
    return format.read_array(file, allow_pickle=False)


def _from_matrix(path, matrix, label, group):
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise FormatError(
            f"{path}: holds {matrix.dtype} of shape {matrix.shape}; expected numbers with two "
            "axes, one row an example."
        )
    columns = range(matrix.shape[1])
    label, group = label_and_group(path, len(columns), label, group, partial(_column, path, columns))
    taken = [column for column in (label, group) if column is not None]
    y, qid = (None if column is None else matrix[:, column] for column in (label, group))
    return np.delete(matrix, taken, axis=1), y, qid


def _column(path, columns, position, what):
    try:
        return columns[int(position)]
    except (ValueError, IndexError) as error:
        raise FormatError(
            f"{path}: there is no {what} column {position!r}; give a position below {len(columns)}."
        ) from error


def names_in(path, arrays):
    """(name of X, or what the names of its CSR parts begin with; name of the labels; is X sparse?)."""
    for prefix in ("X_", ""):
        if all(prefix + part in arrays for part in CSR_PARTS):
            return prefix, "y", True
    for name, label in DENSE_NAMES:
        if name in arrays:
            return name, label, False
    raise FormatError(
        f"{path}: holds the arrays {', '.join(arrays)[:80] or '(none)'}; expected X and y, "
        "or X_data, X_indices, X_indptr, X_shape and y."
    )


def array_beside(path, arrays, asked, usual, what):
    """The labels or groups: by the name asked for, None is the usual one; None where there are none."""
    if asked is False:
        return None
    if asked is not None and asked not in arrays:
        raise FormatError(f"{path}: holds no array {asked!r} of {what}; found {', '.join(arrays)[:80]}.")
    return arrays.get(usual if asked is None else asked)


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


def _check_column(path, name, values, n, what):
    """Labels or groups as (n,), or None."""
    if values is None:
        return None
    if values.size == n and values.ndim == 2:
        values = values.ravel()
    if values.shape != (n,):
        raise FormatError(
            f"{path}: {name} has the shape {values.shape}; expected {n} {what}, one a row of X."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = np.isfinite(values).argmin()
        raise FormatError(
            f"{path}: {name} holds nan or infinity (row {row}, counting from 0); remove or replace it."
        )
    return values


def looks_like(sample):
    """By the first bytes."""
    return CERTAIN * sample.startswith((format.MAGIC_PREFIX, ZIP))


FORMAT = Format("numpy", "NumPy", "table", read_numpy, (".npy", ".npz"), looks_like, ("label", "group"))

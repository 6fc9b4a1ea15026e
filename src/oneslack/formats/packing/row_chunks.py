"""Tables in chunks of rows; of an .npz, which is a zip of .npy files, these are read side by side."""

import os
import zipfile
import zlib
from contextlib import ExitStack
from functools import partial

import numpy as np

from ...errors import FormatError
from .. import numpy_file
from ..compression import packer_of
from ..registry import read_data
from ..shards.columns import as_column, as_groups
from ..shards.pieces import Piece, checked_block
from .chunks import Chunk

WEIGHTS = "sample_weight"
DAMAGE = (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, NotImplementedError, zlib.error)


def numpy_chunks(path, options, size, start):
    """Chunks from row `start` on."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(path, "rb"))
            if packer_of(file.peek(8)) is not None:
                raise FormatError(f"{path}: is packed; unpack it first, or use numpy.savez_compressed.")
            if zipfile.is_zipfile(file):
                archive = stack.enter_context(zipfile.ZipFile(file))
                streams = {
                    name.removesuffix(".npy"): ArrayStream(stack.enter_context(archive.open(name)))
                    for name in archive.namelist()
                    if name.endswith(".npy")
                }
                chunks = _archive(path, streams, options, size, start)
            else:
                file.seek(0)
                chunks = _matrix(path, ArrayStream(file), options, size, start)
            n_bytes = os.fstat(file.fileno()).st_size
            for parse, stop, n_rows in chunks:
                yield Chunk(parse, stop, n_bytes * stop // n_rows)
        except FormatError:
            raise
        except FileNotFoundError as error:
            raise FormatError(f"{path}: there is no such file; check the path.") from error
        except DAMAGE as error:
            raise FormatError(
                f"{path}: is no .npy or .npz file, is damaged, or holds Python objects, which are never "
                f"loaded ({error}); save it again with numpy.save or numpy.savez."
            ) from error


class ArrayStream:
    """The rows of an array in an .npy file, one after the other."""

    def __init__(self, stream):
        self._stream = stream
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in read:
            raise ValueError(f"version {version} of .npy is not known")
        self.shape, self._by_columns, self.dtype = read[version](stream)
        if self.dtype.hasobject:
            raise ValueError("an array holds Python objects")
        self._row = self.dtype.itemsize * int(np.prod(self.shape[1:], dtype=np.int64))

    def check_order(self, path, name):
        if self._by_columns and len(self.shape) > 1 and min(self.shape) > 1:
            raise FormatError(
                f"{path}: {name} is stored column by column; save numpy.ascontiguousarray({name}) instead."
            )

    def __len__(self):
        return self.shape[0] if self.shape else 1

    @property
    def row_bytes(self):
        return self._row

    def skip(self, n):
        self._stream.seek(n * self._row, 1)

    def read(self, n):
        """The next n rows."""
        content = self._stream.read(n * self._row)
        if len(content) < n * self._row:
            raise EOFError("an array is cut short")
        return np.frombuffer(content, self.dtype).reshape(n, *self.shape[1:])


def _matrix(path, stream, options, size, start):
    if len(stream.shape) != 2:
        like = np.broadcast_to(np.zeros((), stream.dtype), stream.shape)
        numpy_file._from_matrix(path, like, None, None)  # says what is wrong
    stream.check_order(path, "X")
    stream.skip(start)
    n = max(1, size // max(1, stream.row_bytes))
    for row in range(start, len(stream), n):
        rows = stream.read(min(n, len(stream) - row))
        yield partial(_matrix_piece, path, row, rows, options), row + len(rows), len(stream)


def _matrix_piece(path, row, rows, options):
    X, y, qid = numpy_file._from_matrix(path, rows, options.label, options.group)
    return piece_of_rows(path, row, X, y, qid, None, options.dtype)


def _archive(path, streams, options, size, start):
    name, label, is_sparse = numpy_file.names_in(path, streams)
    if is_sparse:
        yield from _sparse_archive(path, streams, name, options, size, start)
        return
    X = streams[name]
    X.check_order(path, name)
    beside = _beside(path, streams, label, options, len(X))
    for stream in (X, *beside.values()):
        stream.skip(start)
    n = max(1, size // max(1, X.row_bytes))
    for row in range(start, len(X), n):
        m = min(n, len(X) - row)
        arrays = {what: stream.read(m) for what, stream in beside.items()}
        yield partial(_archive_piece, path, row, X.read(m), arrays, options), row + m, len(X)


def _sparse_archive(path, streams, prefix, options, size, start):
    data, indices, indptr, shape = (streams[prefix + part] for part in numpy_file.CSR_PARTS)
    if "format" in streams and prefix == "" and streams["format"].read(1).item() not in (b"csr", "csr"):
        raise FormatError(f"{path}: the sparse matrix is not CSR; save X.tocsr() instead.")
    n_rows, n_columns = shape.read(2).tolist()
    beside = _beside(path, streams, "y", options, n_rows)
    for stream in (indptr, *beside.values()):
        stream.skip(start)
    last = int(indptr.read(1)[0])
    data.skip(last)
    indices.skip(last)
    per_row = max(1, len(data) // max(1, n_rows)) * (data.row_bytes + indices.row_bytes)
    n = max(1, size // per_row)
    for row in range(start, n_rows, n):
        m = min(n, n_rows - row)
        ends = indptr.read(m)
        count = int(ends[-1]) - last
        parts = {
            "data": data.read(count),
            "indices": indices.read(count),
            "indptr": np.r_[last, ends] - last,
            "shape": np.array([m, n_columns]),
        }
        arrays = {what: stream.read(m) for what, stream in beside.items()}
        yield partial(_archive_piece, path, row, parts, arrays, options), row + m, n_rows
        last += count


def _beside(path, streams, label, options, n):
    """{"y", "qid", "sample_weight": stream} of the columns that there are."""
    found = {
        "y": numpy_file.array_beside(path, streams, options.label, label, "labels"),
        "qid": numpy_file.array_beside(path, streams, options.group, "qid", "groups"),
        WEIGHTS: streams.get(WEIGHTS),
    }
    found = {name: stream for name, stream in found.items() if stream is not None}
    for name, stream in found.items():
        if len(stream) != n or np.prod(stream.shape) != n:
            raise FormatError(f"{path}: {name} has the shape {stream.shape}; expected {n}, one a row of X.")
    return found


def _archive_piece(path, row, X, arrays, options):
    if isinstance(X, dict):
        X = numpy_file._sparse(path, X, "")
    y, qid, weights = (arrays[what].ravel() if what in arrays else None for what in ("y", "qid", WEIGHTS))
    return piece_of_rows(path, row, X, y, qid, weights, options.dtype)


def piece_of_rows(path, row, X, y, qid, weights, dtype, feature_names=None):
    """Rows of arrays from row `row` of a file on, checked."""
    try:
        X, y, weights, qid = checked_block(X, y, weights, qid, dtype)
    except ValueError as error:
        raise FormatError(f"{path}, in the {X.shape[0]} rows from row {row} on: {error}") from error
    kind = "sparse" if hasattr(X, "indptr") else "dense"
    labels = None if y is None else as_column(y)
    groups = None if qid is None else as_groups(qid)
    return Piece(kind, X, labels, groups, weights, feature_names, path)


def table_chunks(kind, path, options, size, start):
    """Chunks from row `start` on of a table of any format, which is read whole."""
    zero_based = "auto" if options.zero_based is None else options.zero_based
    table = read_data(path, kind=kind, label=options.label, group=options.group, zero_based=zero_based)
    n_rows, n_bytes = table.X.shape[0], os.path.getsize(path)
    n = max(1, size * n_rows // max(1, n_bytes))
    for row in range(start, n_rows, n):
        X, y, qid = (None if part is None else part[row : row + n] for part in (table.X, table.y, table.qid))
        parse = partial(piece_of_rows, path, row, X, y, qid, None, options.dtype, table.feature_names)
        yield Chunk(parse, row + X.shape[0], n_bytes * (row + X.shape[0]) // n_rows)

"""Some rows in memory on their way into a shard, and the arrays of a shard from several of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import FormatError, OneslackError
from ..sentences import Column
from .columns import join
from .manifest_checks import MOST_FEATURES

MAX_ENTRIES = 2**31 - 1


@dataclass
class Piece:
    """X: a dense array, a CSR matrix with sorted indices, or Sentences.

    labels and groups come from columns.as_column and as_groups, weights are float64; or None.  For
    complaints: the file, the last line before the piece, how many lines it was read from, and which of
    these has the first index 0.
    """

    kind: str
    X: Any
    labels: np.ndarray | Column | None = None
    groups: np.ndarray | Column | None = None
    weights: np.ndarray | None = None
    feature_names: list[str] | None = None
    path: str = "X"
    line: int | None = None
    n_lines: int = 0
    line_of_zero: int | None = None

    @property
    def rows(self):
        return len(self.X) if self.kind == "sentences" else self.X.shape[0]

    @property
    def entries(self):
        """How many values, or tokens."""
        if self.kind == "sentences":
            return self.X.n_tokens
        return self.X.size if self.kind == "dense" else self.X.nnz

    @property
    def n_features(self):
        return 0 if self.kind == "sentences" else self.X.shape[1]

    @property
    def nbytes(self):
        beside = sum(part.nbytes for part in (self.labels, self.groups, self.weights) if part is not None)
        if self.kind == "dense":
            return beside + self.X.nbytes
        if self.kind == "sparse":
            return beside + self.X.data.nbytes + 4 * self.X.nnz + 4 * self.X.shape[0]
        return beside + 8 * len(self.X) + sum(column.codes.nbytes for column in self.X.columns.values())


def arrays_of(pieces):
    """The arrays of a shard, {name: parts}, from pieces of one kind."""
    kind, parts = pieces[0].kind, [piece.X for piece in pieces]
    if kind == "dense":
        arrays = {"values": parts}
    else:
        arrays = _sparse(parts) if kind == "sparse" else _sentences(parts)
    if pieces[0].labels is not None:
        arrays |= join("y", [piece.labels for piece in pieces])
    if pieces[0].groups is not None:
        arrays |= join("qid", [piece.groups for piece in pieces], keep_texts=True)
    if pieces[0].weights is not None:
        arrays["weights"] = [piece.weights for piece in pieces]
    return arrays


def _sparse(matrices):
    """indptr goes on from piece to piece, with the narrow integers that SciPy wants for both arrays."""
    ends, n_entries = [np.zeros(1, np.int32)], 0
    for X in matrices:
        ends.append((X.indptr[1:] + n_entries).astype(np.int32))
        n_entries += X.nnz
    return {
        "values": [X.data for X in matrices],
        "indices": [X.indices.astype(np.int32, copy=False) for X in matrices],
        "indptr": ends,
    }


def _sentences(parts):
    offsets, n_tokens = [np.zeros(1, np.int64)], 0
    for sentences in parts:
        offsets.append(sentences.offsets[1:] + n_tokens)
        n_tokens += sentences.n_tokens
    arrays = {"offsets": offsets}
    for name in parts[0].columns:
        arrays |= join(f"column:{name}", [each.columns[name] for each in parts], keep_texts=True)
    return arrays


def refuse_unlike(piece, manifest):
    """Refuse a piece that does not go with those before it."""
    if manifest.kind is None:
        return
    path, where = piece.path, piece.path if piece.line is None else f"{piece.path}, line {piece.line + 1}"
    if piece.kind != manifest.kind:
        raise FormatError(
            f"{path}: its rows are {piece.kind}, but those before are {manifest.kind}; pack them apart."
        )
    if piece.kind == "dense" and piece.n_features != manifest.n_features:
        raise FormatError(
            f"{path}: has {piece.n_features} features, but the rows before have {manifest.n_features}; "
            "pack them apart, or name the label column."
        )
    names = manifest.feature_names
    if piece.feature_names and names and piece.feature_names != names:
        unlike = next(pair for pair in zip(piece.feature_names, names) if pair[0] != pair[1])
        raise FormatError(
            f"{path}: has a column {unlike[0]!r} where the files before have {unlike[1]!r}; order the "
            "columns alike, or pack the files apart."
        )
    for what, column, known in (
        ("labels", piece.labels, manifest.labels),
        ("groups (qid)", piece.groups, manifest.groups),
        ("weights", piece.weights, manifest.weights or None),
    ):
        if (column is None) != (known is None):
            has, had = ("has no", "have them") if column is None else ("has", "have none")
            raise FormatError(f"{where}: {has} {what}, but the rows before {had}; give all or none.")


# Blocks of rows that a caller hands in.


def checked_block(X, y, weights, groups, dtype):
    """X as C-ordered dense or canonical CSR of `dtype`, and the columns beside it; a sentence if not."""
    X = _matrix(X, dtype)
    n = X.shape[0]
    y, groups = (None if column is None else _values(column, n) for column in (y, groups))
    if weights is not None:
        weights = _values(weights, n).astype(np.float64)
        if not (weights >= 0).all():
            raise OneslackError("sample_weight holds a negative number; give numbers >= 0.")
    return X, y, weights, groups


def _matrix(X, dtype):
    import scipy.sparse as sp

    if sp.issparse(X):
        X = sp.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        numbers = X.data
    else:
        numbers = X = np.ascontiguousarray(X)
    if X.ndim != 2 or numbers.dtype.kind not in "biuf":
        raise OneslackError(f"X is {numbers.dtype} with {X.ndim} axes; expected numbers with two axes.")
    if X.shape[1] > MOST_FEATURES:
        raise OneslackError(f"X has {X.shape[1]:,} features; expected at most {MOST_FEATURES:,}.")
    with np.errstate(over="ignore"):
        X = X.astype(dtype, copy=False)
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise OneslackError(
            f"X holds nan, infinity or a number too large for {dtype.name}; replace it, or use float64."
        )
    return X


def _values(values, n):
    values = np.asarray(values)
    if values.shape != (n,):
        raise OneslackError(f"a column has the shape {values.shape}; expected {n} values, one a row of X.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise OneslackError("a column of labels, weights or groups holds nan or infinity; replace it.")
    return values

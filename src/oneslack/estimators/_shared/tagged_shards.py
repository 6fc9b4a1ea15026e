"""Tagged text of a packed folder, as a tagger learns from it: features on disk, labels in memory."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from ...data.ragged import Ragged
from ...features.rows_on_disk import RowsOnDisk
from ...formats.packed_sentences import PackedSentences
from .sharded_tasks import is_shards
from .tagged_input import codes_of, rows_of


def unpacked(X):
    """X, or the sentences of the shards that it is."""
    return PackedSentences(X) if is_shards(X) else X


def is_packed(X) -> bool:
    """Whether X stays on disk."""
    return isinstance(X, PackedSentences)


@contextmanager
def tagged_rows(indexer, X, Y):
    """(rows, classes, codes of all tokens); the rows of packed sentences are there until the end."""
    if is_packed(X):
        with _rows_on_disk(indexer, X, Y) as found:
            yield found
    else:
        rows = rows_of(indexer, X, learn=True)
        yield rows, *codes_of(X, Y, rows)


def parts_of(X):
    """X in parts that are read when they are needed; X alone, where it is in memory."""
    return X.parts() if is_packed(X) else [X]


def check_column(X, Y):
    """Labels of packed sentences are packed with them."""
    if not isinstance(Y, str) or Y not in X.columns:
        given = f"Y={Y!r}" if isinstance(Y, str) else "Y"
        raise ValueError(f"{given} must be the name of a column of {X.path}: {', '.join(X.columns)}")


@contextmanager
def _rows_on_disk(indexer, X, Y):
    check_column(X, Y)
    if not X.n_tokens:
        raise ValueError("X has no token: there is nothing to learn from")
    indexer.fit_parts(X)
    classes = np.unique(np.array([text for texts in X.texts(Y) for text in set(texts)]))
    lengths, codes = [np.zeros(1, np.int64)], []
    with RowsOnDisk(indexer.n_features) as store:
        for part in X.parts():
            store.append(indexer.transform(part))
            lengths.append(np.diff(part.offsets))
            column = part.columns[Y]
            codes.append(np.searchsorted(classes, np.array(column.values)).astype(np.int32)[column.codes])
        offsets = np.cumsum(np.concatenate(lengths))
        yield Ragged(store.matrix(), offsets), classes, np.concatenate(codes)

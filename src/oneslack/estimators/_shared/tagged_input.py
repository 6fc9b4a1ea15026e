"""Sentences and their labels, in any form that a tagger takes, as rows of features and codes of labels.

Of a packed folder the features stay on disk, and labels are in memory.
"""

from __future__ import annotations

from contextlib import contextmanager
from numbers import Number

import numpy as np
import scipy.sparse as sp

from ...data.rows import Ragged
from ...features.rows_on_disk import RowsOnDisk
from ...formats.packed_sentences import PackedSentences
from ...formats.sentences import Sentences
from ...models.chain.data import UNKNOWN
from .given import is_shards

#: Kinds of X, as the messages call them.
SENTENCES, TOKENS, MATRICES = "Sentences", "lists of tokens", "matrices"


def kind_of(X):
    """What X holds, or None where it is empty."""
    if isinstance(X, Sentences | PackedSentences):
        return SENTENCES
    if isinstance(X, Ragged):
        return MATRICES
    return None if not len(X) else MATRICES if _is_matrix(X[0]) else TOKENS


def rows_of(indexer, X, learn=False) -> Ragged:
    """The features of all tokens."""
    if indexer is None:
        return _finite(X if isinstance(X, Ragged) else _stack(X))
    features = (indexer.fit_transform if learn else indexer.transform)(X)
    return Ragged(features, X.offsets) if isinstance(X, Sentences) else Ragged(*features)


def _stack(X):
    d = X[0].shape[1]
    for i, x in enumerate(X):
        if not _is_matrix(x) or x.shape[1] != d:
            shape = f"shape {x.shape}" if hasattr(x, "shape") else f"type {type(x).__name__}"
            raise ValueError(f"sentence {i}: x has {shape}, expected a matrix (tokens, {d}) as sentence 0")
    return Ragged.from_list(X)


def _finite(rows):
    """The rows; an error that names the sentence where a number is not finite."""
    values = rows.values
    bad = np.flatnonzero(~np.isfinite(values.data if sp.issparse(values) else values))
    if len(bad):
        bounds = values.indptr[rows.offsets] if sp.issparse(values) else rows.offsets * values.shape[1]
        i = int(np.searchsorted(bounds, bad[0], side="right")) - 1
        raise ValueError(f"sentence {i}: x holds numbers that are not finite")
    return rows


def codes_of(X, Y, rows):
    """(classes, codes of all tokens); -1 where the label is None, so not known."""
    if isinstance(Y, str):
        column = column_of(X, Y)
        used, codes = np.unique(column.codes, return_inverse=True)
        classes, place = np.unique(np.array(column.values)[used], return_inverse=True)
        codes = place[codes]
    else:
        labels, known = flat_labels(Y, rows.lengths)
        classes, known_codes = np.unique(labels, return_inverse=True)
        codes = np.full(len(known), UNKNOWN)
        codes[known] = known_codes
    if not len(codes):
        raise ValueError("X has no token: there is nothing to learn from")
    if not len(classes):
        raise ValueError("no token has a label: there is nothing to learn from")
    return classes, codes.astype(np.int32)


def flat_labels(Y, lengths):
    """(labels of the tokens that have one, known (tokens,) of bool), checked against the sentences."""
    Y = list(Y)
    if len(Y) != len(lengths):
        raise ValueError(f"X has {len(lengths)} sentences but Y has {len(Y)}")
    for i, (labels, length) in enumerate(zip(Y, lengths, strict=True)):
        if not hasattr(labels, "__len__") or isinstance(labels, str):
            raise ValueError(f"sentence {i}: its labels are {labels!r}, expected a list, one label a token")
        if len(labels) != length:
            raise ValueError(f"sentence {i} has {length} tokens but {len(labels)} labels")
    flat = [label for labels in Y for label in labels]
    known = np.array([label is not None for label in flat], dtype=bool)
    flat = [label for label in flat if label is not None]
    kinds = set(map(type, flat))
    # Text beside numbers would silently become text.
    if all(issubclass(kind, str) for kind in kinds):
        return np.array(flat, dtype=str), known
    if all(issubclass(kind, Number | np.bool_) for kind in kinds):
        labels = np.array(flat)
        if np.isnan(labels).any():
            raise ValueError("a label is not a number (nan); use None where it is not known")
        return labels, known
    names = " and ".join(sorted(kind.__name__ for kind in kinds))
    raise ValueError(f"labels are of type {names}; use text or numbers, all of one type")


def column_of(X, name):
    """The column `name` of the Sentences X."""
    if not isinstance(X, Sentences) or name not in X.columns:
        raise ValueError(f"Y={name!r} must be a column of Sentences, or give lists of labels")
    return X.columns[name]


def _is_matrix(x):
    return sp.issparse(x) or (isinstance(x, np.ndarray) and x.ndim == 2)


def unpacked(X, templates=None):
    """X, or the sentences of the shards that it is; where there are templates, of words in lists, too."""
    if is_shards(X):
        return PackedSentences(X)
    return X if templates is None else _sentences_of_words(X)


def _sentences_of_words(X):
    """Lists of words become the column w; of (word, part of speech, ...) also pos, col2, ..."""
    if not isinstance(X, list | tuple) or not len(X) or any(map(_is_matrix, X)):
        return X
    tokens = next((x for x in X if len(x)), [""])
    if all(isinstance(token, str) for x in X for token in x):
        return Sentences.from_lists(w=[list(x) for x in X])
    width = len(tokens[0]) if isinstance(tokens[0], tuple) else 0
    if not width or not all(isinstance(t, tuple) and len(t) == width for x in X for t in x):
        return X
    names = ["w", "pos", *(f"col{k}" for k in range(2, width))][:width]
    return Sentences.from_lists(**{name: [[t[k] for t in x] for x in X] for k, name in enumerate(names)})


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

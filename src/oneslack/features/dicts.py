"""Features that the user's own code makes: a dict or a list of strings for each token.

The conventions are those of CRFsuite's Python wrappers:

    {"word": "cat"}        word=cat with weight 1
    {"length": 3.5}        length with weight 3.5
    {"capital": True}      capital with weight 1; False is 0, as if it were not there
    ["word=cat", "bias"]   each with weight 1
    {"next": {"word": "sat"}}, {"next": ["word=sat"]}      next:word=sat with weight 1
"""

import math
from collections import defaultdict
from itertools import chain
from numbers import Real

import numpy as np

from ..errors import OneslackError
from .columns import ColumnIndex, options_of
from .hashing import hash_text, to_columns
from .strings import pack_strings, unpack_strings

GROUPS = (list, tuple, set, frozenset)


class DictIndexer(ColumnIndex):
    """Which column each feature name has; columns are in the order of the names.

    min_count: names that occur less often in the training text get no column.
    hash_bits: instead of an index, hash the names to 2**hash_bits columns; then there is nothing to fit.

    >>> from oneslack.features import DictIndexer
    >>> indexer = DictIndexer()
    >>> X, offsets = indexer.fit_transform([[{"w": "Stop"}, {"w": "!", "punct": True}], [{"w": "Go"}]])
    >>> X.shape, offsets.tolist()  # a row a token; sentence i is rows offsets[i]:offsets[i + 1]
    ((3, 4), [0, 2, 3])
    >>> indexer.transform([[{"w": "Stop"}]])[0].nnz
    1
    """

    def __init__(self, *, min_count=1, hash_bits=None, dtype=np.float64):
        super().__init__(min_count, hash_bits, dtype)
        self._columns = None  # from a name to its column

    def fit(self, sentences):
        """Learn the columns from sentences of tokens' dicts."""
        if self.hash_bits is None:
            self._learn(_Items(sentences))
        return self

    def fit_transform(self, sentences):
        """Learn the columns; the CSR matrix (tokens, n_features) and the offsets (sentences + 1,)."""
        items = _Items(sentences)
        if self.hash_bits is None:
            self._learn(items)
        return self._matrix(items), items.offsets

    def transform(self, sentences):
        """The CSR matrix and the offsets; names without a column are left out."""
        if self.hash_bits is None:
            self._check_fitted()
        items = _Items(sentences)
        return self._matrix(items), items.offsets

    def feature_names(self):
        """The names in the order of the columns."""
        self._check_fitted("columns got by hashing have no names")
        return list(self._columns)

    def column(self, name):
        """The column of a name, None if there is none."""
        self._check_fitted("hashing keeps no index")
        return self._columns.get(name)

    def to_arrays(self):
        """(header, arrays) for a model file: what JSON can hold, and arrays of numbers."""
        if self.hash_bits is not None:
            return self._header(), {}
        text, stops = pack_strings(self.feature_names())
        return self._header(), {"features.text": text, "features.stops": stops}

    @classmethod
    def from_arrays(cls, header, arrays):
        """The indexer that to_arrays was called on; a KeyError or ValueError if something is missing."""
        indexer = cls(**options_of(header))
        if indexer.hash_bits is None:
            names = unpack_strings(arrays["features.text"], arrays["features.stops"])
            indexer._columns = {name: column for column, name in enumerate(names)}
        return indexer

    def _learn(self, items):
        counts = {}
        for name, weight, count in zip(items.names, items.weights.tolist(), items.counts(), strict=True):
            if weight:
                counts[name] = counts.get(name, 0) + count
        kept = sorted(name for name, count in counts.items() if count >= self.min_count)
        self._columns = {name: column for column, name in enumerate(kept)}

    def _matrix(self, items):
        from scipy.sparse import csr_matrix

        column_of_item = np.where(items.weights == 0, -1, self._columns_of(items.names))
        columns = column_of_item[items.codes].astype(np.int32)
        present = columns >= 0
        kept_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(present)])
        weights = items.weights[items.codes[present]].astype(self.dtype)
        X = csr_matrix(
            (weights, columns[present], kept_before[items.indptr]),
            shape=(len(items.indptr) - 1, self.n_features),
        )
        X.sum_duplicates()
        return X

    def _columns_of(self, names):
        if self.hash_bits is None:
            return np.array([self._columns.get(name, -1) for name in names], np.int64)
        return to_columns(np.array([hash_text(name) for name in names], np.uint64), self.hash_bits)

    def _n_columns(self):
        return None if self._columns is None else len(self._columns)


class _Items:
    """The features of all tokens, read once.

    Token t has the items codes[indptr[t]:indptr[t + 1]]; item c is called names[c] and weighs weights[c].
    An item is a string of a list or a (key, value) of a dict, taken apart once for all its occurrences.
    """

    def __init__(self, sentences):
        sentences = [_as_list(i, sentence) for i, sentence in enumerate(sentences)]
        self.offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        tokens = [_as_group(token) for token in chain.from_iterable(sentences)]
        self._refuse_other_tokens(tokens)
        try:
            distinct = self._encode(tokens)
        except TypeError:  # a value that cannot be hashed: a dict, list or set in a dict
            tokens = [list(_flat(token)) for token in tokens]
            distinct = self._encode(tokens)
        self.names, weights = [], []
        for code, item in enumerate(distinct):
            name, weight = self._take_apart(code, item)
            self.names.append(name)
            weights.append(weight)
        self.weights = np.array(weights, np.float64)

    def counts(self):
        return np.bincount(self.codes, minlength=len(self.names)).tolist()

    def _encode(self, tokens):
        """Set codes and indptr; the distinct items in the order of their codes."""
        codes = defaultdict()
        codes.default_factory = codes.__len__  # the next code
        self.indptr = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
        items = map(codes.__getitem__, chain.from_iterable(tokens))
        self.codes = np.fromiter(items, np.int64, int(self.indptr[-1]))
        return list(codes)

    def _take_apart(self, code, item):
        """The name and the weight of an item."""
        if isinstance(item, str):
            return item, 1.0
        if not isinstance(item, tuple) or len(item) != 2 or not isinstance(item[0], str):
            raise self._error(code, f"{item!r} is not the name of a feature; use text.")
        name, value = item
        if isinstance(value, str):
            return f"{name}={value}", 1.0
        if not isinstance(value, Real | np.bool_) or not math.isfinite(value):
            raise self._error(
                code, f"the feature {name!r} is {value!r}; use text, True, False or a finite number."
            )
        return name, float(value)

    def _error(self, code, sentence):
        token = np.searchsorted(self.indptr, np.argmax(self.codes == code), side="right") - 1
        return OneslackError(f"{self._where(token)}: {sentence}")

    def _where(self, token):
        sentence = np.searchsorted(self.offsets, token, side="right") - 1
        return f"sentence {sentence}, token {token - self.offsets[sentence]}"

    def _refuse_other_tokens(self, tokens):
        for token, group in enumerate(tokens):
            if group is None:
                raise OneslackError(
                    f"{self._where(token)}: expected a dict or a list of strings with the token's features."
                )


def _as_list(i, sentence):
    if isinstance(sentence, str | dict):
        raise OneslackError(
            f"sentence {i} is a {type(sentence).__name__}; expected a list of tokens, each a dict or a list "
            "of strings."
        )
    return sentence if isinstance(sentence, list) else list(sentence)


def _as_group(token):
    if isinstance(token, dict):
        return token.items()
    return token if isinstance(token, GROUPS) else None


def _flat(group):
    """The items of a token, nested groups as items of their own with the key in front."""
    for item in group:
        inner = _as_group(item[1]) if isinstance(item, tuple) and len(item) == 2 else None
        if inner is None:
            yield item
            continue
        for deeper in _flat(inner):
            is_pair = isinstance(deeper, tuple)
            yield (f"{item[0]}:{deeper[0]}", deeper[1]) if is_pair else f"{item[0]}:{deeper}"

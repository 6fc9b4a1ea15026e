"""From sentences to a sparse matrix: one row a token, one column for each value that a template has."""

import numpy as np

from ..errors import OneslackError
from .columns import ColumnIndex, options_of
from .hashing import hashed_columns
from .in_parts import keys_in_parts, values_in_parts
from .joint_keys import Keys
from .part_codes import BOS, EOS, FIRST, Outside, PartCodes, source_of
from .strings import pack_strings, unpack_strings
from .template_sets import as_templates


class FeatureIndex(ColumnIndex):
    """Templates, and which column each of their values has.

    templates: the name of a set, a text of templates, or what parse_templates and read_templates give.
    min_count: values that occur less often in the training text get no column.
    hash_bits: instead of an index, hash to 2**hash_bits columns; then there is nothing to fit, and
    values that happen to share a column are added.

    >>> from oneslack.features import FeatureIndex
    >>> from oneslack.formats import Sentences
    >>> index = FeatureIndex("w[-1..1]")
    >>> X = index.fit_transform(Sentences.from_lists(w=[["Stop", "!"], ["Go"]]))
    >>> X.shape  # a row a token, a column a value of a template
    (3, 7)
    >>> index.transform(Sentences.from_lists(w=[["Run"]])).nnz  # its neighbours are known, it is not
    2
    """

    def __init__(self, templates, *, min_count=1, hash_bits=None, dtype=np.float64):
        super().__init__(min_count, hash_bits, dtype)
        self.templates = as_templates(templates)
        parts = [part for template in self.templates for part in template.parts]
        self._sources = list(dict.fromkeys(map(source_of, parts)))
        self._values = None  # from a source to a dict from strings to codes
        self._keys = None  # one Keys a template; its ranks are the columns from _starts on
        self._starts = None

    def fit(self, sentences):
        """Learn the columns from Sentences."""
        self.fit_transform(sentences)
        return self

    def fit_parts(self, sentences):
        """Learn the columns from text that is read in parts, twice: sentences.texts(column) gives lists of
        the strings of a column, sentences.parts() Sentences (formats.packed_sentences)."""
        if self.hash_bits is None:
            self._values = values_in_parts(self._sources, sentences.texts)
            self._keys = keys_in_parts(self, sentences.parts())
            self._number_columns()
            if self.min_count > 1:
                self._forget_unused_values()
        return self

    def fit_transform(self, sentences):
        """Learn the columns, and give the CSR matrix (tokens, n_features)."""
        if self.hash_bits is not None:
            return self.transform(sentences)
        codes = PartCodes(sentences)
        self._values = {source: {} for source in self._sources}
        tables = {source: self._table(codes, source, learn=True) for source in self._sources}
        self._keys = [Keys(self._sizes(template)) for template in self.templates]
        columns = np.empty((sentences.n_tokens, len(self.templates)), np.int32)
        start = 0
        for t, template in enumerate(self.templates):
            looked_up = [codes.look_up(part, tables[source_of(part)]) for part in template.parts]
            ranks = self._keys[t].learn(looked_up, len(columns), self.min_count)
            columns[:, t] = np.where(ranks < 0, -1, ranks + start)
            start += len(self._keys[t])
        self._number_columns()
        if self.min_count > 1:
            self._forget_unused_values()
        return _ones_matrix(columns, self.n_features, self.dtype, ordered=True)

    def transform(self, sentences):
        """The CSR matrix (tokens, n_features); values without a column are left out."""
        codes = PartCodes(sentences)
        columns = np.empty((sentences.n_tokens, len(self.templates)), np.int32)
        if self.hash_bits is not None:
            for t, hashed in enumerate(hashed_columns(self.templates, codes, len(columns), self.hash_bits)):
                columns[:, t] = hashed
            return _ones_matrix(columns, self.n_features, self.dtype, ordered=False)
        self._check_fitted()
        tables = {source: self._table(codes, source) for source in self._sources}
        for t, template in enumerate(self.templates):
            looked_up = [codes.look_up(part, tables[source_of(part)]) for part in template.parts]
            ranks = self._keys[t].find(looked_up, len(columns))
            columns[:, t] = np.where(ranks < 0, -1, ranks + self._starts[t])
        return _ones_matrix(columns, self.n_features, self.dtype, ordered=True)

    def features(self):
        """(template, values) of every column, a value being a string or an Outside."""
        return [(template, values) for template, found in self._values_found() for values in found]

    def feature_names(self):
        """A readable name of every column, such as `w[-1] & w[0]=the & cat`."""
        names = []
        for template, found in self._values_found():
            start = f"{template}=" if template.parts else str(template)
            names += [start + " & ".join(map(_shown, values)) for values in found]
        return names

    def column(self, template, values):
        """The column of a template (or its text) and a tuple of values, None if there is none."""
        self._check_fitted("hashing keeps no index")
        named = [str(known) for known in self.templates]
        if str(template) not in named:
            raise OneslackError(f"{template} is none of the templates; they are {', '.join(named)}.")
        t = named.index(str(template))
        parts = self.templates[t].parts
        if len(values) != len(parts):
            raise OneslackError(f"{template} has {len(parts)} parts, got {len(values)} values.")
        codes = [self._code(source_of(part), value) for part, value in zip(parts, values, strict=True)]
        rank = int(self._keys[t].find(np.array([codes]).T, 1)[0])
        return None if rank < 0 else int(self._starts[t]) + rank

    def to_arrays(self):
        """(header, arrays) for a model file: what JSON can hold, and arrays of numbers."""
        header = {"templates": [str(template) for template in self.templates], **self._header()}
        arrays = {}
        if self.hash_bits is None:
            self._check_fitted()
            for s, values in enumerate(self._values.values()):
                arrays[f"features.text.{s}"], arrays[f"features.stops.{s}"] = pack_strings(values)
            for t, keys in enumerate(self._keys):
                arrays |= keys.to_store(f"features.keys.{t}")
        return header, arrays

    @classmethod
    def from_arrays(cls, header, arrays):
        """The index that to_arrays was called on; a KeyError or ValueError if something is missing."""
        if not isinstance(header["templates"], list):
            raise ValueError("templates is no list of texts")
        index = cls("\n".join(header["templates"]), **options_of(header))
        if index.hash_bits is None:
            index._values = {
                source: _numbered(unpack_strings(arrays[f"features.text.{s}"], arrays[f"features.stops.{s}"]))
                for s, source in enumerate(index._sources)
            }
            index._keys = [
                Keys.stored(index._sizes(template), f"features.keys.{t}", arrays)
                for t, template in enumerate(index.templates)
            ]
            index._number_columns()
        return index

    def _values_found(self):
        """Each template with the list of its values, tuples in the order of the columns."""
        self._check_fitted("columns got by hashing have no names")
        for template, keys in zip(self.templates, self._keys, strict=True):
            parts = []
            for part, codes in zip(template.parts, keys.codes(), strict=True):
                values = [*Outside, *self._values[source_of(part)]]
                parts.append([values[code] for code in codes.tolist()])
            yield template, list(zip(*parts, strict=True)) if parts else [()] * len(keys)

    def _sizes(self, template):
        return [FIRST + len(self._values[source_of(part)]) for part in template.parts]

    def _number_columns(self):
        self._starts = np.cumsum([0, *map(len, self._keys)])

    def _table(self, codes, source, learn=False):
        """The code of each distinct string of a column, after BOS and EOS; -1 for no value."""
        known = self._values[source]
        values = codes.values(source)
        if learn:
            known |= _numbered(dict.fromkeys(value for value in values if value is not None))
        return np.array([BOS, EOS, *(known.get(value, -1) for value in values)])

    def _code(self, source, value):
        if isinstance(value, Outside):
            return list(Outside).index(value)
        return self._values[source].get(value, -1)

    def _forget_unused_values(self):
        """Renumber the strings, keeping those that occur in a column; the columns stay as they are."""
        used = {source: np.zeros(FIRST + len(values), bool) for source, values in self._values.items()}
        codes = [keys.codes() for keys in self._keys]
        for template, codes_t in zip(self.templates, codes, strict=True):
            for part, codes_p in zip(template.parts, codes_t, strict=True):
                used[source_of(part)][codes_p] = True
        new_code = {}
        for source, values in self._values.items():
            used[source][:FIRST] = True
            new_code[source] = np.cumsum(used[source]) - 1
            self._values[source] = _numbered(value for value, code in values.items() if used[source][code])
        for t, template in enumerate(self.templates):
            again = [new_code[source_of(part)][c] for part, c in zip(template.parts, codes[t], strict=True)]
            n = len(self._keys[t])
            self._keys[t] = Keys(self._sizes(template))
            self._keys[t].learn(again, n)

    def _n_columns(self):
        return None if self._keys is None else int(self._starts[-1])


def _shown(value):
    return value.value if isinstance(value, Outside) else value


def _numbered(strings):
    return {string: code for code, string in enumerate(strings, FIRST)}


def _ones_matrix(columns, n_features, dtype, ordered):
    """The CSR matrix with a 1 at each of columns (n, templates) that is >= 0; equal ones of a row add up.

    `ordered` says that the columns of every row strictly increase.
    """
    from scipy.sparse import csr_matrix

    if not ordered:
        columns.sort(axis=1)
    present = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(present, axis=1))])
    indices = columns.ravel() if indptr[-1] == columns.size else columns[present]
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)  # the type of the indices: scipy would copy both otherwise
    X = csr_matrix((np.ones(len(indices), dtype), indices, indptr), shape=(len(columns), n_features))
    X.has_sorted_indices = True
    if ordered:
        X.has_canonical_format = True
    else:
        X.sum_duplicates()
    return X

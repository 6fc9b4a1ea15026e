"""The arrays of a shard, checked before their first use: against their checksums, and by what they say."""

import json
from dataclasses import dataclass, field

import numpy as np

from ...errors import FormatError
from . import faults
from .columns import column_of
from .places import AGAIN
from .shard_file import BLOCK

WHOLE, REAL, CODE, BYTE = (np.dtype(code) for code in ("<i8", "<f8", "<i4", "u1"))


@dataclass
class Known:
    """What was checked of a file so far: blocks of bytes, arrays by name, groups of rows."""

    identity: tuple
    blocks: np.ndarray
    groups: np.ndarray
    names: set = field(default_factory=set)


class CheckedArrays:
    """The arrays of one shard; what they hold is checked once for each file and process.

    file: MappedFile; entry: of the manifest; known: what `known` of an earlier opening says, or None.
    """

    def __init__(self, file, entry, manifest, known=None):
        self.file, self.entry, self.manifest = file, entry, manifest
        self._check_layout()
        row = max(1, entry.bytes // entry.rows)
        self._group = max(1, BLOCK // row)  # rows that are checked together
        if known is None or known.identity != file.identity:
            n_groups = -(-entry.rows // self._group)
            known = Known(file.identity, np.zeros(len(file.expected), bool), np.zeros(n_groups, bool))
        self.known = known
        self._columns = {}

    def _check_layout(self):
        """Arrays of other lengths or types than the manifest says would be read beyond their end."""
        arrays, expected = self.file.arrays, _layout(self.entry, self.manifest, self.file.arrays)
        for name in {*arrays, *expected}:
            shape, dtypes = expected.get(name, (None, ()))
            fits = name in arrays and arrays[name].dtype in dtypes and arrays[name].shape == shape
            if not fits:
                raise FormatError(f"{self.file.path}: is not the shard that the manifest describes; {AGAIN}.")

    def _refuse(self, name, fault):
        if fault:
            raise FormatError(f"{self.file.path}: the array {name!r} is wrong: {fault}; {AGAIN}.")

    def _array(self, name):
        self.file.compare(self.known.blocks, name)
        return self.file.arrays[name]

    def _once(self, name, fault_of, *arguments):
        """Refuse what fault_of(*arguments) finds, where it was not asked yet."""
        if name not in self.known.names:
            self._refuse(name, fault_of(*arguments))
            self.known.names.add(name)

    def offsets(self):
        """(rows + 1,): where each row's numbers, or each sentence's tokens, begin."""
        is_sparse = self.manifest.kind == "sparse"
        name = "indptr" if is_sparse else "offsets"
        array = self._array(name)
        self._once(name, faults.fault_of_offsets, array, self.entry.entries, is_sparse)
        return array

    def weights(self):
        """(rows,), or None."""
        if not self.manifest.weights:
            return None
        array = self._array("weights")
        self._once("weights", faults.fault_of_weights, array)
        return array

    def column(self, name, kind, classes=None):
        """The column that columns.join wrote, or None."""
        if name not in self._columns:
            names = [each for each in (name, f"{name}_codes", f"{name}_texts") if each in self.file.arrays]
            try:
                column = column_of({each: self._array(each) for each in names}, name)
            except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
                self._refuse(name, "its texts cannot be read")
            if column is not None:
                self._once(name, faults.fault_of_column, column, kind, classes)
            self._columns[name] = column
        return self._columns[name]

    def check_rows(self, lo=0, hi=None):
        """Check rows lo <= i < hi of X, group by group, where that was not done yet."""
        hi = self.entry.rows if hi is None else hi
        for k in range(lo // self._group, -(-hi // self._group)):
            if not self.known.groups[k]:
                first = k * self._group
                self._check_group(first, min(first + self._group, self.entry.rows))
                self.known.groups[k] = True

    def read_ahead(self, lo, hi):
        """Ask the system for rows lo <= i < hi of X before they are used."""
        names = ["values"]
        if self.manifest.kind == "sparse":
            indptr, names = self.offsets(), ["values", "indices"]
            lo, hi = int(indptr[lo]), int(indptr[hi])
        for name in names:
            self.file.read_ahead(name, lo, hi)

    def _check_group(self, lo, hi):
        file, blocks = self.file, self.known.blocks
        if self.manifest.kind == "sparse":
            indptr = self.offsets()[lo : hi + 1]
            lo, hi = int(indptr[0]), int(indptr[-1])
            indices = file.arrays["indices"][lo:hi]
            file.compare(blocks, "indices", lo, hi)
            self._refuse("indices", faults.fault_of_indices(indices, indptr, self.manifest.n_features))
        file.compare(blocks, "values", lo, hi)
        self._refuse("values", faults.fault_of_values(file.arrays["values"][lo:hi]))

    def check_all(self):
        """Check all that there is."""
        manifest = self.manifest
        if manifest.kind == "sentences":
            self.offsets()
            for name in manifest.feature_names:
                self.column(f"column:{name}", "text")
        else:
            self.check_rows()
        self.column("y", manifest.labels, manifest.classes)
        self.column("qid", manifest.groups)
        self.weights()


def _layout(entry, manifest, arrays):
    """{name: (shape, types)} of a shard, as the manifest has it; lengths of texts are free."""
    rows, entries, dtype = entry.rows, entry.entries, np.dtype(manifest.dtype)
    layout = {
        "dense": {"values": ((rows, manifest.n_features), [dtype])},
        "sparse": {
            "values": ((entries,), [dtype]),
            "indices": ((entries,), [CODE]),
            "indptr": ((rows + 1,), [CODE]),
        },
        "sentences": {"offsets": ((rows + 1,), [WHOLE])},
    }[manifest.kind]
    if manifest.kind == "sentences":
        for name in manifest.feature_names:
            layout |= _texts_layout(f"column:{name}", entries, arrays)
    for name, kind, numbers in (("y", manifest.labels, [WHOLE, REAL]), ("qid", manifest.groups, [WHOLE])):
        if kind is not None and f"{name}_codes" in arrays:
            layout |= _texts_layout(name, rows, arrays)
        elif kind is not None:
            layout[name] = (rows,), numbers[:1] if kind == "integers" else numbers
    if manifest.weights:
        layout["weights"] = (rows,), [REAL]
    return layout


def _texts_layout(name, n, arrays):
    texts = f"{name}_texts"
    length = arrays[texts].size if texts in arrays else 0
    return {f"{name}_codes": ((n,), [CODE]), texts: ((length,), [BYTE])}

"""Read shards where they lie: arrays are views of mapped files, so memory holds what is in use only."""

import os
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np

from oneslack.errors import FormatError, OneslackError
from oneslack.formats.sentences import Column, Sentences
from oneslack.formats.shards.columns import Texts, column_of, positions_in, values_of
from oneslack.formats.shards.manifest import load_manifest
from oneslack.formats.shards.shard_file import (
    AGAIN,
    check_size,
    checksum_of,
    drop_pages,
    map_shard,
)


def open_shards(folder):
    """The shards that `oneslack pack` or a ShardWriter wrote; nothing is read but the manifest.

    >>> from oneslack.formats import open_shards, pack
    >>> with open("few.svm", "w") as file:
    ...     _ = file.write("1 1:0.5\\n-1 2:2\\n")
    >>> shards = pack(["few.svm"], "packed")
    >>> [shard.X.shape for shard in open_shards("packed")]
    [(2, 2)]
    """
    return Shards(folder)


class Shards(Sequence):
    """A folder of shards: n_rows, n_features, classes (or None), and one Shard after the other.

    A loop over the shards keeps one of them in memory: it lets go of a shard's pages when it goes on.

    >>> import numpy as np
    >>> from oneslack.formats import Shards, ShardWriter
    >>> with ShardWriter("packed") as writer:
    ...     writer.append(np.eye(3), [0, 1, 1])
    >>> shards = Shards("packed")
    >>> shards.n_rows, shards.n_features, shards.classes.tolist()
    (3, 3, [0, 1])
    """

    def __init__(self, folder):
        self.path = os.fspath(folder)
        self.manifest = manifest = load_manifest(self.path)
        if not manifest.complete:
            n = len(manifest.shards)
            raise FormatError(
                f"{self.path}: packing was not finished ({n} {'shard' if n == 1 else 'shards'} so far); "
                "go on with `oneslack pack --resume` and the same files."
            )
        for entry in manifest.shards:
            check_size(os.path.join(self.path, entry.file), entry.bytes)
        self.kind, self.dtype = manifest.kind, np.dtype(manifest.dtype)
        self.n_rows, self.n_features = manifest.n_rows, manifest.n_features
        self.n_entries, self.n_bytes = manifest.n_entries, manifest.n_bytes
        self.feature_names = manifest.feature_names
        self.classes = None if manifest.classes is None else np.array(manifest.classes)
        self.offsets = np.array([0, *accumulate(entry.rows for entry in manifest.shards)])

    @property
    def shape(self):
        """Rows and features."""
        return self.n_rows, self.n_features

    def __len__(self):
        return len(self.manifest.shards)

    def __getitem__(self, k):
        """Shard k; shards[1:3] is a list of shards."""
        if isinstance(k, slice):
            return [self[each] for each in range(len(self))[k]]
        return Shard(self, range(len(self))[k])

    def __iter__(self):
        for k in range(len(self)):
            with self[k] as shard:
                yield shard

    def __repr__(self):
        return f"Shards({self.path!r}: {len(self)} shards, {self.n_rows:,} × {self.n_features:,} {self.kind})"

    def verify(self):
        """Read every shard and compare its checksum; a FormatError names a damaged one."""
        for entry in self.manifest.shards:
            path = os.path.join(self.path, entry.file)
            check_size(path, entry.bytes)
            if checksum_of(path) != entry.crc32:
                raise FormatError(f"{path}: the shard is damaged, its checksum does not match; {AGAIN}.")


class Shard:
    """Rows lo <= i < hi of the whole; as a context it lets go of its pages at the end.

    X: (rows, n_features) dense or CSR, read-only.  y, qid (rows,) or None: labels and groups as the files
    have them.  codes (rows,): positions of the labels in `classes`.  sample_weight (rows,) or None.
    sentences: of a folder that holds tagged text.
    """

    def __init__(self, shards, k):
        self.shards, self.index = shards, k
        self.lo, self.hi = (int(offset) for offset in shards.offsets[k : k + 2])
        entry = shards.manifest.shards[k]
        self.path = os.path.join(shards.path, entry.file)
        self.n_bytes = entry.bytes
        self._map, self._arrays = map_shard(self.path, entry.bytes)
        self._check_shapes(entry)

    def __len__(self):
        return self.hi - self.lo

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.release()

    def release(self):
        """Give back the memory of the arrays' pages; they stay usable and are read again when used."""
        drop_pages(self._map)

    def _check_shapes(self, entry):
        """Arrays of other lengths than the manifest says would be read beyond their end."""
        arrays, rows, d = self._arrays, entry.rows, self.shards.n_features
        expected = {
            "dense": {"values": (rows, d)},
            "sparse": {"values": (entry.entries,), "indices": (entry.entries,), "indptr": (rows + 1,)},
            "sentences": {"offsets": (rows + 1,)},
        }[self.shards.kind]
        for name in ("y", "y_codes", "qid", "qid_codes", "weights"):
            if name in arrays:
                expected[name] = (rows,)
        for name, shape in expected.items():
            if name not in arrays or arrays[name].shape != shape:
                raise FormatError(f"{self.path}: is not the shard that the manifest describes; {AGAIN}.")

    @cached_property
    def X(self):
        if self.shards.kind == "sentences":
            raise OneslackError(f"{self.path}: holds sentences, no rows of features; use `sentences`.")
        if self.shards.kind == "dense":
            return self._arrays["values"]
        return self._csr()

    def _csr(self):
        from scipy.sparse import csr_array

        arrays = self._arrays
        X = csr_array(
            (arrays["values"], arrays["indices"], arrays["indptr"]), (len(self), self.shards.n_features)
        )
        X.has_sorted_indices = X.has_canonical_format = True  # else SciPy would read it all to find out
        return X

    @cached_property
    def y(self):
        return self._column("y", self.shards.manifest.labels)

    @cached_property
    def qid(self):
        return self._column("qid", self.shards.manifest.groups)

    @cached_property
    def codes(self):
        labels, classes = self.shards.manifest.labels, self.shards.classes
        if classes is None:
            what = "no labels" if labels is None else "too many different labels to be classes"
            raise OneslackError(
                f"{self.shards.path}: there are {what}; use `y` or pack the data with others."
            )
        return positions_in(column_of(self._arrays, "y"), classes, labels)

    @property
    def sample_weight(self):
        return self._arrays.get("weights")

    @cached_property
    def sentences(self):
        if self.shards.kind != "sentences":
            raise OneslackError(f"{self.path}: holds rows of features, no sentences; use `X` and `y`.")
        columns = {
            name: column_of(self._arrays, f"column:{name}") for name in self.shards.manifest.feature_names
        }
        made = {name: Column(column.values, column.codes) for name, column in columns.items()}
        return Sentences(made, self._arrays["offsets"], self.path)

    def _column(self, name, kind):
        column = column_of(self._arrays, name)
        return None if column is None else values_of(column, kind)

    def rows(self, lo, hi):
        """Rows lo <= i < hi of this shard, as views; see ShardRows."""
        return ShardRows(self, lo, hi)


class ShardRows:
    """Some rows of a shard: X, y, codes and sample_weight of these rows alone, made when asked for."""

    def __init__(self, shard, lo, hi):
        self.shard, self.lo, self.hi = shard, lo, hi

    def __len__(self):
        return self.hi - self.lo

    @property
    def X(self):
        from oneslack.row_parts import rows_between

        return rows_between(self.shard.X, self.lo, self.hi)

    @property
    def y(self):
        return values_of(self._labels(), self.shard.shards.manifest.labels)

    @property
    def codes(self):
        shards = self.shard.shards
        if shards.classes is None:
            return self.shard.codes  # says why there are none
        return positions_in(self._labels(), shards.classes, shards.manifest.labels)

    @property
    def sample_weight(self):
        weights = self.shard.sample_weight
        return None if weights is None else weights[self.lo : self.hi]

    def _labels(self):
        column = column_of(self.shard._arrays, "y")
        if column is None:
            raise OneslackError(f"{self.shard.shards.path}: holds no labels; pack files that have some.")
        if isinstance(column, Texts):
            return Texts(column.values, column.codes[self.lo : self.hi])
        return column[self.lo : self.hi]

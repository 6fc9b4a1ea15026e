"""Read shards where they lie: arrays are views of mapped files, so memory holds what is in use only.

What is read for the first time is checked first, see checks.CheckedArrays.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np

from ...errors import FormatError, OneslackError
from ..format import Format
from ..sentences import Sentences
from .checks import CheckedArrays
from .columns import positions_in, values_of
from .manifest import load_manifest
from .mapped_file import MappedFile
from .places import shard_path


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
            shard_path(self.path, entry)
        self.kind, self.dtype = manifest.kind, np.dtype(manifest.dtype)
        self.n_rows, self.n_features = manifest.n_rows, manifest.n_features
        self.n_entries, self.n_bytes = manifest.n_entries, manifest.n_bytes
        self.feature_names = manifest.feature_names
        self.classes = None if manifest.classes is None else np.array(manifest.classes)
        self.offsets = np.array([0, *accumulate(entry.rows for entry in manifest.shards)])
        self._known = {}

    def _checked(self, k):
        """The arrays of shard k; what was checked when it was opened before is not checked again."""
        entry = self.manifest.shards[k]
        arrays = CheckedArrays(MappedFile(self.path, entry), entry, self.manifest, self._known.get(k))
        self._known[k] = arrays.known
        return arrays

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
        """Read every shard and check it now, not at its first use; a FormatError names a damaged one."""
        self._known = {}
        for k in range(len(self)):
            arrays = self._checked(k)
            arrays.check_all()
            arrays.file.drop_pages()


class Shard:
    """Rows lo <= i < hi of the whole; as a context it lets go of its pages at the end.

    X: (rows, n_features) dense or CSR, read-only.  y, qid (rows,) or None: labels and groups as the files
    have them.  codes (rows,): positions of the labels in `classes`.  sample_weight (rows,) or None.
    sentences: of a folder that holds tagged text.
    """

    def __init__(self, shards, k):
        self.shards, self.index = shards, k
        self.lo, self.hi = (int(offset) for offset in shards.offsets[k : k + 2])
        self.n_bytes = shards.manifest.shards[k].bytes
        self._checked = shards._checked(k)
        self.path = self._checked.file.path

    def __len__(self):
        return self.hi - self.lo

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.release()

    def release(self):
        """Give back the memory of the arrays' pages; they stay usable and are read again when used."""
        self._checked.file.drop_pages()

    def read_ahead(self, lo, hi):
        """Ask the system to read rows lo <= i < hi while something else is done."""
        self._checked.read_ahead(lo, hi)

    @property
    def X(self):
        return self._rows_of_X(0, len(self))

    @cached_property
    def indptr(self):
        """(rows + 1,): where the numbers of each row of a sparse X begin."""
        return self._checked.offsets()

    def _rows_of_X(self, lo, hi):
        from ...data.row_parts import rows_between

        whole = self._whole_X
        self._checked.check_rows(lo, hi)
        return whole if hi - lo == len(self) else rows_between(whole, lo, hi)

    @cached_property
    def _whole_X(self):
        """X before its rows are checked."""
        if self.shards.kind == "sentences":
            raise OneslackError(f"{self.path}: holds sentences, no rows of features; use `sentences`.")
        arrays = self._checked.file.arrays
        if self.shards.kind == "dense":
            return arrays["values"]
        from ...data.row_parts import csr_of

        return csr_of(arrays["values"], arrays["indices"], self.indptr, self.shards.n_features)

    @cached_property
    def y(self):
        column = self._labels
        return None if column is None else values_of(column, self.shards.manifest.labels)

    @property
    def _labels(self):
        return self._checked.column("y", self.shards.manifest.labels, self.shards.manifest.classes)

    @cached_property
    def qid(self):
        groups = self.shards.manifest.groups
        column = self._checked.column("qid", groups)
        return None if column is None else values_of(column, groups)

    @cached_property
    def codes(self):
        labels, classes = self.shards.manifest.labels, self.shards.classes
        if classes is None:
            what = "no labels" if labels is None else "too many different labels to be classes"
            raise OneslackError(
                f"{self.shards.path}: there are {what}; use `y` or pack the data with others."
            )
        return positions_in(self._labels, classes, labels)

    @property
    def sample_weight(self):
        return self._checked.weights()

    @cached_property
    def sentences(self):
        if self.shards.kind != "sentences":
            raise OneslackError(f"{self.path}: holds rows of features, no sentences; use `X` and `y`.")
        names = self.shards.manifest.feature_names
        made = {name: self._checked.column(f"column:{name}", "text") for name in names}
        return Sentences(made, self._checked.offsets(), self.path)

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
        return self.shard._rows_of_X(self.lo, self.hi)

    @property
    def y(self):
        y = self.shard.y
        if y is None:
            raise OneslackError(f"{self.shard.shards.path}: holds no labels; pack files that have some.")
        return y[self.lo : self.hi]

    @property
    def codes(self):
        return self.shard.codes[self.lo : self.hi]

    @property
    def sample_weight(self):
        weights = self.shard.sample_weight
        return None if weights is None else weights[self.lo : self.hi]


FORMAT = Format("packed", "a packed folder", "packed", open_shards)

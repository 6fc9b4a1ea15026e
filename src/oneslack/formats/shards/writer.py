"""Write shards: rows go in, whole files come out, and the manifest follows each of them.

A shard appears whole or not at all, and counts only once the manifest names it.  Whoever is stopped at any
moment, by a power cut too, can therefore go on after the last shard of the manifest.
"""

import errno
import os
import re
from contextlib import contextmanager

import numpy as np

from ...data.bytes import in_bytes
from ...errors import FormatError, OneslackError
from .columns import MANY, as_column, as_groups, distinct, group_level, level, to_level, wider
from .manifest import Entry, Manifest, load_manifest
from .pieces import MAX_ENTRIES, Piece, arrays_of, checked_block, refuse_unlike
from .places import shard_path
from .shard_file import write_shard

LEFTOVER = re.compile(r"\.([0-9a-f]{8}-\d+-)?[0-9a-f]{32}\.part")
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class ShardWriter:
    """Pack rows that come in blocks, dense or sparse, into a new folder.

    X (rows, d) and y (rows,) of each block; d is the same for all.

    >>> import numpy as np
    >>> from oneslack.formats import ShardWriter, open_shards
    >>> with ShardWriter("packed", dtype="float32", shard_size="64MB") as writer:
    ...     for X, y in [(np.eye(3), [0, 1, 1]), (np.ones((2, 3)), [0, 1])]:
    ...         writer.append(X, y)
    >>> open_shards("packed").n_rows
    5
    """

    def __init__(self, folder, *, dtype="float32", shard_size="64MB", source=None):
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise OneslackError(f"dtype must be float32 or float64, got {dtype!r}.")
        manifest = Manifest(dtype=np.dtype(dtype).name, source=source or {})
        self._begin(folder, shard_size, manifest)
        self._save()

    @classmethod
    def resume(cls, folder, *, shard_size="64MB"):
        """Go on with a folder that was not completed, after its last shard."""
        manifest = load_manifest(folder)
        if manifest.complete:
            raise FormatError(f"{folder}: is packed already; name another folder.")
        for entry in manifest.shards:
            shard_path(folder, entry)
        writer = cls.__new__(cls)
        writer._begin(folder, shard_size, manifest, exists=True)
        return writer

    def _begin(self, folder, shard_size, manifest, exists=False):
        self.folder, self.manifest = os.fspath(folder), manifest
        self.shard_size = in_bytes(shard_size)
        if not exists:
            _make_folder(self.folder)
        self._lock = _lock(self.folder)
        for name in filter(LEFTOVER.fullmatch, os.listdir(self.folder)):
            os.unlink(os.path.join(self.folder, name))
        self._pieces, self._bytes, self._entries = [], 0, 0
        self._progress = manifest.progress
        self._distinct = None if manifest.classes is None else set(manifest.classes)

    def append(self, X, y=None, *, sample_weight=None, qid=None):
        """Add the rows of X, a matrix or a CSR matrix, with their labels, weights and groups."""
        X, y, weights, groups = checked_block(X, y, sample_weight, qid, np.dtype(self.manifest.dtype))
        sparse = hasattr(X, "indptr")
        entries = X.nnz if sparse else X.size
        step = max(1, X.shape[0] * self.shard_size // (8 * max(1, entries * X.dtype.itemsize)))
        for lo in range(0, X.shape[0], step):
            cut = slice(lo, lo + step)
            piece = Piece("sparse" if sparse else "dense", X[cut])
            piece.labels = None if y is None else as_column(y[cut])
            piece.groups = None if groups is None else as_groups(groups[cut])
            piece.weights = None if weights is None else weights[cut]
            self.add(piece)

    def add(self, piece, progress=None):
        """Add a piece; `progress` is what the manifest shall say once the piece is on disk."""
        if piece.rows:
            refuse_unlike(piece, self.manifest)
            if self._bytes + piece.nbytes > self.shard_size or self._entries + piece.entries > MAX_ENTRIES:
                self.flush()
            self._pieces.append(piece)
            self._bytes += piece.nbytes
            self._entries += piece.entries
            self._take_note(piece)
        if progress is not None:
            self._progress = progress

    def flush(self):
        """Write what was collected as one shard."""
        if not self._pieces:
            return
        name = f"shard-{len(self.manifest.shards):05d}.safetensors"
        path = os.path.join(self.folder, name)
        if os.path.islink(path):  # it would be followed
            raise FormatError(f"{path}: is a link, where the next shard goes; remove it.")
        with self._no_room_said():
            n_bytes, checksum = write_shard(path, arrays_of(self._pieces))
        rows = sum(piece.rows for piece in self._pieces)
        self.manifest.shards.append(Entry(name, rows, self._entries, n_bytes, checksum))
        self._pieces, self._bytes, self._entries = [], 0, 0
        self._save()

    def finish(self):
        """Write the last shard, and what is known only now: the classes and the number of features."""
        self.flush()
        manifest = self.manifest
        if not manifest.shards:
            raise FormatError(f"{self.folder}: there are no rows to pack; give at least one.")
        if manifest.labels is None:
            self._distinct = None
        elif self._distinct is not None:
            self._distinct = {to_level(value, manifest.labels) for value in self._distinct}
        self._progress, manifest.complete = {}, True
        self._save()
        self.close()

    def discard(self, and_folder=False):
        """Remove all that was written, which a folder that was empty holds; perhaps the folder itself."""
        self.close()
        for name in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, name))
        if and_folder:
            os.rmdir(self.folder)

    def close(self):
        """Let go of the folder; without `finish` it stays unfinished."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self):
        return self

    def __exit__(self, kind, *exception):
        if kind is None:
            self.finish()
        self.close()

    def _take_note(self, piece):
        manifest = self.manifest
        manifest.kind = piece.kind
        manifest.n_features = max(manifest.n_features, piece.n_features)
        manifest.feature_names = manifest.feature_names or piece.feature_names
        manifest.labels = wider(manifest.labels, level(piece.labels))
        manifest.groups = wider(manifest.groups, group_level(piece.groups))
        manifest.weights = piece.weights is not None
        if self._distinct is not None and piece.labels is not None:
            self._distinct |= distinct(piece.labels)
            self._distinct = self._distinct if len(self._distinct) <= MANY else None

    def _save(self):
        self.manifest.progress = self._progress
        several = self._distinct
        # Before the end numbers may stand beside texts.
        self.manifest.classes = None if several is None else sorted(several, key=lambda v: (str(type(v)), v))
        with self._no_room_said():
            self.manifest.save(self.folder)

    @contextmanager
    def _no_room_said(self):
        try:
            yield
        except OSError as error:
            what = "the disk is full" if error.errno in NO_ROOM else f"cannot be written ({error.strerror})"
            n = len(self.manifest.shards)
            kept = f" after {n} {'shard' if n == 1 else 'shards'}, which {'is' if n == 1 else 'are'} kept"
            raise FormatError(
                f"{self.folder}: {what}{kept if n else ''}; make room, then go on with --resume."
            ) from error


def _make_folder(folder):
    try:
        os.makedirs(folder, exist_ok=True)
        taken = [name for name in os.listdir(folder) if not LEFTOVER.fullmatch(name)]
    except OSError as error:
        raise FormatError(f"{folder}: cannot be made a folder ({error.strerror}); name another.") from error
    if taken:
        raise FormatError(f"{folder}: is not empty; name a new folder, or remove this one first.")


def _lock(folder):
    """Keep a second writer out; the system lets go of the lock however this process ends."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            return None  # a file system without locks
        raise FormatError(
            f"{folder}: another process packs into it now; wait for it, or name another folder."
        ) from error
    return descriptor

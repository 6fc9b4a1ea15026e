"""Pack data files into a folder of shards.

Chunks of the files are parsed by threads and come back in the files' order, so that the shards do not
depend on the number of threads.  The manifest says after each shard where the next one starts.
"""

import os
import re
import stat
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from ...data.bytes import in_bytes
from ...engines.threads import count_jobs
from ...errors import FormatError, OneslackError
from ..format import CERTAIN
from ..registry import FORMATS, format_of
from ..shards.manifest import NAME, load_manifest
from ..shards.reading import open_shards
from ..shards.writer import ShardWriter
from .chunks import Options
from .row_chunks import numpy_chunks, table_chunks
from .text_chunks import conll_chunks, conllu_chunks, csv_chunks, svmlight_chunks

#: Formats that are read in chunks; tables of others are read whole.
CHUNKS = {
    "svmlight": svmlight_chunks,
    "csv": csv_chunks,
    "numpy": numpy_chunks,
    "conll": conll_chunks,
    "conllu": conllu_chunks,
}
CHUNK_SIZE = 1 << 22
LEAST = 1000  # bytes of a chunk, where shards are small


@dataclass(frozen=True)
class Progress:
    """Bytes of the files read so far and in all, and what is on disk: shards, rows."""

    done: int
    total: int
    shards: int
    rows: int


def pack(
    files, folder, *, kind="auto", dtype="float32", shard_size="64MB", label=None, group=None,
    zero_based=None, columns=None, jobs=None, resume=False, report=None,
):  # fmt: skip
    """Pack files (svmlight, CSV, .npy, .npz, CoNLL; text may be packed) as shards into a new folder.

    kind: "svmlight", "csv", "numpy", "conll", or "auto" for what each file seems to be.  label, group: see
    read_csv and read_numpy.  zero_based: do svmlight indices start at 0?  None: at 1 unless an index 0
    occurs in the first shard.  columns: names of CoNLL columns.  resume: go on where an earlier call with
    the same arguments was stopped.  report: called with a Progress after each chunk.

    >>> import numpy as np
    >>> from oneslack.formats import pack, write_svmlight
    >>> for day in ("day1.svm", "day2.svm"):
    ...     write_svmlight(day, np.eye(3), [1, -1, 1])
    >>> shards = pack(["day1.svm", "day2.svm"], "packed", jobs=1)
    >>> shards.n_rows, shards.n_features, shards.classes.tolist()
    (6, 3, [-1, 1])
    """
    files = [os.fspath(path) for path in ([files] if isinstance(files, str | os.PathLike) else files)]
    source = {
        "files": [_identity(path) for path in files], "kinds": [_kind(path, kind) for path in files],
        "label": label, "group": group, "zero_based": zero_based,
        "columns": None if columns is None else list(columns),
        "shard_size": in_bytes(shard_size), "first_index": None,
    }  # fmt: skip
    if not files:
        raise OneslackError("there are no files to pack; name at least one.")
    is_new = not os.path.exists(folder)
    writer = _writer(folder, dtype, source, resume)
    if writer is not None:
        try:
            _fill(writer, count_jobs(jobs), report or (lambda progress: None))
            writer.finish()
        except OneslackError:
            if not resume:  # the files must be mended, or read otherwise: there is nothing to go on with
                writer.discard(and_folder=is_new)
            raise
        finally:
            writer.close()
    return open_shards(folder)


def _kind(path, kind):
    if kind == "auto":
        found = format_of(path, least=CERTAIN)
        return (format_of(path, "table") if found is None or found.holds == "packed" else found).name
    kinds = [name for name, entry in FORMATS.items() if name in CHUNKS or entry.holds == "table"]
    if kind not in kinds:
        raise OneslackError(f"kind must be 'auto', {', '.join(map(repr, kinds))}, got {kind!r}.")
    return kind


def _identity(path):
    """What tells whether a file is still the same when the work goes on."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); check the path.") from error
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise FormatError(f"{path}: is a pipe or a device, which cannot be read again; name a file.")
    return {"path": path, "bytes": status.st_size, "modified": status.st_mtime_ns}


def _writer(folder, dtype, source, resume):
    """A writer to begin or to go on with, or None when all is packed already."""
    shard_size = source["shard_size"]
    if not os.path.exists(os.path.join(folder, NAME)):
        return ShardWriter(folder, dtype=dtype, shard_size=shard_size, source=source)
    manifest = load_manifest(folder)
    if not resume:
        raise FormatError(
            f"{folder}: holds {'packed data' if manifest.complete else 'an unfinished packing'} already; "
            + ("name a new folder." if manifest.complete else "go on with --resume, or name a new folder.")
        )
    _check_same(folder, manifest, {**source, "dtype": np.dtype(dtype).name})
    return None if manifest.complete else ShardWriter.resume(folder, shard_size=shard_size)


def _check_same(folder, manifest, source):
    """Refuse to go on with other files or options: the shards would not belong together."""
    before = {**manifest.source, "dtype": manifest.dtype, "first_index": None}
    known = {file["path"]: file for file in before.get("files", [])}
    for file in source["files"]:
        if file != known.get(file["path"], file):
            raise FormatError(
                f"{file['path']}: has changed since its packing into {folder} began; pack into a new folder."
            )
    for name in source:
        if source[name] != before.get(name):
            what = name.replace("_", "-").replace("kinds", "format")
            raise FormatError(
                f"{folder}: was begun with other {'files' if name == 'files' else 'options'} ({what}); give "
                "the same ones with --resume, or name a new folder."
            )


def _fill(writer, jobs, report):
    """Parse what is not done yet and hand it to the writer."""
    total = sum(file["bytes"] for file in writer.manifest.source["files"])
    pool = ThreadPoolExecutor(jobs)
    try:
        pieces = _pieces(writer, pool, ahead=jobs if jobs > 1 else 0)
        if "svmlight" in writer.manifest.source["kinds"]:
            pieces = _count_from_zero(pieces, writer)
        for piece, progress, done in pieces:
            writer.add(piece, progress)
            report(Progress(done, total, len(writer.manifest.shards), writer.manifest.n_rows))
    finally:
        pool.shutdown(cancel_futures=True)


def _pieces(writer, pool, ahead):
    """(piece, progress for the manifest, bytes read so far) in the order of the files."""
    source = writer.manifest.source
    begun = writer.manifest.progress or {"file": 0, "start": 0, "line": 0}
    current, line = begun["file"], begun["line"]
    for k, chunk, future in _in_order(_chunks(writer, begun), pool, ahead):
        if k != current:
            current, line = k, 0
        path, line = source["files"][k]["path"], line + chunk.skipped
        try:
            piece = future.result()
        except FormatError as error:
            raise _in_whole_file(error, path, line) from error
        piece.line = line if piece.n_lines else None
        line += piece.n_lines
        done = chunk.done + sum(file["bytes"] for file in source["files"][:k])
        yield piece, {"file": k, "start": chunk.stop, "line": line}, done


def _in_whole_file(error, path, lines_before):
    """An error of a reader, which counts lines from its chunk's start, with the line in the file."""
    found = re.match(rf"{re.escape(path)}, line ([0-9]+)", str(error))
    if not found:
        return error
    return FormatError(f"{path}, line {int(found[1]) + lines_before}{str(error)[found.end() :]}")


def _chunks(writer, begun):
    """(number of the file, chunk) from where the work begins."""
    source = writer.manifest.source
    given = {name: source[name] for name in ("label", "group", "columns", "zero_based")}
    options = Options(np.dtype(writer.manifest.dtype), **given)
    # Cells of two bytes become numbers of eight: a chunk must fit into a shard all the same.
    size = min(CHUNK_SIZE, max(LEAST, writer.shard_size // 4))
    for k in range(begun["file"], len(source["files"])):
        start = begun["start"] if k == begun["file"] else 0
        read = CHUNKS.get(source["kinds"][k], partial(table_chunks, source["kinds"][k]))
        for chunk in read(source["files"][k]["path"], options, size, start):
            yield k, chunk


def _in_order(chunks, pool, ahead):
    """(number of the file, chunk, future), with so many chunks under way: they bound the memory."""
    waiting = deque()
    for k, chunk in chunks:
        waiting.append((k, chunk, pool.submit(chunk.parse)))
        if len(waiting) > ahead:
            yield waiting.popleft()
    yield from waiting


# Where svmlight's indices start, at 0 or 1: a file does not say.  The rows that make the first shard decide:
# at 1 unless an index 0 occurs.  An index 0 that comes later is refused, as the shards before it are written.


def _count_from_zero(pieces, writer):
    """The items (piece, progress, done) with the indices of svmlight counted from 0."""
    source = writer.manifest.source
    if source["first_index"] is None and source["zero_based"] is None:
        first, n_bytes = deque(), 0
        for item in pieces:
            first.append(item)
            n_bytes += item[0].nbytes
            if item[0].line_of_zero is not None or n_bytes > writer.shard_size:
                break
        source["first_index"] = 0 if any(item[0].line_of_zero is not None for item in first) else 1
        pieces = chain(_forgetting(first), pieces)
    elif source["first_index"] is None:
        source["first_index"] = 0 if source["zero_based"] else 1
    for piece, progress, done in pieces:
        if source["first_index"] == 1 and source["kinds"][progress["file"]] == "svmlight":
            _subtract_one(piece)
        yield piece, progress, done


def _forgetting(queue):
    """The items of a queue, which gives up each one: a list would keep a shard in memory."""
    while queue:
        yield queue.popleft()


def _subtract_one(piece):
    if piece.line_of_zero is not None:
        raise FormatError(
            f"{piece.path}, line {piece.line + piece.line_of_zero}: index 0, but the rows before were read "
            "with indices from 1 on; pack into a new folder with --zero-based."
        )
    X = piece.X
    X.indices -= 1
    piece.X = type(X)((X.data, X.indices, X.indptr), (X.shape[0], max(0, X.shape[1] - 1)))

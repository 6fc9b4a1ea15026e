"""Where svmlight's indices start, at 0 or 1: a file does not say.

The rows that make the first shard decide: at 1 unless an index 0 occurs.  An index 0 that comes later is
refused, as the shards before it are written.
"""

from collections import deque
from itertools import chain

from ...errors import FormatError


def count_from_zero(pieces, writer):
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

"""A table of any format, read whole and cut into chunks of rows."""

import os
from functools import partial

from ..read import read_data
from .chunks import Chunk
from .numpy_chunks import piece_of_rows


def table_chunks(kind, path, options, size, start):
    """Chunks from row `start` on."""
    zero_based = "auto" if options.zero_based is None else options.zero_based
    table = read_data(path, kind=kind, label=options.label, group=options.group, zero_based=zero_based)
    n_rows, n_bytes = table.X.shape[0], os.path.getsize(path)
    n = max(1, size * n_rows // max(1, n_bytes))
    for row in range(start, n_rows, n):
        X, y, qid = (None if part is None else part[row : row + n] for part in (table.X, table.y, table.qid))
        parse = partial(piece_of_rows, path, row, X, y, qid, None, options.dtype, table.feature_names)
        yield Chunk(parse, row + X.shape[0], n_bytes * (row + X.shape[0]) // n_rows)

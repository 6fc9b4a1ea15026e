"""What the readers hand over: work for one thread, which gives a piece, and where the next one starts."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Chunk:
    """parse() gives a Piece; the rest is for the manifest and the progress.

    stop: where the next chunk starts, a byte of the unpacked text or a row; done: bytes of the file read so
    far; skipped: lines passed over before this chunk, such as a header.
    """

    parse: Any
    stop: int
    done: int
    skipped: int = 0


@dataclass(frozen=True)
class Options:
    """How files are read; see `pack`."""

    dtype: np.dtype
    label: Any = None
    group: Any = None
    columns: Any = None
    zero_based: bool | None = None

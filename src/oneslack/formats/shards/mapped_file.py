"""A shard's file where it lies: its arrays are views, and each block of it is compared with its checksum.

Nothing that the header says is used before it is checked: who made the file may be careless, or worse.
"""

import json
import math
import mmap
import os
import re
import zlib

import numpy as np

from ...errors import FormatError
from .places import AGAIN, shard_path
from .shard_file import BLOCK, CODES, METADATA


class MappedFile:
    """arrays: {name: read-only view}.

    identity: by it a file is told from one that was put in its place, or changed.
    """

    def __init__(self, folder, entry):
        self.path = shard_path(folder, entry)
        self._map, self.identity = _mapped(self.path)
        if len(self._map) != entry.bytes:
            raise FormatError(f"{self.path}: the shard changes while it is opened; {AGAIN}.")
        try:
            self._read_header(entry)
        except FormatError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise self._damaged("header cannot be right") from error

    def _read_header(self, entry):
        self._start, header = _header(self._map)
        n_bytes, blocks = entry.bytes - self._start, header.pop(METADATA, None)
        if blocks:
            self._first, self._size, self.expected = self._start, BLOCK, _checksums(blocks, n_bytes)
            if zlib.crc32(self._map[: self._start]) != entry.crc32:
                raise self._damaged("checksum does not match")
        else:  # format 1: one checksum for the whole file
            self._first, self._size, self.expected = 0, entry.bytes, [entry.crc32]
        self._spans = _spans(header, n_bytes)
        self.arrays = {name: self._view(**about) for name, about in header.items()}

    def _damaged(self, what):
        return FormatError(f"{self.path}: the shard is damaged, its {what}; {AGAIN}.")

    def _view(self, dtype, shape, data_offsets):
        dtype, (start, stop) = np.dtype(CODES[dtype]), data_offsets
        if not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError
        if math.prod(shape) * dtype.itemsize != stop - start or (self._start + start) % dtype.itemsize:
            raise ValueError
        return np.frombuffer(self._map, dtype, math.prod(shape), self._start + start).reshape(shape)

    def compare(self, known, name, lo=0, hi=None):
        """Compare the blocks that hold items lo <= i < hi of an array (n, ...) with their checksums.

        known (blocks,): those that were compared before, which is noted here.
        """
        array, start = self.arrays[name], self._start + self._spans[name][0] - self._first
        item = array.nbytes // max(len(array), 1)
        first, last = start + lo * item, start + (len(array) if hi is None else hi) * item
        for k in range(first // self._size, -(-last // self._size)):
            if not known[k]:
                begin = self._first + k * self._size
                with memoryview(self._map) as whole, whole[begin : begin + self._size] as block:
                    if zlib.crc32(block) != self.expected[k]:
                        raise self._damaged("checksum does not match")
                known[k] = True

    def read_ahead(self, name, lo, hi):
        """Ask the system to read items lo <= i < hi of an array while something else is done."""
        if hasattr(mmap, "MADV_WILLNEED"):
            array, start = self.arrays[name], self._start + self._spans[name][0]
            item = array.nbytes // max(len(array), 1)
            first = (start + lo * item) // mmap.PAGESIZE * mmap.PAGESIZE
            self._map.madvise(mmap.MADV_WILLNEED, first, max(start + hi * item - first, 1))

    def drop_pages(self):
        """Give back the memory that the map takes now; what is used again is read again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


def _mapped(path):
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # a ValueError where it is empty
        why = getattr(error, "strerror", None) or error
        raise FormatError(f"{path}: cannot be read ({why}); check its permissions.") from error
    return mapped, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _header(mapped):
    """(where the arrays start, the header's content)."""
    start = 8 + int.from_bytes(mapped[:8], "little")
    if start > len(mapped):
        raise ValueError
    return start, json.loads(mapped[8:start])


def _checksums(metadata, n_bytes):
    digits = metadata["crc32"]
    if not re.fullmatch("[0-9a-f]*", digits) or len(digits) != 8 * -(-n_bytes // BLOCK):
        raise ValueError
    return [int(digits[k : k + 8], 16) for k in range(0, len(digits), 8)]


def _spans(header, n_bytes):
    """{name: [start, stop]}, which follow each other from 0 to the end."""
    spans, end = {name: about["data_offsets"] for name, about in header.items()}, 0
    for start, stop in sorted(spans.values()):
        if type(start) is not int or type(stop) is not int or start != end or stop < start:
            raise ValueError
        end = stop
    if end != n_bytes:
        raise ValueError
    return spans

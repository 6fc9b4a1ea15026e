"""One shard is one file: named arrays in the layout of safetensors, checksummed as they are written.

    8 bytes   the length of the header
    header    JSON: {"values": {"dtype": "F32", "shape": [n], "data_offsets": [start, stop]}, ...}
    arrays    without gaps

Arrays of wide numbers come first and the header is filled up with blanks to a multiple of ALIGNMENT:
so each array starts at a multiple of its item size and can be used where the file is mapped.
"""

import json
import mmap
import os
import zlib

import numpy as np

from oneslack.errors import FormatError
from oneslack.formats.atomic import atomic_write

ALIGNMENT = 64
CODES = {"F64": "<f8", "I64": "<i8", "F32": "<f4", "I32": "<i4", "U8": "u1"}
AGAIN = "pack the data again, or fetch the file again"
NAMES = {np.dtype(code): name for name, code in CODES.items()}


def write_shard(path, arrays):
    """Write {name: pieces}, each array in pieces that follow each other; (bytes, crc32) of the file."""
    arrays = {name: _little_endian(pieces) for name, pieces in arrays.items()}
    order = sorted(arrays, key=lambda name: (-arrays[name][0].itemsize, name))
    header = _header({name: arrays[name] for name in order})
    with atomic_write(path) as file:
        file.write(header)
        checksum = zlib.crc32(header)
        for name in order:
            for piece in arrays[name]:
                if piece.size:
                    file.write(piece)
                    checksum = zlib.crc32(piece, checksum)
        return file.tell(), checksum


def _little_endian(pieces):
    dtype = pieces[0].dtype.newbyteorder("<")
    return [np.ascontiguousarray(piece, dtype) for piece in pieces]


def _header(arrays):
    described, stop = {}, 0
    for name, pieces in arrays.items():
        shape = [sum(map(len, pieces)), *pieces[0].shape[1:]]
        start, stop = stop, stop + sum(piece.nbytes for piece in pieces)
        dtype = NAMES[pieces[0].dtype]
        described[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}
    text = json.dumps(described).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def map_shard(path, size):
    """(map, {name: array}) of a file with `size` bytes; the arrays are read-only views of the map."""
    check_size(path, size)
    try:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    try:
        start = 8 + int.from_bytes(mapped[:8], "little")
        header = json.loads(mapped[8:start])
        return mapped, {name: _view(mapped, start, **entry) for name, entry in header.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FormatError(f"{path}: the shard's header is damaged; {AGAIN}.") from error


def _view(mapped, start, dtype, shape, data_offsets):
    dtype = np.dtype(CODES[dtype])
    count = (data_offsets[1] - data_offsets[0]) // dtype.itemsize
    return np.frombuffer(mapped, dtype, count, start + data_offsets[0]).reshape(shape)


def check_size(path, size):
    """Refuse a file that is missing or has another number of bytes, without reading it."""
    try:
        found = os.stat(path).st_size
    except FileNotFoundError as error:
        raise FormatError(f"{path}: the shard is missing; {AGAIN}.") from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    if found != size:
        raise FormatError(f"{path}: the shard has {found:,} bytes, expected {size:,}; {AGAIN}.")


def checksum_of(path, block=1 << 22):
    """The crc32 of a file, read block by block."""
    checksum = 0
    with open(path, "rb", buffering=0) as file:
        while content := file.read(block):
            checksum = zlib.crc32(content, checksum)
    return checksum


def drop_pages(mapped):
    """Give back the memory that a map takes now; what is used again is read again."""
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)

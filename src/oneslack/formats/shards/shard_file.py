"""One shard is one file: named arrays in the layout of safetensors, checksummed as they are written.

    8 bytes   the length of the header
    header    JSON: {"values": {"dtype": "F32", "shape": [n], "data_offsets": [start, stop]}, ...,
              "__metadata__": {"crc32": eight hexadecimal digits for each BLOCK of the arrays' bytes}}
    arrays    without gaps

Arrays of wide numbers come first and the header is filled up with blanks to a multiple of ALIGNMENT:
so each array starts at a multiple of its item size and can be used where the file is mapped.  The manifest
holds the checksum of the header, which thereby vouches for the arrays, block by block.
"""

import json
import zlib

import numpy as np

from ..atomic import atomic_write

ALIGNMENT = 64
#: Bytes that are checked together when the first of them is used.
BLOCK = 1 << 20
CODES = {"F64": "<f8", "I64": "<i8", "F32": "<f4", "I32": "<i4", "U8": "u1"}
NAMES = {np.dtype(code): name for name, code in CODES.items()}
METADATA = "__metadata__"


def write_shard(path, arrays):
    """Write {name: pieces}, each array in pieces that follow each other; (bytes, crc32 of the header)."""
    arrays = {name: _little_endian(pieces) for name, pieces in arrays.items()}
    order = sorted(arrays, key=lambda name: (-arrays[name][0].itemsize, name))
    parts = [memoryview(piece).cast("B") for name in order for piece in arrays[name] if piece.size]
    header = _header({name: arrays[name] for name in order}, _block_checksums(parts))
    with atomic_write(path) as file:
        file.write(header)
        file.writelines(parts)
        return file.tell(), zlib.crc32(header)


def _little_endian(pieces):
    dtype = pieces[0].dtype.newbyteorder("<")
    return [np.ascontiguousarray(piece, dtype) for piece in pieces]


def _header(arrays, checksums):
    described, stop = {METADATA: {"crc32": "".join(f"{checksum:08x}" for checksum in checksums)}}, 0
    for name, pieces in arrays.items():
        shape = [sum(map(len, pieces)), *pieces[0].shape[1:]]
        start, stop = stop, stop + sum(piece.nbytes for piece in pieces)
        dtype = NAMES[pieces[0].dtype]
        described[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}
    text = json.dumps(described).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def _block_checksums(parts):
    """The crc32 of each BLOCK of bytes that come in parts."""
    found, room = [], 0
    for part in parts:
        while part:
            if not room:
                found.append(0)
                room = BLOCK
            found[-1] = zlib.crc32(part[:room], found[-1])
            part, room = part[room:], room - min(room, len(part))
    return found

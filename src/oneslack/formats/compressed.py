"""Arrays of a model file made smaller, bit for bit reversible.

Sorted integers become the gaps between them; floats with many repeats become the distinct ones and which of
them each is (features that occur together have the same weight).  Then the first bytes of all numbers are put
side by side, the second ones, and so on, and zlib squeezes what repeats; bytes (text) it squeezes as they
are.  Reading runs no code, gives no more bytes than the header promises, and makes room only for
what is there.
"""

from __future__ import annotations

import math
import zlib

import numpy as np

#: Arrays with fewer bytes stay as they are.
SMALL = 1 << 12
#: Those that may become smaller.
TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
TYPES += ["float16", "float32", "float64"]


def compress(arrays):
    """(about, arrays): large arrays in fewer bytes where that works; `about` is for the header."""
    about, out = {}, {}
    for name, array in arrays.items():
        if array.nbytes >= SMALL and array.dtype.kind in "iuf":
            parts, distinct = _parts(name, array)
            if sum(part.nbytes for part in parts.values()) < array.nbytes:
                out |= parts
                about[name] = {"dtype": array.dtype.name, "shape": list(array.shape), "distinct": distinct}
                continue
        out[name] = array
    return about, out


def decompress(about, arrays):
    """The arrays as they were; a KeyError or ValueError where something is missing or damaged."""
    out = dict(arrays)
    for name, note in about.items():
        dtype, size = _checked(name, note)
        packed = out.pop(name)
        if dtype.kind == "f":
            codes = _unsqueezed(name, out.pop(f"{name}.codes"), size, 8)
            distinct = np.cumsum(_unsqueezed(name, packed, note["distinct"], 8), dtype=np.uint64)
            if len(codes) and int(codes.max()) >= len(distinct):
                raise ValueError(f"the numbers of {name} do not fit")
            bits = distinct[codes.astype(np.int64)]
        elif dtype.itemsize == 1:
            bits = _unsqueezed(name, packed, size, 1)
        else:
            bits = np.cumsum(_unsqueezed(name, packed, size, 8), dtype=np.uint64)
        unsigned = np.dtype(f"u{dtype.itemsize}")
        out[name] = bits.astype(unsigned).view(dtype).reshape(note["shape"])
    return out


def _checked(name, note):
    """(type, number of items) of an array by its note."""
    dtype, shape = note["dtype"], note["shape"]
    if dtype not in TYPES:
        raise ValueError(f"the array {name} is of type {dtype!r}")
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in (*shape, note["distinct"])):
        raise ValueError(
            f"the array {name} has the shape {shape!r}, of {note['distinct']!r} distinct numbers"
        )
    return np.dtype(dtype), math.prod(shape)


def _parts(name, array):
    """The arrays to store instead, and how many distinct floats there are."""
    flat = np.ascontiguousarray(array).reshape(-1)
    bits = flat.view(np.dtype(f"u{flat.dtype.itemsize}")).astype(np.uint64)
    if array.dtype.itemsize == 1:
        return {name: _squeezed(bits.astype(np.uint8))}, 0
    if array.dtype.kind != "f":
        return {name: _squeezed(_gaps(bits))}, 0
    distinct, codes = np.unique(bits, return_inverse=True)
    codes = codes.astype(np.uint64)
    return {name: _squeezed(_gaps(distinct)), f"{name}.codes": _squeezed(codes)}, len(distinct)


def _gaps(numbers):
    """Differences, modulo 2**64 where they fall: cumsum undoes them."""
    return np.diff(numbers, prepend=np.zeros(1, np.uint64))


def _squeezed(numbers):
    width = numbers.itemsize
    planes = np.ascontiguousarray(numbers.astype(f"<u{width}").view(np.uint8).reshape(-1, width).T)
    return np.frombuffer(zlib.compress(planes.tobytes(), 9), np.uint8)


def _unsqueezed(name, packed, size, width):
    opened = zlib.decompressobj()
    try:
        content = opened.decompress(packed.tobytes(), width * size + 1)
    except zlib.error as error:
        raise ValueError(f"the array {name} cannot be unpacked: {error}") from None
    if len(content) != width * size or not opened.eof:
        raise ValueError(f"the array {name} has not the size that the header says")
    planes = np.frombuffer(content, np.uint8).reshape(width, size)
    return np.ascontiguousarray(planes.T).view(f"<u{width}").reshape(-1)

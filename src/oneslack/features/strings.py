"""A list of strings as two arrays of numbers: what a model file can hold."""

import numpy as np


def pack_strings(strings):
    """(text, stops): the UTF-8 bytes of all strings, and where each one ends."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    stops = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    return np.frombuffer(b"".join(encoded), np.uint8), stops


def unpack_strings(text, stops):
    """The list of strings that pack_strings was given, none of them twice; a ValueError for other arrays."""
    if text.dtype != np.uint8 or stops.dtype != np.int64 or stops.ndim != 1:
        raise ValueError(f"strings are held as {text.dtype} and {stops.dtype}, expected uint8 and int64")
    whole = text.tobytes()
    starts = np.concatenate([np.zeros(1, np.int64), stops])
    if (starts[1:] < starts[:-1]).any() or starts[-1] != len(whole):
        raise ValueError("the ends of the strings do not fit their text")
    slices = map(slice, starts[:-1].tolist(), stops.tolist())
    strings = [part.decode("utf-8", "surrogatepass") for part in map(whole.__getitem__, slices)]
    if len(set(strings)) < len(strings):
        raise ValueError("a string stands there twice")
    return strings

"""A list of strings as two arrays of numbers, which a model file can hold."""

import numpy as np


def pack_strings(strings):
    """(text, stops): the UTF-8 bytes of all strings, and where each one ends."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    stops = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    return np.frombuffer(b"".join(encoded), np.uint8), stops


def unpack_strings(text, stops):
    """The list of strings that pack_strings was given; a ValueError for arrays that it cannot have made."""
    whole = text.tobytes()
    starts = np.concatenate([np.zeros(1, np.int64), stops])
    if (np.diff(starts) < 0).any() or starts[-1] != len(whole):
        raise ValueError("the ends of the strings do not fit their text")
    slices = map(slice, starts[:-1].tolist(), stops.tolist())
    return [part.decode("utf-8", "surrogatepass") for part in map(whole.__getitem__, slices)]

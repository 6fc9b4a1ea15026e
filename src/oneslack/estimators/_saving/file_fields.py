"""Fields and arrays of a model file, each checked as it is taken.

A file may lie though its checksum fits.  What is missing raises a KeyError, what is wrong a ValueError, and
both name the field.
"""

from __future__ import annotations

import os

import numpy as np

#: Whole numbers beyond this count nothing that a file could hold.
MOST = 2**62
LARGEST = 1e150
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def field(header, name, kinds, what):
    """The value of a field, of one of the `kinds`; True and False are no numbers."""
    if not isinstance(header, dict):
        raise ValueError(f"{_shown(header)} stands where {name!r} should be a part of")
    value = header[name]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise ValueError(f"{name} is {_shown(value)}, expected {what}")
    return value


def table(header, name) -> dict:
    """A part of the header that has fields of its own."""
    return field(header, name, (dict,), "a table of fields")


def count(header, name, least=0, most=MOST) -> int:
    """A whole number."""
    value = field(header, name, (int,), "a whole number")
    if not least <= value <= most:
        raise ValueError(f"{name} is {_shown(value)}, expected a whole number from {least} to {most}")
    return value


def number(header, name, least=-np.inf, finite=True) -> float:
    """A number, which may be infinite where it need not be `finite`, but never NaN."""
    value = field(header, name, (int, float), "a number")
    is_finite = abs(value) <= np.finfo(float).max
    if not value >= least or not (is_finite or (isinstance(value, float) and not finite)):
        raise ValueError(f"{name} is {_shown(value)}, expected a {'finite ' * finite}number >= {least:g}")
    return float(value)


def flag(header, name) -> bool:
    """True or false."""
    return field(header, name, (bool,), "true or false")


def choice(header, name, known, what=None) -> str:
    """One of the texts of `known`; `what` says more of it than its name."""
    value = field(header, name, (str,), "text")
    if value not in known:
        raise ValueError(f"{what or name} {_shown(value)} is not known; known are {', '.join(known)}")
    return value


def texts(header, name, distinct=False) -> list[str]:
    """A list of texts, perhaps without one that stands there twice."""
    values = field(header, name, (list,), "a list of texts")
    if not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} holds what is no text")
    if distinct and len(set(values)) < len(values):
        raise ValueError(f"{name} holds a text twice")
    return values


def check_shape(name, array, shape):
    """Raise unless the array has the shape; None stands for any length."""
    fits = len(array.shape) == len(shape)
    if not fits or any(wanted not in (None, found) for found, wanted in zip(array.shape, shape)):
        raise ValueError(f"the {name} have shape {array.shape}, expected {shape}")


def floats(arrays, name, shape, what=None):
    """An array of float64 or float32, none of them so large that its square is infinite."""
    array = arrays[name]
    check_shape(what or f"numbers of {name}", array, shape)
    if array.dtype not in FLOATS:
        raise ValueError(f"{name} is of type {array.dtype}, expected float64")
    if not float(np.abs(array).max(initial=0.0)) <= LARGEST:
        raise ValueError(f"{name} holds NaN, infinity, or numbers beyond {LARGEST:g}")
    return array


def integers(arrays, name, shape, below, dtypes=(np.int32, np.int64)):
    """An array of whole numbers from 0 to `below` - 1."""
    array = arrays[name]
    check_shape(f"numbers of {name}", array, shape)
    if array.dtype not in dtypes:
        raise ValueError(f"{name} is of type {array.dtype}, expected {np.dtype(dtypes[-1])}")
    if array.size and (array.min() < 0 or array.max() >= below):
        raise ValueError(f"{name} must hold whole numbers from 0 to {below - 1}")
    return array


def ends(arrays, name, n, size, least=0, dtypes=(np.int32, np.int64)):
    """(n + 1,) places that cut `size` things into n parts, of `least` things or more; n may be None."""
    array = integers(arrays, name, (None if n is None else n + 1,), size + 1, dtypes)
    if not len(array) or array[0] != 0 or array[-1] != size or (np.diff(array) < least).any():
        raise ValueError(f"{name} does not fit: it must rise from 0 to {size}")
    return array


def refuse_more_than_memory(n_params):
    """Weights are stored without zeros, so that a file of any size may promise any number of them.  Where a
    model was trained, at least two such vectors had room."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not told here
        return
    if 16 * n_params > memory:
        raise ValueError(
            f"{n_params:,} weights would take {8e-9 * n_params:.3g} GB, too much for this machine of "
            f"{1e-9 * memory:.3g} GB"
        )


def _shown(value):
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."

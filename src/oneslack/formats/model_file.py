"""A trained model as one safetensors file: arrays, and a JSON header in its metadata.

    metadata["oneslack"] = {"format": "oneslack", "format_version": 1, "crc32": 7, "header": {}}

safetensors holds numbers and text only, so loading a model never runs code.  It notices a file cut
short, but not a changed byte; the checksum over header and arrays does.  All metadata stand under
one key because safetensors keeps no order among several, and equal models should be equal files.
"""

import hashlib
import json
import os
import zlib

import numpy as np

from ..errors import FormatError, OneslackError
from .atomic import atomic_write

FORMAT = "oneslack"
FORMAT_VERSION = 1
STORABLE = {"bool", "float16", "float32", "float64"}
STORABLE |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
AGAIN = "save the model again, or fetch the file again"


def save_model(path, header, arrays):
    """Write a header (a dict that JSON can hold) and named arrays; all or nothing.

    >>> import numpy as np
    >>> from oneslack.formats import load_model, save_model
    >>> save_model("model.safetensors", {"kind": "LinearSVC", "classes": ["no", "yes"]}, {"coef": np.eye(2)})
    >>> load_model("model.safetensors")[0]["classes"]
    ['no', 'yes']
    """
    from safetensors.numpy import save

    _check_header(path, header, "header")
    arrays = {name: _storable(path, name, array) for name, array in arrays.items()}
    text = json.dumps(
        {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "crc32": _checksum(header, arrays),
            "header": header,
        }
    )
    content = save(arrays, metadata={FORMAT: text})
    with atomic_write(path) as file:
        file.write(content)


def load_model(path):
    """The header and the arrays that save_model wrote.

    >>> import numpy as np
    >>> from oneslack.formats import load_model, save_model
    >>> save_model("model.safetensors", {"kind": "LinearSVC"}, {"coef": np.zeros((1, 3))})
    >>> header, arrays = load_model("model.safetensors")
    >>> arrays["coef"].shape
    (1, 3)
    """
    from safetensors import SafetensorError, safe_open

    path = os.fspath(path)
    if os.path.isdir(path):
        raise FormatError(f"{path}: is a folder; name the model file in it.")
    if not os.path.exists(path):
        raise FormatError(f"{path}: there is no such file; check the path.")
    try:
        with safe_open(path, framework="np") as file:
            envelope = _open_envelope(path, file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise FormatError(f"{path}: {_what_it_is(path, error)}.") from error
    except (TypeError, AttributeError) as error:  # a type of numbers that numpy does not have
        raise FormatError(f"{path}: an array is of a type that no model has ({error}); {AGAIN}.") from error
    if _checksum(envelope["header"], arrays) != envelope["crc32"]:
        raise FormatError(f"{path}: the file is damaged, its checksum does not match; {AGAIN}.")
    return envelope["header"], arrays


def fingerprint(arrays) -> str:
    """Of named arrays: other names, types, shapes or numbers have another one."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _check_header(path, value, where):
    """Refuse what would come back from JSON as something else, such as a tuple."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        for key, item in value.items():
            _check_header(path, item, f"{where}[{key!r}]")
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _check_header(path, item, f"{where}[{position}]")
    elif not isinstance(value, str | int | float | None):
        raise OneslackError(
            f"{path}: {where} is a {type(value).__name__}, which JSON does not give back; use dict "
            "with text keys, list, str, int, float, bool or None."
        )


def _storable(path, name, array):
    """The array in C order and this machine's byte order: safetensors copies memory as it lies."""
    array = np.asarray(array)
    if name == "__metadata__":
        raise OneslackError(f"{path}: no array may be called __metadata__; choose another name.")
    if array.dtype.name not in STORABLE:
        raise OneslackError(
            f"{path}: the array {name!r} is {array.dtype}; store numbers as arrays and text in the header."
        )
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=None)


def _checksum(header, arrays):
    checksum = zlib.crc32(json.dumps(header).encode())
    for name in sorted(arrays):
        array = arrays[name]
        checksum = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), checksum)
        checksum = zlib.crc32(array, checksum)
    return checksum


def _open_envelope(path, metadata):
    if FORMAT not in metadata:
        raise FormatError(
            f"{path}: is a safetensors file, but no oneslack model; give one that oneslack saved."
        )
    try:
        envelope = json.loads(metadata[FORMAT])
        version = envelope["format_version"]
        complete = envelope["format"] == FORMAT and version >= 1
        complete = complete and "crc32" in envelope and isinstance(envelope["header"], dict)
        json.dumps(envelope)  # what is nested too deeply could be read, but not be written
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        complete = False
    if complete and version > FORMAT_VERSION:
        raise FormatError(
            f"{path}: was written by a newer oneslack (format {version}, this one reads up to "
            f"{FORMAT_VERSION}); upgrade oneslack."
        )
    if not complete:
        raise FormatError(f"{path}: the model's header is damaged; {AGAIN}.")
    return envelope


def _what_it_is(path, error):
    """What a file that safetensors refuses seems to be, from its first bytes, and what to do about it."""
    try:
        with open(path, "rb") as file:
            start = file.read(64)
    except OSError:
        return f"the file cannot be read ({error}); {AGAIN}"
    if not start:
        return f"the file is empty; {AGAIN}"
    if start[8:9] == b"{":
        return f"the model file is damaged or cut short ({error}); {AGAIN}"
    if start[:1] == b"\x80":
        return (
            "is a pickle, which oneslack never loads since that would run code; load it as it was written, "
            "and write the model with its own `save`"
        )
    if all(32 <= byte < 127 or byte in b"\t\r\n" for byte in start):
        return "is not a model file, but text, as data are; give the model first, and then the data"
    return f"is not a model file; {AGAIN}"

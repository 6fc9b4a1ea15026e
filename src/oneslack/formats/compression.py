"""The bytes of a file, whether it is plain or packed by gzip, bzip2 or xz.

The first bytes decide, not the name: data sets are often renamed.
"""

import importlib
import io
import mmap
import os
import sys
import zlib
from contextlib import contextmanager

from ..errors import FormatError

MODULES = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
EXTENSIONS = (".gz", ".bz2", ".xz")
CHUNK = 1 << 20


def strip_extension(path):
    """The path without .gz, .bz2 or .xz."""
    name, extension = os.path.splitext(os.fspath(path))
    return name if extension.lower() in EXTENSIONS else os.fspath(path)


def read_buffer(path, limit=sys.maxsize):
    """The bytes of a file, unpacked: a read-only map of a plain file, else bytes or a bytearray.

    A map costs no memory of its own, so a plain file is never held twice.  Unpacking stops soon
    after `limit` bytes.
    """
    raw = _raw_bytes(path)
    if packer_of(raw[:8]) is None:
        return raw
    content = bytearray()
    source = raw if isinstance(raw, mmap.mmap) else io.BytesIO(raw)
    with unpacking(path, packer_of(raw[:8])) as module, module.open(source) as stream:
        while len(content) < limit and (chunk := stream.read(CHUNK)):
            content += chunk
    return content


def packer_of(start):
    """The module that unpacks a file of these first bytes, or None for a plain one."""
    return next((name for magic, name in MODULES.items() if start.startswith(magic)), None)


@contextmanager
def unpacking(path, name):
    """The module of that name; damage of an archive that it meets is told in a sentence."""
    module = importlib.import_module(name)
    damage = (EOFError, OSError, ValueError, zlib.error, getattr(module, "LZMAError", EOFError))
    try:
        yield module
    except damage as error:
        raise FormatError(
            f"{path}: the {name} archive is cut short or damaged ({error}); fetch or pack it again."
        ) from error


def _raw_bytes(path):
    with reading(path), open(path, "rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):  # a pipe, or an empty file
            return file.read()


@contextmanager
def reading(path):
    """What keeps a file from being opened and read is told in a sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise FormatError(f"{path}: there is no such file; check the path.") from error
    except IsADirectoryError as error:
        raise FormatError(f"{path}: is a folder; name a file in it.") from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error

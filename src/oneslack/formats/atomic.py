"""Write a file completely or not at all."""

import glob
import os
import shutil
import socket
import uuid
import zlib
from contextlib import contextmanager, suppress

from ..errors import FormatError


@contextmanager
def atomic_write(path, *, text=False):
    """Open a file that appears at `path` only when the block ends without an exception.

    The bytes go to a temporary file in the same folder (a rename across disks is not atomic), are
    flushed to disk, and then take the place of `path` in one step.  Otherwise `path` stays as it
    was and the temporary file is removed.  With `text` the file takes strings, written as UTF-8.

        with atomic_write("report.html", text=True) as file:
            file.write("<html>")
    """
    target = os.path.realpath(path)  # through a link, the file it points to is replaced
    remove_leftovers(target)
    temporary = f"{_beginning(target)}{os.getpid()}-{uuid.uuid4().hex}.part"
    file = _create(path, target, temporary, text)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _flush_folder(os.path.dirname(target))


def remove_leftovers(path):
    """Remove what processes of this machine that were killed while they wrote `path` have left beside it."""
    for name in glob.glob(f"{glob.escape(_beginning(os.path.realpath(path)))}*.part"):
        writer = name.removeprefix(_beginning(os.path.realpath(path))).partition("-")[0]
        if writer.isdigit() and not _is_alive(int(writer)):
            with suppress(OSError):
                os.unlink(name)


def _beginning(target):
    """Of the names of temporary files: by the file they become, and the machine that writes it."""
    folder, name = os.path.split(target)
    code = zlib.crc32(f"{name}@{socket.gethostname()}".encode(errors="surrogateescape"))
    return os.path.join(folder, f".{code:08x}-")


def _is_alive(pid):
    if os.name == "nt":  # where signal 0 is Ctrl-C
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def _create(path, target, temporary, text):
    if os.path.isdir(target):
        raise FormatError(f"{path}: is a folder; name a file to write to.")
    if os.path.exists(target) and not os.path.isfile(target):
        raise FormatError(
            f"{path}: is a device or a pipe, which must not be replaced; name a file to write to."
        )
    try:
        if text:
            return open(temporary, "x", encoding="utf-8", newline="\n")
        return open(temporary, "xb")
    except OSError as error:
        raise FormatError(
            f"{path}: cannot be written ({error.strerror}); choose a folder that exists and that "
            "you may write to."
        ) from error


def _flush_folder(folder):
    """Make the rename itself survive a power cut, where the system lets a folder be flushed."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

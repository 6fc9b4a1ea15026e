"""Where the files of a packed folder lie: in the folder, whoever made it."""

import os
import re
import stat

from ...errors import FormatError

AGAIN = "pack the data again, or fetch the file again"
PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")


def path_in(folder, name):
    """The path of a file of the folder; a link that leaves the folder, a pipe or a device is refused."""
    path = os.path.join(folder, name)
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        if os.path.dirname(os.path.realpath(path)) != os.path.realpath(folder):
            raise FormatError(f"{path}: is a link to a file outside the folder; put the file itself there.")
        status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise FormatError(f"{path}: is no file, but a folder, a pipe or a device; {AGAIN}.")
    return path


def shard_path(folder, entry):
    """The path of a shard that has as many bytes as the manifest says; nothing is read."""
    path = os.path.join(folder, entry.file)
    try:
        found = os.stat(path_in(folder, entry.file)).st_size
    except FileNotFoundError as error:
        raise FormatError(f"{path}: the shard is missing; {AGAIN}.") from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    if found != entry.bytes:
        raise FormatError(f"{path}: the shard has {found:,} bytes, expected {entry.bytes:,}; {AGAIN}.")
    return path

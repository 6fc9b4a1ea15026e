"""manifest.json: what a folder of shards holds, and, while it is written, how far the work has come."""

import json
import os
import zlib
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ...errors import FormatError
from ..atomic import atomic_write
from .manifest_checks import fault_of_manifest
from .places import path_in

FORMAT = "oneslack shards"
#: Format 1 had checksums of whole shards only; it is still read.
FORMAT_VERSION = 2
NAME = "manifest.json"


@dataclass
class Entry:
    """One shard: its file, rows (sentences), stored numbers (tokens), bytes and checksum of its header."""

    file: str
    rows: int
    entries: int
    bytes: int
    crc32: int


@dataclass
class Manifest:
    """kind: dense, sparse or sentences; dtype: of the values; feature_names: also the columns of sentences.

    labels: "integers", "numbers", "text", or None where there are none; `classes` are the distinct ones in
    order, or None where they are too many.  groups: "integers" or "text", or None.  `source` tells how the
    files were read; `progress`, while packing, how far each one is done.
    """

    kind: str | None = None
    dtype: str = "float32"
    complete: bool = False
    n_features: int = 0
    feature_names: list[str] | None = None
    labels: str | None = None
    classes: list | None = field(default_factory=list)
    groups: str | None = None
    weights: bool = False
    source: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)
    shards: list[Entry] = field(default_factory=list)

    @property
    def n_rows(self):
        return sum(entry.rows for entry in self.shards)

    @property
    def n_entries(self):
        return sum(entry.entries for entry in self.shards)

    @property
    def n_bytes(self):
        return sum(entry.bytes for entry in self.shards)

    def save(self, folder):
        """Replace the folder's manifest in one step."""
        content = asdict(self) | {"n_rows": self.n_rows, "n_entries": self.n_entries}
        head = {"format": FORMAT, "format_version": FORMAT_VERSION, "crc32": _checksum(content)}
        with atomic_write(os.path.join(folder, NAME), text=True) as file:
            file.write(json.dumps(head | content, indent=1) + "\n")


def load_manifest(folder):
    """The manifest of a folder; a sentence for a folder that has none or a damaged one."""
    path = os.path.join(folder, NAME)
    content = _read(folder, path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FormatError(f"{path}: is no manifest of oneslack's shards; name a folder that was packed.")
    version = content.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        raise FormatError(
            f"{path}: was written by a newer oneslack (format {version}, this one reads up to "
            f"{FORMAT_VERSION}); upgrade oneslack."
        )
    content = {name: value for name, value in content.items() if name not in ("format", "format_version")}
    if content.pop("crc32", None) != _checksum(content):
        raise FormatError(f"{path}: the manifest is damaged, its checksum does not match; pack again.")
    if fault := fault_of_manifest(content):
        raise FormatError(f"{path}: the manifest cannot be right: {fault}; pack the data again.")
    known = {each.name for each in fields(Manifest)}
    manifest = Manifest(**{name: value for name, value in content.items() if name in known})
    manifest.shards = [Entry(**entry) for entry in manifest.shards]
    return manifest


def _read(folder, path):
    if not os.path.isdir(folder):
        what = "is a file" if os.path.exists(folder) else "there is no such folder"
        raise FormatError(f"{folder}: {what}; name a folder that `oneslack pack` wrote.")
    try:
        with open(path_in(folder, NAME), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError as error:
        raise FormatError(f"{folder}: holds no {NAME}; name a folder that `oneslack pack` wrote.") from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    except FormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: the manifest is damaged ({error}); pack the data again.") from error


def _checksum(content):
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())

"""What is known of a format of files.  The file that reads a format has its entry, FORMAT."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .compression import strip_extension

#: How sure a look at a file is: beyond doubt, or more than a guess.
CERTAIN, LIKELY = 1.0, 0.5


@dataclass(frozen=True)
class Format:
    """One format; `registry` has them all.

    name        as options, model files and manifests have it; `title`, as people call it
    holds       "table", "sentences", "trees" or "packed"
    read        read(path, **options): a Table, Sentences, TaggedRows, a list of Trees or Shards
    extensions  of names of files, in small letters
    looks_like  how sure the first lines of a file make it, from 0 to CERTAIN; no byte order mark is there
    options     of a table: what `read` takes of label, group and zero_based, beside n_features and dtype
    """

    name: str
    title: str
    holds: str
    read: Callable[..., Any]
    extensions: tuple[str, ...] = ()
    looks_like: Callable[[bytes], float] = lambda sample: 0.0
    options: tuple[str, ...] = ()

    def names(self, path):
        """Does the name of a file say that it is of this format?"""
        return os.path.splitext(strip_extension(path))[1].lower() in self.extensions

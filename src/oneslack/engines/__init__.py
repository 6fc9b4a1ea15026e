"""Where the cuts of shards are computed: never what they are."""

from .threads import Threads

__all__ = ["Threads"]

"""Examples packed on disk: a folder with a manifest and shards, which are used where they lie."""

from .reading import Shard, Shards, open_shards
from .writer import ShardWriter

__all__ = ["Shard", "ShardWriter", "Shards", "open_shards"]

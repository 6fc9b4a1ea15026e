"""Examples packed on disk: a folder with a manifest and shards, which are used where they lie."""

from oneslack.formats.shards.reading import Shard, Shards, open_shards
from oneslack.formats.shards.writer import ShardWriter

__all__ = ["Shard", "ShardWriter", "Shards", "open_shards"]

"""From data files to shards: in chunks, by several threads, and again from where it stopped."""

from .pack import Progress, pack

__all__ = ["Progress", "pack"]

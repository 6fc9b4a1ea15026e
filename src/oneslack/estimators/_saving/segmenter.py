"""Segmenters in a model file: as the taggers that they are."""

from .tagger import from_file, to_file

__all__ = ["from_file", "to_file"]

"""Segmenters in a model file: as the taggers that they are, but for the proof, which no checker reads yet."""

from .tagger import from_file, to_file

__all__ = ["from_file", "to_file"]

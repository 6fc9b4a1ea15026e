"""Columns of a table as people have it, words and gaps included, as numbers: one file a kind of column."""

from .encoder import TableEncoder

__all__ = ["TableEncoder"]

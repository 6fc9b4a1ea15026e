"""Trees over the words of sentences: what parsers learn from and what they give."""

from .clean import base_label, clean_tree
from .tree import Tree

__all__ = ["Tree", "base_label", "clean_tree"]

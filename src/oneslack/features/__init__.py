"""Features of tokens: templates over columns of text, and feature dicts, as sparse matrices."""

from .dicts import DictIndexer
from .indexer import FeatureIndex
from .part_codes import Outside
from .template_sets import template_set
from .templates import Part, Template, parse_templates, read_templates

__all__ = [
    "DictIndexer",
    "FeatureIndex",
    "Outside",
    "Part",
    "Template",
    "parse_templates",
    "read_templates",
    "template_set",
]

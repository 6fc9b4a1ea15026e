"""Features of tokens: templates over columns of text, and feature dicts, as sparse matrices."""

from oneslack.features.dicts import DictIndexer
from oneslack.features.indexer import FeatureIndex
from oneslack.features.part_codes import Outside
from oneslack.features.template_sets import template_set
from oneslack.features.templates import Part, Template, parse_templates, read_templates

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

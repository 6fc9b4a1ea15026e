"""Trees of sentences: grammars read off treebanks, the model that weighs their rules, and its parser."""

from .data import GrammarData
from .model import GrammarModel
from .reading import read_grammar
from .rules import Grammar
from .spans import SpanFeatures

__all__ = ["Grammar", "GrammarData", "GrammarModel", "SpanFeatures", "read_grammar"]

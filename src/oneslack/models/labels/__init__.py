"""Sets of labels: each on or off, by its own score and perhaps by pairs of labels that are on together."""

from .bounded import BoundedLabelSets
from .dependencies import chow_liu_tree
from .independent import IndependentLabels
from .model import LabelSets

__all__ = ["BoundedLabelSets", "IndependentLabels", "LabelSets", "chow_liu_tree"]

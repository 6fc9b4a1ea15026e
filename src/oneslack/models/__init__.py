"""What is a good output: joint features, a loss, and a decoder that finds the worst offender."""

from .binary import Binary
from .chain import Chain
from .measures import measure_model
from .multiclass import Multiclass
from .ranking import Grouped, Ranking
from .regression import Regression

__all__ = ["Binary", "Chain", "Grouped", "Multiclass", "Ranking", "Regression", "measure_model"]

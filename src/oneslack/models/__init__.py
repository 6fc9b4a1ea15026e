"""What is a good output: joint features, a loss, and a decoder that finds the worst offender."""

from .binary import Binary
from .measures import measure_model
from .multiclass import Multiclass
from .ranking import Grouped, Ranking

__all__ = ["Binary", "Grouped", "Multiclass", "Ranking", "measure_model"]

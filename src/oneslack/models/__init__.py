"""What is a good output: joint features, a loss, and a decoder that finds the worst offender."""

from .chain import Chain
from .linear.binary import Binary
from .linear.multiclass import Multiclass
from .linear.regression import Regression
from .linear.scalar import Linear
from .measures import measure_model
from .ranking.model import Grouped, Ranking

__all__ = ["Binary", "Chain", "Grouped", "Linear", "Multiclass", "Ranking", "Regression", "measure_model"]

"""Integer programmes whose costs are learned: the inverse of optimisation."""

from .model import IntegerCosts, Truth
from .programme import Programme

__all__ = ["IntegerCosts", "Programme", "Truth"]

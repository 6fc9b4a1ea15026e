"""What is a good output: joint features, a loss, and a decoder that finds the worst offender."""

from .binary import Binary
from .multiclass import Multiclass

__all__ = ["Binary", "Multiclass"]

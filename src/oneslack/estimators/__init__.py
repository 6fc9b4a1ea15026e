"""The scikit-learn fronts: they check, call `solve`, and store what was learned."""

from .grammar_parser import GrammarParser
from .kernel_features import KernelFeatures
from .kernel_svc import KernelSVC
from .latent_structural_svm import LatentStructuralSVM
from .latent_svm import LatentSVM
from .linear_svc import LinearSVC
from .linear_svr import LinearSVR
from .metric_svc import MetricSVC
from .ordinal_svc import OrdinalSVC
from .persist import load
from .rank_svm import RankSVM
from .sequence_tagger import SequenceTagger
from .structural_svm import StructuralSVM

__all__ = [
    "GrammarParser",
    "KernelFeatures",
    "KernelSVC",
    "LatentSVM",
    "LatentStructuralSVM",
    "LinearSVC",
    "LinearSVR",
    "MetricSVC",
    "OrdinalSVC",
    "RankSVM",
    "SequenceTagger",
    "StructuralSVM",
    "load",
]

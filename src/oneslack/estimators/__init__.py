"""The scikit-learn fronts: they check, call `solve`, and store what was learned."""

from .grammar_parser import GrammarParser
from .kernel_svc import KernelSVC
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
    "KernelSVC",
    "LinearSVC",
    "LinearSVR",
    "MetricSVC",
    "OrdinalSVC",
    "RankSVM",
    "SequenceTagger",
    "StructuralSVM",
    "load",
]

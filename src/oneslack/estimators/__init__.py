"""The scikit-learn fronts: they check, call `solve`, and store what was learned."""

from .linear_svc import LinearSVC
from .metric_svc import MetricSVC
from .ordinal_svc import OrdinalSVC
from .persist import load
from .rank_svm import RankSVM
from .sequence_tagger import SequenceTagger
from .structural_svm import StructuralSVM

__all__ = ["LinearSVC", "MetricSVC", "OrdinalSVC", "RankSVM", "SequenceTagger", "StructuralSVM", "load"]

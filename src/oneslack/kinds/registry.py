"""The one table of kinds."""

from __future__ import annotations

#: From the name of an estimator to the file of its kind, which is read when it is asked for.
KINDS = {
    "LinearSVC": "classify",
    "LinearSVR": "regress",
    "MetricSVC": "metric",
    "OrdinalSVC": "ordinal",
    "RankSVM": "rank",
    "KernelSVC": "kernel",
    "LatentSVM": "in_python",
    "LatentStructuralSVM": "in_python",
    "GrammarParser": "parse",
    "SequenceTagger": "tag",
    "StructuralSVM": "in_python",
}


def estimator_of(name):
    """The class of an estimator; the others need not be imported."""
    import oneslack

    return getattr(oneslack, name)

"""What a kind does where it says nothing else."""

from __future__ import annotations

from .printing import measure_words
from .targets import Subject


def weights(model) -> dict:
    """How many there are."""
    import numpy as np

    # A ranking has no intercept: it stands as one plain 0.
    intercept = getattr(model, "intercept_", 0.0)
    learned = [model.coef_, *([intercept] if np.ndim(intercept) else [])]
    return {
        "weights": sum(map(np.size, learned)),
        "nonzero_weights": int(sum(map(np.count_nonzero, learned))),
    }


def subject(examples, model) -> Subject:
    """Of a training of which only the examples are known."""
    return Subject("each with its output", {})


def sections(saved, examples, facts):
    """(HTML of the measures, no errors) of a report."""
    from ..viz.report import quality

    return quality.quality(measure_words(facts), [f"{facts['examples']:,} examples."]), ""

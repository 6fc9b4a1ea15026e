"""Numbers to predict."""

from __future__ import annotations

from ..errors import OneslackError
from . import rows
from .printing import measure_words, show_measures
from .registry import Kind
from .targets import Subject, check_numbers


def _facts(saved) -> dict:
    return {"predicts": "numbers", "tube": float(saved.model.epsilon)}


def _subject(examples, model) -> Subject:
    table, epsilon = examples.table, model.epsilon
    if hasattr(table, "shards"):
        words = _packed_numbers(table)
    else:
        check_numbers(table)
        words = f"targets from {table.y.min():g} to {table.y.max():g}"
    return Subject(words, {"tube": epsilon}, f"errors up to {epsilon:g} cost nothing" if epsilon else "")


def _packed_numbers(table):
    if table.shards.manifest.labels == "text":
        raise OneslackError(f"{table.path}: its targets are text, not numbers; pack others, or use classify.")
    ends = [(shard.y.min(), shard.y.max()) for shard in table.shards]
    return f"targets from {min(low for low, _ in ends):g} to {max(high for _, high in ends):g}"


def _measure(saved, table) -> dict:
    """Errors in the targets' own unit."""
    import numpy as np

    check_numbers(table)
    model = saved.model
    errors = np.asarray(table.y, float) - model.predict(table.X)
    outside = np.maximum(np.abs(errors) - model.epsilon, 0.0)
    return {
        "examples": table.X.shape[0],
        "epsilon": float(model.epsilon),
        "measures": {
            "mean_absolute_error": float(np.abs(errors).mean()),
            "root_mean_squared_error": float(np.sqrt((errors**2).mean())),
            "mean_outside_tube": float(outside.mean()),
            "r2": float(model.score(table.X, table.y)) if np.ptp(table.y) > 0 else None,
        },
    }


def _show(facts):
    show_measures(facts, {"mean_outside_tube": [f"epsilon {facts['epsilon']:g}"]})


def _sections(saved, table, facts):
    import numpy as np

    from ..viz.report import quality

    truth, predicted = np.asarray(table.y, float), saved.model.predict(table.X)
    notes = [f"{facts['examples']:,} examples; errors up to {facts['epsilon']:g} cost nothing in training."]
    good = quality.quality(measure_words(facts), notes, quality.residuals(truth, predicted))
    return good, quality.number_errors(truth, predicted)


#: Its epsilon is no rule to stop by, but the width of the tube.
OPTIONS = {"tube": "epsilon", "epsilon": None}
KIND = Kind(
    _facts, "rows", None, rows.cells, _measure, _show, _sections, command="regress",
    subject=_subject, options=OPTIONS, by_shards=True,
)  # fmt: skip

"""Numbers to predict."""

from __future__ import annotations

from ..errors import OneslackError
from . import rows
from .printing import measure_words, show_measures
from .registry import Kind
from .targets import Subject, check_numbers

#: By loss: the name of its number for users, and as a parameter.
NUMBERS = {"pinball": ("quantile", "quantile"), "huber": ("delta", "delta")}


def _loss(model) -> dict:
    """The loss and its number."""
    name, parameter = NUMBERS.get(model.loss, ("tube", "epsilon"))
    return {"loss": model.loss, name: float(getattr(model, parameter))}


def _remark(loss) -> str:
    """What that means, as a part of a sentence."""
    if "quantile" in loss:
        return f"{100 * loss['quantile']:g} % of the targets should lie below the prediction"
    if "delta" in loss:
        return f"errors beyond {loss['delta']:g} cost linearly"
    return f"errors up to {loss['tube']:g} cost nothing" if loss["tube"] else ""


def _facts(saved) -> dict:
    return {"predicts": "numbers", **_loss(saved.model)}


def _subject(examples, model) -> Subject:
    table, loss = examples.table, _loss(model)
    if hasattr(table, "shards"):
        words = _packed_numbers(table)
    else:
        check_numbers(table)
        words = f"targets from {table.y.min():g} to {table.y.max():g}"
    return Subject(words, loss, _remark(loss))


def _packed_numbers(table):
    if table.shards.manifest.labels == "text":
        raise OneslackError(f"{table.path}: its targets are text, not numbers; pack others, or use classify.")
    ends = [(shard.y.min(), shard.y.max()) for shard in table.shards]
    return f"targets from {min(low for low, _ in ends):g} to {max(high for _, high in ends):g}"


def _measure(saved, table) -> dict:
    """What the model was trained for, then errors in the targets' own unit."""
    import numpy as np

    check_numbers(table)
    model, loss = saved.model, _loss(saved.model)
    errors = np.asarray(table.y, float) - model.predict(table.X)
    measures = {
        "mean_absolute_error": float(np.abs(errors).mean()),
        "root_mean_squared_error": float(np.sqrt((errors**2).mean())),
        "r2": float(model.score(table.X, table.y)) if np.ptp(table.y) > 0 else None,
    }
    return {"examples": table.X.shape[0], **loss, "measures": _of_loss(loss, errors) | measures}


def _of_loss(loss, errors) -> dict:
    """Means of the loss that was trained for."""
    import numpy as np

    sizes = np.abs(errors)
    if "quantile" in loss:
        q = loss["quantile"]
        mean = np.maximum(q * errors, (q - 1.0) * errors).mean()
        return {"mean_pinball_loss": float(mean), "below_prediction": float((errors <= 0).mean())}
    if "delta" in loss:
        near = np.minimum(sizes, loss["delta"])
        return {"mean_huber_loss": float((near * (sizes - 0.5 * near)).mean())}
    return {"mean_outside_tube": float(np.maximum(sizes - loss["tube"], 0.0).mean())}


def _show(facts):
    name = next(name for name in ("quantile", "delta", "tube") if name in facts)
    notes = [f"{name} {facts[name]:g}"]
    show_measures(facts, dict.fromkeys(("mean_pinball_loss", "mean_huber_loss", "mean_outside_tube"), notes))


def _sections(saved, table, facts):
    import numpy as np

    from ..viz.report import quality

    truth, predicted = np.asarray(table.y, float), saved.model.predict(table.X)
    remark = _remark(facts)
    notes = [f"{facts['examples']:,} examples" + (f"; in training {remark}." if remark else ".")]
    alone = float(np.abs(truth - np.median(truth)).mean())
    notes.append(
        f"Always to predict the median, {np.median(truth):g}, would have the mean absolute error {alone:.6g}."
    )
    good = quality.quality(measure_words(facts), notes, quality.residuals(truth, predicted))
    return good, quality.number_errors(truth, predicted)


#: Its epsilon is no rule to stop by, but the width of the tube.
OPTIONS = {"tube": "epsilon", "epsilon": None}
KIND = Kind(
    _facts, "rows", None, rows.cells, _measure, _show, _sections, command="regress",
    subject=_subject, options=OPTIONS, by_shards=True,
)  # fmt: skip

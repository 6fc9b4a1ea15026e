"""Matchings between two sets."""

from __future__ import annotations

from ..errors import OneslackError
from .printing import measure_words
from .registry import Examples, Kind
from .targets import Subject

#: Examples with the most errors that a report shows.
SHOWN = 10
#: Weights that a report lists.
WEIGHTS = 30


def _read(path, saved, with_outputs) -> Examples:
    from ..formats import read_matchings

    X, Y = read_matchings(path)
    if with_outputs and Y is None:
        raise OneslackError(f'{path}: its examples have no "y", the partner of each row; give them one.')
    return Examples(path, X, Y)


def _subject(examples, model) -> Subject:
    alone = sum(int((y < 0).sum()) for y in examples.y)
    rows = sum(map(len, examples.y))
    remark = f"{rows:,} rows, {alone:,} without a partner"
    return Subject(f"{rows:,} partners", {"rows": rows, "without_partner": alone}, remark)


def _facts(saved) -> dict:
    model = saved.model
    return {
        "predicts": "partners",
        "pair_features": model.n_features_in_,
        "price": model.price_ if model.unmatched else None,
    }


def _cells(saved, X, scores, say=None):
    """The columns of the rows, from 0 and -1 for none, with blanks between them."""
    if scores:
        raise OneslackError(f"{saved.path}: a matching has no scores of single rows; drop --scores.")
    return [[" ".join(map(str, z.tolist()))] for z in saved.model.predict(X)]


def _measure(saved, examples) -> dict:
    import numpy as np

    Y, Z = examples.y, saved.model.predict(examples.X)
    truth, found = np.concatenate(Y), np.concatenate(Z)
    both = int(((truth == found) & (truth >= 0)).sum())
    matched, told = int((truth >= 0).sum()), int((found >= 0).sum())
    measures = {
        "partners_right": float(np.mean(truth == found)),
        "match_precision": both / told if told else None,
        "match_recall": both / matched if matched else None,
        "examples_right": float(np.mean([np.array_equal(y, z) for y, z in zip(Y, Z, strict=True)])),
    }
    return {"examples": len(Y), "rows": len(truth), "measures": measures}


def _sections(saved, examples, facts):
    from ..viz.report import quality
    from ..viz.report.matchings import matching_errors

    note = f"{facts['examples']:,} examples, {facts['rows']:,} rows."
    good = quality.quality(measure_words(facts), [note])
    return good, matching_errors(examples.X, examples.y, saved.model.predict(examples.X), SHOWN)


def _looks(saved) -> list[str]:
    import numpy as np

    from ..viz.report.html import number, text
    from ..viz.report.html import table as table_of

    model = saved.model
    order = np.argsort(-np.abs(model.coef_), kind="stable")[:WEIGHTS]
    rows = [[text(f"feature {k}"), number(float(model.coef_[k]), "{:.4g}")] for k in order]
    if model.unmatched:
        rows.append([text("price of no partner"), number(float(model.price_), "{:.4g}")])
    return [table_of("Largest weights of a pair", ("feature", "weight"), rows)]


KIND = Kind(
    _facts, "own", _read, _cells, _measure, sections=_sections, looks=_looks, command="match",
    subject=_subject,
    about="Learn matchings between two sets (Matcher).",
    holds="JSON lines or .npz: features of pairs, or of the members of both sets, and partners y.",
    parameters={
        "C": (1.0, "Weight of the sum over examples."),
        "unmatched": (False, "Rows may have no partner, at a price that is learned."),
    },
)  # fmt: skip

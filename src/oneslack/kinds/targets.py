"""What is learned from the targets of a file, and what they must be: classes, or numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..errors import OneslackError

#: Labels that a sentence shows.
SHOWN = 20
#: Names of more values than this, most of them once, are no classes.
MANY = 50


@dataclass(frozen=True)
class Subject:
    """What is learned.

    words       a few of them, for the title and the report
    facts       the same for JSON
    remark      one more line of the report, or ""
    fit         what `fit` takes beside X and y
    n_problems  how many are solved, one after the other
    """

    words: str
    facts: dict
    remark: str = ""
    fit: dict = field(default_factory=dict)
    n_problems: int = 1


def labels_of(table) -> list:
    """The labels, sorted, of a file to classify; refused where they are no classes, or only one."""
    import numpy as np

    if hasattr(table, "shards"):  # the manifest knows
        known = table.shards.classes
        if known is None or table.shards.manifest.labels == "numbers":
            raise OneslackError(f"{table.path}: its labels are not classes; pack whole numbers or names.")
        labels = known.tolist()
    else:
        y = table.y
        if y.dtype.kind == "f":
            fraction = y[np.argmax(y != y.round())]  # or the first, where all are whole
            raise OneslackError(
                f"{table.path}: labels such as {fraction:g} are not classes{_column_of(table)}; use whole "
                f"numbers or names, or {_label_advice(table)}."
            )
        labels = np.unique(y).tolist()
        if y.dtype.kind not in "biu" and len(labels) > max(MANY, len(y) / 2):
            raise OneslackError(
                f"{table.path}: {len(labels):,} different labels for {len(y):,} examples are too many to be "
                f"classes{_column_of(table)}; {_label_advice(table)}."
            )
    if len(labels) < 2:
        raise OneslackError(
            f"{table.path}: all examples have the label {labels[0]!r}; classification needs at least two."
        )
    return labels


def _column_of(table) -> str:
    name = getattr(table, "label_name", None)
    return f" (column {name})" if name else ""


def _label_advice(table) -> str:
    """Which column to name as the label's, where a name says so."""
    from ..formats.column_advice import likely_label

    name = likely_label(table.feature_names or ())
    return f"name the label's column with --label{f' {name}' if name else ''}"


def in_order(labels) -> str:
    """The first of the labels, from the lowest on."""
    text = " < ".join(map(str, labels[:SHOWN]))
    return text if len(labels) <= SHOWN else f"{text} < ... < {labels[-1]}"


def check_numbers(table):
    """Refuse targets that are no finite numbers."""
    import numpy as np

    if table.y.dtype.kind in "biuf" and np.isfinite(table.y).all():
        return
    values = table.y.tolist()
    bad = next((value for value in values if not _is_number(value)), values[0])
    raise OneslackError(
        f"{table.path}: targets such as {str(bad)[:40]!r} are not finite numbers{_column_of(table)}; encode "
        "them as numbers, or name the target's column with --label."
    )


def count_pairs(y, groups):
    """(queries, pairs of different targets inside a query, queries without such a pair)."""
    import numpy as np

    group = np.zeros(len(y), int) if groups is None else np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(group)
    rank = np.unique(y, return_inverse=True)[1]
    cells, equal = np.unique(group * len(y) + rank, return_counts=True)
    pairs = sizes * (sizes - 1) // 2
    np.subtract.at(pairs, cells // len(y), equal * (equal - 1) // 2)
    return len(sizes), int(pairs.sum()), int((pairs == 0).sum())


def _is_number(text) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False

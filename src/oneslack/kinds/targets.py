"""What the targets of a file are to a training: classes, ordered or not, numbers to predict or to rank by."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..errors import OneslackError

#: Labels that a sentence shows.
SHOWN = 20


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

    if hasattr(table, "shards"):
        return _packed_labels(table)
    if table.y.dtype.kind == "f":
        raise OneslackError(
            f"{table.path}: labels such as {_a_fraction(table.y):g} are not classes; use whole numbers or "
            "names, or name the label's column with --label."
        )
    labels = np.unique(table.y).tolist()
    if len(labels) < 2:
        raise OneslackError(
            f"{table.path}: all examples have the label {labels[0]!r}; classification needs at least two."
        )
    return labels


def _packed_labels(table):
    """What the manifest knows."""
    known = table.shards.classes
    if known is None or table.shards.manifest.labels == "numbers":
        raise OneslackError(f"{table.path}: its labels are not classes; pack whole numbers or names.")
    labels = known.tolist()
    if len(labels) < 2:
        raise OneslackError(
            f"{table.path}: all examples have the label {labels[0]!r}; classification needs at least two."
        )
    return labels


def classes(labels, one_by_one) -> Subject:
    """Classes without an order."""
    n_problems = len(labels) if one_by_one and len(labels) > 2 else 1
    return Subject(f"{len(labels)} classes", {"classes": labels}, n_problems=n_problems)


def measured_classes(labels, metric, k, beta) -> Subject:
    """Classes of which one is to be found, or each in turn, as well as a metric tells."""
    name = metric + (f" (k={k})" if k is not None else f" (beta={beta:g})" if beta is not None else "")
    facts = {"classes": labels, "metric": metric}
    if k is not None:
        facts["k"] = k
    if beta is not None:
        facts["beta"] = beta
    if len(labels) == 2:
        facts["positive_class"] = labels[1]
        return Subject("2 classes", facts, f"trained for {name}; the positive class is {labels[1]}")
    remark = f"trained for {name}, each class against the rest"
    return Subject(f"{len(labels)} classes", facts, remark, n_problems=len(labels))


def ordered_classes(labels) -> Subject:
    """Classes in the order of their labels."""
    return Subject(f"{len(labels)} classes", {"classes": labels}, f"in this order: {in_order(labels)}")


def in_order(labels) -> str:
    """The first of the labels, from the lowest on."""
    text = " < ".join(map(str, labels[:SHOWN]))
    return text if len(labels) <= SHOWN else f"{text} < ... < {labels[-1]}"


def rankings(table) -> Subject:
    """Numbers that rank the examples of each query."""
    check_numbers(table)
    n_queries, pairs, idle = count_pairs(table.y, table.qid)
    if pairs == 0:
        where = "" if table.qid is None else "inside each query "
        raise OneslackError(
            f"{table.path}: {where}all targets are equal; ranking needs different ones to compare."
        )
    words = f"{n_queries:,} {'query' if n_queries == 1 else 'queries'}, {pairs:,} pairs"
    remark = f"{idle:,} of the queries have no pair, as all their targets are equal" if idle else ""
    return Subject(words, {"queries": n_queries, "pairs": pairs}, remark, {"groups": table.qid})


def numbers(table, epsilon) -> Subject:
    """Numbers to predict."""
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


def check_numbers(table):
    """Refuse targets that are no finite numbers."""
    import numpy as np

    if table.y.dtype.kind in "biuf" and np.isfinite(table.y).all():
        return
    values = table.y.tolist()
    bad = next((value for value in values if not _is_number(value)), values[0])
    raise OneslackError(
        f"{table.path}: targets such as {str(bad)[:40]!r} are not finite numbers; encode them as numbers, or "
        "name the target's column with --label."
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


def _a_fraction(y):
    return y[y != y.round()][0] if (y != y.round()).any() else y[0]


def _is_number(text) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False

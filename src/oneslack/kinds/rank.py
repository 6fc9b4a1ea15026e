"""Numbers that rank the examples of each query."""

from __future__ import annotations

from ..errors import OneslackError
from . import rows
from .printing import measure_words, show_measures
from .registry import Kind
from .targets import Subject, check_numbers, count_pairs

#: Places of a ranking that NDCG looks at.
TOP = (1, 5, 10)
#: 2^target must stay a finite number, and so must a sum of many.
LARGEST_GAIN = 1000


def _facts(saved) -> dict:
    return {"predicts": "scores to rank by"}


def _subject(examples, model) -> Subject:
    table = examples.table
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


def _measure(saved, table) -> dict:
    from .. import metrics

    check_numbers(table)
    y, scores, groups = table.y, saved.model.predict(table.X), table.qid
    n_queries, pairs, _ = count_pairs(y, groups)
    gains = bool((y >= 0).all() and (y > 0).any() and (y <= LARGEST_GAIN).all())
    relevance = bool((y == 0).any() and (y > 0).any())
    return {
        "examples": table.X.shape[0],
        "queries": n_queries,
        "pairs": pairs,
        "measures": {
            "ordered_pairs": metrics.ordered_pairs(y, scores, groups) if pairs else None,
            **{
                f"ndcg@{k}": metrics.ndcg(y, scores, groups, k, exponential=True) if gains else None
                for k in TOP
            },
            "map": metrics.mean_average_precision(y, scores, groups) if relevance else None,
        },
        "ndcg_gain": "2^target - 1",
    }


def _show(facts):
    queries = "1 query" if facts["queries"] == 1 else f"{facts['queries']:,} queries"
    gains = {name: [f"gain {facts['ndcg_gain']}"] for name in facts["measures"] if name.startswith("ndcg")}
    notes = {
        "ordered_pairs": [f"of {facts['pairs']:,} pairs in {queries}"],
        **gains,
        "map": ["relevant are targets above 0"],
    }
    # Where the targets are no gains, nothing is said of them.
    known = {
        name: value
        for name, value in facts["measures"].items()
        if value is not None or name == "ordered_pairs"
    }
    show_measures({**facts, "measures": known}, notes)


def _sections(saved, table, facts):
    import numpy as np

    from ..metrics import ordered_pairs
    from ..viz.report import quality

    scores, y = saved.model.predict(table.X), np.asarray(table.y, float)
    queries = []
    groups = np.zeros(len(y), int) if table.qid is None else np.asarray(table.qid)
    order = np.argsort(groups, kind="stable")
    names, starts = np.unique(groups[order], return_index=True)
    for group, mine in zip(names, np.split(order, starts[1:])):
        pairs = count_pairs(y[mine], None)[1]
        if pairs:
            first = y[mine[np.argmax(scores[mine])]]
            queries.append(
                {
                    "query": group if table.qid is not None else "all",
                    "examples": len(mine),
                    "pairs": int(pairs),
                    "ordered": ordered_pairs(y[mine], scores[mine]),
                    "first": f"{first:g} ({y[mine].max():g})",
                }
            )
    notes = [f"{facts['examples']:,} examples in {facts['queries']:,} queries, {facts['pairs']:,} pairs."]
    return quality.quality(measure_words(facts), notes), quality.query_errors(queries)


KIND = Kind(
    _facts,
    "rows",
    None,
    rows.cells,
    _measure,
    _show,
    _sections,
    command="rank",
    subject=_subject,
    by_shards=True,
)

"""Predictions that are settled, in words: the exact optimum would make them, too."""

from __future__ import annotations


def settled_facts(saved, examples) -> dict:
    """{"settled": the share, or None; "not_settled_because": why none is known}; nothing of a kind that has
    no such predictions."""
    if not hasattr(saved.model, "certain"):
        return {}
    try:
        return {"settled": float(certain_of(saved, examples).mean())}
    except ValueError as error:
        return {"settled": None, "not_settled_because": str(error)}


def certain_of(saved, examples):
    """(n,) of bool."""
    if hasattr(saved.model, "rank"):  # places inside a query
        return saved.model.certain(examples.X, getattr(examples, "qid", None))
    return saved.model.certain(examples.X)


def settled_words(facts) -> str:
    """A line, or nothing."""
    if "settled" not in facts:
        return ""
    if facts["settled"] is None:
        return f"settled: not known, as {facts['not_settled_because']}"
    return f"settled: {_floored(facts)} of the predictions are those of the exact optimum"


def settled_remark(facts) -> str:
    """The same for a report, or nothing."""
    if facts.get("settled") is None:
        why = facts.get("not_settled_because")
        return f"How many of the predictions are settled is not known: {why}." if why else ""
    return (
        f"Settled: {_floored(facts)} of the predictions on these data are those that the exact optimum would "
        "make. That says nothing about whether they are right, only that no more training would change them."
    )


def _floored(facts) -> str:
    """Never more than it is."""
    return f"{int(1000 * facts['settled']) / 10:.1f} %"

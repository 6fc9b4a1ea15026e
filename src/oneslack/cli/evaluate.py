"""`oneslack evaluate`: how well a model does on examples with labels or targets."""

from __future__ import annotations

from .options import DataFile, Group, Json, Label, ModelFile, ZeroBased
from .output import guarded, print_json

#: Confusion is printed for as many classes as fit on a line, and put into JSON always.
FEW = 12

NAMES = {
    "accuracy": "accuracy",
    "error": "error",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "fbeta": "F-beta",
    "roc_auc": "ROC area",
    "average_precision": "average precision",
    "prbep": "break-even point (PRBEP)",
    "precision_at_k": "precision at k",
    "recall_at_k": "recall at k",
    "mean_absolute_error": "mean absolute error",
    "ordered_pairs": "pairs in order",
    "map": "MAP",
}


@guarded
def evaluate(
    model: ModelFile,
    file: DataFile,
    label: Label = None,
    group: Group = None,
    zero_based: ZeroBased = None,
    as_json: Json = False,
):
    """Compare a model's predictions with the labels or targets in FILE.

    The measures are those that fit the model, the one it was trained for first.
    """
    from .data import read_for_model
    from .measures import measure
    from .model_store import load

    saved = load(model)
    table = read_for_model(file, saved, label, zero_based, group, need_labels=True)
    facts = {"model": saved.path, "data": file, "examples": table.X.shape[0], **measure(saved, table)}
    if as_json:
        print_json(facts)
    else:
        _print(facts)


def _print(facts):
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    notes = _notes(facts)
    for name, value in facts["measures"].items():
        if value is None and (name == "map" or name.startswith("ndcg")):
            continue  # these targets are no gains
        note = f"  ({'; '.join(notes[name])})" if name in notes else ""
        console.print(f"{NAMES.get(name, name.upper())} {_value(name, value)}{note}", markup=False)
    if facts.get("unknown_labels"):
        console.print(f"{facts['unknown_labels']:,} examples have a label that the model does not know")
    if "classes" in facts:
        console.print(_class_table(facts["classes"]))
        if len(facts["classes"]) <= FEW:
            console.print(_confusion_table(facts))


def _value(name, value) -> str:
    if value is None:
        return "–"
    return f"{value:.4g} class steps" if name == "mean_absolute_error" else f"{100 * value:.2f} %"


def _notes(facts) -> dict:
    """What stands in parentheses after a measure: {measure: [words]}."""
    if "queries" in facts:
        queries = "1 query" if facts["queries"] == 1 else f"{facts['queries']:,} queries"
        return {
            "ordered_pairs": [f"of {facts['pairs']:,} pairs in {queries}"],
            **{name: [f"gain {facts['ndcg_gain']}"] for name in facts["measures"] if name.startswith("ndcg")},
            "map": ["relevant are targets above 0"],
        }
    right = round(facts["accuracy"] * facts["examples"])
    notes = {"accuracy": [f"{right:,} of {facts['examples']:,} right"]}
    if "positive_class" in facts:
        notes["precision"] = [f"the positive class is {facts['positive_class']}"]
    metric = facts.get("trained_for")
    first = next(iter(facts["measures"]))
    if metric is not None and (first == metric or metric == "error"):
        own = [f"{name}={facts[name]}" for name in ("k", "beta") if name in facts]
        mean = [] if "positive_class" in facts else ["mean over each class against the rest"]
        notes[first] = [*notes.get(first, []), *own, *mean, "trained for"]
    return notes


def _class_table(classes):
    table = _plain_table("class", "precision", "recall", "F1", "examples")
    for row in classes:
        rates = (_share(row[name]) for name in ("precision", "recall", "f1"))
        table.add_row(_escaped(row["label"]), *rates, f"{row['examples']:,}")
    return table


def _confusion_table(facts):
    labels = [_escaped(row["label"]) for row in facts["classes"]]
    table = _plain_table("true \\ predicted", *(row["label"] for row in facts["classes"]))
    for k, row in enumerate(facts["confusion"]):
        cells = [f"[bold]{count:,}[/bold]" if j == k else f"{count:,}" for j, count in enumerate(row)]
        table.add_row(labels[k], *cells)
    return table


def _plain_table(*columns):
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        table.add_column(_escaped(name), justify="right", no_wrap=True)
    return table


def _escaped(label) -> str:
    """As text in which rich finds no style."""
    from rich.markup import escape

    return escape(str(label))


def _share(value) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"

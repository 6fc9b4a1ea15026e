"""`oneslack evaluate`: how well a model does on examples with labels or targets."""

from __future__ import annotations

from .options import AnyFile, Group, Json, Label, ModelFile, ZeroBased
from .output import guarded, print_json
from .tag_options import Columns, Format

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
    "root_mean_squared_error": "root mean squared error",
    "mean_outside_tube": "mean distance outside the tube",
    "r2": "R²",
    "ordered_pairs": "pairs in order",
    "map": "MAP",
}


@guarded
def evaluate(
    model: ModelFile,
    file: AnyFile,
    label: Label = None,
    group: Group = None,
    zero_based: ZeroBased = None,
    columns: Columns = None,
    format: Format = None,
    as_json: Json = False,
):
    """Compare a model's predictions with the labels or targets in FILE.

    The measures are those that fit the model, the one it was trained for first.
    """
    from . import parse_output, tag_evaluate, tag_model
    from .model_store import load_to_predict

    saved = load_to_predict(model)
    options = tag_model.TagOptions(label, columns, format, group, zero_based)
    if tag_model.is_tagger(saved):
        found, show = tag_evaluate.tag_facts(saved, file, options), tag_evaluate.print_facts
    elif parse_output.is_parser(saved):
        tag_model.refuse_tag_options(saved, options)
        found, show = parse_output.parse_facts(saved, file), parse_output.print_facts
    else:
        tag_model.refuse_tag_options(saved, options)
        found, show = _table_facts(saved, file, label, zero_based, group), _print
    facts = {"model": saved.path, "data": file, **found}
    if as_json:
        print_json(facts)
    else:
        show(facts)


def _table_facts(saved, file, label, zero_based, group) -> dict:
    from .data import read_for_model
    from .measures import measure

    table = read_for_model(file, saved, label, zero_based, group, need_labels=True)
    return {"examples": table.X.shape[0], **measure(saved, table)}


def _print(facts):
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    notes = _notes(facts)
    for name, value in facts["measures"].items():
        if value is None and (name == "map" or name.startswith("ndcg")):
            continue  # these targets are no gains
        note = f"  ({'; '.join(notes[name])})" if name in notes else ""
        value = measure_text(name, value, of_classes="accuracy" in facts)
        console.print(f"{NAMES.get(name, name.upper())} {value}{note}", markup=False)
    if facts.get("unknown_labels"):
        console.print(f"{facts['unknown_labels']:,} examples have a label that the model does not know")
    if "classes" in facts:
        console.print(class_table(facts["classes"], "class", "examples"))
        if len(facts["classes"]) <= FEW:
            console.print(confusion_rows(facts))


#: Measures in the unit of the targets.
DISTANCES = ("mean_absolute_error", "root_mean_squared_error", "mean_outside_tube")


def measure_text(name, value, of_classes) -> str:
    """A measure in words; a dash where it has no meaning."""
    if value is None:
        return "–"
    if name in DISTANCES:
        return f"{value:.4g} class steps" if of_classes else f"{value:.6g}"
    return percent(value)


def percent(value) -> str:
    """A share in percent; a dash where it has no meaning."""
    return "–" if value is None else f"{100 * value:.2f} %"


def _notes(facts) -> dict:
    """What stands in parentheses after a measure: {measure: [words]}."""
    if "queries" in facts:
        queries = "1 query" if facts["queries"] == 1 else f"{facts['queries']:,} queries"
        return {
            "ordered_pairs": [f"of {facts['pairs']:,} pairs in {queries}"],
            **{name: [f"gain {facts['ndcg_gain']}"] for name in facts["measures"] if name.startswith("ndcg")},
            "map": ["relevant are targets above 0"],
        }
    if "accuracy" not in facts:
        return {"mean_outside_tube": [f"epsilon {facts['epsilon']:g}"]}
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


def class_table(classes, what, of):
    """Precision, recall and F1 of each class; `what` is a class, `of` are its members."""
    table = _plain_table(what, "precision", "recall", "F1", of)
    for row in classes:
        table.add_row(_escaped(row["label"]), *_shares(row), f"{row['examples']:,}")
    return table


def phrase_table(phrases):
    """The same of each type of phrase."""
    table = _plain_table("phrase", "precision", "recall", "F1", "phrases", "predicted")
    for row in phrases:
        counts = (f"{row[name]:,}" for name in ("phrases", "predicted"))
        table.add_row(_escaped(row["type"]), *_shares(row), *counts)
    return table


def confusion_rows(facts):
    """How often each class was taken for which."""
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


def _shares(row):
    return (
        "–" if row[name] is None else f"{100 * row[name]:.1f} %" for name in ("precision", "recall", "f1")
    )

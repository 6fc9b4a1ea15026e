"""Facts of an evaluation as lines and tables, for whatever was measured."""

from __future__ import annotations

from types import MappingProxyType

#: Confusion is printed for as many classes as fit on a line, and put into JSON always.
FEW = 12

#: What measures are called; others by their names in capitals.
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
    "mean_pinball_loss": "mean pinball loss",
    "below_prediction": "targets up to the prediction",
    "mean_huber_loss": "mean Huber loss",
    "r2": "R²",
    "ordered_pairs": "pairs in order",
    "map": "MAP",
    "partners_right": "partners right",
    "match_precision": "matches that are right",
    "match_recall": "matches that are found",
    "examples_right": "examples all right",
    "hamming_loss": "Hamming loss",
    "example_f1": "F1 of an example",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "subset_accuracy": "subset accuracy",
}


#: Measures in the unit of the targets, or its square.
DISTANCES = (
    "mean_absolute_error", "root_mean_squared_error", "mean_outside_tube", "mean_pinball_loss",
    "mean_huber_loss",
)  # fmt: skip


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


def measure_words(facts, names=NAMES) -> list[tuple[str, str]]:
    """(name, words) of the measures, without those that have no meaning here."""
    return [
        (names.get(name, name.upper()), measure_text(name, value, of_classes="accuracy" in facts))
        for name, value in facts["measures"].items()
        if value is not None
    ]


def show_measures(facts, notes=MappingProxyType({}), names=NAMES, what="class", of="examples"):
    """Print the measures with notes, {measure: [words]}, then tables; `what` is a class, `of` its members."""
    console = console_of_words()
    for name, value in facts["measures"].items():
        note = f"  ({'; '.join(notes[name])})" if name in notes else ""
        value = measure_text(name, value, of_classes="accuracy" in facts)
        console.print(f"{names.get(name, name.upper())} {value}{note}", markup=False)
    if facts.get("unknown_labels"):
        console.print(f"{facts['unknown_labels']:,} {of} have a label that the model does not know")
    if facts.get("phrases"):
        console.print(phrase_table(facts["phrases"]))
    if "classes" in facts:
        console.print(class_table(facts["classes"], what, of))
        if len(facts["classes"]) <= FEW:
            console.print(_confusion_rows(facts))


def console_of_words():
    """A console that neither breaks lines nor colours numbers."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


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


def _confusion_rows(facts):
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

"""`oneslack evaluate`: how well a model does on labelled examples."""

from __future__ import annotations

from .options import DataFile, Json, Label, ModelFile, ZeroBased
from .output import Refusal, guarded, print_json

#: Confusion is printed for as many classes as fit on a line, and put into JSON always.
FEW = 12


@guarded
def evaluate(
    model: ModelFile,
    file: DataFile,
    label: Label = None,
    zero_based: ZeroBased = None,
    as_json: Json = False,
):
    """Compare a model's predictions with the labels in FILE."""
    from .data import read_for_model
    from .model_store import load

    saved = load(model)
    table = read_for_model(file, saved, label, zero_based, need_labels=True)
    classes = saved.model.classes_.tolist()
    truth, strange = _codes(table, classes, saved.path)
    confusion = _confusion(truth, _codes_of(saved.model.predict(table.X), classes), len(classes))
    facts = _facts(saved, file, classes, confusion, strange)
    if as_json:
        print_json(facts)
    else:
        _print(facts)


def _codes(table, classes, model_path):
    """(position of each label in `classes`, or -1; how many of those)."""
    y = table.y.astype(str) if isinstance(classes[0], str) else table.y
    codes = _codes_of(y, classes)
    strange = int((codes < 0).sum())
    if strange == len(codes):
        raise Refusal(
            f"{table.path}: none of its labels, such as {y[0].item()!r}, is a class of {model_path} "
            f"({', '.join(map(str, classes[:10]))}); compare like with like."
        )
    return codes, strange


def _codes_of(labels, classes):
    import numpy as np

    position = {value: k for k, value in enumerate(classes)}
    return np.array([position.get(value, -1) for value in labels.tolist()])


def _confusion(truth, predicted, n_classes):
    """(K + 1, K): rows are true classes, the last one labels that the model does not know."""
    import numpy as np

    rows = np.where(truth < 0, n_classes, truth)
    counts = np.bincount(rows * n_classes + predicted, minlength=(n_classes + 1) * n_classes)
    return counts.reshape(n_classes + 1, n_classes)


def _facts(saved, file, classes, confusion, strange) -> dict:
    hits, n = confusion.diagonal(), int(confusion.sum())
    return {
        "model": saved.path,
        "data": file,
        "examples": n,
        "accuracy": float(hits.sum() / n),
        "unknown_labels": strange,
        "classes": [
            {"label": label, **_rates(int(hits[k]), int(confusion[:, k].sum()), int(confusion[k].sum()))}
            for k, label in enumerate(classes)
        ],
        "confusion": confusion[: len(classes)].tolist(),
    }


def _rates(hits, predicted, present) -> dict:
    """None where a rate has no meaning: nothing predicted, or nothing present."""
    return {
        "precision": hits / predicted if predicted else None,
        "recall": hits / present if present else None,
        "f1": 2 * hits / (predicted + present) if predicted + present else None,
        "examples": present,
    }


def _print(facts):
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    right = round(facts["accuracy"] * facts["examples"])
    console.print(f"accuracy {100 * facts['accuracy']:.2f} %  ({right:,} of {facts['examples']:,} right)")
    if facts["unknown_labels"]:
        console.print(f"{facts['unknown_labels']:,} examples have a label that the model does not know")
    console.print(_class_table(facts["classes"]))
    if len(facts["classes"]) <= FEW:
        console.print(_confusion_table(facts))


def _class_table(classes):
    table = _plain_table("class", "precision", "recall", "F1", "examples")
    for row in classes:
        rates = (_share(row[name]) for name in ("precision", "recall", "f1"))
        table.add_row(str(row["label"]), *rates, f"{row['examples']:,}")
    return table


def _confusion_table(facts):
    labels = [str(row["label"]) for row in facts["classes"]]
    table = _plain_table("true \\ predicted", *labels)
    for k, row in enumerate(facts["confusion"]):
        cells = [f"[bold]{count:,}[/bold]" if j == k else f"{count:,}" for j, count in enumerate(row)]
        table.add_row(labels[k], *cells)
    return table


def _plain_table(*columns):
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        table.add_column(escape(name), justify="right", no_wrap=True)
    return table


def _share(value) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"

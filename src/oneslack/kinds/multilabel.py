"""Sets of labels for rows of numbers."""

from __future__ import annotations

from ..errors import OneslackError
from .printing import class_table, console_of_words, measure_words, show_measures
from .registry import Examples, Kind
from .targets import Subject

#: The first measure is the one that was trained for.
FIRST = {"hamming": "hamming_loss", "f1": "example_f1", "subset": "subset_accuracy"}
MEASURES = ("hamming_loss", "example_f1", "micro_f1", "macro_f1", "subset_accuracy")
#: Labels that a report tells one by one.
FEW = 200


def _read(path, saved, with_outputs) -> Examples:
    """svmlight with several labels; to train, features count from 1 unless there is a 0."""
    from ..formats import FormatError, read_multilabel

    if saved is not None:
        zero_based, d = bool(saved.source and saved.source.zero_based), saved.model.n_features_in_
        X, y = read_multilabel(path, n_features=d, zero_based=zero_based)
        return Examples(path, X, y)
    try:
        found, zero_based = read_multilabel(path, zero_based=False), False
    except FormatError:  # an index 0; or another fault, which this reading names as well
        found, zero_based = read_multilabel(path, zero_based=True), True
    if not any(found[1]):
        raise OneslackError(f"{path}: no example has a label; give them as 'label,label index:value ...'.")
    return Examples(path, *found, zero_based)


def _subject(examples, model) -> Subject:
    labels = sorted({label for labels in examples.y for label in labels})
    mean = sum(map(len, examples.y)) / len(examples.y)
    facts = {"classes": labels, "labels_an_example": mean, "loss": model.loss}
    remark = f"{mean:.2f} labels an example; dependencies: {model.dependencies}; loss: {model.loss}"
    return Subject(f"{len(labels)} labels", {**facts, "dependencies": model.dependencies}, remark)


def _facts(saved) -> dict:
    model = saved.model
    labels = model.classes_.tolist()
    pairs = zip(model.pairs_.tolist(), model.pair_weights_.tolist(), strict=True)
    strongest = sorted(pairs, key=lambda pair: -abs(pair[1]))[:10]
    return {
        "predicts": "sets of labels",
        "classes": labels,
        "dependencies": model.dependencies,
        "loss": model.loss,
        "pairs": [[labels[a], labels[b], weight] for (a, b), weight in strongest],
    }


def _cells(saved, X, scores, say=None):
    """The labels with commas between them; with scores, a column for each label that the model knows."""
    model = saved.model
    labels, Y = model.classes_.tolist(), model.predict_indicators(X)
    texts = [",".join(str(labels[a]) for a in row.nonzero()[0]) for row in Y]
    if not scores:
        return [[text] for text in texts]
    values = model.decision_function(X).tolist()
    return [[text, *(f"{value:.9g}" for value in row)] for text, row in zip(texts, values, strict=True)]


def _measure(saved, examples) -> dict:
    from ..metrics import label_set_scores

    model = saved.model
    y = examples.y
    if not model.as_sets_:  # columns that have numbers
        y = _columns(saved, examples)
    elif isinstance(model.classes_.tolist()[0], str):
        y = [tuple(map(str, labels)) for labels in y]
    truth, predicted = model.compared(examples.X, y)
    scores = label_set_scores(truth, predicted)
    names = sorted(MEASURES, key=lambda name: name != FIRST[model.loss])
    known = truth[:, : len(model.classes_)]
    return {
        "examples": len(truth),
        "measures": {name: scores[name] for name in names},
        "unknown_labels": int(truth[:, len(model.classes_) :].any(axis=1).sum()),
        "labels": _by_label(model.classes_.tolist(), known, predicted),
    }


def _columns(saved, examples):
    import numpy as np

    Y = np.zeros((len(examples.y), len(saved.model.classes_)), int)
    for i, labels in enumerate(examples.y):
        for label in labels:
            if not isinstance(label, int) or not 0 <= label < Y.shape[1]:
                raise OneslackError(
                    f"{examples.path}: {label!r} is no label of {saved.path}: a number of a column."
                )
            Y[i, label] = 1
    return Y


def _by_label(labels, truth, predicted) -> list[dict]:
    from .classify import rates

    return [
        {
            "label": label,
            **rates(int(predicted[:, a].sum()), int(truth[:, a].sum()), int((truth & predicted)[:, a].sum())),
            "examples": int(truth[:, a].sum()),
        }
        for a, label in enumerate(labels)
    ]


def _show(facts):
    show_measures(facts, {next(iter(facts["measures"])): ["trained for"]})
    console_of_words().print(class_table(facts["labels"], "label", "examples"))


def _sections(saved, examples, facts):
    """Measures, with the rates of the labels; sets that are far off have no picture."""
    from ..viz.report import quality
    from ..viz.report.training import label_table

    rows = label_table("By label", "label", facts["labels"][:FEW], [("examples", "examples")])
    return quality.quality(measure_words(facts), [f"{facts['examples']:,} examples."], rows), ""


KIND = Kind(
    _facts, "own", _read, _cells, _measure, _show, _sections, command="multilabel", subject=_subject,
    about="Learn sets of labels (MultiLabelSVC): FILE is svmlight with several labels a line.",
    holds="svmlight with labels between commas: `3,7 1:0.5 9:1`; a line may have none.",
    parameters={
        "C": (1.0, "Weight of the sum of the hinges."),
        "dependencies": ("tree", "Pairs of labels with a weight: none, tree (Chow-Liu) or full (16 labels)."),
        "loss": ("hamming", "What a wrong set costs: hamming, f1 or subset."),
    },
)  # fmt: skip

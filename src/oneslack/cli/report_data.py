"""How good a model is on a file, and its errors, as sections of a report."""

from __future__ import annotations

from itertools import pairwise

from .evaluate import NAMES, measure_text, percent

#: Features that are named as the reasons of an error.
REASONS = 3


def sections_of_data(saved, path, options):
    """(HTML of how good it is, HTML of its errors)."""
    from .parse_output import is_parser
    from .tag_model import is_tagger, refuse_tag_options

    if is_tagger(saved):
        return _tagged(saved, path, options)
    refuse_tag_options(saved, options)
    if is_parser(saved):
        return _parsed(saved, path)
    from . import packed
    from .data import read_for_model
    from .measures import measure

    table = read_for_model(path, saved, options.label, options.zero_based, options.group, need_labels=True)
    if hasattr(table, "shards"):  # errors are looked at one by one
        table = packed.in_memory(table.shards)
    facts = {"examples": table.X.shape[0], **measure(saved, table)}
    if "confusion" in facts:
        return _classes(saved, table, facts)
    return _rankings(saved, table, facts) if "queries" in facts else _numbers(saved, table, facts)


class FileNumbers:
    """Names of the features of a file that only numbers them."""

    def __init__(self, n, first):
        self.n, self.first = n, first

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        return f"feature {k + self.first}"


def feature_names(saved):
    """What the features are called in the files; None where the model itself knows, or has none."""
    if not hasattr(saved.model, "n_features_in_"):
        return None
    if saved.feature_names:
        return saved.feature_names
    in_order = saved.source is not None and saved.source.zero_based is False
    return FileNumbers(saved.n_features, 1 if in_order else 0)


def _measures(facts):
    """(name, words) of the measures, without those that have no meaning here."""
    return [
        (NAMES.get(name, name.upper()), measure_text(name, value, of_classes="accuracy" in facts))
        for name, value in facts["measures"].items()
        if value is not None
    ]


# Classes.


def _classes(saved, table, facts):
    import numpy as np

    from ..viz.report import quality

    model = saved.model
    labels = model.classes_.tolist()
    y = table.y.astype(str) if isinstance(labels[0], str) else table.y
    truth, predicted = y.tolist(), model.predict(table.X).tolist()
    scores = np.asarray(model.decision_function(table.X), float)
    notes = [f"{facts['examples']:,} examples."]
    if "positive_class" in facts:
        notes.append(f"Precision, recall and the curves are those of the class {facts['positive_class']}.")
    if facts["unknown_labels"]:
        notes.append(f"{facts['unknown_labels']:,} examples have a label that the model does not know.")
    drawn = ""
    if scores.ndim == 1 and len(labels) == 2:
        drawn = quality.curves(np.array([label == labels[1] for label in truth]), scores)
    good = quality.quality(_measures(facts), notes, drawn, quality.confusion(facts))
    why = _reasons(saved, table.X, truth, predicted, labels)
    return good, quality.class_errors(truth, predicted, _margins(scores, truth, predicted, labels), why)


def _margins(scores, truth, predicted, labels):
    """(n,): by how much the predicted class was ahead of the true one; of one score, how far it is from 0."""
    import numpy as np

    if scores.ndim == 1:
        return np.abs(scores)
    place = {label: k for k, label in enumerate(labels)}
    rows = np.arange(len(scores))
    right = np.array([place.get(label, -1) for label in truth])
    ahead = scores[rows, [place[label] for label in predicted]] - scores[rows, right]
    return np.where(right < 0, 0.0, ahead)


def _reasons(saved, X, truth, predicted, labels):
    """A function from an example to words on the features that spoke most for the wrong class."""
    import numpy as np

    model = saved.model
    if not hasattr(model, "coef_") or hasattr(model, "thresholds_"):
        return None
    names, place = feature_names(saved), {label: k for k, label in enumerate(labels)}
    coef = np.atleast_2d(model.coef_)

    def words(i):
        if truth[i] not in place:
            return "its class is not known"
        a, b = place[predicted[i]], place[truth[i]]
        w = coef[a] - coef[b] if len(coef) > 1 else coef[0] * (1 if a == 1 else -1)
        x = X[[i]].toarray().ravel() if hasattr(X, "toarray") else np.asarray(X[i], float)
        spoke = w * x
        order = [k for k in np.argsort(-spoke)[:REASONS] if spoke[k] > 0]
        return ", ".join(f"{names[k]} ({spoke[k]:+.3g})" for k in order)

    return words


# Numbers and rankings.


def _numbers(saved, table, facts):
    import numpy as np

    from ..viz.report import quality

    truth, predicted = np.asarray(table.y, float), saved.model.predict(table.X)
    notes = [f"{facts['examples']:,} examples; errors up to {facts['epsilon']:g} cost nothing in training."]
    good = quality.quality(_measures(facts), notes, quality.residuals(truth, predicted))
    return good, quality.number_errors(truth, predicted)


def _rankings(saved, table, facts):
    import numpy as np

    from ..metrics import ordered_pairs
    from ..viz.report import quality
    from .targets import count_pairs

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
    return quality.quality(_measures(facts), notes), quality.query_errors(queries)


# Sentences and trees.


def _tagged(saved, path, options):
    from ..viz.report import quality
    from ..viz.report.training import label_table
    from .tag_evaluate import MEASURES, tag_facts
    from .tag_model import read_sentences, reading_of

    facts = tag_facts(saved, path, options)
    X, truth = read_sentences(
        path, reading_of(saved, path, options, need_labels=True), saved, options.zero_based
    )
    cut = list(pairwise(X.offsets.tolist()))
    labels = saved.model.classes_[saved.model.predict_codes(X).values].tolist()
    words = _words(X)
    pairs = [(MEASURES[name], percent(value)) for name, value in facts["measures"].items()]
    notes = [f"{facts['examples']:,} sentences, {facts['tokens']:,} tokens."]
    if facts["unknown_labels"]:
        notes.append(f"{facts['unknown_labels']:,} tokens have a label that the model does not know.")
    phrases = ""
    if facts["phrases"]:
        rows = [{**row, "label": row["type"]} for row in facts["phrases"]]
        counts = [("phrases", "phrases"), ("predicted", "predicted")]
        phrases = label_table("By type of phrase", "type", rows, counts)
    good = quality.quality(pairs, notes, phrases, quality.confusion(facts, "tokens"))
    sentences = [[group[t] for t in range(lo, hi)] for group in (words,) for lo, hi in cut]
    rows = ([group[lo:hi] for lo, hi in cut] for group in (truth.tolist(), labels))
    return good, quality.sentence_errors(sentences, *rows, saved.model.predict_margins(X))


def _words(X):
    """A text for each token: its word, or its number in the file where it is a row of numbers."""
    if not hasattr(X, "columns"):
        return [f"token {t + 1}" for t in range(int(X.offsets[-1]))]
    name = "w" if "w" in X.columns else next(iter(X.columns))
    return X.columns[name].strings().tolist()


def _parsed(saved, path):
    from ..formats.trees import read_trees
    from ..metrics.brackets import bracket_f1
    from ..viz.report import quality
    from ..viz.report.training import label_table
    from .parse_output import parse_facts, sentences_of_trees

    facts = parse_facts(saved, path)
    truth = read_trees(path)
    trees, _ = saved.model.parse(sentences_of_trees(saved, truth))
    names = {"f1": "bracket F1", "exact": "exact match", "tag_accuracy": "tag accuracy"}
    pairs = [
        (names.get(name, f"bracket {name}"), percent(value))
        for name, value in facts["measures"].items()
        if name != "crossing"
    ]
    notes = [f"{facts['examples']:,} trees, {facts['tokens']:,} words; tags were {facts['tags']}."]
    if facts["flat"]:
        notes.append(f"{facts['flat']:,} sentences have no tree in the grammar: theirs is flat.")
    rows = [{**row, "label": row["type"]} for row in facts["phrases"]]
    counts = [("phrases", "phrases"), ("predicted", "predicted")]
    good = quality.quality(pairs, notes, label_table("By label", "label", rows, counts))
    scores = [bracket_f1([one], [guess]) for one, guess in zip(truth, trees)]
    return good, quality.tree_errors(truth, trees, scores)

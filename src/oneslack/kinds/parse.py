"""Trees for sentences."""

from __future__ import annotations

from ..errors import OneslackError
from .printing import console_of_words, percent, phrase_table
from .registry import Examples, Kind
from .targets import Subject

#: Sentences without a tree that a complaint names.
SHOWN = 5


# Sentences.


def _read(path, saved, with_outputs) -> Examples:
    """Trees and the sentences below them, or sentences alone."""
    if not with_outputs:
        return Examples(path, _sentences(saved, path), None)
    from ..formats.trees import read_trees

    trees = read_trees(path)
    return Examples(path, _below(saved, trees), trees)


def _sentences(saved, path) -> list[list]:
    """Words, or (word, tag) pairs, of a file of sentences, one a line, or of trees.

    Tokens are words between blanks, or word/TAG where every token of the file ends in a tag that the grammar
    knows.  Of trees the words are taken, with their tags if the parser was trained on given tags.
    """
    from ..formats.format import LIKELY
    from ..formats.lines import read_text
    from ..formats.registry import format_of
    from ..models.grammar.binarise import TAG

    if trees := format_of(path, "trees", LIKELY):
        return _below(saved, trees.read(path))
    lines = [words for line in read_text(path).splitlines() if (words := line.split())]
    if not lines:
        raise OneslackError(
            f"{path}: holds no sentence; give one a line, its words between blanks, or trees."
        )
    tags = {symbol.label for symbol in saved.model.grammar_.symbols if symbol.kind == TAG}
    pairs = [[token.rpartition("/") for token in words] for words in lines]
    if all(word and tag in tags for sentence in pairs for word, _, tag in sentence):
        return [[(word, tag) for word, _, tag in sentence] for sentence in pairs]
    if _tagged(saved):
        i, token = next(
            (i, token)
            for i, words in enumerate(lines)
            for token in words
            if not token.rpartition("/")[0] or token.rpartition("/")[2] not in tags
        )
        raise OneslackError(
            f"{path}: sentence {i + 1} has {token!r}, but the parser was trained on given tags; write each "
            "token as word/TAG, with a tag of the trees."
        )
    return lines


def _below(saved, trees) -> list[list]:
    """Their words, with tags if the parser was trained on given tags."""
    return [tree.tagged() if _tagged(saved) else tree.words() for tree in trees]


def _tagged(saved) -> bool:
    source = saved.header.get("source")
    return isinstance(source, dict) and bool(source.get("tagged"))


# Predict.


def _cells(saved, sentences, scores, say):
    """A tree; with scores, its score before it (a dash for a flat tree)."""
    trees, flat = saved.model.parse(sentences)
    if flat.any():
        numbers = [str(i + 1) for i in flat.nonzero()[0][:SHOWN]]
        more = ", ..." if flat.sum() > SHOWN else ""
        say(
            f"the grammar has no tree for {flat.sum():,} of {len(flat):,} sentences "
            f"({', '.join(numbers)}{more}); they got a flat one."
        )
    if not scores:
        return ([str(tree)] for tree in trees)
    best = saved.model.predict_topk(sentences, 1)
    values = [f"{found[0][1]:.9g}" if found else "-" for found in best]
    return ([value, str(tree)] for value, tree in zip(values, trees, strict=True))


# Evaluate.


def _measure(saved, examples) -> dict:
    from ..metrics.brackets import bracket_scores

    truth = examples.y
    trees, flat = saved.model.parse(examples.X)
    scores = bracket_scores(truth, trees)
    return {
        "examples": len(truth),
        "tokens": sum(map(len, examples.X)),
        "tags": "given" if _tagged(saved) else "predicted",
        "measures": {
            "f1": scores.f1,
            "precision": scores.precision,
            "recall": scores.recall,
            "exact": scores.exact,
            "tag_accuracy": scores.tag_accuracy,
            "crossing": scores.crossing,
        },
        "flat": int(flat.sum()),
        "skipped": scores.n_skipped,
        "phrases": [
            {
                "type": label, "precision": one.precision, "recall": one.recall, "f1": one.f1,
                "phrases": one.n_true, "predicted": one.n_predicted,
            }
            for label, one in scores.by_label.items()
        ],
    }  # fmt: skip


def _show(facts):
    """Print the measures, then a table of the labels."""
    console = console_of_words()
    for name, value in facts["measures"].items():
        if name == "crossing":
            console.print(f"crossing brackets {value:.2f} a tree")
        else:
            note = "  (tags were given)" if name == "tag_accuracy" and facts["tags"] == "given" else ""
            console.print(f"{_name(name)} {percent(value)}{note}", markup=False)
    console.print(f"{facts['examples']:,} trees, {facts['tokens']:,} words; {facts['skipped']:,} skipped")
    if facts["flat"]:
        console.print(f"{facts['flat']:,} sentences have no tree in the grammar: theirs is flat")
    console.print(phrase_table(facts["phrases"]))


def _name(measure) -> str:
    names = {"f1": "bracket F1", "exact": "exact match", "tag_accuracy": "tag accuracy"}
    return names.get(measure, f"bracket {measure}")


# The report.


def _sections(saved, examples, facts):
    from ..metrics.brackets import bracket_f1
    from ..viz.report import quality
    from ..viz.report.training import phrase_rates

    shares = {name: value for name, value in facts["measures"].items() if name != "crossing"}
    pairs = [(_name(name), percent(value)) for name, value in shares.items()]
    notes = [f"{facts['examples']:,} trees, {facts['tokens']:,} words; tags were {facts['tags']}."]
    if facts["flat"]:
        notes.append(f"{facts['flat']:,} sentences have no tree in the grammar: theirs is flat.")
    good = quality.quality(pairs, notes, phrase_rates("By label", "label", facts["phrases"]))
    trees, _ = saved.model.parse(examples.X)
    scores = [bracket_f1([one], [guess]) for one, guess in zip(examples.y, trees)]
    return good, quality.tree_errors(examples.y, trees, scores)


# Train and info.


def _subject(examples, model) -> Subject:
    tagged, left_out = examples.source.tagged, examples.n_longer
    remark = f"{left_out:,} trees of more than {examples.max_words} words were left out" if left_out else ""
    tags = "tags given" if tagged else "tags to be found"
    return Subject(tags, {"tagged": tagged, "left_out": left_out}, remark)


def _facts(saved) -> dict:
    """What it predicts, and by what."""
    grammar = saved.model.grammar_
    return {
        "predicts": "trees",
        "tags": "given" if _tagged(saved) else "predicted",
        "labels": grammar.labels,
        "symbols": grammar.n_symbols,
        "binary_rules": grammar.n_binary,
        "unary_rules": grammar.n_unary,
        "word_classes": grammar.n_classes,
    }


KIND = Kind(_facts, "own", _read, _cells, _measure, _show, _sections, command="parse", subject=_subject)

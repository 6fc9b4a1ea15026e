"""`oneslack predict`, `evaluate` and `info` with a parser."""

from __future__ import annotations

from .output import Refusal, complain

#: Sentences without a tree that a complaint names.
SHOWN = 5


def is_parser(saved) -> bool:
    """Does the file hold a GrammarParser?"""
    return saved.header["kind"] == "GrammarParser"


# Sentences.


def read_sentences(saved, path) -> list[list]:
    """Words, or (word, tag) pairs, of a file of sentences, one a line, or of trees.

    Tokens are words between blanks, or word/TAG where every token of the file ends in a tag that the grammar
    knows.  Of trees the words are taken, with their tags if the parser was trained on given tags.
    """
    from ..formats.format import LIKELY
    from ..formats.registry import format_of

    if trees := format_of(path, "trees", LIKELY):
        return sentences_of_trees(saved, trees.read(path))
    lines = [words for line in _text(path).splitlines() if (words := line.split())]
    if not lines:
        raise Refusal(f"{path}: holds no sentence; give one a line, its words between blanks, or trees.")
    tags = {symbol.label for symbol in saved.model.grammar_.symbols if symbol.kind == _tag_kind()}
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
        raise Refusal(
            f"{path}: sentence {i + 1} has {token!r}, but the parser was trained on given tags; write each "
            "token as word/TAG, with a tag of the trees."
        )
    return lines


def sentences_of_trees(saved, trees) -> list[list]:
    """Their words, with tags if the parser was trained on given tags."""
    return [tree.tagged() if _tagged(saved) else tree.words() for tree in trees]


def _text(path):
    from ..formats.compression import read_buffer
    from ..formats.lines import text_start

    buffer = read_buffer(path)
    try:
        return bytes(buffer[text_start(buffer) :]).decode()
    except UnicodeDecodeError as error:
        raise Refusal(f"{path}: is not UTF-8 ({error.reason}); convert it.") from error


def _tag_kind():
    from ..models.grammar.binarise import TAG

    return TAG


def _tagged(saved) -> bool:
    source = saved.header.get("source")
    return isinstance(source, dict) and bool(source.get("tagged"))


# Predict.


def tree_lines(saved, path, scores):
    """A tree a line; with scores, its score and a tab before it (a dash for a flat tree)."""
    sentences = read_sentences(saved, path)
    trees, flat = saved.model.parse(sentences)
    if flat.any():
        numbers = [str(i + 1) for i in flat.nonzero()[0][:SHOWN]]
        more = ", ..." if flat.sum() > SHOWN else ""
        complain(
            f"the grammar has no tree for {flat.sum():,} of {len(flat):,} sentences "
            f"({', '.join(numbers)}{more}); they got a flat one."
        )
    if not scores:
        return (f"{tree}\n" for tree in trees)
    best = saved.model.predict_topk(sentences, 1)
    values = [f"{found[0][1]:.9g}" if found else "-" for found in best]
    return (f"{value}\t{tree}\n" for value, tree in zip(values, trees, strict=True))


# Evaluate.


def parse_facts(saved, path) -> dict:
    """The facts of an evaluation against the trees in a file."""
    from ..formats.trees import read_trees
    from ..metrics.brackets import bracket_scores

    truth = read_trees(path)
    sentences = sentences_of_trees(saved, truth)
    trees, flat = saved.model.parse(sentences)
    scores = bracket_scores(truth, trees)
    return {
        "examples": len(truth),
        "tokens": sum(map(len, sentences)),
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


def print_facts(facts):
    """The measures, then a table of the labels."""
    from rich.console import Console

    from .evaluate import percent, phrase_table

    console = Console(highlight=False, soft_wrap=True)
    names = {"f1": "bracket F1", "exact": "exact match", "tag_accuracy": "tag accuracy"}
    for name, value in facts["measures"].items():
        if name == "crossing":
            console.print(f"crossing brackets {value:.2f} a tree")
        else:
            note = "  (tags were given)" if name == "tag_accuracy" and facts["tags"] == "given" else ""
            console.print(f"{names.get(name, f'bracket {name}')} {percent(value)}{note}", markup=False)
    console.print(f"{facts['examples']:,} trees, {facts['tokens']:,} words; {facts['skipped']:,} skipped")
    if facts["flat"]:
        console.print(f"{facts['flat']:,} sentences have no tree in the grammar: theirs is flat")
    console.print(phrase_table(facts["phrases"]))


# Info.


def parser_facts(saved) -> dict:
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

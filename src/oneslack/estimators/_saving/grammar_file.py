"""The grammar of a model file, and its span features.

Compiled loops take the numbers in their arrays as they are: one that points nowhere would have them read past
the ends.  So each must fit, and rules must make trees.
"""

from __future__ import annotations

import numpy as np

from ...models.grammar import Grammar, SpanFeatures
from ...models.grammar.binarise import PART, PHRASE, ROOT, TAG, Symbol, check_orders
from ...models.grammar.coding import ROOT_SYMBOL
from ...models.grammar.tables import score_labels
from ...models.grammar.unknown import ANY, WordClasses
from .file_fields import MOST, check_shape, choice, count, ends, field, floats, integers, texts

#: Fields of a Grammar that are arrays of numbers.
ARRAYS = (
    "binary_parent", "binary_left", "binary_right", "unary_parent", "unary_child", "chain_ptr", "chain_rules",
    "lexical_ptr", "lexical_tag", "counts",
)  # fmt: skip
#: The same of span features.
SPAN_ARRAYS = ("keys", "ptr", "labels")
#: What symbols of a rule may be.
KINDS = {
    "binary_parent": (PHRASE, PART),
    "binary_left": (PHRASE, TAG, PART),
    "binary_right": (PHRASE, TAG, PART),
    "unary_parent": (PHRASE, ROOT),
    "unary_child": (PHRASE, TAG),
    "lexical_tag": (TAG,),
}
INT32 = (np.int32,)
INT64 = (np.int64,)


def grammar_from_file(header, arrays) -> Grammar:
    """The Grammar; a ValueError or KeyError where something is missing or wrong."""
    symbols = _symbols(header)
    shapes, words = texts(header, "shapes", distinct=True), texts(header, "words", distinct=True)
    classes = WordClasses(
        {word: 1 + len(shapes) + k for k, word in enumerate(words)},
        {shape: 1 + k for k, shape in enumerate(shapes)},
    )
    orders = (choice(header, "direction", ("right", "left")), header["horizontal"], count(header, "vertical"))
    if orders[1] is not None:
        count(header, "horizontal")
    check_orders(*orders)
    rules = _rules(arrays, symbols, classes.n)
    return Grammar(symbols, *(rules[name] for name in ARRAYS), classes, *orders)


def _symbols(header):
    symbols = []
    for entry in field(header, "symbols", (list,), "a list of symbols"):
        label, kind, parents, rest = entry
        parts = {"label": label, "kind": kind, "parents": parents, "rest": rest}
        name = field(parts, "label", (str,), "the label of a symbol")
        kind = count(parts, "kind", PHRASE, ROOT)
        symbols.append(Symbol(name, kind, tuple(texts(parts, "parents")), tuple(texts(parts, "rest"))))
    if symbols[:1] != [ROOT_SYMBOL] or any(symbol.kind == ROOT for symbol in symbols[1:]):
        raise ValueError("the first of the symbols, and no other, must be the root")
    if len(set(symbols)) < len(symbols):
        raise ValueError("one of the symbols stands there twice")
    return symbols


def _rules(arrays, symbols, n_classes):
    """{name: array}, all checked."""
    arrays = {name: arrays[f"grammar.{name}"] for name in ARRAYS}
    kinds = np.array([symbol.kind for symbol in symbols])
    for name, allowed in KINDS.items():
        numbers = integers(arrays, name, (None,), len(symbols), INT32)
        if not np.isin(kinds[numbers], allowed).all():
            raise ValueError(f"{name} of the grammar holds a symbol of another kind")
    for name, other in (
        ("binary_left", "binary_parent"), ("binary_right", "binary_parent"), ("unary_child", "unary_parent"),
    ):  # fmt: skip
        check_shape(f"numbers of {name}", arrays[name], arrays[other].shape)
    _check_chains(arrays)
    n_lexical = len(arrays["lexical_tag"])
    lexical_ptr = ends(arrays, "lexical_ptr", n_classes, n_lexical, 1, INT32)
    if not np.isin(np.flatnonzero(kinds == TAG), arrays["lexical_tag"][: lexical_ptr[ANY + 1]]).all():
        raise ValueError("lexical_tag of the grammar lacks a tag for words of any kind")
    n_rules = len(arrays["binary_parent"]) + len(arrays["unary_parent"]) + n_lexical
    if (floats(arrays, "counts", (n_rules,)) < 0).any():
        raise ValueError("counts of the grammar holds a number < 0")
    return arrays


def _check_chains(arrays):
    """Each rule of a chain must begin where the one above it ends."""
    rules = integers(arrays, "chain_rules", (None,), len(arrays["unary_parent"]), INT32)
    ptr = ends(arrays, "chain_ptr", None, len(rules), 1, INT32)
    inside = np.setdiff1d(np.arange(1, len(rules)), ptr)
    if (arrays["unary_child"][rules[inside - 1]] != arrays["unary_parent"][rules[inside]]).any():
        raise ValueError("chain_rules of the grammar holds rules that do not follow each other")


def spans_from_file(header, grammar, arrays) -> SpanFeatures:
    """The SpanFeatures; a ValueError or KeyError where something is missing or wrong."""
    n_words = max(grammar.n_classes, grammar.n_symbols)
    count(header, "n_words", n_words, n_words)
    keys = integers(arrays, "spans.keys", (None,), MOST, INT64)
    if (np.diff(keys) <= 0).any():
        raise ValueError("spans.keys does not rise")
    labels = integers(arrays, "spans.labels", (None,), len(score_labels(grammar)[1]), INT64)
    ptr = ends(arrays, "spans.ptr", len(keys), len(labels), 1, INT64)
    return SpanFeatures(keys, ptr, labels, n_words)

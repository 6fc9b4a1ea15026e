"""Parsers as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from ..models.grammar import Grammar, GrammarModel, SpanFeatures
from ..models.grammar.binarise import Symbol
from ..models.grammar.unknown import WordClasses
from .saving import certificate_from_file, check_shape, common_to_file, parameters_from_file

#: Fields of a Grammar that are arrays of numbers.
ARRAYS = (
    "binary_parent", "binary_left", "binary_right", "unary_parent", "unary_child", "chain_ptr", "chain_rules",
    "lexical_ptr", "lexical_tag", "counts",
)  # fmt: skip
#: The same of span features.
SPAN_ARRAYS = ("keys", "ptr", "labels")


def parser_to_file(parser):
    """(header, arrays) of a fitted GrammarParser."""
    header, arrays = common_to_file(parser)
    grammar, spans = parser.grammar_, parser.model_.span_features
    header["grammar"] = {
        "symbols": [[s.label, s.kind, list(s.parents), list(s.rest)] for s in grammar.symbols],
        "words": list(grammar.words.words),
        "shapes": list(grammar.words.shapes),
        "direction": grammar.direction,
        "horizontal": None if grammar.horizontal is None else int(grammar.horizontal),
        "vertical": int(grammar.vertical),
    }
    header["model"] = {
        "loss": parser.model_.loss_name,
        "frequencies": parser.model_.frequencies,
        "missing": parser.model_.missing,
    }
    arrays |= {f"grammar.{name}": getattr(grammar, name) for name in ARRAYS}
    if spans is not None:
        header["spans"] = {"n_words": int(spans.n_words)}
        arrays |= {f"spans.{name}": getattr(spans, name) for name in SPAN_ARRAYS}
    arrays["outside"], arrays["coef"] = parser.outside_, np.asarray(parser.coef_, dtype=float)
    return header, arrays


def parser_from_file(kind, header, arrays):
    """The GrammarParser; a ValueError, TypeError or KeyError where something is missing."""
    parameters = {"missing": 1.0} | header["parameters"]  # older files do not have it
    parser = kind(**parameters_from_file(parameters, arrays))
    certificate_from_file(parser, header["certificate"])
    grammar, spans = _grammar(header["grammar"], arrays), None
    if "spans" in header:
        parts = {name: arrays[f"spans.{name}"] for name in SPAN_ARRAYS}
        spans = SpanFeatures(**parts, n_words=int(header["spans"]["n_words"]))
    known = header["model"]
    parser.grammar_ = grammar
    parser.model_ = GrammarModel(
        grammar, known["loss"], spans, bool(known["frequencies"]), float(known.get("missing", 1.0))
    )
    parser.coef_, parser.outside_ = arrays["coef"], arrays["outside"]
    check_shape("weights", parser.coef_, (parser.model_.n_params,))
    return parser


def _grammar(header, arrays):
    symbols = [
        Symbol(label, int(kind), tuple(parents), tuple(rest))
        for label, kind, parents, rest in header["symbols"]
    ]
    shapes, words = header["shapes"], header["words"]
    classes = WordClasses(
        {word: 1 + len(shapes) + k for k, word in enumerate(words)},
        {shape: 1 + k for k, shape in enumerate(shapes)},
    )
    grammar = Grammar(
        symbols, *(arrays[f"grammar.{name}"] for name in ARRAYS), classes, header["direction"],
        header["horizontal"], int(header["vertical"]),
    )  # fmt: skip
    _refuse_broken(grammar)
    return grammar


def _refuse_broken(grammar):
    """ValueError where numbers in the arrays point nowhere: compiled loops would read past their ends."""
    for name in (*ARRAYS[:5], "lexical_tag"):
        _in_range(name, getattr(grammar, name), grammar.n_symbols)
    check_shape("left children", grammar.binary_left, grammar.binary_parent.shape)
    check_shape("right children", grammar.binary_right, grammar.binary_parent.shape)
    check_shape("unary children", grammar.unary_child, grammar.unary_parent.shape)
    _in_range("chain_rules", grammar.chain_rules, grammar.n_unary)
    for name, ptr, size in (
        ("chain_ptr", grammar.chain_ptr, len(grammar.chain_rules)),
        ("lexical_ptr", grammar.lexical_ptr, grammar.n_lexical),
    ):
        if not len(ptr) or ptr[0] != 0 or ptr[-1] != size or (np.diff(ptr) < 0).any():
            raise ValueError(f"{name} of the grammar does not fit")
    if (np.diff(grammar.chain_ptr) < 1).any() or grammar.n_classes != grammar.words.n:
        raise ValueError("chains or word classes of the grammar do not fit")
    check_shape("counts", grammar.counts, (grammar.n_rules,))


def _in_range(name, numbers, size):
    fits = numbers.dtype == np.int32 and numbers.ndim == 1
    if not fits or (numbers < 0).any() or (numbers >= size).any():
        raise ValueError(f"{name} of the grammar must be whole numbers from 0 to {size - 1}")

"""Parsers as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from ...models.grammar import GrammarModel
from ...models.grammar.model import LOSSES
from .file_fields import MOST, choice, flag, floats, integers, number, table
from .grammar_file import ARRAYS, SPAN_ARRAYS, grammar_from_file, spans_from_file
from .linear import common_from_file, common_to_file


def to_file(parser):
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


def from_file(cls, header, arrays):
    """The GrammarParser; a ValueError, TypeError or KeyError where something is missing or wrong."""
    parser = common_from_file(cls, header, arrays, missing=1.0)  # older files do not have it
    grammar = grammar_from_file(table(header, "grammar"), arrays)
    spans = spans_from_file(table(header, "spans"), grammar, arrays) if "spans" in header else None
    known = {"missing": 1.0} | table(header, "model")
    loss, missing = choice(known, "loss", LOSSES), number(known, "missing", 0.0)
    parser.grammar_ = grammar
    parser.model_ = GrammarModel(grammar, loss, spans, flag(known, "frequencies"), missing)
    parser.coef_ = floats(arrays, "coef", (parser.model_.n_params,), "weights")
    parser.outside_ = integers(arrays, "outside", (None,), MOST)
    return parser

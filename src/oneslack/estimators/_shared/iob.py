"""Labels O, B-X and I-X: which may follow which."""

from __future__ import annotations

import numpy as np


def iob_rules(labels):
    """(allowed (L, L), allowed_start (L,)): I-X may follow B-X and I-X only, and starts no sentence."""
    parts = [str(label).partition("-") for label in labels]
    inside = np.array([tag == "I" for tag, _, _ in parts])
    in_phrase = np.array([tag in ("B", "I") for tag, _, _ in parts])
    kinds = np.array([kind for _, _, kind in parts])
    allowed = ~inside[None, :] | (in_phrase[:, None] & (kinds[:, None] == kinds[None, :]))
    return allowed, ~inside


def refuse_broken_phrases(offsets, classes, codes, allowed, allowed_start):
    """Raise where a training label breaks the rules, with the label's name."""
    bad = np.zeros(len(codes), bool)
    bad[1:] = ~allowed[codes[:-1], codes[1:]] & (codes[:-1] >= 0)
    heads = offsets[:-1][offsets[:-1] < offsets[1:]]
    bad[heads] = ~allowed_start[codes[heads]]
    bad &= codes >= 0  # where a label is not known there is nothing to break
    if bad.any():
        t = int(np.argmax(bad))
        i = int(np.searchsorted(offsets, t, side="right")) - 1
        raise ValueError(
            f"sentence {i}, position {t - offsets[i]}: {str(classes[codes[t]])!r} continues no phrase, but "
            "constraints='iob' needs phrases that begin with B (IOB2)"
        )

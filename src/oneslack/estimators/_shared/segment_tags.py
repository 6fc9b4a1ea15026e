"""Segments (label, first, after the last) as tags of tokens, and back; which tag may follow which.

    "bio"     B- begins a segment, I- goes on                                        O is outside
    "bilou"   B- begins one of several tokens, I- goes on, L- ends it, U- is one of a single token

BIOES writes E for L and S for U; IOB1 begins a segment with I where none of its label is open before it.
"""

from __future__ import annotations

import numpy as np

CODINGS = {"bio": "BI", "bilou": "BILU"}
#: Tags that begin, and that end a segment whatever is beside them.
BEGINS, ENDS = "BUS", "LUES"
KNOWN = "BILUES"


def segments_of(tags) -> list[tuple[str, int, int]]:
    """The segments of one sentence's tags, in any of the codings."""
    found, first, kind = [], 0, None
    for t, text in enumerate(tags):
        tag, _, label = str(text).partition("-")
        if tag != "O" and (len(tag) != 1 or tag not in KNOWN):
            raise ValueError(f"position {t}: {text!r} is no tag; expected O, B-label, I-label, L- or U-label")
        if kind is not None and (tag == "O" or tag in BEGINS or label != kind):
            found.append((kind, first, t))
            kind = None
        if tag != "O" and kind is None:
            first, kind = t, label
        if kind is not None and tag in ENDS:
            found.append((kind, first, t + 1))
            kind = None
    return found if kind is None else [*found, (kind, first, len(tags))]


def tags_of(segments, n_tokens, coding) -> list[str]:
    """The tags of one sentence; a ValueError where segments overlap or leave it."""
    tags = ["O"] * n_tokens
    for segment in segments:
        try:
            label, first, stop = segment
            is_inside = 0 <= first < stop <= n_tokens
        except (TypeError, ValueError):
            raise ValueError(f"{segment!r} is no segment (label, first, after the last)") from None
        if not is_inside:
            raise ValueError(f"segment {segment!r} is not inside a sentence of {n_tokens} tokens")
        if any(tag != "O" for tag in tags[first:stop]):
            raise ValueError(f"segment {segment!r} overlaps another one")
        for t in range(first, stop):
            tags[t] = f"{_tag(t - first, stop - first, coding)}-{label}"
    return tags


def _tag(place, length, coding):
    if coding == "bio":
        return "B" if place == 0 else "I"
    if length == 1:
        return "U"
    return "B" if place == 0 else "L" if place == length - 1 else "I"


def all_tags(labels, coding) -> np.ndarray:
    """Those of all labels, sorted; O among them."""
    return np.array(sorted(["O", *(f"{tag}-{label}" for tag in CODINGS[coding] for label in labels)]))


def rules(tags, coding):
    """(allowed (K, K), allowed_start (K,), allowed_end (K,)): segments are whole."""
    parts = [str(tag).partition("-") for tag in tags]
    letters, kinds = np.array([p[0] for p in parts]), np.array([p[2] for p in parts])
    starts = np.isin(letters, ["O", "B", "U"])
    same = kinds[:, None] == kinds[None, :]
    if coding == "bio":
        inside, may_end = np.isin(letters, ["B", "I"]), np.ones(len(parts), bool)
    else:
        inside, may_end = np.isin(letters, ["B", "I"]), np.isin(letters, ["O", "L", "U"])
    goes_on = inside[:, None] & np.isin(letters, ["I", "L"])[None, :] & same
    return goes_on | (may_end[:, None] & starts[None, :]), starts, may_end


def prices(tags, missed, false) -> np.ndarray:
    """(K, K) losses of a token: `missed` where a segment's token is told to be outside, `false` the other way
    round, half of both where it is given another tag of a segment."""
    outside = np.array([str(tag) == "O" for tag in tags])
    losses = np.full((len(outside), len(outside)), 0.5 * (missed + false))
    losses[~outside[:, None] & outside[None, :]] = missed
    losses[outside[:, None] & ~outside[None, :]] = false
    np.fill_diagonal(losses, 0.0)
    return losses

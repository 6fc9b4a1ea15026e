"""The option --class-weight: how much errors on a class count."""

from __future__ import annotations

import math

from .output import Exit, Refusal

#: Labels that a sentence shows.
SHOWN = 20


def weight_of_classes(text, labels, path):
    """None, "balanced" or {label: weight} from LABEL=W,..."""
    if text is None or text == "balanced":
        return text
    known = {str(value): value for value in labels}
    weights = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        name = name.strip()
        if not equals:
            raise Refusal(f"--class-weight: {part!r} is not LABEL=WEIGHT, nor balanced.", Exit.USAGE)
        if name not in known:
            shown = ", ".join(list(known)[:SHOWN])
            raise Refusal(f"--class-weight: {path} has no label {name!r}; it has {shown}.", Exit.USAGE)
        if known[name] in weights:
            raise Refusal(f"--class-weight: the label {name!r} stands there twice.", Exit.USAGE)
        weights[known[name]] = _weight(number, part)
    return weights


def _weight(text, part):
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        raise Refusal(f"--class-weight: the weight in {part!r} is not a positive number.", Exit.USAGE)
    return weight

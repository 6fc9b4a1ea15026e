"""Conformance of `decode_bound`: no bound is below the score + loss of any output that is known."""

from __future__ import annotations

import numpy as np

from ..models.answers import brief, is_one_number

BOUND = "decode_bound(w, x, y)"


def check_bounds(example, weights, answers) -> list:
    """The outputs of decode_bound at the weights; `answers` are others of the same example's decoders."""
    bounds = [_function(example, w) for w in weights]
    rivals = [*example.candidates, *answers, *(own for own, _ in bounds)]
    for w, (own, upper) in zip(weights, bounds, strict=True):
        for z in (own, *rivals):
            value = float(z.psi @ w) + z.loss
            if not upper >= value - example.tolerance * (1.0 + abs(value)):
                whose = "its own output" if z is own else z.source
                text = f"the bound {upper:.9g} is below {value:.9g}, the score + loss of {whose}"
                example.fail(BOUND, text)
    return [own for own, _ in bounds]


def _function(example, w):
    """(answer, upper), which are the same when it is asked again."""
    (first, upper), (second, again) = (_asked(example, w) for _ in range(2))
    if not np.array_equal(first.psi, second.psi) or first.loss != second.loss or upper != again:
        example.fail(BOUND, f"gave two different answers at the same w, with bounds {upper:g} and {again:g}")
    return first, upper


def _asked(example, w):
    try:
        found = example.model.decode_bound(w.copy(), example.x, example.y)
    except Exception as error:
        example.fail(BOUND, f"raised {type(error).__name__}: {error}", error)
    example.unchanged(BOUND)
    if not isinstance(found, tuple) or len(found) != 2 or not is_one_number(found[1]):
        example.fail(BOUND, f"returned {brief(found)}, expected a pair (output, bound)")
    return example.candidate(found[0], f"the answer of {BOUND}"), float(found[1])

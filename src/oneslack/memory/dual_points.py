"""A dual point as named arrays, which a model file keeps as its proof (docs/certificate.md); one of

duals (n,)                               what the score of each example is multiplied by
duals, classes, ends (n + 1,)            duals of wrong classes that are not 0, row by row
duals, examples, outputs                 outputs of examples, one behind the other, with their duals
weights, points or labels                planes: the w where each was taken, or what its labelling has wrong
"""

from __future__ import annotations

import numpy as np


def class_point(coefficients, y) -> dict:
    """Duals from what scores are multiplied by, c (n,) or (n, K): c itself, or -c_iz for all z != y_i."""
    if coefficients.ndim == 1:
        return {"duals": coefficients}
    wrong = coefficients < 0.0
    wrong[np.arange(len(y)), y] = False
    rows, classes = np.nonzero(wrong)
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(y)))])
    return {"duals": -coefficients[rows, classes], "classes": classes.astype(np.int32), "ends": ends}


def checked_places(places) -> list:
    """What planes are of (cuts.Plane), as a state holds it; a ValueError where it does not fit."""
    places = list(places)
    known = [place for place in places if place is not None]
    pairs = all(isinstance(place, tuple) and len(place) == 2 for place in known)
    if not pairs or not all(isinstance(place[1], np.ndarray) and place[1].ndim == 1 for place in known):
        raise ValueError("what the planes are of is no list of arrays")
    if len({(str(name), array.shape, array.dtype) for name, array in known}) > 1:
        raise ValueError("what the planes are of is not of one kind")
    if not {name for name, _ in known} <= {"points", "labels", "duals"}:
        raise ValueError("what the planes are of is not known")
    return places


def joined_points(points) -> dict:
    """The point of all examples from those of parts, pairs (first example, point)."""
    joined = {
        name: np.concatenate([point[name] + (lo if name == "examples" else 0) for lo, point in points])
        for name in points[0][1]
        if name != "ends"
    }
    if "ends" in points[0][1]:
        joined["ends"] = np.append(
            0, np.cumsum(np.concatenate([np.diff(point["ends"]) for _, point in points]))
        )
    return joined

"""A dual point as named arrays, which a model file keeps as its proof (docs/certificate.md); one of

duals (n,)                               what the score of each example is multiplied by
duals, classes, ends (n + 1,)            duals of wrong classes that are not 0, row by row
duals, examples, outputs                 outputs of examples, one behind the other, with their duals
weights, points or labels                planes: the w where each was taken, or what its labelling has wrong

Planes of structured outputs hold the output of each example until the end, compressed; the point lists each
output once, with what all planes give it.
"""

from __future__ import annotations

import zlib

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
    shapes = {(str(name), name == "outputs" or array.shape, array.dtype) for name, array in known}
    if len(shapes) > 1:
        raise ValueError("what the planes are of is not of one kind")
    if not {name for name, _ in known} <= {"points", "labels", "duals", "outputs"}:
        raise ValueError("what the planes are of is not known")
    for name, array in known:
        if name == "outputs":
            _unpacked(array)
    return places


def packed_outputs(n, examples, outputs) -> np.ndarray:
    """What the plane of these outputs, of some of n examples, is the plane of: bytes."""
    sizes = np.zeros(n, np.int32)
    sizes[examples] = [len(output) for output in outputs]
    numbers = np.concatenate([np.array([n]), sizes, *outputs]).astype(np.int32)
    return np.frombuffer(zlib.compress(numbers.tobytes(), 1), np.uint8)


def _unpacked(packed) -> tuple[np.ndarray, np.ndarray]:
    """(sizes (n,) of the examples' outputs, these one behind the other) of `packed_outputs`; a ValueError
    where it is none."""
    try:
        numbers = np.frombuffer(zlib.decompress(packed.tobytes()), np.int32)
    except zlib.error as error:
        raise ValueError(f"the outputs of a plane cannot be unpacked: {error}") from None
    n = int(numbers[0]) if len(numbers) else -1
    sizes, outputs = numbers[1 : 1 + max(n, 0)], numbers[1 + max(n, 0) :]
    if len(sizes) != n or (sizes < 0).any() or sizes.sum() != len(outputs):
        raise ValueError("the outputs of a plane are not as long as it says")
    return sizes, outputs


def planes_point(a, packed, s) -> dict:
    """The point of planes with duals a, of `packed_outputs`, where example i counts by s_i."""
    duals = {}
    for dual, numbers in zip(a, packed, strict=True):
        sizes, outputs = _unpacked(numbers)
        if len(sizes) != len(s):
            raise ValueError("the planes are of other examples")
        ends = np.cumsum(sizes)
        for i in np.flatnonzero(sizes):
            key = int(i), outputs[ends[i] - sizes[i] : ends[i]].tobytes()
            duals[key] = duals.get(key, 0.0) + dual * s[i]
    return {
        "duals": np.array(list(duals.values()), dtype=float),
        "examples": np.array([i for i, _ in duals], np.int32),
        "outputs": np.frombuffer(b"".join(output for _, output in duals), np.int32),
    }


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

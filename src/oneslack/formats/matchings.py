"""Files of sets to be matched: JSON lines, one example a line, or .npz.

    {"pairs": [[[f, ...], ...], ...], "y": [1, 0, -1]}          features of pairs (n1, n2, d)
    {"first": [[f, ...], ...], "second": [...], "y": [...]}     features of members, (n1, d) and (n2, d)

`y` tells the column of each row from 0, -1 for none; it may be missing where partners are to be found.
A .npz holds `pairs` (N, d), those of all examples row by row, `shapes` (n, 2), and `y`, the partners of all
rows.
"""

from __future__ import annotations

import json
import os

import numpy as np

from ..errors import FormatError
from .atomic import atomic_write
from .lines import read_text
from .numpy_file import _load

EXPECTED = 'expected {"pairs": [[[...]]], "y": [...]} or {"first": [[...]], "second": [[...]], "y": [...]}'


def read_matchings(path):
    """(X, Y): for each example the features of its pairs, or of both sets, and its partners.

    X is a list of arrays (n1, n2, d), or of pairs of arrays (n1, d) and (n2, d); Y a list of arrays (n1,),
    or None where the file has none.

    >>> from oneslack.formats import read_matchings
    >>> with open("sets.jsonl", "w") as file:
    ...     _ = file.write('{"first": [[1], [5]], "second": [[4], [2]], "y": [1, 0]}\\n')
    >>> X, Y = read_matchings("sets.jsonl")
    >>> X[0][1].tolist(), Y[0].tolist()
    ([[4.0], [2.0]], [1, 0])
    """
    path = os.fspath(path)
    if path.endswith(".npz"):
        return _from_arrays(path, _load(path))
    X, Y = [], []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            x, y = _example(path, number, line)
            X.append(x)
            Y.append(y)
    if not X:
        raise FormatError(f"{path}: holds no example; {EXPECTED}.")
    known = [y is not None for y in Y]
    if any(known) and not all(known):
        raise FormatError(f"{path}: example {known.index(False) + 1} has no y, but others have; give it one.")
    return X, Y if all(known) else None


def _example(path, number, line):
    where = f"{path}, line {number}"
    try:
        given = json.loads(line)
    except ValueError as error:
        raise FormatError(f"{where}: is no JSON ({error}); {EXPECTED}.") from error
    if not isinstance(given, dict) or not ("pairs" in given or {"first", "second"} <= given.keys()):
        raise FormatError(f"{where}: {EXPECTED}.")
    names = ("pairs",) if "pairs" in given else ("first", "second")
    try:
        parts = [np.array(given[name], dtype=float) for name in names]
        y = None if given.get("y") is None else np.array(given["y"], dtype=np.int64)
    except (TypeError, ValueError) as error:
        raise FormatError(f"{where}: lists are uneven, or hold no numbers; {EXPECTED}.") from error
    wanted = 3 if len(parts) == 1 else 2
    if any(part.ndim != wanted for part in parts):
        raise FormatError(f"{where}: {names[0]} must be lists nested {wanted} deep; {EXPECTED}.")
    if y is not None and y.shape != (len(parts[0]),):
        raise FormatError(f"{where}: y has {y.size} partners for {len(parts[0])} rows; give one a row.")
    return (parts[0] if len(parts) == 1 else tuple(parts)), y


def _from_arrays(path, arrays):
    try:
        pairs, shapes = np.asarray(arrays["pairs"], float), np.asarray(arrays["shapes"], dtype=np.int64)
        sizes = shapes[:, 0] * shapes[:, 1]
        if pairs.ndim != 2 or shapes.shape[1] != 2 or (shapes < 0).any() or sizes.sum() != len(pairs):
            raise ValueError
        parts = np.split(pairs, np.cumsum(sizes)[:-1])
        X = [part.reshape(n, m, -1) for part, (n, m) in zip(parts, shapes.tolist(), strict=True)]
        if "y" not in arrays:
            return X, None
        y = np.asarray(arrays["y"], dtype=np.int64)
        if y.shape != (shapes[:, 0].sum(),):
            raise ValueError
        return X, np.split(y, np.cumsum(shapes[:, 0])[:-1])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise FormatError(
            f"{path}: expected arrays pairs (N, d), shapes (n, 2) of N pairs in all, and y, a partner a row."
        ) from error


def write_matchings(path, X, Y=None):
    """Write examples as JSON lines; X a list of arrays (n1, n2, d) or of pairs of arrays, Y a list of arrays
    (n1,) or None.

    >>> import numpy as np
    >>> from oneslack.formats import read_matchings, write_matchings
    >>> write_matchings("sets.jsonl", [np.ones((2, 2, 1))], [[0, 1]])
    >>> read_matchings("sets.jsonl")[1][0].tolist()
    [0, 1]
    """
    with atomic_write(path, text=True) as file:
        for i, x in enumerate(X):
            parts = dict(zip(("first", "second"), x)) if isinstance(x, tuple) else {"pairs": x}
            given = {name: np.asarray(part, float).tolist() for name, part in parts.items()}
            if Y is not None:
                given["y"] = np.asarray(Y[i], dtype=int).tolist()
            file.write(json.dumps(given) + "\n")

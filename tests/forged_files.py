"""Files that lie: one field of the header or one array of a good file changed, the checksum made to fit."""

import copy

import numpy as np

#: What a field is replaced by.
WRONG = (
    None, -1, 0, 1, 3, 10**6, 10**9, 10**18, 10**30, 0.5, -0.5, float("nan"), float("inf"), True, False,
    "", "x", "1", "<U99999999", [], ["x"], [0], [[]], {}, {"x": 1},
)  # fmt: skip


def forgeries(header, arrays):
    """(what was done, header, arrays) of every forgery of a file."""
    for path, value in _places(header):
        for name, forged in _forged_values(path, value):
            content = copy.deepcopy(header)
            _put(content, path, forged)
            yield f"header {'.'.join(map(str, path))}: {name}", content, arrays
    for key, array in arrays.items():
        yield f"array {key}: gone", header, {name: a for name, a in arrays.items() if name != key}
        for name, forged in _forged_arrays(array):
            yield f"array {key}: {name}", header, {**arrays, key: forged}


class _Gone:
    pass


def _places(value, path=()):
    """Every place in the header; of long lists the first and the last."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*path, key))
    elif isinstance(value, list) and value:
        for place in {0, len(value) - 1}:
            yield from _places(value[place], (*path, place))


def _forged_values(path, value):
    if isinstance(path[-1], str):
        yield "gone", _Gone
    for wrong in WRONG:
        if wrong is not value:
            yield f"{wrong!r}", wrong
    if isinstance(value, list) and value:
        yield "shorter", value[:-1]
        yield "longer", [*value, value[-1]]
        yield "reversed", value[::-1]
        yield "many", value * 50
    if isinstance(value, int) and not isinstance(value, bool):
        yield "one more", value + 1
        yield "one less", value - 1


def _put(content, path, value):
    for step in path[:-1]:
        content = content[step]
    if value is _Gone:
        del content[path[-1]]
    else:
        content[path[-1]] = value


def _forged_arrays(array):
    yield "empty", array.ravel()[:0]
    yield "scalar", np.zeros((), array.dtype)
    yield "one axis more", array[..., None]
    yield "longer", np.concatenate([np.atleast_1d(array), np.atleast_1d(array)[-1:]])
    yield "shorter", np.atleast_1d(array)[:-1]
    yield "reversed", np.atleast_1d(array)[::-1]
    yield "zeros", np.zeros_like(array)
    yield "ones", np.ones_like(array)
    if array.ndim > 1:
        yield "transposed", np.ascontiguousarray(array.T)
        yield "flat", array.ravel()
    for dtype in ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64"):
        if array.dtype != dtype:
            with np.errstate(all="ignore"):
                yield f"as {dtype}", array.astype(dtype)
    if array.size:
        for value in _extremes(array.dtype):
            forged = array.copy()
            forged.flat[-1] = value
            yield f"one {value}", forged
            yield f"all {value}", np.full_like(array, value)


def _extremes(dtype):
    if dtype.kind == "f":
        return (np.nan, np.inf, -np.inf, -1.0, 1e300)
    if dtype.kind == "b":
        return ()
    info = np.iinfo(dtype)
    return (info.max, info.min, 1000 if info.max > 1000 else info.max // 2, 1)

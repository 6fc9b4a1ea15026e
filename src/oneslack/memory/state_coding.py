"""States of solvers as JSON and arrays, and back.

They are dicts, lists and tuples of numbers, text, arrays, sparse matrices, planes and expansions.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from ..errors import OneslackError

#: Planes, cuts, points and Hessians, which must be finite: with others no quadratic program would end.
FINITE = ("planes", "store", "best", "w", "squares")
#: Of numbers whose squares are finite.
LARGEST = 1e150


def encode(value, arrays):
    """The value as JSON can hold it, its arrays moved to `arrays`."""
    from scipy import sparse

    from ..cuts import Plane
    from ..kernels.expansion import Expansion

    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {"dict": [[encode(k, arrays), encode(v, arrays)] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [encode(item, arrays) for item in value]}
    if isinstance(value, np.ndarray | np.generic):
        name = f"a{len(arrays)}"
        arrays[name] = np.array(value)
        return {"array" if isinstance(value, np.ndarray) else "number": name}
    if isinstance(value, Plane):
        return {"plane": [encode(value.normal, arrays), value.offset]}
    if isinstance(value, Expansion):
        parts = [value.index, value.coefficients, value.bias, value.norm2]
        return {"expansion": [encode(part, arrays) for part in parts]}
    if sparse.issparse(value) and value.format == "csr":
        parts = [value.data, value.indices, value.indptr, tuple(value.shape)]
        return {"csr": [encode(part, arrays) for part in parts]}
    raise OneslackError(f"a solver's state holds a {type(value).__name__}, which no checkpoint can keep.")


def decode(value, arrays, finite=False):
    """The value again; a KeyError, TypeError or ValueError where it is damaged."""
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError(f"{len(value)} values stand where one should be")
    ((kind, content),) = value.items()
    if kind in ("array", "number"):
        array = arrays[content]
        if finite and not float(np.abs(array).max(initial=0.0)) <= LARGEST:
            raise ValueError(f"the array {content} holds NaN, infinity, or numbers beyond {LARGEST:g}")
        return array if kind == "array" else array[()]
    if kind == "dict":
        return {decode(k, arrays): decode(v, arrays, finite or k in FINITE) for k, v in content}
    parts = [decode(item, arrays, finite) for item in content]
    if kind not in _MAKERS:
        raise ValueError(f"values of kind {kind!r} are not known")
    return _MAKERS[kind](parts)


def column(name, array, *types):
    """A copy of a column of numbers of one of these types, else raise: compiled loops take an array for what
    they expect."""
    if array.ndim != 1 or array.dtype not in types:
        raise ValueError(f"{name} is {array.dtype}{array.shape}, not a column of {np.dtype(types[0])}")
    return array.copy()


def check_places(name, places, below):
    """Raise unless they are whole numbers below `below`: compiled loops do not ask where one points."""
    places = np.asarray(places)
    if places.dtype.kind not in "iu" or (places.size and not 0 <= places.min() <= places.max() < below):
        raise ValueError(f"{name} must hold whole numbers from 0 to {below - 1}")


def check_apart(name, begins, sizes):
    """Raise where two of the stretches begin <= k < begin + size have a k in common."""
    order = np.argsort(begins, kind="stable")
    order = order[sizes[order] > 0]
    if (begins[order[1:]] < (begins + sizes)[order[:-1]]).any():
        raise ValueError(f"{name} overlap")


def check_between(name, values, low, high):
    """Raise unless all of them lie there: duals that do not would prove what is not so."""
    if not ((low <= values) & (values <= high)).all():
        raise ValueError(f"{name} holds a number that is out of its bounds")


def check_point(problem, w):
    """Raise unless it is a point of the problem with a finite |w|."""
    if w.shape != (problem.n_params,) or not isfinite(problem.regulariser.value(w)):
        raise ValueError(f"the weights are not {problem.n_params} finite numbers, or too large")


def check_scores(problem, S):
    """Raise unless they are scores of the problem's examples; only data in memory say of how many classes."""
    expected = problem.scores.shape or (problem.n, *S.shape[1:])
    if S.shape != expected or S.dtype != np.float64:
        raise ValueError(f"the scores are {S.dtype}{S.shape}, expected float64{expected}")


def check_squares(problem, H, h=None, peak=None):
    """Raise unless what there is of a Hessian, of what examples weigh in it and of its largest diagonal is of
    the problem's size."""
    d = problem.n_params
    for part, shape in ((H, (d, d)), (h, (problem.n,)), (peak, (d,))):
        if part is not None and (part.shape != shape or part.dtype != np.float64):
            raise ValueError(f"a Hessian is kept as {part.dtype}{part.shape}, expected float64{shape}")


def _plane(parts):
    from ..cuts import Plane

    return Plane(*parts)


def _expansion(parts):
    from ..kernels.expansion import Expansion

    index, coefficients, bias, norm2 = parts
    known = index.ndim == bias.ndim == 1 and index.dtype == np.int64 and (index >= 0).all()
    if not known or coefficients.shape != (len(index), len(bias)):
        raise ValueError("an expansion does not fit together")
    return Expansion(index, coefficients, bias, norm2)


def _csr(parts):
    from scipy import sparse

    data, indices, indptr, shape = parts
    matrix = sparse.csr_array((data, indices, indptr), shape=shape)
    matrix.check_format()
    return matrix


_MAKERS = {"list": list, "tuple": tuple, "plane": _plane, "expansion": _expansion, "csr": _csr}

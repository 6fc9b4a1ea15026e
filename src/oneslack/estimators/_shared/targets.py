"""Labels of any type as classes and codes, and what each example weighs."""

from __future__ import annotations

from numbers import Number

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from ...data import rows
from ...problems.per_example import count_of

#: Integers that span no more than this are counted; others are sorted, which takes longer.
SPAN = 4096


def encode(y):
    """(classes (K,) sorted, codes (n,)) with y = classes[codes]; y is looked at once."""
    if y.dtype.kind in "OT":
        y = _plain(y.astype(object, copy=False))
    if y.dtype.kind in "iub":
        classes, codes = _encode_integers(y)
    elif y.dtype.kind == "f":
        classes, codes = _encode_floats(y)
    elif y.dtype.kind in "UO":
        classes, codes = np.unique(y, return_inverse=True)
    else:
        raise ValueError(f"Unknown label type: {y.dtype}; use text or whole numbers for classes")
    if len(classes) < 2:
        raise ValueError(f"y has only one class ({_shown(classes[0])}); classification needs at least two")
    return classes, codes


def _shown(label):
    return repr(label.item() if isinstance(label, np.generic) else label)


def _plain(y):
    """An array of Python objects: text stays as it is, numbers become an array of numbers."""
    values = y.tolist()
    types = set(map(type, values))
    if all(issubclass(kind, str) for kind in types):
        return y
    if all(issubclass(kind, Number | np.bool_) for kind in types):
        return np.array(values)
    names = " and ".join(sorted(kind.__name__ for kind in types))
    raise ValueError(f"Unknown label type: y holds {names}; use text or whole numbers, all of one type")


def _encode_integers(y):
    lowest, highest = int(y.min()), int(y.max())
    if highest - lowest > SPAN or highest >= 2**62:
        return np.unique(y, return_inverse=True)
    shifted = y.astype(np.int64)
    shifted -= lowest
    present = np.flatnonzero(np.bincount(shifted))
    code_of = np.zeros(highest - lowest + 1, np.int64)
    code_of[present] = np.arange(len(present))
    return (present + lowest).astype(y.dtype), code_of[shifted]


def _encode_floats(y):
    fractional = np.flatnonzero(y != np.floor(y))
    if len(fractional):
        raise ValueError(
            f"Unknown label type: continuous; y[{fractional[0]}] is {float(y[fractional[0]])!r}, but "
            "classes are text or whole numbers (for a regression, use a regressor)"
        )
    if np.abs(y).max() < 2**53:
        classes, codes = _encode_integers(y.astype(np.int64))
        return classes.astype(y.dtype), codes
    return np.unique(y, return_inverse=True)


def example_weights(X, classes, codes, class_weight=None, sample_weight=None):
    """(n,) weight of each example, or None where all are 1."""
    weights = None
    if sample_weight is not None:
        weights = check_weights(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if class_weight is not None:
        of_class = weights_of_classes(class_weight, classes, codes, weights)[codes]
        weights = of_class if weights is None else weights * of_class
        check_weights(weights)
    return weights


def check_weights(weights):
    """The weights, which must be >= 0, finite and not all 0."""
    rows.check_weights(weights)
    if not weights.any():
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    return weights


def checked_sizes(X, sample_weight, **others):
    """The weights (n,) or None, once all `others` that are given have as many entries as X."""
    n = count_of(X)
    if n == 0:
        raise ValueError("X has no example: there is nothing to learn from")
    for name, values in others.items():
        if values is not None and count_of(values) != n:
            raise ValueError(f"X has {n} examples but {name} has {count_of(values)}")
    return None if sample_weight is None else check_weights(rows.weights_of(sample_weight, n))


def weights_of_classes(class_weight, classes, codes, weights):
    """(K,).  "balanced": all classes weigh the same in sum; an example of weight 2 counts twice."""
    if isinstance(class_weight, str):
        counts = np.bincount(codes, weights, minlength=len(classes))
        share = counts.sum() / len(classes)
        return np.divide(share, counts, out=np.zeros(len(classes)), where=counts > 0)
    of_class = compute_class_weight(class_weight, classes=classes, y=classes)
    for label, weight in zip(classes, of_class, strict=True):
        if not (weight >= 0 and np.isfinite(weight)):
            raise ValueError(
                f"class_weight must be >= 0 and finite; class {_shown(label)} has {float(weight)!r}"
            )
    return of_class

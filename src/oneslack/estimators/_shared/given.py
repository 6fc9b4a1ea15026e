"""What users give: parameters, examples, labels and weights, checked, and labels as codes.

Each value that does not fit is refused by a sentence of its own: a TypeError for one of the wrong kind, a
ValueError for one out of range.
"""

from __future__ import annotations

from functools import cache
from numbers import Integral, Number, Real

import numpy as np
import scipy.sparse as sp
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import _check_sample_weight, validate_data

from ...data import rows
from ...data.rows import as_numpy
from ...kernels.mercer import NAMES as KERNELS
from ...losses import names
from ...models.measures import METRICS
from ...problems.per_example import count_of
from ...solvers.choose import BY_NAME
from .refused import refuse_mixed, words_named

#: Integers that span no more than this are counted; others are sorted, which takes longer.
SPAN = 4096
#: How X is taken: as it is, where that is possible.
INPUT = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
#: Of KernelSVC.
METHODS = ("auto", "exact", "linear", "constant", "basis")
#: What is said of single weights; looked at with the data (weight_terms.py).
TERMS = ("prior", "scale", "nonnegative")


# Parameters: each check takes the name and the value.


def number(what, fine, optional=False):
    """A finite number that is `fine`, or None where it is optional; `what` it must be, in words."""
    return _check_of(Real, what, lambda value: np.isfinite(value) and fine(value), optional)


def integer(what, fine, optional=False):
    """A whole number, likewise."""
    return _check_of(Integral, what, fine, optional)


def _check_of(kind, what, fine, optional):
    def check(name, value):
        if optional and value is None:
            return
        if not isinstance(value, kind) or _is_bool(value):
            raise TypeError(f"{name} must be {what}; got {value!r}")
        if not fine(value):
            raise ValueError(f"{name} must be {what}; got {value!r}")

    return check


def choice(known, otherwise=None, also=None):
    """One of the names `known`, or `also(value)`, which `otherwise` tells in words."""

    def check(name, value):
        if (isinstance(value, str) and value in known) or (also is not None and also(value)):
            return
        names = ", ".join(map(repr, known)) + (f" {otherwise}" if otherwise else "")
        error = ValueError if isinstance(value, str) else TypeError
        raise error(f"{name}={value!r} is not known; use one of {names}")

    return check


def flag(name, value):
    """True or False."""
    if not _is_bool(value):
        raise TypeError(f"{name} must be True or False; got {value!r}")


def anything(name, value):
    """Looked at elsewhere."""


def _is_bool(value):
    return isinstance(value, bool | np.bool_)


def _is_none(value):
    return value is None


def _random_state(name, value):
    if isinstance(value, np.random.RandomState | None):
        return
    if not isinstance(value, Integral) or _is_bool(value):
        raise TypeError(f"{name} must be None, an integer >= 0 or a numpy RandomState; got {value!r}")
    if value < 0:
        raise ValueError(f"{name} must be >= 0; got {value!r}")


def _engine(name, value):
    if value is not None:
        from ...problems.new import engine_of

        engine_of(value)


def _gamma(name, value):
    if isinstance(value, str):
        choice(("scale", "auto"), "or a positive number")(name, value)
    else:
        number("'scale', 'auto' or a positive number", lambda gamma: gamma > 0)(name, value)


def _k(name, value):
    if isinstance(value, float | np.floating):
        number("a whole number of examples, or a share 0 < k <= 1", lambda k: 0 < k <= 1)(name, value)
    elif value is not None:
        integer("a whole number of examples >= 1, or a share 0 < k <= 1", lambda k: k >= 1)(name, value)


def _verbose(name, value):
    integer("an integer >= 0", lambda level: level >= 0)(name, int(value) if _is_bool(value) else value)


_positive = number("a positive number", lambda value: value > 0)
_at_least_0 = number("a number >= 0", lambda value: value >= 0)
_at_least_1 = integer("an integer >= 1", lambda value: value >= 1)


def C_or(*words):
    """A check of a positive number, or one of the words."""
    or_words = ", or ".join(["a positive number", *map(repr, words)])
    positive = number(or_words, lambda value: value > 0)

    def check(name, value):
        if not (isinstance(value, str) and value in words):
            positive(name, value)

    return check


C_or_auto = C_or("auto")


CHECKS = {
    **dict.fromkeys((*TERMS, "model", "templates"), anything),
    **dict.fromkeys(("start", "end", "directed", "attractive", "relaxed"), flag),
    **dict.fromkeys(("fit_intercept", "penalize_intercept", "warm_start", "concave", "contrast"), flag),
    **dict.fromkeys(("max_iter", "min_count", "n_basis", "max_rounds", "n_starts", "passes"), _at_least_1),
    **dict.fromkeys(("tol", "outer_tol", "degree", "backtracks"), _at_least_0),
    **dict.fromkeys(("C", "beta"), _positive),
    "annealing": integer("a number of rounds >= 0", lambda rounds: rounds >= 0),
    "cache_size": integer("a number of cuts >= 0", lambda size: size >= 0),
    "choice": choice(("random", "pivoted")),
    "class_weight": choice(
        ("balanced",), "None, or a dict from class to weight", lambda value: isinstance(value, dict | None)
    ),
    "coef0": number("a number", lambda coef0: True),
    "constraints": choice(("iob",), "or None", _is_none),
    "dual": choice(("auto",), "True or False", _is_bool),
    "engine": _engine,
    "epsilon": number("None or a positive number", lambda epsilon: epsilon > 0, optional=True),
    "gamma": _gamma,
    "hash_bits": integer("None or a number of bits >= 1", lambda bits: bits >= 1, optional=True),
    "intercept_scaling": number(
        "a positive number between 1e-150 and 1e150", lambda scaling: 1e-150 < scaling < 1e150
    ),
    "k": _k,
    "kernel": choice(
        [name for name in KERNELS if name != "precomputed"], "None or a function",
        lambda value: value is None or callable(value),
    ),
    "loss": choice(
        ("auto", *names(True)), "or a cost matrix (K, K)", lambda value: not isinstance(value, str)
    ),
    "memory": number("a positive number of bytes", lambda size: size > 0),
    "method": choice(METHODS),
    "metric": choice(METRICS, "or a function loss(tp, fp, fn, tn)", callable),
    "multi_class": choice(("auto", "crammer_singer", "ovr")),
    "n_jobs": integer("None for all cores, or an integer other than 0", lambda n: n != 0, optional=True),
    "neighbours": integer("4 or 8", lambda count: count in (4, 8)),
    "order": integer("1 or 2", lambda order: order in (1, 2)),
    "penalty": choice(("l2", "l1")),
    "random_state": _random_state,
    "rescaling": choice(("margin", "slack")),
    "sample_size": integer("None or an integer >= 1", lambda size: size >= 1, optional=True),
    "solver": choice(("auto", *BY_NAME), also=lambda value: hasattr(value, "steps")),
    "time_limit": number("None or a positive number of seconds", lambda seconds: seconds > 0, optional=True),
    "verbose": _verbose,
}  # fmt: skip
#: Of estimators that are a kernel method, whatever it is.
ANY_KERNEL = choice(KERNELS, "or a function", callable)


def check_parameters(model, but=()):
    """Raise for a parameter that does not fit, but for those named in `but`; a model's `_checks` go first."""
    kind = type(model)
    given = [getattr(model, name) for name in _names(kind)]
    kinds = [type(value) for value in given]
    if (kinds, given) == _fine.get((kind, but)):
        return
    checks = CHECKS | getattr(model, "_checks", {})
    for name, value in zip(_names(kind), given, strict=True):
        if name not in but:
            checks[name](name, value)
    if PLAIN.issuperset(kinds):  # others may change, or are not to be kept alive
        _fine[kind, but] = kinds, given


#: Types of values that are what they are.
PLAIN = frozenset((bool, float, int, str, type(None)))
#: The last parameters of a class that passed all checks, behind their types.
_fine = {}


@cache
def _names(kind):
    """The parameters of an estimator: scikit-learn reads them anew from the signature at each call."""
    return tuple(kind._get_param_names())


def given_terms(estimator) -> dict:
    """Prior, scale and nonnegative, those of them that are given."""
    given = {name: getattr(estimator, name, None) for name in TERMS}
    return {name: value for name, value in given.items() if value is not None and value is not False}


def seed_of(random_state) -> int:
    """None stands for 0: the same settings give the same model."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(random_state.randint(2**31 - 1))


# Examples.


def is_shards(X) -> bool:
    """Whether X is what `formats.open_shards` gives."""
    return hasattr(X, "manifest") and hasattr(X, "n_rows")


def validated(estimator, X, *y, **options):
    """What `validate_data` gives, for arrays of any library."""
    with words_named(X):
        return validate_data(estimator, as_numpy(X), *map(as_numpy, y), **options)


def checked_input(estimator, X, y, **options):
    """(X, y) to train on, as `validate_data` gives them.  That takes longer than a pass over small data, so
    that plain matrices and numbers are looked at here, by the same rules."""
    if not isinstance(y, np.ndarray):
        refuse_mixed(y)
    enough = options.get("ensure_min_samples", 1)
    if not (_is_plain_matrix(X) and _are_plain_numbers(y) and len(y) == X.shape[0] >= enough):
        return validated(estimator, X, y, order="C", **INPUT, **options)
    estimator.n_features_in_ = X.shape[1]
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return X, y


def _is_plain_matrix(X):
    if type(X) is np.ndarray:
        is_plain, numbers = X.ndim == 2 and X.flags.c_contiguous, X
    else:
        is_plain = type(X) in (sp.csr_matrix, sp.csr_array)
        numbers = X.data if is_plain else None
    return is_plain and X.dtype in INPUT["dtype"] and 0 not in X.shape and np.isfinite(numbers.sum())


def _are_plain_numbers(y):
    is_array = type(y) is np.ndarray and y.ndim == 1
    return is_array and (y.dtype.kind in "biu" or (y.dtype.kind == "f" and np.isfinite(y.sum())))


# Labels and weights.


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
    (present,) = np.bincount(shifted).nonzero()
    if len(present) == highest - lowest + 1:
        return (present + lowest).astype(y.dtype), shifted
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
        weights = check_weights(_check_sample_weight(as_numpy(sample_weight), X, dtype=np.float64))
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


def check_validation(validation, n_problems):
    """Raise where several trainings, one after the other, would be stopped by one validation set."""
    if validation is not None and n_problems > 1:
        raise ValueError(f"validation stops one training, and here are {n_problems}, one a class; drop it")

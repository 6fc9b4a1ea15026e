"""Parameters of the estimators: what they may be, each refused by a sentence of its own."""

from __future__ import annotations

from functools import cache
from numbers import Integral, Real

import numpy as np

from ...models.measures import METRICS
from ...problems.new import engine_of
from ...solvers.choose import BY_NAME


def check_parameters(model, but=()):
    """TypeError for a value of the wrong kind, ValueError for one out of range; not of those named in `but`.

    A model's `_checks` go before those of the same name here.
    """
    checks = _CHECKS | getattr(model, "_checks", {})
    for name in _names(type(model)):
        if name not in but:
            checks[name](getattr(model, name))


@cache
def _names(kind):
    """The parameters of an estimator: scikit-learn reads them anew from the signature at each call."""
    return tuple(kind._get_param_names())


def seed_of(random_state) -> int:
    """None stands for 0: the same settings give the same model."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(random_state.randint(2**31 - 1))


def cost_matrix(loss, classes):
    """The losses (K, K) of a cost matrix, or None for the plain hinge."""
    if isinstance(loss, str):
        return None
    K = len(classes)
    try:
        cost = np.array(loss, dtype=float)
    except (TypeError, ValueError):
        cost = None
    if loss is None or cost is None:
        raise TypeError(f"loss must be 'hinge' or a cost matrix of numbers; got {loss!r}")
    if cost.shape != (K, K):
        raise ValueError(
            f"loss must have a row and a column for each of the {K} classes, so shape ({K}, {K}); "
            f"got shape {cost.shape}"
        )
    if not np.isfinite(cost).all() or (cost < 0).any() or np.diag(cost).any():
        raise ValueError("loss must hold finite costs >= 0 with zeros on the diagonal (the right answers)")
    if not cost.any():
        raise ValueError("all costs of loss are zero: there is nothing to learn")
    return cost


def _is_bool(value):
    return isinstance(value, bool | np.bool_)


def _number(name, value, what, fine):
    if not isinstance(value, Real) or _is_bool(value):
        raise TypeError(f"{name} must be {what}; got {value!r}")
    if not (np.isfinite(value) and fine(value)):
        raise ValueError(f"{name} must be {what}; got {value!r}")


def _integer(name, value, what, fine):
    if not isinstance(value, Integral) or _is_bool(value):
        raise TypeError(f"{name} must be {what}; got {value!r}")
    if not fine(value):
        raise ValueError(f"{name} must be {what}; got {value!r}")


def _choice(name, value, known, otherwise=None):
    if isinstance(value, str) and value in known:
        return
    names = ", ".join(map(repr, known)) + (f" {otherwise}" if otherwise else "")
    error = ValueError if isinstance(value, str) else TypeError
    raise error(f"{name}={value!r} is not known; use one of {names}")


def _check_random_state(random_state):
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return
    if not isinstance(random_state, Integral) or _is_bool(random_state):
        raise TypeError(
            f"random_state must be None, an integer >= 0 or a numpy RandomState; got {random_state!r}"
        )
    if random_state < 0:
        raise ValueError(f"random_state must be >= 0; got {random_state!r}")


def _check_optional(name, value, what, fine):
    if value is not None:
        _number(name, value, what, fine)


def _check_n_jobs(value):
    if value is not None:
        _integer("n_jobs", value, "None for all cores, or an integer other than 0", lambda jobs: jobs != 0)


def _check_flag(name, value):
    if not _is_bool(value):
        raise TypeError(f"{name} must be True or False; got {value!r}")


def _check_solver(value):
    if not hasattr(value, "steps"):
        _choice("solver", value, ("auto", *BY_NAME))


def _check_loss(value):
    if isinstance(value, str):
        _choice("loss", value, ("hinge",), "or a cost matrix (K, K)")


def _check_class_weight(value):
    if not isinstance(value, dict | None):
        _choice("class_weight", value, ("balanced",), "None, or a dict from class to weight")


def _check_metric(value):
    if not callable(value):
        _choice("metric", value, METRICS, "or a function loss(tp, fp, fn, tn)")


def _check_k(value):
    if isinstance(value, float | np.floating):
        _number("k", value, "a whole number of examples, or a share 0 < k <= 1", lambda k: 0 < k <= 1)
    elif value is not None:
        _integer("k", value, "a whole number of examples >= 1, or a share 0 < k <= 1", lambda k: k >= 1)


def check_C_or_auto(value):
    """A positive number, or "auto"."""
    if not (isinstance(value, str) and value == "auto"):
        _number("C", value, "a positive number", lambda C: C > 0)


def _check_cache_size(value):
    _integer("cache_size", value, "a number of cuts >= 0", lambda size: size >= 0)


_CHECKS = {
    "prior": lambda value: None,  # these three are looked at with the data: weight_terms.py
    "scale": lambda value: None,
    "nonnegative": lambda value: None,
    "cache_size": _check_cache_size,
    "templates": lambda value: None,
    "min_count": lambda value: _integer("min_count", value, "an integer >= 1", lambda count: count >= 1),
    "hash_bits": lambda value: (
        value is None or _integer("hash_bits", value, "None or a number of bits >= 1", lambda bits: bits >= 1)
    ),
    "order": lambda value: _integer("order", value, "1 or 2", lambda order: order in (1, 2)),
    "start": lambda value: _check_flag("start", value),
    "end": lambda value: _check_flag("end", value),
    "constraints": lambda value: value is None or _choice("constraints", value, ("iob",), "or None"),
    "model": lambda value: None,
    "rescaling": lambda value: _choice("rescaling", value, ("margin", "slack")),
    "C": lambda value: _number("C", value, "a positive number", lambda C: C > 0),
    "tol": lambda value: _number("tol", value, "a number >= 0", lambda tol: tol >= 0),
    "epsilon": lambda value: _check_optional(
        "epsilon", value, "None or a positive number", lambda epsilon: epsilon > 0
    ),
    "time_limit": lambda value: _check_optional(
        "time_limit", value, "None or a positive number of seconds", lambda seconds: seconds > 0
    ),
    "max_iter": lambda value: _integer("max_iter", value, "an integer >= 1", lambda steps: steps >= 1),
    "n_jobs": _check_n_jobs,
    "engine": lambda value: engine_of(value),
    "verbose": lambda value: _integer(
        "verbose", int(value) if _is_bool(value) else value, "an integer >= 0", lambda level: level >= 0
    ),
    "fit_intercept": lambda value: _check_flag("fit_intercept", value),
    "warm_start": lambda value: _check_flag("warm_start", value),
    "concave": lambda value: _check_flag("concave", value),
    "multi_class": lambda value: _choice("multi_class", value, ("crammer_singer", "ovr")),
    "solver": _check_solver,
    "loss": _check_loss,
    "class_weight": _check_class_weight,
    "random_state": _check_random_state,
    "metric": _check_metric,
    "k": _check_k,
    "beta": lambda value: _number("beta", value, "a positive number", lambda beta: beta > 0),
}

"""Parameters of the estimators: what they may be, each refused by a sentence of its own."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from ..solvers.choose import BY_NAME


def check_parameters(model):
    """TypeError for a value of the wrong kind, ValueError for one out of range."""
    _number("C", model.C, "a positive number", lambda value: value > 0)
    _number("tol", model.tol, "a number >= 0", lambda value: value >= 0)
    if model.epsilon is not None:
        _number("epsilon", model.epsilon, "None or a positive number", lambda value: value > 0)
    if model.time_limit is not None:
        what = "None or a positive number of seconds"
        _number("time_limit", model.time_limit, what, lambda value: value > 0)
    _integer("max_iter", model.max_iter, "an integer >= 1", lambda value: value >= 1)
    if model.n_jobs is not None:
        what = "None for all cores, or an integer other than 0"
        _integer("n_jobs", model.n_jobs, what, lambda value: value != 0)
    _integer("verbose", int(model.verbose) if _is_bool(model.verbose) else model.verbose, "an integer >= 0",
             lambda value: value >= 0)  # fmt: skip
    for name in ("fit_intercept", "warm_start"):
        if not _is_bool(getattr(model, name)):
            raise TypeError(f"{name} must be True or False; got {getattr(model, name)!r}")
    _choice("multi_class", model.multi_class, ("crammer_singer", "ovr"))
    if not hasattr(model.solver, "steps"):
        _choice("solver", model.solver, ("auto", *BY_NAME))
    if isinstance(model.loss, str):
        _choice("loss", model.loss, ("hinge",), "or a cost matrix (K, K)")
    if not isinstance(model.class_weight, dict | None):
        _choice("class_weight", model.class_weight, ("balanced",), "None, or a dict from class to weight")
    _check_random_state(model.random_state)


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

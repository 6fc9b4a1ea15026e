"""Parameters of KernelSVC: what they may be."""

from __future__ import annotations

from ..mercer import NAMES
from .parameters import _CHECKS, _choice, _integer, _number

METHODS = ("auto", "exact", "linear", "constant", "basis")


def check_kernel_parameters(model):
    """TypeError for a value of the wrong kind, ValueError for one out of range."""
    for name, value in model.get_params(deep=False).items():
        _KERNEL_CHECKS.get(name, _CHECKS.get(name))(value)


def _check_gamma(value):
    if isinstance(value, str):
        _choice("gamma", value, ("scale", "auto"), "or a positive number")
    else:
        _number("gamma", value, "'scale', 'auto' or a positive number", lambda gamma: gamma > 0)


_KERNEL_CHECKS = {
    "kernel": lambda value: callable(value) or _choice("kernel", value, NAMES, "or a function"),
    "gamma": _check_gamma,
    "degree": lambda value: _number("degree", value, "a number >= 0", lambda degree: degree >= 0),
    "coef0": lambda value: _number("coef0", value, "a number", lambda coef0: True),
    "method": lambda value: _choice("method", value, METHODS),
    "sample_size": lambda value: (
        value is None or _integer("sample_size", value, "None or an integer >= 1", lambda size: size >= 1)
    ),
    "n_basis": lambda value: _integer("n_basis", value, "an integer >= 1", lambda size: size >= 1),
    "memory": lambda value: _number("memory", value, "a positive number of bytes", lambda size: size > 0),
}

"""Parameters of the parser: what they may be, each refused by a sentence of its own."""

from __future__ import annotations

from numbers import Integral, Real

from ...models.grammar.model import LOSSES


def _choice(name, value, known):
    if not isinstance(value, str) or value not in known:
        names = ", ".join(map(repr, known))
        raise (ValueError if isinstance(value, str) else TypeError)(
            f"{name}={value!r} is not known; use one of {names}"
        )


def _integer(name, value, least, what):
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be {what}; got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be {what}; got {value!r}")


def _frequencies(value):
    if not isinstance(value, bool) and value != "prior":
        kind = ValueError if isinstance(value, str) else TypeError
        raise kind(f"frequencies must be True, False or 'prior'; got {value!r}")


def _missing(value):
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"missing must be a number from 0 to 2; got {value!r}")
    if not 0.0 <= value <= 2.0:
        raise ValueError(f"missing must be a number from 0 to 2; got {value!r}")


def _flag(name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False; got {value!r}")


#: From a parameter's name to its check; _shared/parameters.py has those of all estimators.
CHECKS = {
    "loss": lambda value: _choice("loss", value, LOSSES),
    "missing": _missing,
    "binarise": lambda value: _choice("binarise", value, ("right", "left")),
    "horizontal": lambda value: (
        value is None or _integer("horizontal", value, 0, "None for all, or an integer >= 0")
    ),
    "vertical": lambda value: _integer("vertical", value, 1, "an integer >= 1"),
    "span_features": lambda value: _flag("span_features", value),
    "frequencies": _frequencies,
    "chain_length": lambda value: _integer("chain_length", value, 1, "an integer >= 1"),
}

"""Shares and bounds in words, the same wherever they are told."""

from __future__ import annotations

import math

#: Shares up to this are only rounding.
NOTHING = 1e-12


def percent(share) -> str:
    """A share as a percentage; a dash for one that is not known."""
    if not math.isfinite(share):
        return "–"
    if share >= 1:
        return f"{100 * share:,.0f} %"
    return f"{100 * share:.3g} %" if share > NOTHING else "0 %"


def above(primal, dual) -> float:
    """By which share a model is above the optimum, at most; infinite where no bound says it."""
    if dual > 0:
        return max(primal / dual - 1, 0.0)
    return math.inf if primal > 0 else 0.0


def distance(primal, dual) -> str:
    """The same in words."""
    if not dual > 0:
        return "no lower bound above zero yet" if primal > 0 else "at the optimum"
    return f"at most {percent(above(primal, dual))} above the optimum"

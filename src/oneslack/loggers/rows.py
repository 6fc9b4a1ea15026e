"""What every logger does: rows of a training become named numbers at a step."""

from __future__ import annotations

import importlib.util
import math
from abc import ABC, abstractmethod
from dataclasses import fields
from numbers import Real
from typing import Any

#: What a row calls the step it tells of, which is no curve.
STEP = ("iteration", "number")
#: Curves that every training has; others are drawn where they are not 0 throughout.
ALWAYS = ("primal", "dual", "gap", "seconds")


class RowLogger(ABC):
    """A callback of `fit`, `solve` and `minimize` that writes rows down; a subclass says where.

    The curves are the numbers of a TraceRow: `primal` and `dual`, `gap`, `seconds`, and whatever else the
    training counts or scores.  A second problem of the same fit, the next class or the next C, has curves of
    its own: `2/gap`.

    Examples
    --------
    >>> from oneslack.loggers import RowLogger
    >>> class Printed(RowLogger):
    ...     def write(self, values, step):
    ...         print(step, sorted(values))
    >>> import oneslack
    >>> model = oneslack.LinearSVC(tol=0.9).fit([[0.0], [1.0]], [0, 1], callbacks=[Printed()])
    ... # doctest: +ELLIPSIS
    1 ['dual', 'gap', ...
    """

    def __init__(self) -> None:
        self._problem, self._last = 0, math.inf

    def __call__(self, row) -> bool:
        """Write a row down; the training goes on."""
        step = next((getattr(row, name) for name in STEP if hasattr(row, name)), self._last + 1)
        if step <= self._last:
            self._problem += 1
        self._last = step
        self.write({self._name(name): value for name, value in values_of(row).items()}, step)
        return False

    def score(self, name: str, value: float, step: int | None = None) -> None:
        """Write down a number of your own, such as a score on a development set.

        Parameters
        ----------
        name : str
        value : float
        step : int or None
            None is that of the last row.
        """
        last = 0 if math.isinf(self._last) else self._last
        self.write({name: float(value)}, last if step is None else step)

    def _name(self, name):
        return name if self._problem <= 1 else f"{self._problem}/{name}"

    @abstractmethod
    def write(self, values: dict[str, float], step: int) -> None:
        """Write {name: number} down at a step."""

    def on_end(self, result: Any) -> None:
        """Called by the driver when a training is done, with its Result: what is kept back is written."""
        final = {"primal": result.primal, "dual": result.dual, "gap": result.gap, "seconds": result.seconds}
        proven = {self._name(f"certificate/{name}"): value for name, value in final.items()}
        self.write(_finite(proven | {self._name("certificate/certified"): result.certified}), result.n_iter)
        self.flush()

    def flush(self) -> None:  # noqa: B027
        """Write down what was kept back."""

    def close(self) -> None:
        """Write down what was kept back, and let go of files."""
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def values_of(row) -> dict:
    """The curves of a row: its finite numbers, without counts that are 0."""
    found = {each.name: getattr(row, each.name) for each in fields(row) if each.name not in STEP}
    return _finite({name: value for name, value in found.items() if name in ALWAYS or value})


def _finite(values):
    """Bounds that are not found yet, and whatever is no number, have no point on a curve."""
    return {
        name: float(value) for name, value in values.items()
        if isinstance(value, Real) and math.isfinite(value)
    }  # fmt: skip


def need(module, extra):
    """Raise where an extra is not installed, with how to install it."""
    if importlib.util.find_spec(module) is None:
        raise ImportError(f'{module} is not installed: pip install "oneslack[{extra}]"')

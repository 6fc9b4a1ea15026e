"""A column of numbers, some of which may be missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import FormatError
from ...formats.cells import is_missing, is_number
from ...formats.column_advice import gap_advice, words_advice


@dataclass(frozen=True)
class Numbers:
    """Numbers; a missing one is `fill`, the mean of the training data, or refused where that is None.

    flagged: whether a second feature says that the cell was missing.
    """

    name: str
    fill: float | None = None
    flagged: bool = False
    kind = "numbers"

    @classmethod
    def learned(cls, name, texts, where, missing):
        """From the training data; missing is None, "mean" or "indicator"."""
        values = _values(texts, where, name)
        if missing is None:
            return cls(name)
        known = values[~np.isnan(values)]
        fill = float(known.mean()) if len(known) else 0.0
        return cls(name, fill, missing == "indicator" and len(known) < len(values))

    @property
    def feature_names(self):
        return [self.name, f"{self.name} is missing"] if self.flagged else [self.name]

    def rows(self, texts, where):
        """(n, 1 or 2)."""
        values = _values(texts, where, self.name)
        gaps = np.isnan(values)
        if self.fill is None and gaps.any():
            raise FormatError(f"{where(int(gaps.argmax()))}: the cell is empty; {gap_advice()}.")
        values = np.where(gaps, 0.0 if self.fill is None else self.fill, values)[:, None]
        return np.hstack([values, gaps[:, None].astype(float)]) if self.flagged else values

    def to_header(self) -> dict:
        return {"kind": self.kind, "name": self.name, "fill": self.fill, "flagged": self.flagged}

    @classmethod
    def from_header(cls, header):
        fill = header["fill"]
        return cls(str(header["name"]), None if fill is None else float(fill), bool(header["flagged"]))


def _values(texts, where, name):
    """(n,), nan where a cell is missing."""
    try:
        values = np.array([float(text) if text else np.nan for text in texts])
        if "_" not in "".join(texts) and np.isfinite(values[~np.isnan(values)]).all():
            return values
    except ValueError:
        pass
    for row, text in enumerate(texts):
        if not is_number(text) and not is_missing(text):
            raise FormatError(f"{where(row)}: {text[:40]!r} is not a finite number; {words_advice(name)}.")
    return np.array([np.nan if is_missing(text) else float(text) for text in texts])

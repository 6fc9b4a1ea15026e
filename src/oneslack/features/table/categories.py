"""A column of categories: a feature for each value of the training data, 1 where it stands (one-hot)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...errors import FormatError
from ...formats.cells import is_missing
from ...formats.column_advice import gap_advice


@dataclass(frozen=True)
class Categories:
    """One feature a value.  A value that was never seen has none of them, and a warning says so.

    missing: None where a missing cell is refused, "mean" where it has no feature, "indicator" where it has
    one of its own, which is the last.
    """

    name: str
    values: list[str]
    missing: str | None = None
    kind = "categories"

    @classmethod
    def learned(cls, name, texts, where, missing):
        """From the training data."""
        values = sorted({text for text in texts if not is_missing(text)})
        if missing == "indicator" and not any(map(is_missing, texts)):
            missing = "mean"
        return cls(name, values, missing)

    @property
    def feature_names(self):
        names = [f"{self.name}={value}" for value in self.values]
        return [*names, f"{self.name} is missing"] if self.missing == "indicator" else names

    @cached_property
    def _place(self):
        return {value: k for k, value in enumerate(self.values)}

    def rows(self, texts, where):
        """(n, features) CSR."""
        codes = np.array([self._place.get(text, -1) for text in texts], int)
        gaps = np.array([code < 0 and is_missing(text) for code, text in zip(codes, texts, strict=True)])
        if self.missing is None and gaps.any():
            raise FormatError(f"{where(int(gaps.argmax()))}: the cell is empty; {gap_advice()}.")
        unseen = (codes < 0) & ~gaps
        if unseen.any():
            row = int(unseen.argmax())
            warnings.warn(
                f"{where(row)}: {texts[row][:40]!r} did not occur in training, so it counts as no category "
                f"({int(unseen.sum()):,} such {'cell' if unseen.sum() == 1 else 'cells'})",
                stacklevel=2,
            )
        if self.missing == "indicator":
            codes[gaps] = len(self.values)
        known = np.flatnonzero(codes >= 0)
        shape = len(texts), len(self.feature_names)
        return sp.csr_matrix((np.ones(len(known)), (known, codes[known])), shape)

    def to_header(self) -> dict:
        return {"kind": self.kind, "name": self.name, "values": self.values, "missing": self.missing}

    @classmethod
    def from_header(cls, header):
        values, missing = header["values"], header["missing"]
        if not all(isinstance(value, str) for value in values) or missing not in (None, "mean", "indicator"):
            raise ValueError("a column of categories")
        return cls(str(header["name"]), list(values), missing)

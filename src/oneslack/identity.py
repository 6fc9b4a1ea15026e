"""What tells a problem from another: the state and the bounds of one are none of the other."""

from __future__ import annotations

import dataclasses
import zlib

import numpy as np

#: Numbers of a matrix that go into the identity of a problem whose P can be computed again.
DIGESTED = 10_000
#: Rows that are looked at at a time: a copy of so many, where one is needed, is no matter.
PIECE = 65_536


class Identified:
    """What a problem tells to who would go on with a run of it."""

    #: By what share of itself P may differ when it is computed again.
    rounding = 1e-6
    #: Whether the identity looks at all that P depends on.
    is_seen_whole = False

    def identity(self) -> dict:
        """What must be the same where a state is to be of use."""
        return {
            "model": described(self.model),
            "parameters": self.n_params,
            "examples": self.n,
            "weight": self.weight,
            "data": data_digest(self.data),
            "regulariser": regulariser_digest(self.regulariser),
        }

    def has_objective(self, w, primal, weight=None) -> bool:
        """Whether P(w) is `primal`, with the weight of the risk that it had there: an identity does not see
        everything, as a risk of Python code or what workers hold."""
        return self.is_close(self.primal(w, weight), primal)

    def needs_probe(self, w) -> bool:
        """Whether P(w) would not tell other examples: at w = 0 all look alike."""
        return not self.is_seen_whole and (w is None or not np.any(w))

    def probe(self, weight=None) -> float:
        """P at weights that no solver has chosen: other examples have another one there, also while the best
        w is 0 or not known.  None is negative, as a risk may be for such weights alone."""
        return float(self.primal(np.random.default_rng(0).random(self.n_params), weight))

    def is_close(self, here, there) -> bool:
        """Whether two values of P are the same, but for rounding."""
        return here == there or abs(here - there) <= self.rounding * abs(there)


def described(model) -> str:
    """Its kind, numbers and words, and digests of the arrays that it was made with (others may come and go
    while it is used)."""
    values = getattr(model, "__dict__", {})
    found = {name: value for name, value in values.items() if isinstance(value, bool | int | float | str)}
    for field in dataclasses.fields(model) if dataclasses.is_dataclass(model) else ():
        value = getattr(model, field.name)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            found[field.name] = f"{checksum(value):08x}"
    return f"{type(model).__name__} {found}"


def data_digest(data) -> int:
    """A number by which other targets, weights or rows are told, most likely: all of the first two, some of
    the rows."""
    if hasattr(data, "digest"):
        return data.digest
    X = getattr(data, "X", None)
    X = getattr(X, "data", None) if hasattr(X, "indptr") else X
    seen = X[:DIGESTED].ravel()[:DIGESTED] if isinstance(X, np.ndarray) else None
    return checksum(*(getattr(data, name, None) for name in ("y", "weights", "offsets")), seen)


def regulariser_digest(regulariser) -> int | None:
    """None for 1/2 |w|^2, otherwise a number by which another one is told."""
    parts = [getattr(regulariser, name, None) for name in ("prior", "scale", "nonnegative")]
    return None if all(part is None for part in parts) else checksum(*parts)


def checksum(*parts) -> int:
    """Of all the numbers of arrays and sparse matrices, without another copy of them; what is neither counts
    for nothing."""
    found = 0
    for part in parts:
        if hasattr(part, "tocsr"):
            rows = part.tocsr()
            found = zlib.crc32(np.array([found, checksum(rows.indptr, rows.indices, rows.data)]))
        elif isinstance(part, np.ndarray) and part.dtype.kind in "biufSU":
            part = np.atleast_1d(part)
            for lo in range(0, len(part), PIECE):
                found = zlib.crc32(np.ascontiguousarray(part[lo : lo + PIECE]), found)
        else:
            found = zlib.crc32(b"-", found)
    return found

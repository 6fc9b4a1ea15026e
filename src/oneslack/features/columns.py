"""What an index of templates and one of dicts share: which names get a column, or how they are hashed."""

import numpy as np

from ..errors import OneslackError
from .hashing import check_bits


class ColumnIndex:
    """Names that occur `min_count` times get columns when fitted; or all are hashed to 2**hash_bits."""

    def __init__(self, min_count, hash_bits, dtype):
        if isinstance(min_count, bool) or not isinstance(min_count, int) or min_count < 1:
            raise OneslackError(f"min_count must be an integer of 1 or more, got {min_count!r}.")
        if hash_bits is not None:
            check_bits(hash_bits)
            if min_count > 1:
                raise OneslackError("min_count needs an index; drop it, or drop hash_bits.")
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.dtype = dtype

    @property
    def n_features(self):
        if self.hash_bits is not None:
            return 2**self.hash_bits
        self._check_fitted()
        return self._n_columns()

    def _header(self) -> dict:
        """The options, for a model file."""
        dtype = np.dtype(self.dtype).name
        return {"min_count": self.min_count, "hash_bits": self.hash_bits, "dtype": dtype}

    def _check_fitted(self, hashing=None):
        name = type(self).__name__
        if hashing and self.hash_bits is not None:
            raise OneslackError(f"{hashing}; build the {name} without hash_bits.")
        if self._n_columns() is None:
            raise OneslackError(f"this {name} has no columns yet; call fit_transform on training text.")


def options_of(header) -> dict:
    """What _header was made of."""
    if header["dtype"] not in ("float32", "float64"):
        raise ValueError(f"the features are of type {header['dtype']!r}, expected float64 or float32")
    dtype = np.dtype(header["dtype"]).type
    return {"min_count": header["min_count"], "hash_bits": header["hash_bits"], "dtype": dtype}

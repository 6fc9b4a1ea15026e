"""Pictures with labels: a folder of .npz files, each with `x` (rows, columns, channels) and `y` (rows,
columns).

`y` may be left out, where labels are to be predicted.  One .npz file is a folder of one picture.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import FormatError


class PictureFile(NamedTuple):
    """Pictures X as GridSegmenter takes them, their labels Y, None where there are none, and their names."""

    X: list
    Y: list | None
    names: list


def read_pictures(path) -> PictureFile:
    """Read all pictures of a folder, in the order of their names.

    >>> import numpy as np
    >>> from oneslack.formats.pictures import read_pictures
    >>> np.savez("one.npz", x=np.zeros((2, 3, 1)), y=np.array([[0, 1, 1], [0, 0, 1]]))
    >>> read_pictures("one.npz").X[0].shape
    (2, 3, 1)
    """
    place = Path(path)
    files = sorted(place.glob("*.npz")) if place.is_dir() else [place]
    if not files:
        raise FormatError(f"{os.fspath(path)}: holds no picture; give a folder of .npz files with x and y.")
    X, Y = [], []
    for file in files:
        try:
            with np.load(file, allow_pickle=False) as arrays:
                found = {name: arrays[name] for name in ("x", "y") if name in arrays.files}
        except OSError:
            raise
        except Exception as error:
            raise FormatError(f"{file}: is no .npz file of plain arrays ({error}).") from error
        if "x" not in found:
            raise FormatError(f"{file}: has no array x, the picture (rows, columns, channels).")
        X.append(found["x"])
        Y.append(found.get("y"))
    known = [y is not None for y in Y]
    if any(known) and not all(known):
        raise FormatError(f"{files[known.index(False)]}: has no array y, though others have; add its labels.")
    return PictureFile(X, Y if all(known) else None, [file.name for file in files])

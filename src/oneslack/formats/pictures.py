"""Pictures with labels: a folder of .npz files, each with `x` (rows, columns, channels) and `y` (rows,
columns), or of images.

`y` may be left out, where labels are to be predicted.  One file is a folder of one picture.  Of images, each
NAME.png or NAME.jpg is a picture, its channels from 0 to 1, and NAME_labels.png its labels, the numbers of
its pixels: grey levels, or places in the palette.  They are read by Pillow.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import FormatError

#: What images are called, and what follows the name of a picture in that of its labels.
IMAGES, LABELS = (".png", ".jpg", ".jpeg"), "_labels.png"


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
    files = sorted(file for file in place.iterdir() if _is_picture(file)) if place.is_dir() else [place]
    if not files:
        raise FormatError(
            f"{os.fspath(path)}: holds no picture; give a folder of .npz files with x and y, or of images "
            f"NAME.png with labels NAME{LABELS}."
        )
    X, Y = [], []
    for file in files:
        found = _image(file) if file.suffix.lower() in IMAGES else arrays_of(file)
        if "x" not in found:
            raise FormatError(f"{file}: has no array x, the picture (rows, columns, channels).")
        _check_shapes(file, found["x"], found.get("y"))
        X.append(found["x"])
        Y.append(found.get("y"))
    known = [y is not None for y in Y]
    if any(known) and not all(known):
        raise FormatError(f"{files[known.index(False)]}: has no array y, though others have; add its labels.")
    return PictureFile(X, Y if all(known) else None, [file.name for file in files])


def _is_picture(file) -> bool:
    name = file.name.lower()
    return name.endswith((".npz", *IMAGES)) and not name.endswith(LABELS)


def _check_shapes(file, x, y):
    if x.ndim not in (2, 3) or x.dtype.kind not in "biuf":
        raise FormatError(f"{file}: x must be numbers (rows, columns, channels); got {x.dtype} of {x.shape}.")
    if y is not None and y.shape != x.shape[:2]:
        raise FormatError(f"{file}: has {x.shape[:2]} cells but labels of shape {y.shape}.")


def arrays_of(file) -> dict:
    """All arrays of an .npz file; nothing in it is run."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except OSError:
        raise
    except Exception as error:
        raise FormatError(f"{file}: is no .npz file of plain arrays ({error}).") from error


def _image(file) -> dict:
    """x of an image, and y of the image of its labels where there is one."""
    x = _pixels(file, None)
    labels = file.with_name(f"{file.stem}{LABELS}")
    found = {"x": x / 255.0 if x.dtype == np.uint8 else x.astype(float)}
    return found | {"y": _pixels(labels, ("L", "P", "1", "I", "I;16"))} if labels.exists() else found


def _pixels(file, modes):
    try:
        from PIL import Image
    except ImportError as error:
        raise FormatError(
            f"{file}: images are read by Pillow, which is not installed: pip install pillow."
        ) from error
    try:
        with Image.open(file) as image:
            if modes is None:  # colours, or shades, but no transparency
                image = image.convert("L" if image.mode in ("1", "L", "LA", "I", "F") else "RGB")
            elif image.mode not in modes:
                raise FormatError(
                    f"{file}: labels must be grey levels or places in a palette, one number a pixel; this is "
                    f"an image of {image.mode}."
                )
            return np.asarray(image)
    except FormatError:
        raise
    except Exception as error:
        raise FormatError(f"{file}: is no image that Pillow reads ({error}).") from error

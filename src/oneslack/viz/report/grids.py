"""Pictures of a report: what was seen, the labels beside their truth, and where they differ."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from ..look import PALETTE
from .html import number, paragraph, share, table
from .quality import errors

#: Pictures that are shown, and the width of one, in pixels.
DRAWN, WIDTH = 4, 220
#: Where there is no label, and where labels are wrong.
UNKNOWN, WRONG, RIGHT = (160, 160, 160), (194, 78, 0), (225, 229, 234)


def grid_errors(X, truth, predicted, labels, shown) -> str:
    """The pictures with the largest share of wrong cells: a table, and images of the first.

    truth, predicted: (rows, columns) of places in `labels`, -1 where the truth is not known.
    """
    wrong = [(y != z) & (y >= 0) for y, z in zip(truth, predicted, strict=True)]
    shares = [cells.sum() / max((y >= 0).sum(), 1) for cells, y in zip(wrong, truth, strict=True)]
    order = [i for i in np.argsort(-np.array(shares), kind="stable") if wrong[i].any()][:shown]
    if not order:
        return errors(paragraph("There is none: all cells got their label."))
    rows = (
        [
            number(int(i) + 1),
            number(int((truth[i] >= 0).sum())),
            number(int(wrong[i].sum())),
            share(1 - float(shares[i])),
        ]
        for i in order
    )
    parts = [table("Pictures with the most errors", ("picture", "cells", "wrong", "right"), rows)]
    parts += [legend(labels), *(_row(X[i], truth[i], predicted[i], int(i)) for i in order[:DRAWN])]
    return errors(*parts)


def _row(x, y, z, i) -> str:
    """Four images side by side."""
    known = y >= 0
    differs = np.where((known & (y != z))[:, :, None], WRONG, RIGHT)
    images = (
        (seen(x), f"picture {i + 1}"),
        (coloured(z), "predicted"),
        (coloured(y), "true; grey where it is not known" if not known.all() else "true"),
        (differs, "wrong cells"),
    )
    figures = (
        f"<figure>{_image(pixels, words)}<figcaption>{words}</figcaption></figure>"
        for pixels, words in images
    )
    return f'<div class="pair">{"".join(figures)}</div>'


def legend(labels) -> str:
    """Which colour is which label."""
    from html import escape

    items = (
        f'<span style="white-space:nowrap"><span style="display:inline-block;width:.9em;height:.9em;'
        f'background:{PALETTE[k % len(PALETTE)]}"></span> {escape(str(label))}</span>'
        for k, label in enumerate(labels)
    )
    return f"<p>{' &nbsp; '.join(items)}</p>"


def seen(x) -> np.ndarray:
    """(rows, columns, 3): three channels as red, green and blue, others by their mean, from dark to light."""
    x = np.asarray(x, float)
    x = x[:, :, None] if x.ndim == 2 else x
    x = x[:, :, :3] if x.shape[2] == 3 else np.repeat(x.mean(axis=2, keepdims=True), 3, axis=2)
    low, high = x.min(initial=np.inf), x.max(initial=-np.inf)
    return 255.0 * (x - low) / (high - low) if high > low else np.full(x.shape, 128.0)


def coloured(codes) -> np.ndarray:
    """(rows, columns, 3): each label in its colour."""
    shades = np.array([[int(shade[k : k + 2], 16) for k in (1, 3, 5)] for shade in PALETTE])
    return np.where((codes >= 0)[:, :, None], shades[codes % len(shades)], UNKNOWN)


def _image(pixels, words) -> str:
    """An image that stands in the page; no text comes from the data."""
    rows, columns = pixels.shape[:2]
    source = base64.b64encode(png(pixels)).decode()
    height = max(round(WIDTH * rows / max(columns, 1)), 1)
    return (
        f'<img alt="{words}, {rows} rows and {columns} columns" width="{WIDTH}" height="{height}" '
        f'style="image-rendering:pixelated" src="data:image/png;base64,{source}">'
    )


def png(pixels) -> bytes:
    """(rows, columns, 3) of 0 .. 255 as a PNG file."""
    pixels = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
    rows, columns = pixels.shape[:2]
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)

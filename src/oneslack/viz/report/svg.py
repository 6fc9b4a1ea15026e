"""Drawings as SVG, with the points that the page's script tells about under the pointer or the arrow keys."""

from __future__ import annotations

import json
import math
from html import escape

#: Inner size and margins of a chart in pixels; the page scales it to its width.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 64, 16, 12, 44


def chart(inside, points, label, width=WIDTH, height=HEIGHT) -> str:
    """An SVG of a size; points are (x, y, words), told one by one."""
    told = escape(json.dumps([[round(x, 1), round(y, 1), words] for x, y, words in points]))
    return (
        f'<svg class="chart" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" tabindex="0" '
        f'aria-label="{escape(label)}" data-points="{told}">{inside}'
        '<circle class="cursor" r="5" visibility="hidden"></circle></svg>'
    )


class Axes:
    """Pixels of numbers, between their least and their largest, in steps that people read easily."""

    def __init__(self, xs, ys, x_name, y_name):
        self.names = (x_name, y_name)
        self.x0, self.x1 = _span(xs)
        self.y0, self.y1 = _span(ys)

    def x(self, value) -> float:
        return LEFT + (value - self.x0) / (self.x1 - self.x0) * (WIDTH - LEFT - RIGHT)

    def y(self, value) -> float:
        value = min(max(value, self.y0), self.y1)
        return HEIGHT - BOTTOM - (value - self.y0) / (self.y1 - self.y0) * (HEIGHT - TOP - BOTTOM)

    def frame(self) -> str:
        """Lines and numbers of both axes, and their names."""
        parts = [
            f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>',
            f'<text class="name" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}">',
            f"{escape(self.names[0])}</text>",
            f'<text class="name" transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)">'
            f"{escape(self.names[1])}</text>",
        ]
        for value in ticks(self.x0, self.x1):
            at = self.x(value)
            parts.append(f'<path class="tick" d="M{at:.1f} {HEIGHT - BOTTOM}v5"/>')
            parts.append(f'<text class="name" x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}">{value:g}</text>')
        for value in ticks(self.y0, self.y1):
            at = self.y(value)
            parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
            parts.append(f'<text class="name end" x="{LEFT - 6}" y="{at + 4:.1f}">{value:g}</text>')
        return "".join(parts)


def ticks(low, high, about=5) -> list[float]:
    """Round numbers between two others."""
    step = 10 ** math.floor(math.log10((high - low) / about))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= about)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _span(values):
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def path(xs, ys, steps=False) -> str:
    """The d of a line through pixels, or of stairs that keep a height until the next point."""
    out = [f"M{xs[0]:.1f} {ys[0]:.1f}"]
    for k in range(1, len(xs)):
        out.append(f"H{xs[k]:.1f}V{ys[k]:.1f}" if steps else f"L{xs[k]:.1f} {ys[k]:.1f}")
    return "".join(out)

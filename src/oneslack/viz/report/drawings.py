"""The drawings of a report, as SVG; the page's script tells their points under the pointer or arrow keys."""

from __future__ import annotations

import json
import math
from html import escape

from ..trees import layout, spread

#: Inner size and margins of a chart in pixels; the page scales it to its width.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 310, 78, 16, 12, 50
#: How far above the optimum the band of bounds is shown.
BAND_HEIGHT = 3.0
#: Points of a curve that a page holds.
MOST_POINTS = 400


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
        self.y_ticks, self.say_y = ticks(self.y0, self.y1), "{:g}".format

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
        for value in self.y_ticks:
            at = self.y(value)
            parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
            parts.append(f'<text class="name end" x="{LEFT - 6}" y="{at + 4:.1f}">{self.say_y(value)}</text>')
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


def bounds(trace) -> str:
    """The band between the two bounds over time."""
    best = trace[-1].primal
    high = min(max(row.primal for row in trace), BAND_HEIGHT * best) if best > 0 else 1.0
    least = min(row.dual for row in trace)
    low = (
        2 * least - best if least > best / 2 else 0.0
    )  # bounds that begin close to each other fill the chart
    axes = Axes([row.seconds for row in trace], [low, high], "seconds of training", "objective")
    xs = [axes.x(row.seconds) for row in trace]
    upper, lower = ([axes.y(getattr(row, name)) for row in trace] for name in ("primal", "dual"))
    # The lower edge of the band is drawn as stairs, too: back along the lower bounds.
    band = (
        path(xs, upper, steps=True)
        + "".join(f"V{lower[k]:.1f}H{xs[k]:.1f}" for k in range(len(xs) - 1, -1, -1))
        + "Z"
    )
    words = [
        f"step {row.iteration:,}, {row.seconds:.3g} s: optimum between {row.dual:.6g} and {row.primal:.6g}, "
        f"gap {100 * row.gap:.3g} %"
        for row in trace
    ]
    inside = (
        f'{axes.frame()}<path class="band" d="{band}"/>'
        f'<path class="line upper" d="{path(xs, upper, steps=True)}"/>'
        f'<path class="line lower" d="{path(xs, lower, steps=True)}"/>'
    )
    return chart(inside, zip(xs, upper, words), "Bounds of the optimum over the time of the training")


def gaps(trace) -> str:
    """The relative gap over time, on a log axis: a line that falls as long as training is of use."""
    rows = [row for row in trace if row.gap > 0 and math.isfinite(row.gap)]
    if len(rows) < 2:
        return ""
    logs = [math.log10(row.gap) for row in rows]
    axes = Axes([row.seconds for row in rows], [math.floor(min(logs)), math.ceil(max(logs))],
                "seconds of training", "relative gap")  # fmt: skip
    axes.say_y = lambda value: f"{100 * 10**value:g} %"
    axes.y_ticks = range(int(axes.y0), int(axes.y1) + 1)
    xs, ys = [axes.x(row.seconds) for row in rows], [axes.y(value) for value in logs]
    words = [f"step {row.iteration:,}, {row.seconds:.3g} s: gap {100 * row.gap:.3g} %" for row in rows]
    inside = f'{axes.frame()}<path class="line upper" d="{path(xs, ys, steps=True)}"/>'
    return chart(inside, zip(xs, ys, words), "The relative gap over the time of the training, on a log axis")


def curve(xs, ys, words, at, names) -> str:
    """A curve in the unit square; `at` is the number of the point where the model stands."""
    axes = Axes([0.0, 1.0], [0.0, 1.0], *names)
    keep = sorted({*range(0, len(xs), max(1, len(xs) // MOST_POINTS)), len(xs) - 1, at})
    px, py = [axes.x(xs[k]) for k in keep], [axes.y(ys[k]) for k in keep]
    inside = (
        f'{axes.frame()}<path class="line upper" d="{path(px, py)}"/>'
        f'<circle class="mark" cx="{axes.x(xs[at]):.1f}" cy="{axes.y(ys[at]):.1f}" r="6"/>'
    )
    return chart(inside, zip(px, py, [words[k] for k in keep]), f"{names[1]} against {names[0]}")


def scatter(xs, ys, words, names) -> str:
    """Points, and the line where both numbers are the same."""
    low, high = min(*xs, *ys), max(*xs, *ys)
    axes = Axes([low, high], [low, high], *names)
    px, py = [axes.x(value) for value in xs], [axes.y(value) for value in ys]
    dots = "".join(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in zip(px, py))
    ends = path([axes.x(low), axes.x(high)], [axes.y(low), axes.y(high)])
    line = f'<path class="line faint" d="{ends}"/>'
    return chart(f"{axes.frame()}{line}{dots}", zip(px, py, words), f"{names[1]} against {names[0]}")


def bars(weights) -> str:
    """Weights by name, to the right where they are positive."""
    row, left, width = 24, 270, WIDTH
    reach = max(abs(one.value) for one in weights)
    middle = left + (width - left) / 2
    scale = (width - left) / 2 * 0.86 / reach
    parts, points = [f'<path class="axis" d="M{middle} 4V{row * len(weights) + 6}"/>'], []
    for k, one in enumerate(weights):
        name = f"{one.feature}  [{one.output}]" if one.output else one.feature
        top, size = 6 + row * k, scale * abs(one.value)
        x = middle if one.value >= 0 else middle - size
        kind = "positive" if one.value >= 0 else "negative"
        parts.append(f'<text class="name end" x="{left - 8}" y="{top + 14}">{_named(name, 38)}</text>')
        parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{top}" width="{size:.1f}" height="{row - 5}" rx="2"/>'
        )
        end = middle + scale * one.value
        points.append((end, top + (row - 5) / 2, f"{name}: {one.value:.4g}"))
    bottom = row * len(weights) + 8
    for value in ticks(-reach, reach):  # five or more: then not 0 alone
        at = middle + scale * value
        parts.append(f'<path class="tick" d="M{at:.1f} {bottom}v5"/>')
        parts.append(f'<text class="name" x="{at:.1f}" y="{bottom + 19}">{value:g}</text>')
    parts.append(
        f'<path class="axis" d="M{middle - scale * reach:.1f} {bottom}H{middle + scale * reach:.1f}"/>'
    )
    return chart("".join(parts), points, "The largest weights by name", height=bottom + 26)


def heat_map(values, rows, columns, kind, tell) -> str:
    """Squares as strong as their numbers; `kind` is "counts" or "weights", tell(i, j) the words of one."""
    side = max(14, min(44, 520 // max(len(columns), 1)))
    is_flat = 9 * max((len(str(name)) for name in columns), default=0) < side
    left, top = 110, 28 if is_flat else 84
    reach = max((abs(v) for line in values for v in line), default=0) or 1
    parts, points = [], []
    for i, line in enumerate(values):
        y = top + side * i
        parts.append(
            f'<text class="name end" x="{left - 6}" y="{y + side / 2 + 4}">{_named(rows[i], 15)}</text>'
        )
        for j, value in enumerate(line):
            x = left + side * j
            shade = "negative" if value < 0 else "positive"
            strength = (abs(value) / reach) ** (0.5 if kind == "counts" else 1)
            parts.append(
                f'<rect class="{shade}" x="{x}" y="{y}" width="{side - 1}" height="{side - 1}" '
                f'fill-opacity="{strength:.3f}"/>'
            )
            points.append((x + side / 2, y + side / 2, tell(i, j)))
            if side >= 30 and kind == "counts":
                ink = "on" if strength > 0.55 else ""
                parts.append(
                    f'<text class="name {ink}" x="{x + side / 2}" y="{y + side / 2 + 4}">{value}</text>'
                )
    for j, name in enumerate(columns):
        x = left + side * j + side / 2
        if is_flat:
            parts.append(f'<text class="name" x="{x}" y="{top - 8}">{_named(name, 12)}</text>')
            continue
        x += 4
        turned = f'transform="translate({x} {top - 6}) rotate(-60)"'
        parts.append(f'<text class="name start" {turned}>{_named(name, 12)}</text>')
    width, height = left + side * len(columns) + 20, top + side * len(rows) + 6
    return chart("".join(parts), points, "A table as coloured squares", width, height)


def tree(one, wrong=()) -> str:
    """A tree over its words; `wrong` are numbers of nodes in its layout."""
    nodes = layout(one)
    height = nodes[-1].y
    widths = [max(44, 8.5 * len(node.text) + 12) for node in nodes if node.is_word]
    xs = spread(nodes, widths)
    ys = [16 + 36 * (height - node.y) for node in nodes]
    parts, points = [], []
    for k, node in enumerate(nodes):
        x, y = xs[k], ys[k]
        if node.parent is not None:
            # Up, and then across right below the parent: no line crosses another, or a word.
            to, above = xs[node.parent], ys[node.parent]
            parts.append(f'<path class="branch" d="M{x:.1f} {y - 13}V{above + 13}H{to:.1f}V{above + 5}"/>')
        kind = "word" if node.is_word else "wrong" if k in wrong else "node"
        parts.append(f'<text class="name {kind}" x="{x:.1f}" y="{y}">{escape(node.text)}</text>')
        if k in wrong:
            points.append((x, y - 4, f"{node.text}: not in the true tree"))
    return chart("".join(parts), points, str(one), sum(widths), 36 * height + 28)


def shortened(text, most) -> str:
    """The text, or its beginning and its end."""
    text = str(text)
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}"


def _named(text, most) -> str:
    return escape(shortened(text, most))

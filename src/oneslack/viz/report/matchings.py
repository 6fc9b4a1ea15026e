"""Matchings of a report: both sets side by side, with lines between partners."""

from __future__ import annotations

from .drawings import chart
from .html import figure, number, paragraph, share, table
from .quality import errors

#: Rows and columns of a drawing, and its pixels.
MOST = 40
WIDTH, STEP, EDGE = 300, 14, 16
DRAWN = 4


def matching_errors(X, truth, predicted, shown) -> str:
    """The examples with the most wrong partners: a table, and drawings of the first."""
    wrong = [int((y != z).sum()) for y, z in zip(truth, predicted, strict=True)]
    order = [i for i in sorted(range(len(wrong)), key=lambda i: -wrong[i]) if wrong[i]][:shown]
    if not order:
        return errors(paragraph("There is none: all rows got their partner."))
    rows = (
        [number(i + 1), number(len(truth[i])), number(wrong[i]), share(1 - wrong[i] / len(truth[i]))]
        for i in order
    )
    parts = [table("Examples with the most errors", ("example", "rows", "wrong", "right"), rows)]
    small = [i for i in order if max(len(truth[i]), _columns(X[i])) <= MOST][:DRAWN]
    for i in small:
        words = f"Example {i + 1}: rows left, columns right; solid lines are right, dashed ones wrong."
        parts.append(figure(drawing(truth[i], predicted[i], _columns(X[i])), words))
    return errors(*parts)


def _columns(x) -> int:
    return len(x[1]) if isinstance(x, tuple) else x.shape[1]


def drawing(truth, predicted, columns) -> str:
    """SVG of one matching."""
    height = 2 * EDGE + STEP * max(len(truth), columns)
    parts, points = [], []
    for a, (y, z) in enumerate(zip(truth.tolist(), predicted.tolist(), strict=True)):
        points.append((EDGE, EDGE + STEP * a, f"row {a}: {_partner(z)} predicted, {_partner(y)} true"))
        if z >= 0:
            line = "" if y == z else ' stroke-dasharray="4 3" stroke-width="2"'
            parts.append(
                f'<path fill="none" stroke="currentColor"{line} d="M{EDGE} {EDGE + STEP * a}'
                f'L{WIDTH - EDGE} {EDGE + STEP * z}"/>'
            )
    for count, x in ((len(truth), EDGE), (columns, WIDTH - EDGE)):
        parts += [
            f'<circle cx="{x}" cy="{EDGE + STEP * k}" r="4" fill="currentColor"/>' for k in range(count)
        ]
    right = int((truth == predicted).sum())
    return chart("".join(parts), points, f"{right} of {len(truth)} partners right", WIDTH, height)


def _partner(column) -> str:
    return "no partner" if column < 0 else f"column {column}"

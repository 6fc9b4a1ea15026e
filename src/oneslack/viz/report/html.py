"""HTML: everything that comes from a file or a model is escaped here.

Style and script stand in the page, and nothing is fetched from anywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

#: Rows of a table that a page holds.
MOST_ROWS = 200
#: What marks a cell of a number.
NUMBER = ' class="number"'
_SECTION = re.compile(r'<section id="([^"]+)"><h2>([^<]*)</h2>')


@dataclass(frozen=True)
class Cell:
    """A cell of a table: HTML to show, and what its column is sorted by."""

    html: str
    key: Any

    @property
    def is_number(self) -> bool:
        return isinstance(self.key, int | float) and not isinstance(self.key, bool)


def text(value) -> Cell:
    """Any value as it is."""
    return Cell(escape(str(value)), value if isinstance(value, int | float) else str(value))


def number(value, form="{:,}") -> Cell:
    """A number in a form, or a dash."""
    return Cell("–", float("-inf")) if value is None else Cell(escape(form.format(value)), value)


def share(value) -> Cell:
    """A share as a percentage."""
    return Cell("–", -1.0) if value is None else Cell(f"{100 * value:.1f} %", value)


def table(caption, columns, rows) -> str:
    """A table whose columns are sorted by a click or a key; rows are lists of Cells."""
    rows = list(rows)
    shown = rows[:MOST_ROWS]
    of_numbers = [all(row[k].is_number for row in shown) for k in range(len(columns))]
    head = "".join(
        f'<th scope="col"{NUMBER if of_number else ""}><button type="button">{escape(name)}'
        '<span aria-hidden="true"></span></button></th>'
        for name, of_number in zip(columns, of_numbers)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in shown)
    more = f" (the first {len(shown):,} of {len(rows):,})" if len(rows) > len(shown) else ""
    return (
        f'<div class="wide"><table class="sortable"><caption>{escape(caption)}{more}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(cell) -> str:
    return f'<td{NUMBER if cell.is_number else ""} data-key="{escape(str(cell.key))}">{cell.html}</td>'


def facts(pairs) -> str:
    """Names and values, one below the other; None is left out."""
    rows = (
        f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in pairs if value is not None
    )
    return f"<dl>{''.join(rows)}</dl>"


def tiles(pairs) -> str:
    """The few numbers that matter most, large."""
    made = (
        f'<div class="tile"><b>{escape(str(value))}</b><span>{escape(name)}</span></div>'
        for name, value in pairs
    )
    return f'<div class="tiles">{"".join(made)}</div>'


def paragraph(words) -> str:
    """Plain words."""
    return f"<p>{escape(words)}</p>"


def code(lines) -> str:
    """Lines to copy."""
    return f'<pre tabindex="0"><code>{escape(lines)}</code></pre>'


def folded(summary, inside) -> str:
    """What opens by a click, and is there on paper when it is open."""
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"


def section(name, title, *parts) -> str:
    """A part of the page; nothing where there is nothing to show."""
    inside = "".join(part for part in parts if part)
    return f'<section id="{name}"><h2>{escape(title)}</h2>{inside}</section>' if inside else ""


def figure(drawing, caption) -> str:
    """A drawing with its words."""
    return f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>"


def page(title, subtitle, sections, footer) -> str:
    """HTML of a title, words below it, sections (HTML, empty ones are left out) and words at the end."""
    here = files(__package__)
    style, script = (here.joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    body = "\n".join(section for section in sections if section)
    links = "".join(f'<li><a href="#{name}">{words}</a></li>' for name, words in _SECTION.findall(body))
    # The policy lets nothing in from outside, whatever a name in the data tries.
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">To the report</a>
<header><h1>{escape(title)}</h1><p class="soft">{escape(subtitle)}</p></header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<main id="main">
{body}
</main>
<footer>{escape(footer)}</footer>
<div id="tip" role="status" aria-live="polite" hidden></div>
<script>
{script}</script>
</body>
</html>
"""

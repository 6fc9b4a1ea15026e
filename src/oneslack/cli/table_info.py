"""What the columns of a CSV hold, in words, and the command that would learn from them: for a file with words
or gaps, which is no matrix of numbers yet."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass

#: Values of a column that are shown, and letters of each.
SHOWN, LETTERS = 4, 20
#: Cells of text hold about so many words, or more.
A_TEXT = 3
#: Labels of more values are rather amounts, or names of rows.
CLASSES = 50


@dataclass(frozen=True)
class Seen:
    """A column: what it is ("numbers", "categories", "text", "index", "names"), and how many are missing."""

    name: str
    kind: str
    missing: int
    distinct: int
    words: str


def columns_of(cells) -> list[Seen]:
    """What each column of a file holds."""
    return [_seen(name, texts) for name, texts in zip(cells.names, cells.columns, strict=True)]


def _seen(name, texts) -> Seen:
    from ..formats.cells import counts_rows, is_missing, is_number

    known = [text for text in texts if not is_missing(text)]
    missing, distinct = len(texts) - len(known), len(set(known))
    gaps = f", {missing:,} missing" if missing else ""
    if not known:
        return Seen(name, "names", missing, 0, "empty")
    if all(map(is_number, known)):
        if counts_rows(texts):
            return Seen(name, "index", missing, distinct, "counts the rows")
        low, high = min(map(float, known)), max(map(float, known))
        words = f"numbers from {low:g} to {high:g}{gaps}"
        return Seen(name, "numbers", missing, distinct, words)
    is_mostly_new = distinct > len(known) / 2 and distinct > CLASSES
    if is_mostly_new or distinct > len(known) * 0.9:
        a_cell = sum(len(text.split()) for text in known) / len(known)
        if a_cell >= A_TEXT:
            return Seen(name, "text", missing, distinct, f"text, about {a_cell:.0f} words a cell{gaps}")
        if is_mostly_new:
            words = f"{distinct:,} different words, as names have{gaps}"
            return Seen(name, "names", missing, distinct, words)
    some = ", ".join(text[:LETTERS] for text in sorted(set(known))[:SHOWN])
    more = ", ..." if distinct > SHOWN else ""
    return Seen(name, "categories", missing, distinct, f"{distinct:,} words ({some}{more}){gaps}")


def facts_of(path, label=None) -> dict:
    """For `oneslack info`."""
    from ..formats.cells import read_cells

    cells = read_cells(path)
    seen = columns_of(cells)
    return {
        "file": path,
        "holds": "csv data that are not all numbers",
        "examples": len(cells),
        "columns": {column.name: column.words for column in seen},
        "to_learn_from_it": command(path, cells, seen, label),
        "bytes": os.path.getsize(path),
    }


def command(path, cells, seen, label=None) -> str:
    """The command that would learn from the file, as far as its cells tell."""
    target = seen[_label(cells, seen, label)]
    others = [column for column in seen if column is not target]
    task = "classify" if target.kind != "numbers" or target.distinct <= CLASSES else "regress"
    words = ["oneslack", "train", task, path, "--label", target.name]
    for option, kinds in (
        ("--categorical", ("categories",)),
        ("--text", ("text",)),
        ("--drop", ("index", "names")),
    ):
        named = [column.name for column in others if column.kind in kinds]
        if named:
            words += [option, ",".join(named)]
    if any(column.missing for column in others if column.kind in ("numbers", "categories")):
        words += ["--missing", "indicator"]
    stem = os.path.basename(path).partition(".")[0] or "my"
    return shlex.join([*words, "-o", f"{stem}.model"])


def _label(cells, seen, label) -> int:
    """The label's column: as said, by its name, or of the last and the first the one with fewer words."""
    from ..formats.column_advice import likely_label

    if label is not None:
        return cells.place(label, "label")
    if (name := likely_label(cells.names)) is not None:
        return cells.names.index(name)
    last = len(seen) - 1
    words = [k for k in (last, 0) if seen[k].kind == "categories" and not seen[k].missing]
    return min(words, key=lambda k: seen[k].distinct, default=last)

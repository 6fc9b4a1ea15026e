"""What to do about a column that is not there, that holds words, or that has gaps: the ends of sentences."""

from difflib import get_close_matches

#: Names that columns of labels have.
LABEL_NAMES = ("label", "labels", "target", "class", "y", "outcome")


def no_column(where, names, name, what="") -> str:
    """The sentence that there is no such column, with the one that was probably meant."""
    what = f"{what} column" if what else "column"
    found = f"{where}: there is no {what} {name!r} among the {len(names)} columns ({', '.join(names)[:200]})"
    alike = [] if name in names else get_close_matches(str(name), names, 1)
    advice = f"did you mean {alike[0]!r}?" if alike else ""
    return f"{found}; {advice or 'give a name from the header, if there is one, or a position from 0.'}"


def words_advice(name, may_be_label=True) -> str:
    """What to do about a column with words."""
    if any(character in name for character in " \t\"'"):
        name = f'"{name}"'
    label = f"; if it is the label, say --label {name}" if may_be_label else ""
    return (
        f"`oneslack train` takes words as categories with --categorical {name}, as text with --text {name}, "
        f"or leaves the column out with --drop {name}{label}"
    )


def gap_advice() -> str:
    """What to do about a missing cell."""
    return "fill it or drop the line, or let `oneslack train` fill it with --missing mean or indicator"


def likely_label(names) -> str | None:
    """The column whose name says that it holds the labels."""
    return next((name for name in names if name.lower() in LABEL_NAMES), None)

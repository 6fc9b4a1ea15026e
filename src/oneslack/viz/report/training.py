"""What was trained, on what, how certain it is, and how to do it again."""

from __future__ import annotations

from ...certificate.words import above, percent
from . import drawings
from .html import code, facts, figure, folded, number, paragraph, section, share, table, text, tiles

#: Rows from which on a table is folded.
LONG = 25


def about(pairs) -> str:
    """The section of what the model file says: (name, words) pairs."""
    return section("about", "What was trained", facts(pairs))


def certainty(primal, dual, gap, certified, trace, advice, remark="", proof="") -> str:
    """The section of the certificate, with a remark, and the course of the training where it is known;
    `proof` says how to check it."""
    kind = (
        "The lower bound is proved: no model of this kind has a lower objective on these data."
        if certified
        else "The distance is not proved: a bound is an estimate, or holds for labels filled in last."
    )
    parts = [
        tiles(
            [
                ("above the optimum, at most", percent(above(primal, dual))),
                ("objective of the model", f"{primal:.6g}"),
                ("lower bound of the optimum", f"{dual:.6g}"),
                ("relative gap", percent(gap)),
            ]
        ),
        paragraph(kind),
        paragraph(proof) if proof else "",
        paragraph(f"Why it stopped: {advice}.") if advice else "",
        paragraph(remark) if remark else "",
    ]
    if len(trace) > 1:
        drawing = figure(
            drawings.bounds(trace),
            "Solid: the objective of the model so far. Dashed: the lower bound. The optimum lies between.",
        )
        falling = drawings.gaps(trace)
        if falling:
            words = "The distance between the two, as a share of the objective, on a log axis."
            drawing += figure(falling, words)
        parts += [drawing, folded("Some steps of the training", _steps(trace))]
    elif trace:
        parts.append(paragraph(f"It took {trace[-1].seconds:.3g} seconds; only its end has two bounds."))
    else:
        parts.append(paragraph("The model file does not hold the course of the training."))
    return section("certainty", "How close it is to the optimum", *parts)


def on_training_data(good) -> str:
    """The section of how good it is, with a warning that these are the data it was trained on."""
    words = (
        "These are the examples that the model was trained on: it does better on them than on others. Show "
        "it examples that it has not seen."
    )
    return good.replace("</h2>", f'</h2><p class="warning" role="note">{words}</p>', 1)


def _steps(trace, most=12) -> str:
    places = sorted({round(k * (len(trace) - 1) / (most - 1)) for k in range(most)})
    rows = (
        [
            number(row.iteration),
            number(row.seconds, "{:.3g}"),
            number(row.dual, "{:.6g}"),
            number(row.primal, "{:.6g}"),
            number(100 * row.gap, "{:.3g} %"),
        ]
        for row in (trace[k] for k in places)
    )
    names = ("step", "seconds", "optimum at least", "at most", "gap")
    return table("Some steps of the training", names, rows)


def reproduction(commands, expression, versions) -> str:
    """The section of how to do it again: command lines, Python, and (name, words) of what was used."""
    parts = []
    if commands:
        parts += [paragraph("From the shell:"), code("\n".join(commands))]
    parts += [paragraph("The estimator in Python:"), code(f"import oneslack\n\noneslack.{expression}")]
    parts.append(facts(versions))
    return section("again", "How to do it again", *parts)


def measures(pairs, notes=()) -> str:
    """Numbers that say how good it is, and remarks."""
    return tiles([(name, value) for name, value in pairs]) + "".join(map(paragraph, notes))


def label_table(caption, what, rows, counts) -> str:
    """Precision, recall and F1 by label; rows are dicts, counts are (key, name) of what is counted."""
    names = (what, "precision", "recall", "F1", *(name for _, name in counts))
    cells = (
        [
            text(row["label"]),
            *(share(row[key]) for key in ("precision", "recall", "f1")),
            *(number(row[key]) for key, _ in counts),
        ]
        for row in rows
    )
    made = table(caption, names, cells)
    return made if len(rows) <= LONG else folded(f"{caption}: {len(rows):,}", made)


def phrase_rates(caption, what, phrases) -> str:
    """The same of phrases by their type, as they are and as they were predicted."""
    rows = [{**row, "label": row["type"]} for row in phrases]
    return label_table(caption, what, rows, [("phrases", "phrases"), ("predicted", "predicted")])

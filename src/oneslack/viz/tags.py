"""Tagged sentences in colour: as HTML, and on Axes."""

from __future__ import annotations

from html import escape

from ..errors import OneslackError
from .look import PALETTE, axes_of

#: Part of its strength that a colour has behind a word: ink of any ground stays readable on it.
STRENGTH = 0.28


class Html(str):
    """Text that a notebook shows as HTML."""

    def _repr_html_(self):
        return str(self)


def tagged_html(sentences, labels, truth=None) -> Html:
    """Sentences with each token on the colour of its label; tokens that are wrong are underlined.

    Parameters
    ----------
    sentences : list of lists of str
        The tokens.
    labels : list of lists
        A label for each token; those of a phrase (B-X, I-X) share a colour, and O has none.
    truth : list of lists or None
        True labels: where they differ, both are shown.

    Returns
    -------
    html : str
        One element, which notebooks show as it is; with styles of its own, and no scripts.

    Examples
    --------
    >>> from oneslack import viz
    >>> html = viz.tagged_html([["He", "sat"]], [["B-NP", "B-VP"]])
    >>> html.count("<span"), "B-NP" in html
    (4, True)
    """
    _check(sentences, labels, truth)
    colours = label_colours(labels if truth is None else [*labels, *truth])
    lines = []
    for i, sentence in enumerate(sentences):
        right = [None] * len(sentence) if truth is None else truth[i]
        tokens = zip(sentence, labels[i], right, strict=True)
        lines.append(
            f"<p style='line-height:2.6;margin:0.3em 0'>{' '.join(_token(*t, colours) for t in tokens)}</p>"
        )
    return Html(f"<div class='oneslack-tags'>{''.join(lines)}</div>")


def plot_tags(sentence, labels, truth=None, *, ax=None):
    """One sentence on Axes, each token above the name of its label, on its colour.

    Parameters
    ----------
    sentence : list of str
    labels : list
    truth : list or None
        True labels: a token that differs gets a red frame and its true label below.
    ax : matplotlib Axes or None
        Where to draw, below the sentences that are there; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from oneslack import viz
    >>> len(viz.plot_tags(["He", "sat"], ["B-NP", "B-VP"]).patches)
    2
    """
    _check([sentence], [labels], None if truth is None else [truth])
    colours = label_colours([labels] if truth is None else [labels, truth])
    right = labels if truth is None else truth
    notes = [f"{a}" if a == b else f"{a} ({b})" for a, b in zip(labels, right)]
    widths = [1 + max(len(str(token)), 0.8 * len(note)) for token, note in zip(sentence, notes)]
    room = 0.11 * sum(widths) + 0.6
    ax = axes_of(ax, (min(room, 16), 1.1))
    # Further sentences on the same Axes stand below, and all letters are as small as the longest one needs.
    row = getattr(ax, "_oneslack_sentences", 0)
    ax._oneslack_sentences, low = row + 1, -1.25 * row
    inches = ax.get_position().width * ax.figure.get_figwidth()
    size = 10.0 * min(1.0, inches / room)
    from matplotlib.patches import Rectangle  # after axes_of, which says where it is missing

    at = 0.0
    for i, (token, label) in enumerate(zip(sentence, labels)):
        wrong = truth is not None and truth[i] != label
        shade = colours.get(kind_of(label))
        ax.add_patch(
            Rectangle(
                (at, low),
                widths[i] - 0.3,
                1,
                facecolor="none" if shade is None else (shade, STRENGTH),
                edgecolor="#d55e00" if wrong else "none",
                linewidth=2,
            )
        )
        middle = at + (widths[i] - 0.3) / 2
        ax.text(middle, low + 0.65, str(token), ha="center", va="center", family="monospace", fontsize=size)
        ax.text(middle, low + 0.22, notes[i], ha="center", va="center", fontsize=0.7 * size)
        at += widths[i]
    ax.set_xlim(-0.3, max(at, ax.get_xlim()[1] if row else at))
    ax.set_ylim(low - 0.05, 1.05)
    ax.axis("off")
    return ax


def label_colours(label_lists) -> dict:
    """A colour for each kind of label, O having none."""
    kinds = dict.fromkeys(kind_of(label) for labels in label_lists for label in labels)
    kinds.pop(None, None)
    return {kind: PALETTE[k % len(PALETTE)] for k, kind in enumerate(sorted(kinds, key=str))}


def kind_of(label):
    """The type of a phrase (NP of B-NP and I-NP), None for O, any other label as it is."""
    if label == "O":
        return None
    if isinstance(label, str) and label[:2] in ("B-", "I-", "E-", "S-"):
        return label[2:]
    return label


def _token(token, label, right, colours) -> str:
    shade = colours.get(kind_of(label))
    ground = f"background:{shade}{round(255 * STRENGTH):02x};" if shade else ""
    wrong = right is not None and right != label
    edge = "border-bottom:3px solid #d55e00;" if wrong else ""
    note = f"{label} ≠ {right}" if wrong else str(label)
    return (
        f"<span style='{ground}{edge}border-radius:4px;padding:0.15em 0.35em'>{escape(str(token))}"
        f"<span style='font-size:0.65em;opacity:0.75;margin-left:0.4em'>{escape(note)}</span></span>"
    )


def _check(sentences, labels, truth):
    for name, other in (("labels", labels), ("truth", truth)):
        if other is None:
            continue
        if len(other) != len(sentences):
            raise OneslackError(f"there are {len(sentences)} sentences but {len(other)} in {name}")
        for i, (sentence, tags) in enumerate(zip(sentences, other)):
            if len(sentence) != len(tags):
                raise OneslackError(f"sentence {i}: has {len(sentence)} tokens but {len(tags)} in {name}")

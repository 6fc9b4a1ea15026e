"""Tables of numbers as coloured squares."""

from __future__ import annotations

import numpy as np

from ..errors import OneslackError
from .look import COUNTS, axes_of, ink_on
from .named_weights import transitions_of

#: Squares a side up to which numbers are written into them.
WRITTEN = 16
#: Inches of a letter of a label, at most.
LETTER = 0.1


def plot_confusion(y_true, y_pred, *, labels=None, normalise=False, ax=None):
    """How often each class (row) was taken for which (column).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), or lists of lists of labels
        Labels of examples, or of the tokens of sentences.
    labels : list or None
        Which, and in which order; all that occur by default.
    normalise : bool, default=False
        Shares of each row instead of counts.
    ax : matplotlib Axes or None
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from oneslack import viz
    >>> ax = viz.plot_confusion(["a", "b", "b"], ["a", "a", "b"])
    >>> [text.get_text() for text in ax.texts]
    ['1', '0', '1', '1']
    """
    truth, guess = _flat(y_true), _flat(y_pred)
    if len(truth) != len(guess):
        raise OneslackError(f"there are {len(truth)} true labels but {len(guess)} predicted ones")
    labels = sorted({*truth, *guess}, key=_order) if labels is None else list(labels)
    place = {label: k for k, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), int)
    for a, b in zip(truth, guess):
        if a in place and b in place:
            counts[place[a], place[b]] += 1
    values = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1) if normalise else counts
    ax = axes_of(ax, _size(len(labels)))
    image = ax.imshow(values, cmap=COUNTS, vmin=0, vmax=1 if normalise else max(counts.max(), 1))
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="share of the row" if normalise else "examples")
    _name(ax, labels, labels, "predicted", "true")
    _write(ax, image, values, "{:.2f}" if normalise else "{:,}")
    return ax


def plot_transitions(tagger, *, ax=None):
    """Weights of the pairs of neighbouring labels: which label (column) follows which (row).

    Parameters
    ----------
    tagger : a fitted SequenceTagger
    ax : matplotlib Axes or None
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import oneslack
    >>> from oneslack import viz
    >>> tagger = oneslack.SequenceTagger(C=10).fit([[{"w": "the"}, {"w": "cat"}]], [["D", "N"]])
    >>> viz.plot_transitions(tagger).get_ylabel()
    'after'
    """
    if not hasattr(tagger, "model_") or not hasattr(tagger.model_, "n_labels"):
        raise OneslackError(
            f"transitions are those of a fitted SequenceTagger, not of a {type(tagger).__name__}"
        )
    weights = transitions_of(tagger)
    ax = axes_of(ax, _size(len(weights)))
    reach = max(float(np.abs(weights).max()), 1e-12)
    image = ax.imshow(weights, cmap="PuOr", vmin=-reach, vmax=reach)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="weight")
    labels = tagger.classes_.tolist()
    _name(ax, labels, labels, "label", "after")
    _write(ax, image, weights, "{:.2g}")
    return ax


def _flat(labels) -> list:
    """Labels of examples or, one sentence after another, of tokens; numbers as Python's own."""
    out = []
    for label in labels:
        if isinstance(label, list | tuple | np.ndarray) and np.ndim(label):
            out += _flat(label)
        else:
            out.append(label.item() if isinstance(label, np.generic) else label)
    return out


def _order(label):
    return isinstance(label, str), label


def _size(n):
    return (min(2.4 + 0.55 * n, 18), min(1.8 + 0.5 * n, 16))


def _name(ax, columns, rows, right, down):
    longest = max((len(str(name)) for name in columns), default=0)
    is_flat = len(columns) <= 4 and LETTER * longest < _square(ax, len(columns))
    ax.set_xticks(range(len(columns)), map(str, columns), rotation=0 if is_flat else 90)
    ax.set_yticks(range(len(rows)), map(str, rows))
    many = max(len(columns), len(rows))
    if many > WRITTEN:  # names that stand closely, and no numbers in the squares
        ax.tick_params(labelsize=max(4.0, min(10.0, 72 * 0.8 * _square(ax, many))))
    ax.set_xlabel(right)
    ax.set_ylabel(down)


def _square(ax, n) -> float:
    """Inches of the side of one of n squares."""
    place, figure = ax.get_position(), ax.figure
    return min(place.width * figure.get_figwidth(), place.height * figure.get_figheight()) / n


def _write(ax, image, values, form):
    if max(values.shape) > WRITTEN:
        return
    for (row, column), value in np.ndenumerate(values):
        ink = ink_on(image.cmap(image.norm(value)))
        ax.text(column, row, form.format(value), ha="center", va="center", color=ink, fontsize="small")

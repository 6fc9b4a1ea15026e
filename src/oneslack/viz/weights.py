"""The weights that decide, by name."""

from __future__ import annotations

from ..errors import OneslackError
from .look import NEGATIVE, POSITIVE, axes_of, tidy
from .named_weights import largest_weights


def plot_weights(model, n=20, *, feature_names=None, output=None, ax=None):
    """The n largest weights as bars, by the names of their features.

    Parameters
    ----------
    model : a fitted linear estimator, SequenceTagger or GrammarParser
    n : int, default=20
        How many weights.
    feature_names : list of str or None
        Names where the model does not know them (it does after a fit on a DataFrame).
    output : a class or label, or None
        Only the weights for it; by default those of all.
    ax : matplotlib Axes or None
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import oneslack
    >>> from oneslack import viz
    >>> from sklearn.datasets import load_iris
    >>> data = load_iris()
    >>> model = oneslack.LinearSVC().fit(data.data, data.target)
    >>> ax = viz.plot_weights(model, 3, feature_names=data.feature_names, output=2)
    >>> len(ax.patches)
    3
    """
    weights = largest_weights(model, n, feature_names, output)
    if not weights:
        raise OneslackError("all weights are zero; there is nothing to draw")
    ax = axes_of(ax, (6.4, 1.2 + 0.28 * len(weights)))
    texts = [
        f"{one.feature}  [{one.output}]" if one.output and output is None else one.feature for one in weights
    ]
    places = range(len(weights))
    values = [one.value for one in weights]
    ax.barh(places, values, color=[POSITIVE if value > 0 else NEGATIVE for value in values])
    ax.set_yticks(places, texts)
    ax.invert_yaxis()
    ax.axvline(0, color="gray", linewidth=0.8)
    ax.set_xlabel("weight" if output is None else f"weight for {output}")
    return tidy(ax)

"""Trees of sentences, drawn."""

from __future__ import annotations

from .look import NEGATIVE, axes_of
from .tree_layout import layout


def plot_tree(tree, truth=None, *, ax=None):
    """A tree with its words below, in their order.

    Parameters
    ----------
    tree : Tree or str
        An `oneslack.Tree`, or its text of brackets.
    truth : Tree, str or None
        The right tree over the same words: phrases that it does not have are drawn in red.
    ax : matplotlib Axes or None
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from oneslack import viz
    >>> ax = viz.plot_tree("(S (NP (NNS stars)) (VP (VBP shine)))")
    >>> sorted(text.get_text() for text in ax.texts)
    ['NNS', 'NP', 'S', 'VBP', 'VP', 'shine', 'stars']
    """
    from ..trees import Tree

    tree = Tree.parse(tree) if isinstance(tree, str) else tree
    nodes = layout(tree)
    wrong = (
        set() if truth is None else wrong_nodes(tree, Tree.parse(truth) if isinstance(truth, str) else truth)
    )
    words = [node for node in nodes if node.is_word]
    height = nodes[-1].y
    ax = axes_of(ax, (max(1.0 + 0.75 * len(words), 3), 0.6 + 0.5 * height))
    for k, node in enumerate(nodes):
        if node.parent is not None:
            above = nodes[node.parent]
            ax.plot([node.x, above.x], [node.y + 0.22, above.y - 0.22], color="gray", linewidth=0.9, zorder=1)
        bad = {"color": NEGATIVE, "fontweight": "bold"} if k in wrong else {}
        style = {"style": "italic"} if node.is_word else {}
        ax.text(node.x, node.y, node.text, ha="center", va="center", **style, **bad)
    ax.set_xlim(-0.7, len(words) - 0.3)
    ax.set_ylim(-0.5, height + 0.5)
    ax.axis("off")
    return ax


def wrong_nodes(tree, truth) -> set[int]:
    """Numbers in `layout` of the phrases that the right tree does not have."""
    from collections import Counter

    right = Counter(truth.spans())
    wrong = set()
    for number, span in _phrase_numbers(tree):
        if right[span] > 0:
            right[span] -= 1
        else:
            wrong.add(number)
    return wrong


def _phrase_numbers(tree):
    """(number in `layout`, span) of every phrase."""
    found, stack, n_nodes, n_words = [], [(tree, None)], 0, 0
    while stack:
        node, start = stack.pop()
        if isinstance(node, str):
            n_words += 1
            n_nodes += 1
        elif start is None:
            stack.append((node, n_words))
            stack.extend((child, None) for child in reversed(node.children))
        else:
            if not node.is_tag:
                found.append((n_nodes, (node.label, start, n_words)))
            n_nodes += 1
    return found

"""Trees of sentences, drawn, and where their nodes are."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import NamedTuple

from .look import NEGATIVE, axes_of


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
    truth = Tree.parse(truth) if isinstance(truth, str) else truth
    wrong = set() if truth is None else wrong_nodes(tree, truth)
    widths = [max(1.0, 0.16 * len(node.text) + 0.3) for node in nodes if node.is_word]
    xs, height = spread(nodes, widths), nodes[-1].y
    ax = axes_of(ax, (max(0.3 + 0.75 * sum(widths), 3), 0.6 + 0.5 * height))
    for k, node in enumerate(nodes):
        if node.parent is not None:
            above, x = nodes[node.parent].y, xs[k]
            # Up, and then across right below the parent: no line crosses another, or a word.
            ax.plot([x, x, xs[node.parent], xs[node.parent]],
                    [node.y + 0.22, above - 0.45, above - 0.45, above - 0.22],
                    color="gray", linewidth=0.9, zorder=1)  # fmt: skip
        bad = {"color": NEGATIVE, "fontweight": "bold"} if k in wrong else {}
        style = {"style": "italic"} if node.is_word else {}
        ax.text(xs[k], node.y, node.text, ha="center", va="center", **style, **bad)
    ax.set_xlim(0.0, sum(widths))
    ax.set_ylim(-0.5, height + 0.5)
    ax.axis("off")
    return ax


def spread(nodes, widths) -> list[float]:
    """Where nodes stand from left to right, if words take so much room each."""
    starts = [0.0, *accumulate(widths)]
    middles = [start + width / 2 for start, width in zip(starts, widths)]
    found = []
    for node in nodes:
        k = int(node.x)
        part = node.x - k
        found.append(middles[k] + (part * (middles[k + 1] - middles[k]) if part else 0.0))
    return found


def wrong_nodes(tree, truth) -> set[int]:
    """Numbers in `layout` of the phrases that the right tree does not have."""
    right = Counter(truth.spans())
    wrong = set()
    for number, node in enumerate(layout(tree)):
        if node.is_phrase:
            span = (node.text, *node.words)
            if right[span] <= 0:
                wrong.add(number)
            right[span] -= 1
    return wrong


class Node(NamedTuple):
    """A node or a word: its text, its place (x in words, y = height above the words), its words (first, after
    the last) and its parent."""

    text: str
    x: float
    y: int
    words: tuple[int, int]
    parent: int | None = None
    is_phrase: bool = False

    @property
    def is_word(self) -> bool:
        return self.y == 0


def layout(tree) -> list[Node]:
    """All nodes, children before parents.  Words stand at 0, 1, ...; a node above the middle of its own."""
    nodes, n_words = [], 0
    stack, done = [(tree, False)], []
    while stack:
        node, below_is_done = stack.pop()
        if isinstance(node, str):
            done.append(len(nodes))
            nodes.append(Node(node, float(n_words), 0, (n_words, n_words + 1)))
            n_words += 1
        elif below_is_done:
            m = len(node.children)
            children, done[len(done) - m :] = done[len(done) - m :], []
            first, last = nodes[children[0]], nodes[children[-1]]
            height = 1 + max(nodes[k].y for k in children)
            for k in children:
                nodes[k] = nodes[k]._replace(parent=len(nodes))
            done.append(len(nodes))
            words = (first.words[0], last.words[1])
            nodes.append(Node(node.label, (first.x + last.x) / 2, height, words, is_phrase=not node.is_tag))
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))
    return nodes

"""Where the nodes of a tree are drawn."""

from __future__ import annotations

from typing import NamedTuple


class Node(NamedTuple):
    """A node or a word: its text, its place (x in words, y = height above the words) and its parent."""

    text: str
    x: float
    y: int
    parent: int | None
    is_word: bool


def layout(tree) -> list[Node]:
    """All nodes, children before parents.  Words stand at 0, 1, ...; a node above the middle of its own."""
    nodes, n_words = [], 0
    stack, done = [(tree, False)], []
    while stack:
        node, below_is_done = stack.pop()
        if isinstance(node, str):
            done.append(len(nodes))
            nodes.append(Node(node, float(n_words), 0, None, True))
            n_words += 1
        elif below_is_done:
            m = len(node.children)
            children, done[len(done) - m :] = done[len(done) - m :], []
            places = [nodes[k] for k in children]
            x = (places[0].x + places[-1].x) / 2
            for k in children:
                nodes[k] = nodes[k]._replace(parent=len(nodes))
            done.append(len(nodes))
            nodes.append(Node(node.label, x, 1 + max(place.y for place in places), None, False))
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))
    return nodes

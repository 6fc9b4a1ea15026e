"""Trees with at most two children a node.

A node A with children B C D becomes, from the right,

    A -> B A|<C-D>      A|<C-D> -> C D

A part such as A|<C-D> remembers the next `horizontal` children (all of them by default), so that rules are
shared between nodes that look alike from there on.  `vertical` is how many labels a phrase knows, its own and
those of its ancestors: NP^S is an NP below an S.  Tags are not annotated.  Nodes with one child stay.
"""

from __future__ import annotations

from typing import NamedTuple

from ...trees.tree import Tree, new_tree

#: Kinds of symbols: phrases and tags are nodes of the tree, parts are made by binarising; the root is above.
PHRASE, TAG, PART, ROOT = range(4)


class Symbol(NamedTuple):
    """What a binarised node is called."""

    label: str
    kind: int
    parents: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = "^".join((self.label, *self.parents))
        return f"{name}|<{'-'.join(self.rest)}>" if self.kind == PART else name


def binarise(tree, direction="right", horizontal=None, vertical=1) -> Tree:
    """The tree with at most two children a node, named by Symbols."""
    check_orders(direction, horizontal, vertical)
    order, stack = [], [(tree, ())]
    while stack:
        node, parents = stack.pop()
        order.append((node, parents))
        if node.is_tag:
            continue
        below = (node.label, *parents)[: vertical - 1]
        for child in node.children:
            if isinstance(child, str):
                raise ValueError(f"every word needs a tag of its own; {node.label!r} holds {child!r}")
            stack.append((child, below))
    done = []
    fold = _fold_right if direction == "right" else _fold_left
    for node, parents in reversed(order):  # children before parents, left before right
        if node.is_tag:
            done.append(new_tree(Symbol(node.label, TAG), node.children))
            continue
        n = len(node.children)
        symbol, children = Symbol(node.label, PHRASE, parents), tuple(done[len(done) - n :])
        if n > 2:
            children = fold(symbol, children, [child.label for child in node.children], horizontal)
        done[len(done) - n :] = [new_tree(symbol, children)]
    return done[0]


def _fold_right(symbol, children, labels, horizontal):
    """(first child, part with the others)."""
    right = children[-1]
    for k in range(len(children) - 2, 0, -1):
        rest = labels[k:] if horizontal is None else labels[k : k + horizontal]
        right = new_tree(symbol._replace(kind=PART, rest=tuple(rest)), (children[k], right))
    return children[0], right


def _fold_left(symbol, children, labels, horizontal):
    """(part with all but the last child, last child)."""
    left = children[0]
    for k in range(1, len(children) - 1):
        rest = labels[: k + 1] if horizontal is None else labels[max(k + 1 - horizontal, 0) : k + 1]
        left = new_tree(symbol._replace(kind=PART, rest=tuple(rest)), (left, children[k]))
    return left, children[-1]


def check_orders(direction, horizontal, vertical):
    """ValueError where one of them makes no sense."""
    if direction not in ("right", "left"):
        raise ValueError(f'trees are binarised "right" or "left"; got {direction!r}')
    if horizontal is not None and horizontal < 0:
        raise ValueError(f"horizontal must be None for all children, or >= 0; got {horizontal!r}")
    if vertical < 1:
        raise ValueError(f"vertical must be >= 1: 1 for labels alone, 2 with their parents; got {vertical!r}")

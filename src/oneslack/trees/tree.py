"""Tree: a label and children, which are trees or words.  Nothing here recurses, so that depth is no limit."""

from __future__ import annotations

import re
from typing import Any

_BRACKETS = {"(": "-LRB-", ")": "-RRB-"}
_UNSAFE = re.compile(r"[\s()]")


class Tree:
    """A tree over the words of a sentence.  It never changes; equal trees compare and hash as equal.

    >>> from oneslack import Tree
    >>> tree = Tree("S", [Tree("NP", [Tree("NN", "time")]), Tree("VP", [Tree("VBZ", "flies")])])
    >>> print(tree)
    (S (NP (NN time)) (VP (VBZ flies)))
    >>> tree.words(), tree.tags(), tree.spans()
    (['time', 'flies'], ['NN', 'VBZ'], [('S', 0, 2), ('NP', 0, 1), ('VP', 1, 2)])
    >>> Tree.parse("(NP (DT a) (NN tree))") == Tree("NP", [Tree("DT", "a"), Tree("NN", "tree")])
    True
    """

    __slots__ = ("children", "label")

    def __init__(self, label: Any, children: Any) -> None:
        children = (children,) if isinstance(children, str) else tuple(children)
        if not children:
            raise ValueError(f"a tree needs a child: {label!r} has none")
        for child in children:
            if not isinstance(child, Tree | str):
                raise TypeError(f"children are trees or words; {label!r} has {child!r}")
        _set_label(self, label)
        _set_children(self, children)

    def __setattr__(self, name, value):
        raise AttributeError("a Tree does not change; make a new one")

    __delattr__ = None

    @property
    def is_tag(self) -> bool:
        """Whether it is a word with its tag: one child, a word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)

    # Text.

    @staticmethod
    def parse(text: str) -> Tree:
        """The one tree in a text of brackets; `oneslack.formats.read_trees` reads files of them."""
        from .parsing import parse_one

        return parse_one(text)

    def __str__(self) -> str:
        """Brackets in one line; brackets inside labels and words are written -LRB- and -RRB-."""
        return "".join(_pieces(self, lambda depth, child: " "))

    def __repr__(self) -> str:
        return f"Tree.parse({str(self)!r})"

    def pretty(self) -> str:
        """Brackets with a line for every phrase below the first."""

        def separator(depth, child):
            return " " if isinstance(child, str) or child.is_tag else "\n" + "  " * depth

        return "".join(_pieces(self, separator))

    def draw(self) -> str:
        """The tree drawn with lines, a node or a tagged word in each; a word that is its own tag once."""
        lines, stack = [], [(self, "", "")]
        while stack:
            node, first, rest = stack.pop()
            if isinstance(node, str):
                lines.append(first + node)
                continue
            word = f" {node.children[0]}" if node.is_tag and node.children[0] != node.label else ""
            lines.append(f"{first}{node.label}{word}")
            if not node.is_tag:
                *others, last = node.children
                below = [(child, rest + "├─ ", rest + "│  ") for child in others]
                below.append((last, rest + "└─ ", rest + "   "))
                stack.extend(reversed(below))
        return "\n".join(lines)

    # What is in it.

    def nodes(self) -> Any:
        """All trees in it, itself first, parents before children, left before right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(child for child in reversed(node.children) if not isinstance(child, str))

    def words(self) -> list[str]:
        """The words, in order."""
        return [word for word, _ in self._leaves()]

    def tags(self) -> list[str]:
        """The labels of the nodes right above the words, in order."""
        return [node.label for _, node in self._leaves()]

    def tagged(self) -> list[tuple[str, str]]:
        """(word, tag) pairs, in order."""
        return [(word, node.label) for word, node in self._leaves()]

    def spans(self) -> list[tuple[str, int, int]]:
        """(label, first word, after the last) of every node but the tags, parents first."""
        found, n_words, stack = [], 0, [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                n_words += 1
            elif isinstance(node, list):  # all below this node is done
                node[2] = n_words
            elif node.is_tag:
                n_words += 1
            else:
                found.append([node.label, n_words, 0])
                stack.append(found[-1])
                stack.extend(reversed(node.children))
        return [tuple(span) for span in found]

    def _leaves(self):
        stack = [(self, None)]
        while stack:
            node, parent = stack.pop()
            if isinstance(node, str):
                yield node, parent
            else:
                stack.extend((child, node) for child in reversed(node.children))

    # Other libraries.

    def to_nltk(self) -> Any:
        """The same as an `nltk.Tree`; needs NLTK."""
        from nltk import Tree as NltkTree

        return self.rebuild(lambda node, children: NltkTree(node.label, children))

    @staticmethod
    def from_nltk(tree: Any) -> Tree:
        """The same as an `nltk.Tree`."""
        return _built(tree, list, lambda node, children: Tree(node.label(), children))

    def rebuild(self, make: Any) -> Any:
        """Made anew from the leaves up: make(node, children) for every tree in it; words stay."""
        return _built(self, lambda node: node.children, make)

    # Values.

    def __eq__(self, other):
        if not isinstance(other, Tree):
            return NotImplemented
        stack = [(self, other)]
        while stack:
            a, b = stack.pop()
            if a is b:
                continue
            if isinstance(a, str) or isinstance(b, str):
                if a != b:
                    return False
            elif a.label != b.label or len(a.children) != len(b.children):
                return False
            else:
                stack.extend(zip(a.children, b.children, strict=True))
        return True

    def __hash__(self):
        return hash((self.label, len(self.children), tuple(self.words())))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        """Pickled flat: nodes in preorder, a word as it is, a tree as (label, number of children)."""
        flat, stack = [], [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                flat.append(node)
            else:
                flat.append((node.label, len(node.children)))
                stack.extend(reversed(node.children))
        return _unpickled, (flat,)


_set_label, _set_children = Tree.label.__set__, Tree.children.__set__


def new_tree(label, children) -> Tree:
    """A Tree without the checks: children is a tuple of trees and words, not empty."""
    tree = Tree.__new__(Tree)
    _set_label(tree, label)
    _set_children(tree, children)
    return tree


def _built(tree, children_of, make):
    """make(node, children) of every node from the leaves up; words stay."""
    order, stack = [], [tree]
    while stack:
        node = stack.pop()
        order.append(node)
        if not isinstance(node, str):
            stack.extend(children_of(node))
    done = []
    for node in reversed(order):  # children before parents, left before right
        if isinstance(node, str):
            done.append(node)
        else:
            n = len(children_of(node))
            done[len(done) - n :] = [make(node, done[len(done) - n :])]
    return done[0]


def _unpickled(flat) -> Tree:
    done = []
    for item in reversed(flat):  # the first child ends up last on the stack
        if isinstance(item, str):
            done.append(item)
        else:
            label, n = item
            children = tuple(reversed(done[len(done) - n :]))
            del done[len(done) - n :]
            done.append(new_tree(label, children))
    return done[0]


def _pieces(tree, separator):
    """The text of brackets in pieces; separator(depth, child) stands before each child."""
    stack = [(tree, 0)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, tuple):
            yield item[0]
        elif isinstance(item, str):
            yield _safe(item)
        else:
            yield "(" + _safe(str(item.label))
            stack.append(((")",), 0))
            for child in reversed(item.children):
                stack.append((child, depth + 1))
                stack.append(((separator(depth + 1, child),), 0))


def _safe(text):
    if not _UNSAFE.search(text):
        return text
    return _UNSAFE.sub(lambda match: _BRACKETS.get(match.group(), "_"), text)

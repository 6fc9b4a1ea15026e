"""Trees from text of brackets, such as (S (NP (NN time)) (VP (VBZ flies))).

A quick pass without positions reads what is sound; where something is not, a second one finds the place.
"""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager

from ..errors import FormatError
from .clean import Cleaner
from .tree import Tree

#: What a bracket without a label around several trees is called.
TOP = "TOP"

# A word with its tag in one piece, or an opening bracket with its label, or a closing one, or other text.
_TOKEN = re.compile(r"\(\s*([^\s()]+)\s+([^\s()]+)\s*\)|\(\s*([^\s()]*)|(\))|([^\s()]+)")


def parse_one(text) -> Tree:
    """The one tree in a text; see Tree.parse."""
    trees = parse_all(text, "the text")
    if len(trees) != 1:
        raise FormatError(f"the text holds {len(trees)} trees, expected 1; read several with read_trees.")
    return trees[0]


def parse_all(text, path, cleaner=None) -> list[Tree]:
    """All trees in a text, cleaned on the way; those of which nothing is left are left out.

    A bracket without a label around a tree is left out, around several it is TOP.
    """
    cleaner = cleaner or Cleaner(functions=False, traces=False, unaries=False, tags=False)
    with _no_garbage_collection():
        trees = _quick(text, cleaner)
    if trees is None:
        raise FormatError(f"{path}, {_what_is_wrong(text)}")
    return [tree for tree in trees if tree is not None]


@contextmanager
def _no_garbage_collection():
    """Many trees and no garbage: collecting would take more time than reading."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _quick(text, cleaner):
    """The trees, None for those that are cleaned away; or None where the text is not sound."""
    leaf, node, label_of = cleaner.leaf, cleaner.node, cleaner.label
    trees = []
    open_labels, open_children, children = [], [], None
    for tag, word, label, closing, other in _TOKEN.findall(text):
        if tag:
            child = leaf(tag, word)
        elif closing:
            if not children:
                return None
            name, siblings = open_labels.pop(), open_children.pop()
            if name:
                child = node(name, children)
            elif siblings is not None or any(isinstance(child, str) for child in children):
                return None
            else:
                child = children[0] if len(children) == 1 else node(TOP, children)
            children = siblings
        elif other:
            if children is None:
                return None
            child = other
        else:
            open_labels.append(label_of(label))
            open_children.append(children)
            children = []
            continue
        (trees if children is None else children).append(child)
    return None if open_children else trees


def _what_is_wrong(text):
    """Line and sentence of the first thing that is not sound."""
    opened = []  # [line, label, number of children] of each open bracket
    line, counted = 1, 0
    for match in _TOKEN.finditer(text):
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        _, _, label, closing, other = match.groups()
        problem = _problem(opened, closing, other)
        if problem:
            begin = opened[0][0] if opened else line
            hint = f" (the tree begins in line {begin}: is it closed?)" if begin < line else ""
            return f"line {line}: {problem}{hint}."
        if closing:
            opened.pop()
            continue
        if opened:
            opened[-1][2] += 1
        if label is not None:
            opened.append([line, label, 0])
    return f"line {opened[0][0]}: the tree that begins here lacks {len(opened)} closing brackets."


def _problem(opened, closing, other):
    """What is wrong with a closing bracket or a piece of text here; None for nothing."""
    if not opened:
        if closing:
            return "a closing bracket has no opening one; mend the tree before it"
        return f"{other!r} is outside of any tree; expected a tree, such as (S (NN word))" if other else None
    _, label, n_children = opened[-1]
    if closing and not n_children:
        return f"the bracket {label!r} is empty; expected a label and a word or trees in it"
    if closing and not label and len(opened) > 1:
        return "a bracket has no label; only the outermost bracket of a tree may lack one"
    if other and not label:
        return f"{other!r} follows a bracket without a label; expected a label before it"
    return None

"""Trees as parsers learn them: without function tags, traces, and nodes that say nothing."""

from __future__ import annotations

import re

from .tree import Tree, new_tree

#: The tag of what is not written: traces and the like.
NONE = "-NONE-"

_BASE = re.compile(r"[^-=|]+")


def base_label(label) -> str:
    """The label without function tags, indices and second choices: NP-SBJ-1 -> NP; -LRB- stays.

    >>> [base_label(label) for label in ("NP-SBJ-1", "PP-LOC=2", "ADVP|PRT", "-LRB-", "-", "HYPH")]
    ['NP', 'PP', 'ADVP', '-LRB-', '-', 'HYPH']
    """
    found = _BASE.match(label)  # none where the label begins with a mark, as -LRB- does
    return found.group() if found else label


class Cleaner:
    """What to make of labels and children, remembered for words that come again."""

    def __init__(self, *, functions=True, traces=True, unaries=True, tags=True):
        self.functions, self.traces, self.unaries, self.tags = functions, traces, unaries, tags
        self._labels, self._leaves = {}, {}

    def label(self, label):
        """The label as it is to be."""
        found = self._labels.get(label)
        if found is None:
            found = self._labels[label] = base_label(label) if self.functions else label
        return found

    def leaf(self, tag, word):
        """The tagged word, None where it is to go."""
        key = tag, word
        if key not in self._leaves:
            gone = self.traces and tag == NONE
            self._leaves[key] = None if gone else new_tree(self.label(tag), (word,))
        return self._leaves[key]

    def node(self, label, children):
        """The tree of a label that `label` gave; None among the children are those that went."""
        if None in children:
            children = [child for child in children if child is not None]
            if not children:
                return None
        if len(children) == 1:
            only = children[0]
            if self.unaries and not isinstance(only, str) and only.label == label:
                return only
        elif self.tags:
            children = [new_tree(label, (c,)) if isinstance(c, str) else c for c in children]
        return new_tree(label, tuple(children))


def clean_tree(tree, *, functions=True, traces=True, unaries=True, tags=True) -> Tree | None:
    """The tree without what is asked to go; None where no word is left.

    functions   labels lose function tags and indices, see base_label
    traces      words tagged -NONE- go, and the nodes that are then empty
    unaries     X over X alone becomes one X
    tags        words with siblings get a tag of their own, the label of their parent

    >>> tree = Tree.parse("(S (NP-SBJ (-NONE- *)) (VP (VP (VB go))))")
    >>> str(clean_tree(tree)), str(clean_tree(tree, traces=False, unaries=False))
    ('(S (VP (VB go)))', '(S (NP (-NONE- *)) (VP (VP (VB go))))')
    """
    cleaner = Cleaner(functions=functions, traces=traces, unaries=unaries, tags=tags)

    def make(node, children):
        if node.is_tag:
            return cleaner.leaf(node.label, node.children[0])
        return cleaner.node(cleaner.label(node.label), children)

    return tree.rebuild(make)

"""Trees as three numbers a span, and back; see Grammar.encode for what they are."""

from __future__ import annotations

import numpy as np

from ...errors import OneslackError
from ...trees.tree import new_tree
from .binarise import ROOT, Symbol, binarise

#: Above every tree; number 0 of every grammar.
ROOT_SYMBOL = Symbol("<root>", ROOT)


class OutsideGrammar(OneslackError):
    """A tree that the rules of the grammar cannot make."""


def spans_of(tree):
    """Of a binarised tree, a list for each span, parents first, left before right:

    [symbols of the chain above, the topmost first; the node below it; where it splits, -1 for a word].
    """
    spans, n_words = [], 0
    stack = [(tree, [ROOT_SYMBOL], None)]
    while stack:
        node, chain, split_of = stack.pop()
        if split_of is not None:
            split_of[2] = n_words  # this is a right child: the words before it are its sibling's
        while len(node.children) == 1 and not isinstance(node.children[0], str):
            chain.append(node.label)
            node = node.children[0]
        span = [chain, node, -1]
        spans.append(span)
        if len(node.children) == 1:
            n_words += 1
        else:
            left, right = node.children
            stack.append((right, [], span))
            stack.append((left, [], None))
    return spans


def encode(grammar, tree):
    """See Grammar.encode."""
    numbers = grammar.symbol_numbers
    spans = spans_of(binarise(tree, grammar.direction, grammar.horizontal, grammar.vertical))
    classes = iter(grammar.words.of_sentence(tree.words()))
    out = []
    for chain, node, split in spans:
        symbol = numbers.get(node.label)
        if split < 0:
            rule = grammar.lexical_numbers.get((next(classes), symbol))
        else:
            rule = grammar.binary_numbers.get(
                (symbol, *(numbers.get(child.label) for child in node.children))
            )
        if rule is None:
            raise OutsideGrammar(f"the grammar has no rule {_rule_text(node)}")
        out += (rule, split, _chain_number(grammar, chain, node.label))
    return np.array(out, dtype=np.int32)


def _chain_number(grammar, chain, bottom):
    if not chain:
        return -1
    path = (*chain, bottom)
    found = grammar.chain_numbers.get(tuple(grammar.symbol_numbers.get(symbol) for symbol in path))
    if found is None:
        raise OutsideGrammar(f"the grammar has no chain of rules {' -> '.join(map(str, path))}")
    return found


def _rule_text(node):
    if isinstance(node.children[0], str):
        return f"{node.label} -> {node.children[0]!r} (a tag that words of its class never had)"
    return f"{node.label} -> {' '.join(str(child.label) for child in node.children)}"


def decode(grammar, flat, sentence):
    """See Grammar.decode."""
    words = [token if isinstance(token, str) else token[0] for token in sentence]
    spans = np.asarray(flat).reshape(-1, 3).tolist()
    if len(spans) != 2 * len(words) - 1:
        raise ValueError(f"a tree over {len(words)} words has {2 * len(words) - 1} spans; got {len(spans)}")
    done = []  # for each span its trees: those of a part are spliced into its parent
    for rule, split, chain in reversed(spans):
        if split < 0:
            trees = (new_tree(grammar.symbols[grammar.lexical_tag[rule]].label, (words.pop(),)),)
        else:
            trees = _wrapped(grammar, grammar.binary_parent[rule], done.pop() + done.pop())
        if chain >= 0:
            rules = grammar.chain_rules[grammar.chain_ptr[chain] : grammar.chain_ptr[chain + 1]]
            for unary in reversed(rules.tolist()):
                trees = _wrapped(grammar, grammar.unary_parent[unary], trees)
        done.append(trees)
    return done[0][0]


def _wrapped(grammar, symbol, trees):
    label = grammar.label_of[symbol]
    return trees if label < 0 else (new_tree(grammar.labels[label], trees),)

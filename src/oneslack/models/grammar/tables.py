"""A grammar as the compiled parser sees it: rules sorted by what is looked up."""

from __future__ import annotations

import numpy as np

from .binarise import PART, PHRASE, TAG


def score_labels(grammar):
    """((S,) label of each symbol, labels as (kind, name)): symbols of one label share loss and span features.

    Annotation does not count.  The parts of binarised NPs have one label together, as all phrases NP have.
    """
    numbers = {}
    for kind in (PHRASE, PART, TAG):
        for symbol in sorted(grammar.symbols):
            if symbol.kind == kind:
                numbers.setdefault((kind, symbol.label), len(numbers))
    for symbol in grammar.symbols:
        numbers.setdefault((symbol.kind, symbol.label), len(numbers))
    label = np.array([numbers[symbol.kind, symbol.label] for symbol in grammar.symbols], np.int32)
    return label, list(numbers)


def compiled_rules(grammar):
    """The Rules (see _jit/cky.py) of a Grammar."""
    from ..._jit.cky import Rules

    S, B = grammar.n_symbols, grammar.n_binary
    parent, left, right = grammar.binary_parent, grammar.binary_left, grammar.binary_right
    as_left, as_right = _as_children(left, S), _as_children(right, S)
    a, b = as_left[left], as_right[right]
    by_pair = np.lexsort((parent, b, a))
    new_pair = np.ones(B, bool)
    new_pair[1:] = (np.diff(a[by_pair]) != 0) | (np.diff(b[by_pair]) != 0)
    first = np.flatnonzero(new_pair)
    label, labels = score_labels(grammar)
    chain_label, chain_again = _labels_of_chains(grammar, label)
    tables = {
        "as_left": as_left,
        "as_right": as_right,
        "left_ptr": _ends(a[by_pair][first], len(np.unique(left))),
        "pair_right": b[by_pair][first],
        "pair_ptr": np.append(first, B),
        "pair_parent": parent[by_pair],
        "pair_rule": by_pair,
        "parent_ptr": _ends(parent, S),
        "parent_rule": np.argsort(parent, kind="stable"),
        "rule_parent": parent,
        "rule_left": left,
        "rule_right": right,
        "chain_parent": grammar.chain_parent,
        "chain_child": grammar.chain_child,
        "chain_ptr": grammar.chain_ptr,
        "chain_rule": grammar.chain_rules,
        "chain_label": chain_label,
        "chain_again": chain_again,
        "above_ptr": _ends(grammar.chain_parent, S),
        "above_chain": np.argsort(grammar.chain_parent, kind="stable"),
        "lexical_ptr": grammar.lexical_ptr,
        "lexical_tag": grammar.lexical_tag,
        "label": label,
        "counted": [kind == PHRASE for kind, _ in labels],
        "roots": grammar.roots,
    }
    block, places = _one_block(tables)
    return Rules(
        at=block,
        n_symbols=S,
        n_left=len(np.unique(left)),
        n_right=len(np.unique(right)),
        n_labels=len(labels),
        n_binary=B,
        n_unary=grammar.n_unary,
        n_chains=grammar.n_chains,
        n_lexical=grammar.n_lexical,
        n_roots=len(grammar.roots),
        **places,
    )


def _one_block(tables):
    """(int64 array of all tables one after the other, where each begins)."""
    sizes = [len(table) for table in tables.values()]
    begin = np.cumsum([0, *sizes[:-1]]).tolist()
    return np.concatenate(list(tables.values())).astype(np.int64), dict(zip(tables, begin, strict=True))


def _as_children(symbols, n_symbols):
    """(S,): numbers 0, 1 ... of the symbols that occur, -1 for others."""
    used = np.unique(symbols)
    out = np.full(n_symbols, -1, np.int32)
    out[used] = np.arange(len(used), dtype=np.int32)
    return out


def _ends(numbers, count):
    """(count + 1,): where each number begins once they are sorted."""
    return np.append(0, np.cumsum(np.bincount(numbers, minlength=count)))


def _labels_of_chains(grammar, label):
    """For each rule of each chain the label that it adds, and how often what is below it has the label."""
    added = label[grammar.unary_parent[grammar.chain_rules]].astype(np.int32)
    again = np.zeros(len(added), np.int32)
    child = label[grammar.chain_child]
    for c in range(grammar.n_chains):
        below = [child[c]]
        for q in range(grammar.chain_ptr[c + 1] - 1, grammar.chain_ptr[c] - 1, -1):
            again[q] = below.count(added[q])
            below.append(added[q])
    return added, again

"""Small random grammars: ambiguous, with cycles of unary rules, labels that repeat in a chain, dead ends."""

import numpy as np

from oneslack.models.grammar.binarise import PART, PHRASE, ROOT, TAG, Symbol
from oneslack.models.grammar.rules import Grammar
from oneslack.models.grammar.unknown import WordClasses


def random_grammar(seed, n_phrases=3, n_parts=1, n_tags=2, n_classes=3, n_rules=9, n_unary=4):
    rng = np.random.default_rng(seed)
    symbols = [Symbol("<root>", ROOT)]
    # Two phrases may share a label, as those annotated with different parents do.
    symbols += [Symbol("AB"[k % 2] if k < 3 else "C", PHRASE, (str(k),)) for k in range(n_phrases)]
    symbols += [Symbol("A", PART, (), (str(k),)) for k in range(n_parts)]
    symbols += [Symbol(f"t{k}", TAG) for k in range(n_tags)]
    phrases = np.arange(1, 1 + n_phrases)
    parts = np.arange(1 + n_phrases, 1 + n_phrases + n_parts)
    tags = np.arange(1 + n_phrases + n_parts, len(symbols))
    inner, all_but_root = np.concatenate([phrases, parts]), np.arange(1, len(symbols))
    binary = np.unique(
        [[rng.choice(inner), rng.choice(all_but_root), rng.choice(all_but_root)] for _ in range(n_rules)],
        axis=0,
    )
    pairs = {
        (int(rng.choice(phrases)), int(rng.choice(np.concatenate([phrases, tags])))) for _ in range(n_unary)
    }
    pairs = sorted(pair for pair in pairs if pair[0] != pair[1])
    pairs += [(0, int(p)) for p in rng.choice(phrases, size=2, replace=False)]
    chains = _chains(pairs, longest=3)
    classes = [
        sorted(rng.choice(tags, size=rng.integers(1, n_tags + 1), replace=False)) for _ in range(n_classes)
    ]
    sizes = [len(each) for each in classes]
    n_weights = len(binary) + len(pairs) + sum(sizes)
    return Grammar(
        symbols,
        *binary.T.astype(np.int32).copy(),
        *np.array(pairs, dtype=np.int32).reshape(-1, 2).T.copy(),
        np.cumsum([0, *(len(chain) for chain in chains)], dtype=np.int32),
        np.array([rule for chain in chains for rule in chain], dtype=np.int32),
        np.cumsum([0, *sizes], dtype=np.int32),
        np.concatenate(classes).astype(np.int32),
        rng.integers(0, 5, n_weights).astype(float),
        WordClasses({}, {}),
    )


def _chains(pairs, longest):
    """All paths of unary rules, topmost first, that visit no symbol twice."""
    found = []
    paths = [([r], {parent, child}) for r, (parent, child) in enumerate(pairs)]
    for _ in range(longest):
        found += [rules for rules, _ in paths]
        paths = [
            ([*rules, r], seen | {child})
            for rules, seen in paths
            for r, (parent, child) in enumerate(pairs)
            if parent == pairs[rules[-1]][1] and child not in seen
        ]
    return found


def random_sentence(grammar, rng, longest=5):
    """(m, 2) word classes; now and then a tag is given."""
    m = int(rng.integers(1, longest + 1))
    x = np.column_stack([rng.integers(0, grammar.n_classes, m), np.full(m, -1)]).astype(np.int32)
    if rng.random() < 0.3:
        t = int(rng.integers(m))
        x[t, 1] = rng.integers(grammar.lexical_ptr[x[t, 0]], grammar.lexical_ptr[x[t, 0] + 1])
    return x

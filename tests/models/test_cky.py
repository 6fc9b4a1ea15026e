"""The compiled parser against all trees of short sentences, listed by the definition."""

from collections import Counter

import numpy as np
import pytest
from random_grammar import random_grammar, random_sentence

from oneslack.data.rows import Shard
from oneslack.models.grammar import GrammarModel, SpanFeatures
from oneslack.models.grammar.listing import all_trees

GRAMMARS = 150
MOST_TREES = 400


def cases(seed, count=GRAMMARS):
    """(grammar, x, all trees, rng) for random grammars and sentences that have a tree."""
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        grammar = random_grammar(
            [seed, k],
            n_phrases=int(rng.integers(2, 5)),
            n_parts=int(rng.integers(1, 3)),
            n_tags=int(rng.integers(1, 4)),
            n_rules=int(rng.integers(8, 26)),
        )
        x = random_sentence(grammar, rng, longest=4)
        trees = all_trees(grammar, x)
        if 0 < len(trees) <= MOST_TREES:
            yield grammar, x, np.array(trees), rng


def draw_weights(model, rng):
    """Noise, or whole numbers, which make ties."""
    if rng.random() < 0.7:
        return rng.normal(size=model.n_params)
    return rng.integers(-1, 2, model.n_params).astype(float)


def draw_model(grammar, x, trees, rng, loss):
    """With span features of some of the trees, or without."""
    spans = None
    if rng.random() < 0.5:
        some = trees[rng.integers(len(trees), size=3)]
        spans = SpanFeatures.read(grammar, [x] * 3, list(some), min_count=1)
    return GrammarModel(grammar, loss, spans)


def nodes(grammar, tree):
    """(i, j, rule, split, chain, symbols from the lowest to the top) of each node, by recursion."""
    numbers = iter(np.asarray(tree).reshape(-1, 3).tolist())

    def walk(i, j):
        rule, split, chain = next(numbers)
        symbols = [grammar.lexical_tag[rule] if split < 0 else grammar.binary_parent[rule]]
        if chain >= 0:
            unary = grammar.chain_rules[grammar.chain_ptr[chain] : grammar.chain_ptr[chain + 1]]
            symbols += [grammar.unary_parent[rule] for rule in reversed(unary)]
        found = [(i, j, rule, split, chain, symbols)]
        return found + ([] if split < 0 else walk(i, split) + walk(split, j))

    return walk(0, (len(tree) + 3) // 6)


def rule_counts(grammar, tree):
    """psi of rules, by the definition."""
    psi = np.zeros(grammar.n_rules)
    for _, _, rule, split, chain, _ in nodes(grammar, tree):
        psi[rule if split >= 0 else grammar.n_binary + grammar.n_unary + rule] += 1
        if chain >= 0:
            for unary in grammar.chain_rules[grammar.chain_ptr[chain] : grammar.chain_ptr[chain + 1]]:
                psi[grammar.n_binary + unary] += 1
    return psi


def brackets(grammar, tree):
    return Counter(
        (i, j, grammar.symbols[symbol].label)
        for i, j, *_, symbols in nodes(grammar, tree)
        for symbol in symbols
        if grammar.label_of[symbol] >= 0
    )


def bracket_loss(grammar, y, z):
    one, other = brackets(grammar, y), brackets(grammar, z)
    return (one - other).total() + (other - one).total()


def features(model, x, trees):
    return np.array([model.joint_feature(x, tree).toarray().ravel() for tree in trees])


def test_features_and_losses_are_the_definition():
    repeated = 0
    for grammar, x, trees, rng in cases(0):
        y, some = trees[rng.integers(len(trees))], trees[rng.integers(len(trees), size=5)]
        model = GrammarModel(grammar)
        for z in some:
            assert np.array_equal(model.joint_feature(x, z).toarray().ravel(), rule_counts(grammar, z))
            assert model.loss(y, z) == bracket_loss(grammar, y, z)
            assert GrammarModel(grammar, "zero_one").loss(y, z) == (not np.array_equal(y, z))
            repeated += max(brackets(grammar, z).values(), default=0) > 1
    assert repeated > 5, "no tree has a bracket twice"


@pytest.mark.parametrize("loss", ["brackets", "zero_one"])
def test_best_and_worst_trees(loss):
    for grammar, x, trees, rng in cases(1):
        model = draw_model(grammar, x, trees, rng, loss)
        w, y = draw_weights(model, rng), trees[rng.integers(len(trees))]
        scores, psi_y = features(model, x, trees) @ w, features(model, x, [y])[0]
        best = model.decode(w, x)
        assert features(model, x, [best])[0] @ w == pytest.approx(scores.max(), abs=1e-9)
        data = model.pack([x], [y])
        z, found, leads = model.worst_batch(data, Shard(0, 1), w)
        psi = features(model, x, [z])[0]
        assert found[0] == model.loss(y, z)
        assert leads[0] == pytest.approx((psi_y - psi) @ w, abs=1e-9)
        losses = np.array([model.loss(y, tree) for tree in trees])
        assert found[0] + psi @ w == pytest.approx((losses + scores).max(), abs=1e-9)


def test_the_second_best_of_the_best():
    """The right tree is the best one: the answer must be the runner-up, unless that is far behind."""
    found = 0
    for grammar, x, trees, rng in cases(2):
        model = draw_model(grammar, x, trees, rng, "zero_one")
        psi = features(model, x, trees)
        w = 0.1 * rng.normal(size=model.n_params)
        y = trees[np.argmax(psi @ w)]
        z, losses, _ = model.worst_batch(model.pack([x], [y]), Shard(0, 1), w)
        second = np.sort(psi @ w)[-2:][0] if len(trees) > 1 else -np.inf
        if (psi @ w).max() > 1 + second:
            assert losses[0] == 0
            assert np.array_equal(z, y)
            continue
        found += 1
        assert losses[0] == 1
        assert features(model, x, [z])[0] @ w == pytest.approx(second, abs=1e-9)
    assert found > 30


def test_the_k_best():
    for grammar, x, trees, rng in cases(3):
        model = draw_model(grammar, x, trees, rng, "brackets")
        w, k = draw_weights(model, rng), int(rng.integers(1, 40))
        found, scores = model.decode_topk(w, x, k)
        expected = np.sort(features(model, x, trees) @ w)[::-1][:k]
        assert scores == pytest.approx(expected, abs=1e-9)
        assert features(model, x, found) @ w == pytest.approx(scores, abs=1e-9)
        assert len({tree.tobytes() for tree in found}) == len(found)


def test_every_tree_is_listed_when_asked_for_all():
    for grammar, x, trees, rng in cases(4, count=40):
        model = GrammarModel(grammar)
        found, _ = model.decode_topk(draw_weights(model, rng), x, MOST_TREES + 1)
        assert {tree.tobytes() for tree in found} == {tree.tobytes() for tree in trees}


def test_sentences_without_a_tree():
    tried = 0
    for k in range(60):
        rng = np.random.default_rng(k)
        grammar = random_grammar(k, n_rules=5)
        x = random_sentence(grammar, rng, longest=4)
        if all_trees(grammar, x):
            continue
        tried += 1
        model = GrammarModel(grammar)
        w = np.zeros(model.n_params)
        with pytest.raises(ValueError, match="sentence 0: the grammar has no tree over these words"):
            model.decode(w, x)
        with pytest.raises(ValueError, match="sentence 0: the grammar has no tree over these words"):
            model.decode_topk(w, x, 3)
        assert (model.predict_batch(model.pack([x], None), Shard(0, 1), w) == -1).all()
    assert tried > 10


def test_a_tag_that_fits_nothing():
    grammar = random_grammar(0)
    x = np.array([[0, -2]])
    assert not all_trees(grammar, x)
    with pytest.raises(ValueError, match="no tree"):
        GrammarModel(grammar).decode(np.zeros(grammar.n_rules), x)


def span_tuples(grammar, x, tree):
    """What the features of spans should tell apart, written down once more."""
    counts = grammar.counts[grammar.n_binary + grammar.n_unary :]
    n = len(x)

    def tag(t):
        if x[t, 1] >= 0:
            return int(grammar.lexical_tag[x[t, 1]])
        first, last = grammar.lexical_ptr[x[t, 0] : x[t, 0] + 2]
        most = max(range(first, last), key=lambda r: (counts[r], r))
        return int(grammar.lexical_tag[most])

    def at(t, of):
        return of(t) if 0 <= t < n else "outside"

    found = Counter()
    for i, j, *_, symbols in nodes(grammar, tree):
        before, first, last, after = (at(t, lambda t: int(x[t, 0])) for t in (i - 1, i, j - 1, j))
        b, f, e, a = (at(t, tag) for t in (i - 1, i, j - 1, j))
        m, one = j - i, j - i == 1
        length = m if m <= 5 else 6 if m <= 10 else 7 if m <= 20 else 8
        keys = [
            *((name, word, one) for name, word in zip("flba", (first, last, before, after), strict=True)),
            ("left", before, first), ("right", last, after), ("tags", f, e), ("around", b, a),
            ("length", length), ("left tags", b, f, e), ("right tags", f, e, a),
        ]  # fmt: skip
        for symbol in symbols:
            label = grammar.symbols[symbol].kind, grammar.symbols[symbol].label
            found.update((label, key) for key in keys)
    return found


def test_span_features_tell_apart_what_they_should():
    """Products of psi count the features that two trees share."""
    for grammar, x, trees, rng in cases(5, count=60):
        some = trees[rng.integers(len(trees), size=4)]
        model = GrammarModel(
            grammar, "brackets", SpanFeatures.read(grammar, [x] * 4, list(some), min_count=1)
        )
        psi = features(model, x, some)[:, grammar.n_rules :]
        tuples = [span_tuples(grammar, x, tree) for tree in some]
        expected = [[sum(a[key] * b[key] for key in a) for b in tuples] for a in tuples]
        assert np.array_equal(psi @ psi.T, expected)


def test_rare_span_features_are_left_out():
    grammar, x, trees, _ = next(cases(6))
    tuples = [span_tuples(grammar, x, tree) for tree in trees[:3]]
    total = sum(tuples, Counter())
    for least in (1, 2, 4):
        spans = SpanFeatures.read(grammar, [x] * len(tuples), list(trees[:3]), min_count=least)
        assert spans.n == sum(count >= least for count in total.values())

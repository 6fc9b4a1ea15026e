"""Grammars read off trees: binarising and back, encoding and back, rules, word classes, weights."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_trees import comb, tagged_trees, tower

from oneslack.models.grammar.binarise import PART, PHRASE, TAG, Symbol, binarise
from oneslack.models.grammar.coding import OutsideGrammar
from oneslack.models.grammar.flat import flat_tree, top_label
from oneslack.models.grammar.reading import read_grammar, read_grammar_and_trees
from oneslack.models.grammar.rules import NO_TAG, UNKNOWN_TAG
from oneslack.models.grammar.unknown import ANY, ENOUGH, signatures, word_classes
from oneslack.trees import Tree
from oneslack.trees.tree import new_tree


def unbinarise(tree):
    """The tree that was binarised."""

    def undo(node, children):
        # Parts come as tuples of children, to be spliced into their parent.
        spliced = ()
        for child in children:
            spliced += child if isinstance(child, tuple) else (child,)
        return spliced if node.label.kind == PART else new_tree(node.label.label, spliced)

    return tree.rebuild(undo)


orders = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(["right", "left"]),
        "horizontal": st.sampled_from([None, 0, 1, 2]),
        "vertical": st.sampled_from([1, 2, 3]),
    }
)
banks = st.lists(tagged_trees, min_size=1, max_size=5)

BANK = [
    Tree.parse(text)
    for text in (
        "(S (NP (DT the) (JJ big) (NN dog)) (VP (VBD saw) (NP (DT the) (NN cat))) (. .))",
        "(S (NP (NN time)) (VP (VBZ flies)) (. .))",
        "(S (VP (VB go)) (. .))",
        "(NP (NN time))",
        "(S (S (VP (VB go))) (CC and) (S (NP (PRP you)) (VP (VBP see))) (. .))",
    )
]


# Binarising.


@given(tagged_trees, orders)
def test_binarising_is_undone_exactly(tree, how):
    binary = binarise(tree, **how)
    assert unbinarise(binary) == tree
    assert max(len(node.children) for node in binary.nodes()) <= 2
    assert binary.words() == tree.words()


@pytest.mark.parametrize("how", [{}, {"direction": "left", "horizontal": 1, "vertical": 2}])
@pytest.mark.parametrize("deep", ["right", "left", "up"])
def test_depth_is_no_limit(deep, how):
    tree = tower(5000) if deep == "up" else comb(5000, right=deep == "right")
    assert unbinarise(binarise(tree, **how)) == tree


def names(tree, **how):
    return str(binarise(tree, **how))


def test_names_of_parts():
    tree = Tree.parse("(A (B b) (C c) (D d) (E e))")
    assert names(tree) == "(A (B b) (A|<C-D-E> (C c) (A|<D-E> (D d) (E e))))"
    assert names(tree, horizontal=1) == "(A (B b) (A|<C> (C c) (A|<D> (D d) (E e))))"
    assert names(tree, horizontal=0) == "(A (B b) (A|<> (C c) (A|<> (D d) (E e))))"
    assert names(tree, direction="left") == "(A (A|<B-C-D> (A|<B-C> (B b) (C c)) (D d)) (E e))"
    assert names(tree, direction="left", horizontal=1) == "(A (A|<D> (A|<C> (B b) (C c)) (D d)) (E e))"


def test_names_of_ancestors():
    tree = Tree.parse("(S (NP (NP (NN a) (NN b) (NN c)) (NN d)))")
    assert names(tree) == "(S (NP (NP (NN a) (NP|<NN-NN> (NN b) (NN c))) (NN d)))"
    assert names(tree, vertical=2) == "(S (NP^S (NP^NP (NN a) (NP^NP|<NN-NN> (NN b) (NN c))) (NN d)))"
    assert names(tree, vertical=3).startswith("(S (NP^S (NP^NP^S")


def test_a_label_that_looks_like_a_part_is_none():
    tree = Tree.parse("(A|<C-D> (B b) (C c) (D d))")
    kinds = [node.label.kind for node in binarise(tree).nodes()]
    assert kinds == [PHRASE, TAG, PART, TAG, TAG]


@pytest.mark.parametrize("text", ["(NP the (NN cat))", "(NP (NN cat) s)", "(NP New York)"])
def test_every_word_needs_a_tag(text):
    with pytest.raises(ValueError, match="every word needs a tag of its own; 'NP' holds"):
        binarise(Tree.parse(text))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"direction": "up"}, '"right" or "left"; got \'up\''),
        ({"horizontal": -1}, "horizontal must be None for all children, or >= 0; got -1"),
        ({"vertical": 0}, "vertical must be >= 1"),
    ],
)
def test_orders_are_checked(how, message):
    with pytest.raises(ValueError, match=message):
        binarise(BANK[0], **how)


# Encoding.


@given(banks, orders, st.integers(1, 3))
def test_trees_are_encoded_and_decoded_exactly(trees, how, min_count):
    grammar, outputs = read_grammar_and_trees(trees, min_count=min_count, **how)
    for i, tree in enumerate(trees):
        assert outputs[i].shape == (3 * (2 * len(tree.words()) - 1),)
        assert grammar.decode(outputs[i], tree.words()) == tree
        np.testing.assert_array_equal(grammar.encode(tree), outputs[i])


def check_grammar(grammar):
    """What holds for all grammars."""
    S = grammar.n_symbols
    rules = [f"binary_{name}" for name in ("parent", "left", "right")]
    for name in (*rules, "unary_parent", "unary_child", "lexical_tag"):
        numbers = getattr(grammar, name)
        assert numbers.dtype == np.int32
        assert ((numbers >= 0) & (numbers < S)).all()
    assert len(set(grammar.symbols)) == S
    assert len(grammar.binary_numbers) == grammar.n_binary
    assert len(grammar.chain_numbers) == grammar.n_chains
    assert len(grammar.lexical_numbers) == grammar.n_lexical
    assert grammar.roots.tolist() == [0]
    assert not np.isin([grammar.binary_left, grammar.binary_right], 0).any()
    assert (grammar.kinds[grammar.lexical_tag] == TAG).all()
    assert (np.diff(grammar.lexical_ptr) > 0).all()  # a word without a tag would have no tree
    assert grammar.n_classes == grammar.words.n
    for c in range(grammar.n_chains):
        rules = grammar.chain_rules[grammar.chain_ptr[c] : grammar.chain_ptr[c + 1]]
        assert (grammar.unary_child[rules[:-1]] == grammar.unary_parent[rules[1:]]).all()
        assert grammar.chain_parent[c] == grammar.unary_parent[rules[0]]
        assert grammar.chain_child[c] == grammar.unary_child[rules[-1]]


@given(banks, orders)
def test_counts_are_those_of_the_rules_in_the_trees(trees, how):
    """Counted by hand on the binarised trees: each rule of a chain counts, and the root above each tree."""
    grammar = read_grammar(trees, min_count=1, **how)
    check_grammar(grammar)
    numbers = grammar.symbol_numbers
    binary, unary, tags = {}, {}, {}
    for tree in trees:
        top = binarise(tree, **how)
        unary[0, numbers[top.label]] = unary.get((0, numbers[top.label]), 0) + 1
        for node in top.nodes():
            symbol = numbers[node.label]
            if node.is_tag:
                tags[symbol] = tags.get(symbol, 0) + 1
                continue
            children = tuple(numbers[child.label] for child in node.children)
            table = unary if len(children) == 1 else binary
            table[symbol, *children] = table.get((symbol, *children), 0) + 1
    of_binary, of_unary, of_lexical = np.split(
        grammar.counts, [grammar.n_binary, grammar.n_binary + grammar.n_unary]
    )
    found = dict(zip(grammar.binary_numbers, of_binary.tolist(), strict=True))
    assert found == binary
    pairs = zip(grammar.unary_parent.tolist(), grammar.unary_child.tolist(), strict=True)
    assert dict(zip(pairs, of_unary.tolist(), strict=True)) == unary
    totals = np.bincount(grammar.lexical_tag, weights=of_lexical, minlength=grammar.n_symbols)
    assert {s: totals[s] for s in tags} == tags


def test_what_a_small_grammar_looks_like():
    grammar = read_grammar(BANK, min_count=1, horizontal=1)
    assert str(grammar.symbols[0]) == "<root>"
    assert grammar.labels == ["NP", "S", "VP"]
    assert [grammar.labels[label] for label in grammar.label_of if label >= 0] == [
        str(symbol) for symbol in grammar.symbols if symbol.kind == PHRASE
    ]
    rules = {tuple(str(grammar.symbols[s]) for s in rule) for rule in grammar.binary_numbers}
    assert {("S", "NP", "S|<VP>"), ("S|<VP>", "VP", "."), ("NP|<JJ>", "JJ", "NN")} <= rules
    assert ("S", "VP", ".") in rules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP (NN time)) (VP (NN time)) (. .))", "no chain of rules VP -> NN"),
        ("(S (NP (NN time)) (NP (NN time)))", "no rule S -> NP NP"),
        ("(S (NP (VB time)) (VP (VBZ flies)) (. .))", "no rule VB -> 'time'"),
        ("(QP (NN time))", "no chain of rules <root> -> QP -> NN"),
        ("(S (NP (FOO time)) (VP (VBZ flies)) (. .))", "no rule FOO -> 'time'"),
    ],
)
def test_trees_outside_the_grammar_say_why(text, message):
    grammar = read_grammar(BANK, min_count=1)
    with pytest.raises(OutsideGrammar, match=message):
        grammar.encode(Tree.parse(text))


def test_decoding_needs_as_many_words():
    grammar, outputs = read_grammar_and_trees(BANK, min_count=1)
    with pytest.raises(ValueError, match="a tree over 2 words has 3 spans; got 13"):
        grammar.decode(outputs[0], ["a", "b"])


def test_longer_chains_on_request_visit_nothing_twice():
    trees = [Tree.parse(text) for text in ("(A (B (A (t c))))", "(B (C (A (t c))))")]
    seen = {("<root>", "A", "B", "A", "t"), ("<root>", "B", "C", "A", "t")}
    rules = {pair for chain in seen for pair in pairwise(chain)}
    for longest, some in ((1, ("B", "A")), (2, ("B", "A", "t")), (4, ("<root>", "A", "B", "C"))):
        grammar = read_grammar(trees, min_count=1, chain_length=longest)
        check_grammar(grammar)
        names = {tuple(str(grammar.symbols[s]) for s in chain) for chain in grammar.chain_numbers}
        paths = rules
        expected = set(seen)
        for _ in range(longest):
            expected |= paths
            paths = {(*a, b[1]) for a in paths for b in rules if a[-1] == b[0] and b[1] not in a}
        assert names == expected
        assert some in names


# Words.


def test_signatures_go_from_fine_to_coarse():
    assert signatures("walking", False) == ("aa:ing", "aa:ng", "aa")
    assert signatures("Walking", True)[0] == "^Aa:ing"
    assert signatures("Walking", False)[0] == "Aa:ing"
    assert signatures("1,234.5", False) == signatures("12%", False) == ("9",)
    assert signatures("--", False) == ("?",)
    assert signatures("IBM", False) == ("AA",)
    assert signatures("NATO", False) == ("AA:to", "AA")
    assert signatures("F-16s", False) == ("Aa9-:16s", "Aa9-:6s", "Aa9-", "Aa")
    assert signatures("a", False) == ("aa",)


def test_frequent_words_are_classes_and_rare_ones_share():
    sentences = [["the", f"{'abcdefgh'[k]}alking", "the"] for k in range(ENOUGH)] + [["x1y2"]]
    classes = word_classes(sentences, 2)
    assert list(classes.words) == ["the"]
    assert list(classes.shapes) == ["aa:ing"]
    assert classes.n == 3
    assert classes.of("the") == classes.of("The", first=True) == 2
    assert classes.of("talking") == classes.of("zalking") == 1
    assert classes.of("The") == classes.of("x1y2") == classes.of("unheard-of") == ANY


def test_fewer_words_go_to_the_coarser_class():
    endings = ["abcde", "fghij", "klmno", "pqrst", "uvwxy", "zabcz"]
    classes = word_classes([[word] for word in ["The", *endings]], 2)
    assert list(classes.shapes) == ["aa"]
    assert classes.of("other") == 1


some_words = st.text(st.sampled_from("aB1-ñ."), min_size=1, max_size=6)


@given(st.lists(st.lists(some_words, min_size=1, max_size=4), max_size=9), st.integers(1, 3))
def test_every_class_has_a_word_of_training(sentences, min_count):
    classes = word_classes(sentences, min_count)
    used = {number for words in sentences for number in classes.of_sentence(words)}
    assert used | {ANY} >= set(range(classes.n))


def test_tags_that_are_given():
    grammar = read_grammar(BANK, min_count=1)
    ids = grammar.word_ids(["time", ("flies", "VBZ"), ("flies", "NN"), ("unheard", "NN"), ("time", "FOO")])
    assert ids.dtype == np.int32
    classes, rules = ids.T.tolist()
    assert classes[0] == classes[4] == grammar.words.of("time")
    assert rules[0] == NO_TAG
    assert rules[4] == UNKNOWN_TAG
    tags = [str(grammar.symbols[grammar.lexical_tag[rule]]) for rule in rules[1:4]]
    assert tags == ["VBZ", "NN", "NN"]
    lo, hi = grammar.lexical_ptr[classes[1] : classes[1] + 2]
    assert lo <= rules[1] < hi
    assert rules[2] < grammar.lexical_ptr[ANY + 1]  # never seen so: the class of all words has every tag


# Weights.


def test_relative_frequencies_by_hand():
    grammar = read_grammar(BANK, min_count=1)
    w = np.exp(grammar.frequency_weights())
    parents = np.concatenate([grammar.binary_parent, grammar.unary_parent, grammar.lexical_tag])
    of = {}
    for rule, p in enumerate(w[: grammar.n_binary + grammar.n_unary]):
        of.setdefault(parents[rule], []).append(p)
    for shares in of.values():
        assert sum(shares) == pytest.approx(1.0)
    root = [w[grammar.n_binary + r] for r in range(grammar.n_unary) if grammar.unary_parent[r] == 0]
    assert sorted(root) == pytest.approx([0.2, 0.8])  # one NP, four S
    noun = grammar.symbol_numbers[Symbol("NN", TAG)]
    number = grammar.lexical_numbers[grammar.words.of("time"), noun]
    assert w[grammar.n_binary + grammar.n_unary + number] == pytest.approx(2 / 4)
    assert np.isfinite(np.log(w)).all()


def test_words_of_no_class_have_the_tags_of_rare_words():
    trees = [Tree.parse(f"(S (NN {'abcdefgh'[k]}1{k}z) (DT the))") for k in range(8)]
    trees += [Tree.parse("(S (NN rock) (DT the))")] * 3
    grammar = read_grammar(trees, min_count=2)
    w = grammar.frequency_weights()[grammar.n_binary + grammar.n_unary :]
    tags = [str(grammar.symbols[s]) for s in grammar.lexical_tag[: grammar.lexical_ptr[1]]]
    of_any = dict(zip(tags, np.exp(w[: len(tags)]), strict=True))
    assert of_any["NN"] == pytest.approx(0.01 * 8 / 11)
    assert of_any["DT"] == pytest.approx(1e-6)


# What has no tree.


def test_a_flat_tree():
    grammar = read_grammar(BANK, min_count=1)
    assert top_label(grammar) == "S"
    tree = flat_tree(grammar, ["time", ("time", "FOO"), "the"])
    assert str(tree) == "(S (NN time) (FOO time) (DT the))"


def test_a_flat_tree_where_trees_are_tags():
    grammar = read_grammar([Tree.parse("(NN a)"), Tree.parse("(VB b)")], min_count=1)
    assert flat_tree(grammar, ["a", "b"]).label == "FLAT"

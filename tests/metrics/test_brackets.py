"""Bracket scores against the definition, written out with lists of brackets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_trees import tagged_trees

from oneslack.metrics.brackets import PUNCTUATION, SAME, TOPS, bracket_f1, bracket_scores
from oneslack.trees import Tree

GOLD = Tree.parse("(TOP (S (NP (DT the) (NN cat)) (, ,) (VP (VBD sat) (PRT (RP down))) (. .)))")


def brackets_by_definition(tree, dropped):
    """A list of (label, words): words by their number, those that count."""
    found = []

    def walk(node, first):
        if node.is_tag:
            return first + 1
        last = first
        for child in node.children:
            last = walk(child, last)
        words = [t for t in range(first, last) if t not in dropped]
        if words and node.label not in TOPS:
            found.append((SAME.get(node.label, node.label), words))
        return last

    walk(tree, 0)
    return found


def crosses(a, b):
    a, b = set(a), set(b)
    return bool(a & b and a - b and b - a)


def scores_by_definition(trees, predicted):
    true = guessed = right = crossing = exact = 0
    for tree, guess in zip(trees, predicted, strict=True):
        dropped = {t for t, tag in enumerate(tree.tags()) if tag in PUNCTUATION}
        ours, theirs = (brackets_by_definition(one, dropped) for one in (tree, guess))
        left, matched = list(ours), 0
        for bracket in theirs:
            if bracket in left:
                left.remove(bracket)
                matched += 1
        crossing += sum(any(crosses(words, other) for _, other in ours) for _, words in theirs)
        exact += matched == len(ours) == len(theirs)
        true, guessed, right = true + len(ours), guessed + len(theirs), right + matched
    return true, guessed, right, crossing, exact


@st.composite
def pairs(draw):
    """Two trees over the same number of words; tags and words of the second do not matter to brackets."""
    tree = draw(tagged_trees)
    n = len(tree.words())
    other = draw(st.lists(tagged_trees, min_size=1, max_size=3))
    words = [leaf for one in other for leaf in one.words()]
    guess = Tree("S", other)
    if len(words) < n:
        guess = Tree("NP", [guess, *(Tree("NN", [f"w{k}"]) for k in range(n - len(words)))])
    while len(guess.words()) > n:
        guess = draw(tagged_trees)
        if len(guess.words()) > n:
            guess = tree
    if len(guess.words()) < n:
        guess = Tree("NP", [guess, *(Tree("NN", ["x"]) for _ in range(n - len(guess.words())))])
    return tree, guess


@given(st.lists(pairs(), max_size=3))
def test_counts_by_the_definition(examples):
    trees, predicted = [a for a, _ in examples], [b for _, b in examples]
    scores = bracket_scores(trees, predicted)
    true, guessed, right, crossing, exact = scores_by_definition(trees, predicted)
    assert scores.brackets == (true, guessed, right)
    assert (scores.n_crossing, scores.n_exact) == (crossing, exact)
    assert scores.n_trees == len(trees)
    assert scores.n_skipped == 0
    for k, total in enumerate((true, guessed, right)):
        assert sum(label[k] for label in scores.by_label.values()) == total
    assert bracket_f1(trees, predicted) == scores.f1


def test_an_example_by_hand():
    """One NP is missed, one PP is wrong, the PRT counts as ADVP; commas and points count nowhere."""
    guess = Tree.parse("(S (PP (DT the) (NN cat) (, ,)) (VP (VBD sat) (ADVP (NN down)) (. .)))")
    scores = bracket_scores([GOLD], [guess])
    assert scores.brackets == (4, 4, 3)
    assert scores.precision == scores.recall == scores.f1 == 0.75
    assert scores.by_label["ADVP"] == (1, 1, 1)
    assert scores.by_label["NP"] == (1, 0, 0)
    assert "PRT" not in scores.by_label
    assert "TOP" not in scores.by_label
    assert (scores.n_tags, scores.n_correct_tags) == (4, 3)
    assert scores.tag_accuracy == 0.75
    assert scores.exact == 0.0
    assert scores.crossing == 0.0


def test_a_phrase_twice_counts_twice():
    one, two = Tree.parse("(S (NP (NN a)))"), Tree.parse("(S (NP (NP (NN a))))")
    assert bracket_scores([one], [two]).brackets == (2, 3, 2)
    assert bracket_scores([two], [two]).brackets == (3, 3, 3)


def test_crossing_brackets():
    truth = Tree.parse("(S (NP (NN a) (NN b)) (NN c) (NN d))")
    guess = Tree.parse("(S (NN a) (NP (NN b) (NN c)) (NN d))")
    scores = bracket_scores([truth, truth], [guess, truth])
    assert (scores.n_crossing, scores.n_uncrossed, scores.crossing) == (1, 1, 0.5)


def test_the_truth_is_perfect():
    scores = bracket_scores([GOLD], [GOLD])
    assert scores.f1 == scores.precision == scores.recall == scores.exact == scores.tag_accuracy == 1.0


def test_what_cannot_be_compared_is_counted_as_skipped():
    other = Tree.parse("(S (NN one))")
    scores = bracket_scores([GOLD, GOLD, GOLD], [None, other, GOLD])
    assert (scores.n_trees, scores.n_skipped, scores.f1) == (1, 2, 1.0)


def test_nothing_to_compare():
    scores = bracket_scores([], [])
    assert scores.f1 == scores.exact == scores.tag_accuracy == 1.0


def test_as_many_predictions_as_trees():
    with pytest.raises(ValueError, match="there are 1 trees but 0 predictions"):
        bracket_scores([GOLD], [])


def test_other_rules_on_request():
    scores = bracket_scores([GOLD], [GOLD], punctuation=(), tops=(), same={})
    assert scores.n_tags == 6
    assert {"TOP", "PRT"} <= set(scores.by_label)

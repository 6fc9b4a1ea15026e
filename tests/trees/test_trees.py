"""Trees: text and back, values, spans against the definition, depth without limit, cleaning."""

import copy
import pickle
import sys
import types

import pytest
from hypothesis import given
from random_trees import any_trees, comb, leaves, tagged_trees, tower

from oneslack.trees import Tree, base_label, clean_tree

DEEP = 5000

TEXT = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (PRP it)))) (. .))"


def spans_by_definition(tree, first=0):
    """(spans, number of words), recursively."""
    found, n = [], 0
    for child in tree.children:
        if isinstance(child, str):
            n += 1
        else:
            below, m = spans_by_definition(child, first + n)
            found += below
            n += m
    return ([] if tree.is_tag else [(tree.label, first, first + n)]) + found, n


@given(any_trees)
def test_spans_and_leaves_by_the_definition(tree):
    spans, n = spans_by_definition(tree)
    assert tree.spans() == spans
    assert len(tree.words()) == len(tree.tags()) == n
    assert tree.tagged() == list(zip(tree.words(), tree.tags(), strict=True))


def plain(word):
    return {"(": "-LRB-", ")": "-RRB-"}.get(word, word)


@given(any_trees)
def test_text_and_back(tree):
    """Brackets inside words and labels are escaped; all else is as it was."""
    expected = [plain(word) for word in tree.words()]
    for text in (str(tree), tree.pretty()):
        again = Tree.parse(text)
        assert again.words() == expected
        assert again.spans() == tree.spans()
        assert again.tags() == tree.tags()
        assert str(again) == str(tree)


def test_words_and_spans_of_an_example():
    tree = Tree.parse(TEXT)
    assert str(tree) == TEXT
    assert tree.words() == ["the", "cat", "sat", "on", "it", "."]
    assert tree.tags() == ["DT", "NN", "VBD", "IN", "PRP", "."]
    assert tree.spans() == [("S", 0, 6), ("NP", 0, 2), ("VP", 2, 5), ("PP", 3, 5), ("NP", 4, 5)]
    assert [node.label for node in tree.nodes()][:4] == ["S", "NP", "DT", "NN"]
    assert tree.children[0] == Tree("NP", [Tree("DT", "the"), Tree("NN", "cat")])


def test_pretty_has_a_line_for_each_phrase():
    assert Tree.parse(TEXT).pretty().splitlines() == [
        "(S",
        "  (NP (DT the) (NN cat))",
        "  (VP (VBD sat)",
        "    (PP (IN on)",
        "      (NP (PRP it)))) (. .))",
    ]


def test_a_drawing():
    assert Tree.parse("(S (NP (DT a) (NN b)) word (VB c))").draw().splitlines() == [
        "S",
        "├─ NP",
        "│  ├─ DT a",
        "│  └─ NN b",
        "├─ word",
        "└─ VB c",
    ]


@given(tagged_trees, tagged_trees)
def test_equal_trees_are_equal_values(a, b):
    same = copy_of(a)
    assert same == a
    assert hash(same) == hash(a)
    assert (a == b) == (str(a) == str(b))
    assert pickle.loads(pickle.dumps(a)) == a
    assert copy.deepcopy(a) is copy.copy(a) is a
    assert a != str(a)


def copy_of(tree):
    return tree.rebuild(lambda node, children: Tree(node.label, children))


@pytest.mark.parametrize("kind", ["right", "left", "up"])
def test_depth_is_no_limit(kind):
    deep = tower(DEEP) if kind == "up" else comb(DEEP, right=kind == "right")
    assert sys.getrecursionlimit() < DEEP
    assert Tree.parse(str(deep)) == deep
    assert copy_of(deep) == deep
    assert hash(copy_of(deep)) == hash(deep)
    assert pickle.loads(pickle.dumps(deep)) == deep
    assert len(deep.spans()) == DEEP
    assert len(deep.tags()) == len(deep.words())
    assert clean_tree(deep).words() == deep.words()


def test_a_tree_does_not_change():
    tree = Tree.parse(TEXT)
    with pytest.raises(AttributeError, match="does not change"):
        tree.label = "X"
    with pytest.raises((AttributeError, TypeError)):
        del tree.label
    with pytest.raises(AttributeError):
        tree.other = 1


@pytest.mark.parametrize(
    ("children", "error", "message"),
    [([], ValueError, "needs a child: 'NP' has none"), ([3], TypeError, "trees or words; 'NP' has 3")],
)
def test_children_are_checked(children, error, message):
    with pytest.raises(error, match=message):
        Tree("NP", children)


# NLTK: its trees are lists with a label(); this stands for it where it is not installed.


class ListTree(list):
    def __init__(self, label, children):
        super().__init__(children)
        self._label = label

    def label(self):
        return self._label


@given(any_trees)
def test_nltk_trees_and_back(tree):
    module = types.SimpleNamespace(Tree=ListTree)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "nltk", module)
        other = tree.to_nltk()
    assert isinstance(other, ListTree)
    assert other.label() == tree.label
    assert Tree.from_nltk(other) == tree


def test_the_real_nltk_understands_the_trees():
    nltk = pytest.importorskip("nltk")
    tree = Tree.parse(TEXT)
    other = tree.to_nltk()
    assert other == nltk.Tree.fromstring(TEXT)
    assert Tree.from_nltk(other) == tree


# Cleaning.


@pytest.mark.parametrize(
    ("label", "base"),
    [
        ("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("PP-LOC=1", "PP"), ("ADVP|PRT", "ADVP"), ("S", "S"),
        ("-LRB-", "-LRB-"), ("-NONE-", "-NONE-"), ("-", "-"), ("", ""), ("PRP$", "PRP$"), ("``", "``"),
    ],
)  # fmt: skip
def test_base_labels(label, base):
    assert base_label(label) == base


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(S (NP-SBJ-1 (PRP I)) (VP (VBP go)))", "(S (NP (PRP I)) (VP (VBP go)))"),
        ("(S (NP (-NONE- *)) (VP (VB go)))", "(S (VP (VB go)))"),
        ("(S (SBAR (WHNP (-NONE- 0)) (S (NP (-NONE- *T*-1)))) (VP (VB go)))", "(S (VP (VB go)))"),
        ("(NP (NP (NP (NN a))))", "(NP (NN a))"),
        ("(NP-1 (NP-SBJ (NN a) (NN b)))", "(NP (NN a) (NN b))"),
        ("(S (NP (S (VP (VB go)))))", "(S (NP (S (VP (VB go)))))"),
        ("(S (VP (VB go) (S (-NONE- *))))", "(S (VP (VB go)))"),
        ("(NN (NN a))", "(NN a)"),
        ("(NP the (NN cat))", "(NP (NP the) (NN cat))"),
        ("(NP (NN New York))", "(NP (NN (NN New) (NN York)))"),
    ],
)
def test_what_cleaning_does(text, expected):
    assert str(clean_tree(Tree.parse(text))) == expected


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        ("functions", "(S-1 (X (-NONE- *)) (S-1 (S-1 (NN a))))", "(S-1 (NN a))"),
        ("traces", "(S-1 (S (-NONE- *)) (S (NN a)))", "(S (S (-NONE- *)) (S (NN a)))"),
        ("unaries", "(S-1 (S-2 (X (-NONE- *)) (S (NN a))))", "(S (S (S (NN a))))"),
        ("tags", "(S-1 a (S (S (NN b))))", "(S a (S (NN b)))"),
    ],
)
def test_each_way_of_cleaning_can_be_kept_out(option, text, expected):
    assert str(clean_tree(Tree.parse(text), **{option: False})) == expected


def test_nothing_is_left_of_traces():
    assert clean_tree(Tree.parse("(S (NP (-NONE- *)))")) is None


@given(tagged_trees)
def test_cleaning_keeps_words_and_is_done_at_once(tree):
    cleaned = clean_tree(tree)
    assert cleaned.words() == tree.words()
    assert clean_tree(cleaned) == cleaned
    assert clean_tree(tree, functions=False, traces=False, unaries=False, tags=False) == tree


@given(leaves)
def test_a_tagged_word_is_a_tree(leaf):
    assert leaf.is_tag
    assert leaf.spans() == []
    assert leaf.tags() == [leaf.label]

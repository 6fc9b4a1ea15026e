"""The reader of treebanks: any layout of brackets, packed files, cleaning, and a zoo of bad files."""

import bz2
import gzip
import lzma
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_trees import any_trees

from oneslack.errors import FormatError
from oneslack.formats.trees import read_trees
from oneslack.trees import Tree, clean_tree

TREES = [
    Tree.parse("(S (NP-SBJ (NN time)) (VP (VBZ flies) (NP (-NONE- *T*-1))))"),
    Tree.parse("(NP (NP (-LRB- -LRB-) (NN a)) (NN b))"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trees")


def write(folder, content, name="bank.trees"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@given(st.lists(any_trees, min_size=1, max_size=4), st.randoms(use_true_random=False), st.booleans())
def test_any_layout_is_read(folder, trees, rng, outer):
    """Blanks and newlines anywhere between brackets and words; an outermost bracket without a label."""
    blanks = [" ", "\n", "\r\n", "  \t", "\n\n"]
    text = ""
    for tree in trees:
        one = f"({tree})" if outer else str(tree)
        one = one.replace("(", "(" + rng.choice(["", *blanks]))
        one = one.replace(")", rng.choice(["", *blanks]) + ")")
        text += "".join(rng.choice(blanks) if c == " " else c for c in one) + rng.choice(["", *blanks])
    expected = [Tree.parse(str(tree)) for tree in trees]
    assert read_trees(write(folder, text), clean=False) == expected


def test_several_trees_in_one_outer_bracket_become_one(folder):
    path = write(folder, "( (S (NN a)) (S (NN b)) )\n((NP (NN c)))")
    assert [str(tree) for tree in read_trees(path)] == ["(TOP (S (NN a)) (S (NN b)))", "(NP (NN c))"]


@pytest.mark.parametrize(("pack", "ending"), [(gzip, ".gz"), (bz2, ".bz2"), (lzma, ".xz"), (None, "")])
def test_packed_files(folder, pack, ending):
    text = "\n".join(map(str, TREES)).encode()
    path = write(folder, pack.compress(text) if pack else text, f"bank.trees{ending}")
    assert read_trees(path, clean=False) == TREES


def test_a_byte_order_mark_and_windows_lines(folder):
    text = b"\xef\xbb\xbf" + "(S (NN é))\r\n(S (NN b))\r\n".encode()
    assert [tree.words() for tree in read_trees(write(folder, text))] == [["é"], ["b"]]


@given(st.lists(any_trees, min_size=1, max_size=3))
def test_the_reader_cleans_as_clean_tree_does(folder, trees):
    trees = [Tree.parse(str(tree)) for tree in trees]
    path = write(folder, "\n".join(map(str, trees)))
    for options in ({}, {"unaries": False}, {"functions": False, "tags": False}, {"traces": False}):
        wanted = dict.fromkeys(("functions", "traces", "unaries", "tags"), True) | options
        assert read_trees(path, **options) == [clean_tree(tree, **wanted) for tree in trees]


def test_trees_of_traces_alone_are_left_out(folder):
    path = write(folder, "(S (NN a))\n((S (NP (-NONE- *))))\n(S (NN b))")
    assert [str(tree) for tree in read_trees(path)] == ["(S (NN a))", "(S (NN b))"]
    assert len(read_trees(path, traces=False)) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NN a))\n(S (NN b)", "line 2: the tree that begins here lacks 1 closing bracket"),
        ("(S (NN a))\n(S (NN b)))\n", "line 2: a closing bracket has no opening one"),
        ("(S (NN a))\n\nword (S (NN b))", "line 3: 'word' is outside of any tree"),
        ("(S (NN a))\n(S\n(NP)\n(NN b))", r"line 3: the bracket 'NP' is empty.*begins in line 2"),
        ("(S (NN a)) ()", "line 1: the bracket '' is empty"),
        ("(S (NN a)\n ((NN b) (NN c)))", r"line 2: a bracket has no label.*begins in line 1"),
        ("((word (NN b)))\n( (NN a) word)", "line 2: 'word' follows a bracket without a label"),
        ("((S (NN a))\n((S (NN b)))\n((S (NN c)))", r"line 2: a bracket has no label.*begins in line 1"),
        ("", "there is no tree in it"),
        (" \n\n", "there is no tree in it"),
        ("(S (-NONE- *))", "there is no tree in it"),
    ],
)
def test_bad_files(folder, text, message):
    path = write(folder, text, "bad.trees")
    with pytest.raises(FormatError, match=message) as caught:
        read_trees(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_in_another_encoding(folder):
    path = write(folder, "(S (NN a))\n(S (NN é))".encode("latin-1"))
    with pytest.raises(FormatError, match=r"line 2: .* is not utf-8; convert"):
        read_trees(path)
    assert read_trees(path, encoding="latin-1")[1].words() == ["é"]


def test_no_file(folder):
    with pytest.raises(FormatError, match="there is no such file"):
        read_trees(folder / "absent.trees")


@pytest.mark.parametrize("seed", range(20))
def test_a_broken_file_is_refused_or_read(folder, seed):
    """Any bracket taken out or put in gives a sentence with a line, never another error."""
    rng = random.Random(seed)
    text = list("\n".join(map(str, TREES * 3)))
    for _ in range(rng.randint(1, 3)):
        k = rng.randrange(len(text))
        text[k : k + rng.randint(0, 1)] = rng.choice(["(", ")", "x", ""])
    path = write(folder, "".join(text), "broken.trees")
    try:
        trees = read_trees(path)
    except FormatError as error:
        message = str(error)
    else:
        message = ", line " if all(tree.words() for tree in trees) else ""
    assert ", line " in message

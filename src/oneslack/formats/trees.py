"""Treebanks: files of trees in brackets, Penn style, one or several lines a tree."""

import os

from ..errors import FormatError
from ..trees.clean import Cleaner
from ..trees.parsing import parse_all
from .format import Format
from .lines import read_text


def read_trees(path, *, clean=True, functions=None, traces=None, unaries=None, tags=None, encoding="utf-8"):
    """Read trees, plain or packed, as a list of Trees.

    clean: labels lose function tags and indices, traces (-NONE-) and what is then empty go, X over X alone
    becomes one X, words with siblings get a tag of their own (the label of their parent).  `functions`,
    `traces`, `unaries` and `tags` choose one by one: True cleans, False keeps.  Trees without a word are left
    out.

    >>> from oneslack.formats import read_trees
    >>> with open("one.trees", "w") as file:
    ...     _ = file.write("(S (NP-SBJ (NN time)) (VP (VBZ flies)))")
    >>> trees = read_trees("one.trees")
    >>> trees[0].words(), str(trees[0])
    (['time', 'flies'], '(S (NP (NN time)) (VP (VBZ flies)))')
    """
    path = os.fspath(path)
    wanted = {"functions": functions, "traces": traces, "unaries": unaries, "tags": tags}
    cleaner = Cleaner(**{name: clean if choice is None else choice for name, choice in wanted.items()})
    trees = parse_all(read_text(path, encoding), path, cleaner)
    if not trees:
        raise FormatError(f"{path}: there is no tree in it; expected brackets, such as (S (NN word)).")
    return trees


def looks_like(sample):
    """By the first bracket."""
    return 0.8 * sample.lstrip().startswith(b"(")


FORMAT = Format("trees", "trees in brackets", "trees", read_trees, (), looks_like)

"""Sentences and trees as a parser takes them, checked."""

from __future__ import annotations

import numpy as np

from ...trees import Tree
from .given import check_weights


def trees_of(items) -> list[Tree]:
    """Trees from Trees, texts of brackets, or what NLTK calls trees."""
    trees = [_tree(i, item) for i, item in enumerate(items)]
    if not trees:
        raise ValueError("there is no tree to learn from")
    return trees


def _tree(i, item):
    if isinstance(item, Tree):
        return item
    try:
        if isinstance(item, str):
            return Tree.parse(item)
        if callable(getattr(item, "label", None)):
            return Tree.from_nltk(item)
    except ValueError as error:
        raise ValueError(f"tree {i}: {error}") from None
    raise TypeError(
        f"tree {i} is a {type(item).__name__}; expected an oneslack.Tree, a text of brackets, or an nltk.Tree"
    )


def sentences_of(items) -> list[list]:
    """Sentences as lists of words, or of (word, tag) pairs."""
    return [_sentence(i, item) for i, item in enumerate(items)]


def _sentence(i, item):
    if isinstance(item, Tree):
        raise TypeError(f"sentence {i} is a Tree; give its words(), or tagged() for words with their tags")
    if isinstance(item, str):
        raise TypeError(f"sentence {i} is one string; expected a list of words, so split it")
    tokens = list(item)
    if not tokens:
        raise ValueError(f"sentence {i} has no word; leave it out")
    for t, token in enumerate(tokens):
        pair = isinstance(token, tuple | list) and len(token) == 2 and all(isinstance(s, str) for s in token)
        if not (pair or (isinstance(token, str) and token)):
            raise TypeError(f"sentence {i}, position {t}: {token!r} is no word, nor a (word, tag) pair")
    return tokens


def words_of(sentence) -> list[str]:
    """The words of a sentence, without tags."""
    return [token if isinstance(token, str) else token[0] for token in sentence]


def refuse_other_words(sentences, trees):
    """ValueError unless each tree is over the words of its sentence."""
    if len(sentences) != len(trees):
        raise ValueError(f"X has {len(sentences)} sentences but Y has {len(trees)} trees")
    for i, (sentence, tree) in enumerate(zip(sentences, trees, strict=True)):
        words, others = words_of(sentence), tree.words()
        if words != others:
            t = next((t for t, (a, b) in enumerate(zip(words, others, strict=False)) if a != b), None)
            where = (
                f"{len(words)} words but its tree has {len(others)}"
                if t is None
                else f"{words[t]!r} at position {t} but its tree has {others[t]!r}"
            )
            raise ValueError(f"sentence {i} has {where}; give trees over the words of the sentences")


def other_tags(sentences, trees) -> list[tuple[int, int]]:
    """(sentence, position) of the first tag in each sentence that is given and differs from the tree's."""
    found = []
    for i, (sentence, tree) in enumerate(zip(sentences, trees, strict=True)):
        for t, (token, tag) in enumerate(zip(sentence, tree.tags(), strict=True)):
            if not isinstance(token, str) and token[1] != tag:
                found.append((i, t))
                break
    return found


def checked_weights(sample_weight, n):
    """(n,) weights of the sentences, or None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({n},)")
    return check_weights(weights)

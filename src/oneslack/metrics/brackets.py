"""Parsed trees against the truth, by the rules of EVALB with its usual parameters.

A bracket is a phrase: its label, its first and its last word.  Labels of the whole tree (TOP and the like)
are no brackets, ADVP and PRT are the same label, and punctuation is taken out of the sentences before words
are counted; a phrase of punctuation alone is no bracket either.  What is punctuation, the tags of the true
tree say, for both trees.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .phrases import PhraseScore

#: Labels of whole trees, which are no brackets.
TOPS = frozenset({"TOP", "ROOT", "S1", ""})
#: Tags of words that do not count.
PUNCTUATION = frozenset({",", ":", "``", "''", ".", "?", "!", "-NONE-"})
#: Labels that are counted as another one.
SAME = {"PRT": "ADVP"}


@dataclass(frozen=True)
class BracketScores:
    """Counts over n_trees trees that could be compared; n_skipped more could not.

    brackets      PhraseScore: counts, precision, recall, f1
    by_label      PhraseScores by label
    n_exact       trees with all brackets right and none too many
    n_crossing    predicted brackets that overlap a true one without either holding the other
    n_uncrossed   trees without such brackets
    n_tags, n_correct_tags   of words that are no punctuation

    >>> from oneslack import Tree
    >>> tree = Tree.parse("(S (NP (PRP I)) (VP (VBD saw)))")
    >>> bracket_scores([tree], [tree]).exact
    1.0
    """

    n_trees: int
    n_skipped: int
    brackets: PhraseScore
    by_label: dict[str, PhraseScore]
    n_exact: int
    n_crossing: int
    n_uncrossed: int
    n_tags: int
    n_correct_tags: int

    @property
    def precision(self) -> float:
        return self.brackets.precision

    @property
    def recall(self) -> float:
        return self.brackets.recall

    @property
    def f1(self) -> float:
        return self.brackets.f1

    @property
    def exact(self) -> float:
        """The share of trees that are right."""
        return self.n_exact / self.n_trees if self.n_trees else 1.0

    @property
    def tag_accuracy(self) -> float:
        """The share of words with the right tag."""
        return self.n_correct_tags / self.n_tags if self.n_tags else 1.0

    @property
    def crossing(self) -> float:
        """Crossing brackets a tree."""
        return self.n_crossing / self.n_trees if self.n_trees else 0.0


def bracket_scores(trees, predicted, *, punctuation=PUNCTUATION, tops=TOPS, same=None) -> BracketScores:
    """Compare a list of predicted trees with the true ones, one for each.

    A prediction of None, or one over another number of words, is skipped: it enters no count but n_skipped.

    >>> from oneslack import Tree
    >>> truth = Tree.parse("(S (NP (PRP I)) (VP (VBD saw) (NP (NNS stars))) (. .))")
    >>> guess = Tree.parse("(S (NP (PRP I)) (VP (VBD saw)) (NP (NNS stars)) (. .))")
    >>> scores = bracket_scores([truth], [guess])
    >>> scores.f1, scores.exact, scores.tag_accuracy
    (0.75, 0.0, 1.0)
    """
    trees, predicted = list(trees), list(predicted)
    if len(trees) != len(predicted):
        raise ValueError(f"there are {len(trees)} trees but {len(predicted)} predictions")
    same = SAME if same is None else same
    true, guessed, correct, total = Counter(), Counter(), Counter(), Counter()
    for tree, guess in zip(trees, predicted, strict=True):
        tags, guessed_tags = tree.tags(), [] if guess is None else guess.tags()
        if len(tags) != len(guessed_tags):
            total["skipped"] += 1
            continue
        kept = [tag not in punctuation for tag in tags]
        ours, theirs = (_brackets(one, kept, tops, same) for one in (tree, guess))
        _count_labels(true, ours)
        _count_labels(guessed, theirs)
        _count_labels(correct, ours & theirs)
        crossing = sum(count for span, count in theirs.items() if any(_cross(span, other) for other in ours))
        total["crossing"] += crossing
        total["uncrossed"] += crossing == 0
        total["exact"] += ours == theirs
        total["tags"] += sum(kept)
        pairs = zip(tags, guessed_tags, kept, strict=True)
        total["right tags"] += sum(tag == other for tag, other, counts in pairs if counts)
    by_label = {
        label: PhraseScore(true[label], guessed[label], correct[label]) for label in sorted(true | guessed)
    }
    return BracketScores(
        len(trees) - total["skipped"], total["skipped"],
        PhraseScore(true.total(), guessed.total(), correct.total()), by_label,
        total["exact"], total["crossing"], total["uncrossed"], total["tags"], total["right tags"],
    )  # fmt: skip


def bracket_f1(trees, predicted) -> float:
    """F1 of all brackets of trees and predicted ones, one for each; `bracket_scores` gives the rest.

    >>> from oneslack import Tree
    >>> truth, guess = "(S (NP (PRP I)) (VP (VBD saw)))", "(S (PRP I) (VP (VBD saw)))"
    >>> bracket_f1([Tree.parse(truth)], [Tree.parse(guess)])
    0.8
    """
    return bracket_scores(trees, predicted).f1


def _brackets(tree, kept, tops, same):
    """Counter of (label, first, after the last), words counted without punctuation."""
    place = [0]
    for counts in kept:
        place.append(place[-1] + counts)
    found = Counter()
    for label, i, j in tree.spans():
        if place[i] < place[j] and label not in tops:
            found[same.get(label, label), place[i], place[j]] += 1
    return found


def _count_labels(counts, brackets):
    for (label, _, _), count in brackets.items():
        counts[label] += count


def _cross(a, b):
    return a[1] < b[1] < a[2] < b[2] or b[1] < a[1] < b[2] < a[2]

"""Word classes: a frequent word is a class of its own; others share one by shape and suffix.

    "cats" -> the word itself, if it is frequent, else the first of  aa:ats, aa:ts, aa  that training knows,
              else the class of all other words

Rare words of the training data are counted under their class, so that classes have tags and rules.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

#: The class of words that have no other.  It has a rule for every tag, for tagged words never seen so.
ANY = 0
#: A class of shape and suffix needs so many rare words; fewer go to a coarser one.
ENOUGH = 5

_NUMBER = re.compile(r"[+\-]?[\d.,:/]*\d[\d.,:/]*%?\Z")


def signatures(word, first) -> tuple[str, ...]:
    """Names of classes, from the finest to the coarsest; `first`: whether the word begins a sentence."""
    if _NUMBER.match(word):
        return ("9",)
    letters = [c for c in word if c.isalpha()]
    if not letters:
        return ("9?" if any(c.isdigit() for c in word) else "?",)
    if not word[0].isupper():
        case = "aA" if any(c.isupper() for c in letters) else "aa"
    elif len(letters) > 1 and all(c.isupper() for c in letters):
        case = "AA"
    else:
        case = "^Aa" if first else "Aa"
    marks = ("9" if any(c.isdigit() for c in word) else "") + ("-" if "-" in word[1:] else "")
    shape, ending = case + marks, word.lower()
    suffixes = [f"{shape}:{ending[-k:]}" for k in (3, 2) if len(word) > k + 1]
    return (*suffixes, shape, *((case,) if marks else ()))


@dataclass(frozen=True)
class WordClasses:
    """From words to class numbers: 0 is ANY, then come shapes, then words."""

    words: dict[str, int]
    shapes: dict[str, int]

    @property
    def n(self) -> int:
        return 1 + len(self.shapes) + len(self.words)

    def of(self, word, first=False) -> int:
        """The class of a word; `first`: whether it begins a sentence."""
        found = self.words.get(word)
        if found is None and first and word[:1].isupper():
            found = self.words.get(word[0].lower() + word[1:])
        if found is not None:
            return found
        return next((self.shapes[name] for name in signatures(word, first) if name in self.shapes), ANY)

    def of_sentence(self, words) -> list[int]:
        """The classes of the words of a sentence."""
        return [self.of(word, t == 0) for t, word in enumerate(words)]


def word_classes(sentences, min_count) -> WordClasses:
    """From the sentences of training; a word that occurs less than min_count times shares a class."""
    counts = Counter(word for words in sentences for word in words)
    frequent = sorted(word for word, count in counts.items() if count >= min_count)
    known = WordClasses(dict.fromkeys(frequent, ANY + 1), {})
    rare = [
        signatures(word, t == 0)
        for words in sentences
        for t, word in enumerate(words)
        if known.of(word, t == 0) == ANY
    ]
    shapes = _shapes(rare)
    return WordClasses(
        {word: 1 + len(shapes) + k for k, word in enumerate(frequent)},
        {name: 1 + k for k, name in enumerate(shapes)},
    )


def _shapes(rare):
    """The names of classes for rare words, given by their signatures: the finest that enough words share."""
    kept, left = set(), rare
    for level in range(max(map(len, rare), default=0)):
        shared = Counter(names[level] for names in left if len(names) > level)
        kept |= {name for name, count in shared.items() if count >= ENOUGH}
        left = [names for names in left if kept.isdisjoint(names[: level + 1])]
    used = (next((name for name in names if name in kept), None) for names in rare)
    return sorted(set(used) - {None})

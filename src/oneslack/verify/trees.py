"""Trees of a context-free grammar with weights for its rules, and the loss of brackets.

A tree over m words is three numbers a span, (rule, split, chain), parents first and left before right: a
binary rule, or for one word (split -1) a lexical one, makes a symbol, and a chain of unary rules (-1 for
none) may lead up from it.  Its score is the sum of the weights of its rules and of what its spans have for
their labels, [binary | unary | lexical | spans | log p]; log p, where it is a feature, is the sum of the
logarithms of the rules' frequencies.

    loss(y, z) = c (brackets of y that z lacks) + (2 - c) (brackets of z that y lacks)
               = c |y| + (2 - c) |z| - 2 |brackets of both|,     a bracket is (first, last, label)

The worst tree is found by CKY over all sentences of one length at once.
"""

from collections import Counter
from functools import reduce
from typing import NamedTuple

import numpy as np

from ..errors import ProofError
from .sums import SAFE, batches, gamma


class Rules(NamedTuple):
    """parent, left, right of binary rules; unary parents; chain q is the unary rules chains[q], top first,
    from symbol bottom[q] to top[q]; lexical rule r gives word class `of_class[r]` the symbol tag[r]; label
    (symbols,), and which labels make a bracket, counted; c; logs (weights but log p,) of frequencies, or
    None."""

    parent: np.ndarray
    left: np.ndarray
    right: np.ndarray
    unary: np.ndarray
    chains: list
    top: np.ndarray
    bottom: np.ndarray
    of_class: np.ndarray
    tag: np.ndarray
    label: np.ndarray
    counted: np.ndarray
    missing: float = 1.0
    logs: np.ndarray | None = None


class Trees(NamedTuple):
    """words: a list of (m, 2), word classes and the lexical rule that is given, or -1; y: a list of trees;
    spans: a list of {(first, last): (labels, numbers of weights)}, what each span has for some labels; n:
    weights but log p."""

    rules: Rules
    words: list
    y: list
    spans: list
    n: int

    @property
    def sizes(self):
        """(sentences,): numbers of an output."""
        return np.array([6 * len(words) - 3 for words in self.words])

    @property
    def reach(self):
        return -1, 2**62

    def read(self, i, tree):
        """(numbers of the weights of all that it has, {(first, last, label): times} of brackets); a
        ProofError for what is no tree of sentence i: the children of each rule are what it says, the words
        are those of the sentence."""
        R, words, used, brackets = self.rules, self.words[i], [], Counter()
        B, U, open_ = len(R.parent), len(R.unary), [(0, len(words), 0)]  # spans to come, and their symbols
        for rule, split, chain in np.reshape(tree, (-1, 3)).tolist():
            first, last, wanted = open_.pop() if open_ else (0, 0, -1)
            is_word = split < 0
            fits = 0 <= rule < (len(R.tag) if is_word else B) and chain < len(R.chains)
            if fits := fits and (last - first == 1 if is_word else first < split < last):
                symbol = (R.tag if is_word else R.parent)[rule]
                ends = (symbol, symbol) if chain < 0 else (R.bottom[chain], R.top[chain])
                word = (R.of_class[rule], rule) if is_word else None
                fits = ends == (symbol, wanted) and (
                    word is None or (word[0] == words[first, 0] and words[first, 1] in (-1, word[1]))
                )
            if not fits:
                raise ProofError(f"an output of sentence {i} uses a rule that does not fit, or is no tree")
            if not is_word:
                open_ += [(split, last, R.right[rule]), (first, split, R.left[rule])]
            path = [] if chain < 0 else R.chains[chain]
            used += [B + U + rule if is_word else rule, *(B + q for q in path)]
            labels, numbers = self.spans[i].get((first, last), ((), ()))
            for label in R.label[[symbol, *R.unary[path]]].tolist():
                used += [number for its, number in zip(labels, numbers) if its == label]
                brackets.update([(first, last, label)] if R.counted[label] else [])
        if open_:
            raise ProofError(f"an output of sentence {i} is no tree")
        return used, brackets

    def _pairs(self, of, Z):
        """[(what y_i has, what z has)] of outputs z, as they are read."""
        ends = np.append(0, np.cumsum(self.sizes[of]))
        true = {i: self.read(i, self.y[i]) for i in set(of.tolist())}
        return [(true[i], self.read(i, Z[ends[k] : ends[k + 1]])) for k, i in enumerate(of.tolist())]

    def losses(self, of, Z):
        c, both = self.rules.missing, [(y, z) for (_, y), (_, z) in self._pairs(of, Z)]
        return np.array([c * (y - z).total() + (2.0 - c) * (z - y).total() for y, z in both])

    def features(self, of, Z, alpha):
        found, v, sizes = self._pairs(of, Z), np.zeros(self.n), np.zeros(self.n)
        for sign, used in ((1.0, [y for (y, _), _ in found]), (-1.0, [z for _, (z, _) in found])):
            index, weights = np.concatenate([np.zeros(0, int), *used]), np.repeat(alpha, list(map(len, used)))
            counts = np.bincount(index.astype(int), weights, self.n)
            v, sizes = v + sign * counts, sizes + counts
        if self.rules.logs is not None:
            v, sizes = np.append(v, v @ self.rules.logs), np.append(sizes, sizes @ np.abs(self.rules.logs))
        return v, sizes, 4 * len(Z) * (1 + len(self.rules.unary)) + 4 * self.n + 16

    def hinges(self, w, slack=False):
        """(sentences,) of max_z loss + score(z) - score(y), and how far off."""
        R, m = self.rules, np.array(list(map(len, self.words)))
        if not 0.0 <= R.missing <= 2.0:
            raise ProofError(f"a missing bracket costs {R.missing!r}, expected 0 to 2")
        logs = np.zeros(self.n) if R.logs is None else w[-1] * R.logs
        plain, wide = w[: self.n] + logs, float((np.abs(w[: self.n]) + np.abs(logs)).max())
        # No node has more rules than a chain and one, each with so many weights of its span.
        tables = [Counter(labels) for spans in self.spans for labels, _ in spans.values()]
        most = max((max(table.values()) for table in tables), default=0)
        terms = 2 * m * (2 + max(map(len, R.chains), default=0)) * (1 + most)
        errors = SAFE * 4.0 * gamma(2 * terms.max() + 64) * terms * (wide + 4.0)
        best = np.zeros(len(m))
        for some in batches(m, len(R.parent) + len(R.chains)):
            true = [self.read(i, self.y[i]) for i in some]
            said = [plain[used].sum() - R.missing * brackets.total() for used, brackets in true]
            best[some] = self._cky(plain, some, [brackets for _, brackets in true]) - said
        return best, errors

    def _cky(self, w, some, true):
        """(sentences,): the best of score(z) + (2 - c) |z| - 2 |brackets of both|."""
        R, S, m = self.rules, len(self.rules.label), len(self.words[some[0]])
        B, U, c = len(R.parent), len(R.unary), R.missing
        # A span is filled by a symbol as it is, or by a chain: what these have of each label, and earn.
        paths, top, bottom = (
            [[]] * S + R.chains,
            np.append(np.arange(S), R.top),
            np.append(np.arange(S), R.bottom),
        )
        symbols = [[below, *R.unary[path]] for below, path in zip(bottom, paths)]
        has = np.array([np.bincount(R.label[each], minlength=len(R.counted)) for each in symbols])
        earns = np.array([w[B + np.array(path, int)].sum() for path in paths]) + (2.0 - c) * (has @ R.counted)
        cell = np.full((len(some), m + 1, m + 1, S), -np.inf)
        for first, last in [(i, i + width) for width in range(1, m + 1) for i in range(m - width + 1)]:
            if last - first == 1:
                base = np.stack([self._word(w[B + U :], *self.words[i][first]) for i in some])
            else:
                ways = (
                    cell[:, first, k][:, R.left] + cell[:, k, last][:, R.right]
                    for k in range(first + 1, last)
                )
                base = _best(reduce(np.maximum, ways) + w[:B], R.parent, S)
            full = base[:, bottom] + earns
            for k, i in enumerate(some):
                labels, numbers = self.spans[i].get((first, last), ((), ()))
                full[k] += has @ np.bincount(labels, w[list(numbers)], len(R.counted)) if len(labels) else 0.0
                for (start, end, label), times in true[k].items():
                    if (start, end) == (first, last):
                        full[k] -= 2.0 * np.minimum(has[:, label], times)
            cell[:, first, last] = _best(full, top, S)
        return cell[:, 0, m, 0]

    def _word(self, w, word, given):
        """(symbols,): the best lexical rules, of weights w, of a word, or the one that is given."""
        rules = (
            np.flatnonzero(self.rules.of_class == word) if given == -1 else np.full(int(given >= 0), given)
        )
        return _best(w[None, rules], self.rules.tag[rules], len(self.rules.label))[0]


def _best(values, group, n):
    """(k, n): the largest of the values (k, m) in each of the groups, (m,) of 0 .. n-1."""
    order, best = np.argsort(group, kind="stable"), np.full((len(values), n), -np.inf)
    found, starts = np.unique(group[order], return_index=True)
    if len(found):
        best[:, found] = np.maximum.reduceat(values[:, order], starts, axis=1)
    return best

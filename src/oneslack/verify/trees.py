"""Trees of a context-free grammar with weights for its rules, and the loss of brackets.

A tree over m words is three numbers a span, (rule, split, chain), parents first and left before right: a
binary rule, or for one word (split -1) a lexical one, makes a symbol, and a chain of unary rules (-1 for
none) may lead up from it.  Its score is the sum of the weights of its rules, [binary | unary | lexical | log
p]; log p, where it is a feature, is the sum of the logarithms of their frequencies.

    loss(y, z) = c (brackets of y that z lacks) + (2 - c) (brackets of z that y lacks)
               = c |y| + sum over the brackets (label, first, last) of z:  -c if y has it, else 2 - c

The worst tree is found by CKY over all sentences of one length at once; a label that a chain has again counts
as y has it again.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from ..errors import ProofError
from .sums import SAFE, gamma

#: Numbers that a step of CKY may hold.
ROOM = 10**7


class Rules(NamedTuple):
    """parent, left, right of binary rules; unary parents; chain q is the unary rules chains[q], top first,
    from symbol bottom[q] to top[q]; lexical rule r gives word class `of_class[r]` the symbol tag[r]; label
    (symbols,), -1 where it makes no bracket; logs (rules,) of frequencies, or None."""

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
    logs: np.ndarray | None
    missing: float = 1.0


class Trees(NamedTuple):
    """words: a list of (m, 2), word classes and the lexical rule that is given, or -1; y: a list of trees."""

    rules: Rules
    words: list
    y: list

    @property
    def sizes(self):
        return np.array([6 * len(words) - 3 for words in self.words])

    def read(self, i, tree):
        """(numbers of the weights of all rules, {(label, first, last): times}); a ProofError for what is no
        tree of sentence i: the children of each rule are what it says, the words are those of the
        sentence."""
        R, words, used, brackets = self.rules, self.words[i], [], Counter()
        B, U, open_ = len(R.parent), len(R.unary), [(0, len(words), 0)]  # spans to come, and their symbols
        for rule, split, chain in np.reshape(tree, (-1, 3)).tolist():
            if not open_:
                raise ProofError(f"an output of sentence {i} is no tree")
            first, last, wanted = open_.pop()
            is_word = split < 0
            fits = 0 <= rule < (len(R.tag) if is_word else B) and -1 <= chain < len(R.chains)
            fits = fits and (last - first == 1 if is_word else first < split < last)
            symbol = (R.tag if is_word else R.parent)[rule] if fits else -1
            fits = fits and (symbol if chain < 0 else R.top[chain]) == wanted
            fits = fits and (chain < 0 or R.bottom[chain] == symbol)
            if fits and is_word:
                fits = R.of_class[rule] == words[first, 0] and words[first, 1] in (-1, rule)
            if not fits:
                raise ProofError(f"an output of sentence {i} uses a rule that does not fit")
            if not is_word:
                open_ += [(split, last, R.right[rule]), (first, split, R.left[rule])]
            path = [] if chain < 0 else R.chains[chain]
            used += [B + U + rule if is_word else rule, *(B + q for q in path)]
            brackets.update((R.label[s], first, last) for s in [symbol, *R.unary[path]] if R.label[s] >= 0)
        if open_:
            raise ProofError(f"an output of sentence {i} is no tree")
        return used, brackets

    def losses(self, of, Z):
        c, out, start = self.rules.missing, [], 0
        for i in of.tolist():
            z, y = self.read(i, Z[start : start + self.sizes[i]])[1], self.read(i, self.y[i])[1]
            out.append(c * (y - z).total() + (2.0 - c) * (z - y).total())
            start += self.sizes[i]
        return np.array(out)

    def features(self, given, of, Z, alpha):
        ends, R = np.append(0, np.cumsum(self.sizes[of])), self.rules
        parts = [(self.read(i, self.y[i])[0], given[i]) for i in range(len(given)) if given[i]]
        parts += [(self.read(i, Z[ends[k] : ends[k + 1]])[0], -alpha[k]) for k, i in enumerate(of.tolist())]
        index = np.concatenate([np.zeros(0, int), *(np.array(used, int) for used, _ in parts)])
        weights = np.repeat([weight for _, weight in parts], [len(used) for used, _ in parts])
        n = len(R.parent) + len(R.unary) + len(R.tag)
        v, size = np.bincount(index, weights, n), np.bincount(index, np.abs(weights), n)
        if R.logs is not None:
            v, size = np.append(v, v @ R.logs), np.append(size, size @ np.abs(R.logs))
        return v, size, 2 * len(index) + 2 * n + 16

    def hinges(self, w):
        R, n = self.rules, len(self.words)
        plain = w if R.logs is None else w[:-1] + w[-1] * R.logs
        best, errors, m = np.zeros(n), np.zeros(n), np.array([len(words) for words in self.words])
        wide = (
            float(np.abs(plain).max())
            if R.logs is None
            else float((np.abs(w[:-1]) + np.abs(w[-1] * R.logs)).max())
        )
        longest = 2 + max(map(len, R.chains), default=0)
        errors = SAFE * 8.0 * gamma(8 * longest * (2 * m.max() + 2)) * longest * m * (wide + 4.0)
        cells = len(R.parent) + len(R.chains)
        for length in np.unique(m):
            some = np.flatnonzero(m == length)
            for part in np.array_split(some, max(1, len(some) * length * cells // ROOM)):
                best[part] = self._cky(plain, part, length)
        for i in range(n):
            used, brackets = self.read(i, self.y[i])
            best[i] += R.missing * brackets.total() - plain[used].sum()
        return best, errors

    def _cky(self, w, some, m):
        """(sentences,): the best score, with -c or 2 - c for each bracket."""
        R, S, K = self.rules, len(self.rules.label), len(some)
        B, U = len(R.parent), len(R.unary)
        order = np.argsort(R.parent, kind="stable")
        parents, starts = np.unique(R.parent[order], return_index=True)
        left, right, weights = R.left[order], R.right[order], w[:B][order]
        true = [self.read(i, self.y[i])[1] for i in some]
        cell = np.full((K, m + 1, m + 1, S), -np.inf)
        for width in range(1, m + 1):
            for i in range(m - width + 1):
                j, base = i + width, np.full((K, S), -np.inf)
                if width == 1:
                    for k, s in enumerate(some):
                        word, given = self.words[s][i]
                        rules = (
                            np.flatnonzero(R.of_class == word)
                            if given == -1
                            else np.array([given] * (given >= 0), int)
                        )
                        np.maximum.at(base[k], R.tag[rules], w[B + U + rules])
                else:
                    joined = np.full((K, B), -np.inf)
                    for k in range(i + 1, j):
                        np.maximum(joined, cell[:, i, k][:, left] + cell[:, k, j][:, right], out=joined)
                    base[:, parents] = np.maximum.reduceat(joined + weights, starts, axis=1)
                times = np.zeros((K, R.label.max() + 2), int)
                for k, y in enumerate(true):
                    for (label, first, last), count in y.items():
                        if (first, last) == (i, j):
                            times[k, label] = count
                base += self._bracket(times, R.label, 0)
                full = base.copy()
                for q, path in enumerate(R.chains):
                    labels = [R.label[R.bottom[q]], *R.label[R.unary[path]][::-1]]
                    bonus = sum(self._bracket(times, np.array([label]), labels[:r].count(label))[:, 0]
                                for r, label in enumerate(labels) if r)  # fmt: skip
                    np.maximum(full[:, R.top[q]], base[:, R.bottom[q]] + w[B + np.array(path)].sum() + bonus,
                               out=full[:, R.top[q]])  # fmt: skip
                cell[:, i, j] = full
        return cell[:, 0, m, 0]

    def _bracket(self, times, labels, again):
        """What brackets earn whose label the span has `again` times already."""
        c = self.rules.missing
        return np.where(labels < 0, 0.0, np.where(times[:, labels] > again, -c, 2.0 - c))

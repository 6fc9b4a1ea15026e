"""The k best trees of a sentence, in order, from a filled chart.

Each symbol over each span keeps a list of its best trees, as long as was asked for.  A tree is a way (rule,
split and chain) with the ranks of its two subtrees; after it, the only new candidates are the same way with
one rank more on either side.  So a list grows by one tree at the cost of at most one more tree of two other
lists, and what nobody asks for is never made.  After Huang & Chiang (2005), whose third algorithm is lazy in
the same manner.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

#: The place above all roots.
TOP = (-1, 0, 0)


def best_trees(rules, spans, w, data, k):
    """(trees (m, 3 (2n - 1)), scores (m,)) of the one packed sentence, best first, m <= k."""
    forest = _Forest(rules, spans, w, data)
    n = len(data.words.values)
    forest.grow(TOP, k)
    scores = [-tree[0] for tree in forest.at(TOP).trees]
    trees = [forest.write(TOP, rank) for rank in range(len(scores))]
    return np.array(trees, dtype=np.int64).reshape(len(trees), 6 * n - 3), np.array(scores)


class _Way:
    """How a symbol is made: rule, split, chain, and the places (symbol, i, j) of its subtrees."""

    __slots__ = ("chain", "places", "rule", "split")

    def __init__(self, rule, split, chain, places):
        self.rule, self.split, self.chain, self.places = rule, split, chain, places


class _Found:
    """The best trees of a place so far, and candidates for the next: (-score, number, way, ranks)."""

    def __init__(self, ways):
        self.count = len(ways)
        self.candidates = [(-value, c, way, (0,) * len(way.places)) for c, (value, way) in enumerate(ways)]
        heapify(self.candidates)
        self.seen = set()
        self.trees = []
        self.pending = []  # successors of the last tree, whose subtrees may still be missing

    def push(self, score, way, ranks):
        heappush(self.candidates, (-score, self.count, way, ranks))
        self.count += 1

    def take(self):
        """Move the best candidate to the trees; one rank more on either side comes after it."""
        tree = heappop(self.candidates)
        self.trees.append(tree)
        minus_score, _, way, ranks = tree
        for side in range(len(ranks)):
            after = tuple(rank + (k == side) for k, rank in enumerate(ranks))
            if (id(way), after) not in self.seen:
                self.seen.add((id(way), after))
                self.pending.append((-minus_score, way, after, side))


class _Forest:
    def __init__(self, rules, spans, w, data):
        from ..._jit.cky_lists import filled_chart

        self.rules, self.words = rules, data.words.values
        self.scores, self.chart = filled_chart(rules, spans, w, data.words.values, data.coarse)
        self.known = {}

    def _roots(self):
        """(value, way) of each root over the whole sentence."""
        from ..._jit.cky_lists import place_value

        rules = self.rules
        roots = rules.at[rules.roots : rules.roots + rules.n_roots]
        places = [(int(root), 0, len(self.words)) for root in roots]
        values = [place_value(rules, self.scores, self.chart, *place) for place in places]
        ways = [_Way(-1, -1, -1, (place,)) for place in places]
        return [(value, way) for value, way in zip(values, ways, strict=True) if value > -np.inf]

    def at(self, place):
        found = self.known.get(place)
        if found is None:
            found = self.known[place] = _Found(self._roots() if place == TOP else self._ways(*place))
        return found

    def _ways(self, p, i, j):
        """All (value, way) of symbol p over (i, j)."""
        from ..._jit.cky_lists import ways_of

        values, parts = ways_of(self.rules, self.scores, self.chart, self.words, p, i, j)
        at, left, right = self.rules.at, self.rules.rule_left, self.rules.rule_right
        ways = []
        for value, (rule, split, chain) in zip(values.tolist(), parts.tolist(), strict=True):
            places = ()
            if split >= 0:
                places = (int(at[left + rule]), i, split), (int(at[right + rule]), split, j)
            ways.append((value, _Way(rule, split, chain, places)))
        return ways

    def grow(self, place, k):
        """Give a place its k best trees, fewer where there are fewer, and others what that needs."""
        wanted = [(place, k)]
        while wanted:
            place, k = wanted[-1]
            found = self.at(place)
            missing = self._advance(found, k)
            if missing is None:
                wanted.pop()
            else:
                wanted.append(missing)

    def _advance(self, found, k):
        """Add trees up to the k-th.  Stops where a subtree must grow first: returns its place and how far."""
        while len(found.trees) < k:
            while found.pending:
                score, way, ranks, side = found.pending[-1]
                below = self.at(way.places[side])
                if len(below.trees) <= ranks[side] and (below.candidates or below.pending):
                    return way.places[side], ranks[side] + 1
                found.pending.pop()
                if len(below.trees) > ranks[side]:
                    lost = below.trees[ranks[side]][0] - below.trees[ranks[side] - 1][0]
                    found.push(score - lost, way, ranks)
            if not found.candidates:
                return None
            found.take()
        return None

    def write(self, place, rank):
        """Three numbers a node of the tree with this rank, parents first."""
        out, todo = [], [(place, rank)]
        while todo:
            place, rank = todo.pop()
            self.grow(place, rank + 1)
            _, _, way, ranks = self.at(place).trees[rank]
            if place != TOP:
                out += (way.rule, way.split, way.chain)
            todo += reversed(list(zip(way.places, ranks, strict=True)))
        return out

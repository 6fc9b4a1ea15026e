"""A bracket that is missing may cost more than one too many.

With u missing and v too many brackets, the loss is  c u + (2 - c) v.  As u - v = |y| - |z|, the difference in
the number of brackets, it is

    c u + (2 - c) v  =  u + v  +  (c - 1) (|y| - |z|)

and |z| is a sum over the rules of z.  So the worst tree for this loss is the one for u + v at weights that
are lowered by c - 1 for each rule that makes a bracket.
"""

from __future__ import annotations

import numpy as np

from .binarise import PHRASE


class TiltedLoss:
    """What a grammar needs for it; `tilt` is c - 1.

    rules (n_rules,): what a rule adds to (c - 1) |z|
    """

    def __init__(self, grammar, tilt):
        self.tilt, self.n_binary = tilt, grammar.n_binary
        parents = np.concatenate([grammar.binary_parent, grammar.unary_parent, grammar.lexical_tag])
        self.rules = tilt * (grammar.kinds[parents] == PHRASE)
        unary = self.rules[grammar.n_binary :][grammar.chain_rules]
        # Words and spans without a chain make no bracket: the 0 at the end is theirs.
        self._binary = np.append(self.rules[: grammar.n_binary], 0.0)
        self._chains = np.append(np.add.reduceat(unary, grammar.chain_ptr[:-1]) if len(unary) else [], 0.0)

    def lowered(self, weights):
        """Weights at which the best tree with u + v is the worst one."""
        weights = weights.copy()
        weights[: len(self.rules)] -= self.rules
        return weights

    def sizes(self, trees, starts):
        """(c - 1) |z| of each tree; trees as Grammar.encode gives them, one begins at each of `starts`."""
        rule, split, chain = trees.reshape(-1, 3).T
        spans = self._binary[np.where(split < 0, self.n_binary, rule)] + self._chains[chain]
        return np.add.reduceat(spans, np.asarray(starts) // 3)

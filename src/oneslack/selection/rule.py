"""Which C is best, by examples that were held out: each is answered by the models of all candidates.

Scores of candidates differ by a few examples, and often by chance.  The same examples are answered by all
candidates, so these are compared example by example: one is clearly better when the mean difference is more
than two of its standard errors.  Of candidates whose answers cannot be told from the best ones, the loss that
training minimises decides: it changes smoothly with C, where right or wrong jumps.
"""

from __future__ import annotations

import numpy as np

#: Standard errors of a difference up to which it may be chance.
CHANCE = 2.0
#: Mean losses that differ by no more are equal.
ROUNDING = 1e-6
#: So many values of C in a row that only make the loss larger end the search.
PATIENCE = 2


def best_of(right, losses) -> int:
    """The number of the best candidate, the first of equals.

    right   (candidates, examples) 1 where a held-out example was answered rightly, else 0
    losses  (candidates, examples) the losses of these examples
    """
    right = np.asarray(right, dtype=np.float64)
    top = right[right.mean(axis=1).argmax()]
    contenders = np.flatnonzero([not is_above(top, one) for one in right])
    loss = np.mean(losses, axis=1)[contenders]
    return int(contenders[np.argmax(loss <= loss.min() + ROUNDING)])


class Turn:
    """Watches the candidates in the order of C, and says when larger ones need not be tried: the loss of
    held-out examples has clearly risen for some values of C, and the score has not."""

    def __init__(self):
        self.lowest, self.top, self.risen = None, None, 0

    def is_over(self, right, losses) -> bool:
        """Take note of the next candidate: right (examples,), losses (examples,)."""
        right = right.astype(np.float64)
        if self.top is None:
            self.lowest, self.top = losses, right
        has_risen = is_above(losses, self.lowest) and not is_above(right, self.top)
        self.risen = self.risen + 1 if has_risen else 0
        self.lowest = min(self.lowest, losses, key=np.mean)
        self.top = max(self.top, right, key=np.mean)
        return self.risen >= PATIENCE

    @property
    def may_be_over(self) -> bool:
        """Whether the next candidate may be the last."""
        return self.risen + 1 >= PATIENCE


def is_above(a, b) -> bool:
    """Whether the mean of a is above that of b by more than what may be chance."""
    difference = a - b
    error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else np.inf
    return bool(difference.mean() > CHANCE * error)

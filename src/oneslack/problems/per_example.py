"""Examples of any kind, one at a time: how a model of three methods is driven.

The oracle asks its decoder for the most violated constraint of an example: loss-augmented inference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..data.digests import Digest
from ..data.rows import weights_of
from ..errors import ModelError, OneslackError
from ..models.answers import as_row, brief, checked_loss, finite_row, is_one_number, number_fault

#: What features or a loss belong to, in errors.
TRUTH, ANSWER = "the truth", "the answer of the decoder"

#: By what share a bound may be below a score, as scores are rounded.
BELOW = 1e-9

#: Examples are handed out in so many parts, whatever the number of workers: sums keep their order.
PARTS = 8


def count_of(examples) -> int:
    """How many there are: items of a sequence, or rows of a matrix."""
    return examples.shape[0] if hasattr(examples, "shape") else len(examples)


def common_count(X, Y) -> int:
    """How many examples there are, once X and Y agree on it."""
    n, m = count_of(X), count_of(Y)
    if n != m:
        raise ValueError(f"X has {n} examples but Y has {m}")
    return n


def joint_row(model, x, y, what="the output"):
    """psi(x, y) as a flat array or one CSR row of finite numbers."""
    return finite_row(model.joint_feature(x, y), model.n_params, "joint_feature", what)


def stack_rows(rows, n_params):
    """Rows as one matrix, CSR when all of them are sparse."""
    if not rows:
        return np.empty((0, n_params))
    if all(sp.issparse(row) for row in rows):
        return sp.vstack(rows, format="csr")
    return np.array([_dense(row) for row in rows])


def _dense(row):
    return row.toarray().ravel() if sp.issparse(row) else row


def worst_cut(model, w, x, y, rescaling="margin"):
    """(row, loss, output) of the most violated cut of one example, or None where that is the truth.

    H(w) >= loss - <row, w>:  row = delta, or loss delta where the slack is rescaled.
    """
    return _answer(model, w, x, y, rescaling)[0]


def gives_bounds(model, rescaling="margin") -> bool:
    """Whether the decoder tells a bound of what it may have missed (protocols.Bounds)."""
    return rescaling == "margin" and hasattr(model, "decode_bound")


def _asked(model, w, x, y, rescaling):
    """(output, bound of its score and loss, or None)."""
    if rescaling == "slack":
        return model.decode_slack(w, x, y), None
    if not gives_bounds(model):
        return model.decode(w, x, y), None
    found = model.decode_bound(w, x, y)
    if not isinstance(found, tuple) or len(found) != 2 or not is_one_number(found[1]):
        raise ModelError(f"decode_bound: returned {brief(found)}, expected a pair (output, bound)")
    return found[0], float(found[1])


def excess_of(upper, value, truth) -> float:
    """By how much H may be above the hinge that was found, where max_z loss + score is at most `upper`, the
    answer has `value` = loss + score - truth, and the truth the score `truth`."""
    excess = upper - truth - max(value, 0.0)
    if not excess >= -BELOW * (1.0 + abs(upper) + abs(truth)):  # or it is no number
        raise ModelError(
            f"decode_bound: the bound {upper:.9g} is below {max(value, 0.0) + truth:.9g}, the score + loss "
            f"of {'its own output' if value > 0.0 else 'the truth'}"
        )
    return max(excess, 0.0)  # a bound may only be raised by this: never less than what was found


def _answer(model, w, x, y, rescaling):
    """(cut or None as above, how long psi of truth and answer are, the loss, by which rounding is large; and
    by how much the hinge may be above the cut's)."""
    z, upper = _asked(model, w, x, y, rescaling)
    truth, answer = _row(model, x, y, TRUTH), _row(model, x, z, ANSWER)
    if not (sp.issparse(truth) or sp.issparse(answer)) and np.may_share_memory(truth, answer):
        # The model fills the same array again.
        answer = answer.copy()
        truth = _row(model, x, y, TRUTH)
    loss = checked_loss(model.loss(y, z), "loss", ANSWER)
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is told below, with its place
        row = _difference(truth, answer)
        row = row * loss if rescaling == "slack" else row
        value = loss - float((row @ w).sum())
    if not math.isfinite(value):
        raise ModelError(_what_is_not_finite(truth, answer))
    length = _length(truth) + _length(answer)
    length = length * max(loss, 1.0) if rescaling == "slack" else length
    excess = 0.0 if upper is None else excess_of(upper, value, float((truth @ w).sum()))
    # The truth itself is a candidate: an answer worse than it is replaced by it.
    return (row, loss, z) if value > 0.0 else None, length, loss, excess


def _length(row):
    values = row.data if sp.issparse(row) else row
    return math.sqrt(float(values @ values))


def _row(model, x, y, what):
    return as_row(model.joint_feature(x, y), model.n_params, "joint_feature", what)


def _difference(row, other):
    if sp.issparse(row) != sp.issparse(other):
        row, other = _dense(row), _dense(other)
    return row - other


def _what_is_not_finite(truth, answer):
    """Why a cut has no value: one number that is not finite makes none of <w, delta>, also at w = 0."""
    for row, what in ((truth, TRUTH), (answer, ANSWER)):
        fault = number_fault(row)
        if fault:
            return f"joint_feature: {what} {fault}"
    return "joint_feature: <w, psi> overflows; make the features smaller"


def check_own_loss(model, y):
    """Raise unless y itself has no loss: a cut of it would lie above its hinge."""
    loss = checked_loss(model.loss(y, y), "loss", TRUTH)
    if loss != 0.0:
        raise ModelError(f"loss: loss(y, y) is {loss:g}, expected 0")


@dataclass(frozen=True)
class Examples:
    """Lists of examples with their weights."""

    X: object
    Y: object
    weights: np.ndarray

    @staticmethod
    def pack(X, Y, weights=None) -> Examples:
        n = common_count(X, Y)
        return Examples(X, Y, weights_of(weights, n))

    @property
    def n(self) -> int:
        return len(self.weights)

    @cached_property
    def digest(self) -> tuple[str, str | None]:
        """(digest, what of the examples is unseen); see identity.py."""
        return digest_of(self.X, self.Y, self.weights)


def digest_of(X, Y, weights) -> tuple[str, str | None]:
    """(digest, what of it is unseen) of examples as they were given."""
    found = Digest(weights)
    for examples in (X, Y):
        found.add_examples(examples, len(weights))
    return found.hex, found.unseen


def failure(i, error):
    """What went wrong in the model, and at which example."""
    if isinstance(error, ValueError):
        kind = ModelError if isinstance(error, ModelError) else ValueError
        return kind(f"example {i}: {error}")
    return OneslackError(f"example {i}: the model raised {type(error).__name__}: {error}")


@dataclass(frozen=True)
class Oracle:
    """Finds worst cuts; whole in itself, so that it can be sent to another process once."""

    model: object
    examples: Examples
    rescaling: str
    #: What the first example is called in errors.
    first: int = 0
    #: Of which examples the loss of y itself is known to be 0.
    _known: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "_known", np.zeros(self.examples.n, bool))

    def __call__(self, task):
        """(kind, w, index, precision): the summed cut ("sum": normal, offset, excess) or the cuts ("rows": a
        list of cut, excess), and the largest length and loss that were met."""
        kind, w, index, precision = task
        rough = self.at_precision(precision)
        largest = np.zeros(2)
        found = (rough._sum if kind == "sum" else rough._rows)(w, index, largest)
        return found, largest

    def at_precision(self, precision) -> Oracle:
        """The same, of a decoder that may leave open a share of each hinge, if there is such a one."""
        if not precision or not hasattr(self.model, "at_precision"):
            return self
        rough = replace(self, model=self.model.at_precision(precision))
        object.__setattr__(rough, "_known", self._known)
        return rough

    def _cut(self, w, i, largest):
        x, y = self.examples.X[i], self.examples.Y[i]
        try:
            if not self._known[i]:
                check_own_loss(self.model, y)
                self._known[i] = True
            cut, length, loss, excess = _answer(self.model, w, x, y, self.rescaling)
        except Exception as error:
            raise failure(self.first + i, error) from error
        largest[:] = max(largest[0], length), max(largest[1], loss)
        return cut, excess

    def _rows(self, w, index, largest):
        return [self._cut(w, i, largest) for i in index]

    def _sum(self, w, index, largest):
        g, b, e = np.zeros(self.model.n_params), 0.0, 0.0
        for i in index:
            cut, excess = self._cut(w, i, largest)
            s = self.examples.weights[i]
            e += s * excess
            if cut is None:
                continue
            row, loss, _ = cut
            if sp.issparse(row):
                g[row.indices] += s * row.data
            else:
                g += s * row
            b += s * loss
        return g, b, e


def parts_of(index):
    """The index cut into PARTS neighbouring pieces, fewer where it is short."""
    return [part for part in np.array_split(index, PARTS) if len(part)]

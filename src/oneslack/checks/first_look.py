"""A short look at a user's model where it is trained: before the first step, and at the last w.

`check_model` looks at all that a model promises, when it is asked to.  Here a few examples are looked at
unasked, by a few calls: answers have the right shapes and are finite, psi is a function, y itself has no
loss, nothing changes what it is given, and no known output beats the decoder's answer.  Known are outputs
that x surely has: the truth, and what the decoder itself has answered, with the loss and without, at several
w.  At w = 0 a decoder that forgets the loss is found out, as only the loss counts there; at the last w, one
that is wrong elsewhere.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from ..errors import ModelError
from ..models.answers import brief
from ..models.latent import CompletedBinary
from .model import AUGMENTED, PLAIN, SLACK, Example

#: Examples that are looked at.
FEW, MORE = 3, 32
#: An x or y of more bytes, or more entries, is not copied to see whether it changes.
LARGE, MANY = 10_000_000, 1000


def check_first_examples(problem):
    """Raise ModelError where a few examples show at w = 0 that the model breaks its contract."""
    if _is_in_parts(problem):
        problem.engine.ask("look", check_first_examples)
        return
    try:
        _look(problem, [np.zeros(problem.n_params)])
    except ModelError as error:
        raise ModelError(f"{error}; oneslack.check_model(model, X, Y) looks further") from error


def find_disagreement(problem, w) -> str | None:
    """A sentence where a few examples show at w that the decoder misses better outputs, which it has given
    itself; else None.

    P(w) is then too low, and what was trained is no optimum.
    """
    if _is_in_parts(problem):
        answers = problem.engine.ask("look", find_disagreement, np.asarray(w))
        return next((sentence for (sentence,) in answers if sentence), None)
    try:
        _look(problem, [np.zeros(problem.n_params), np.asarray(w)], MORE)
    except ModelError as error:
        return str(error)
    return None


def _is_in_parts(problem):
    """Whether workers ask a model of three methods."""
    return problem.parts is not None and not problem.is_compiled


def _look(problem, weights, most=FEW):
    """Look at a few examples of a model of three methods, more where there are many; raise ModelError."""
    if problem.parts is not None or not getattr(problem, "names_examples", False):
        return
    model, oracle = problem.model, problem.oracle
    watch = SimpleNamespace(model=model, changes=tuple)  # a model may remember what it likes
    methods = (PLAIN, SLACK if problem.rescaling == "slack" else AUGMENTED)
    # The outputs of a positive that is completed are its own and no; others are not compared with it.
    compares = getattr(model, "exact", True) and not isinstance(model, CompletedBinary)
    for i in _spread(problem.n, max(FEW, min(problem.n // 50, most))):
        example = _Look(watch, oracle.first + i, oracle.examples.X[i], oracle.examples.Y[i], None)
        answers = {(each, k): (w, example.decode(w, each)) for k, w in enumerate(weights) for each in methods}
        if not compares:
            continue
        example.candidates += [answer for _, answer in answers.values()]
        _add_rivals(example, problem.regulariser)
        example.compare(answers)
        for (method, _), (w, answer) in answers.items():
            if method == PLAIN:
                _change_places(example, answer.output, w, methods[1])


def _spread(n, count):
    """At most `count` of n examples, from the first to the last."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(int)).tolist()


def _add_rivals(example, regulariser):
    """The best outputs at some w and at its opposite: what is highest at one is low at the other."""
    size = float(np.sqrt(np.sum(example.psi**2)))
    w = np.random.default_rng(0).normal(size=len(example.psi)) / (size or 1.0)
    for each in (w, -w):
        try:
            example.candidates.append(example.decode(regulariser.feasible(each), PLAIN))
        except ModelError:  # a decoder need not know all w
            return


def _change_places(example, z, w, method):
    """The output z that the decoder finds without y, taken for the truth: the truth is then its rival, and
    both are outputs of x."""
    try:
        turned = _Look(example.watch, f"{example.number} with y = {brief(z)}", example.x, z, None)
        answer = turned.decode(w, method)
    except ModelError:  # a truth may be of another kind than answers
        return
    turned.candidates.append(answer)
    turned.add_candidate(example.y, "y of the example")
    turned.compare({(method, 0): (w, answer)})


class _Look(Example):
    """An example as it is looked at unasked: by fewer copies, and lenient to decoders in float32."""

    tolerance = 1e-5

    @staticmethod
    def copy_of(value):
        return _plain_copy(value)


def _plain_copy(value, depth=3):
    """A copy of numbers, text, arrays and short lists of them; None of all else, which may hold anything."""
    if isinstance(value, (int, float, str, bytes, np.generic)):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.copy() if value.nbytes <= LARGE else None
    if sp.issparse(value):
        return value.copy() if value.nnz <= LARGE // 8 else None
    if type(value) not in (list, tuple) or depth == 0 or len(value) > MANY:
        return None
    parts = [_plain_copy(part, depth - 1) for part in value]
    return None if any(part is None for part in parts) else type(value)(parts)

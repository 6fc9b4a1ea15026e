"""Conformance: does a model keep its promises?  Run it on your own model before you train.

    H_i(w) = max_z loss(y_i, z) - <w, delta_i(z)>        delta_i(z) = psi(x_i, y_i) - psi(x_i, z)

A solver believes three things: psi and loss are functions, decode finds the worst offender, and nothing
changes behind its back.  Wherever the outputs can be listed the decoder is compared with brute force.
Everywhere, each output it ever gave for an example is a cut, which must lie under H_i at every other w:
a decoder that misses the best output is found out by its own answers.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import ModelError
from ..models.answers import brief, loss_fault, number_fault, shape_fault
from ..models.latent import Completed
from ..problems.per_example import count_of
from .brute import outputs_of

#: Two numbers agree within this, relative to their size.
TOLERANCE = 1e-7

PLAIN, AUGMENTED, SLACK = "decode(w, x)", "decode(w, x, y)", "decode_slack(w, x, y)"
_WORTH = {PLAIN: "score", AUGMENTED: "score + loss", SLACK: "loss (1 - <w, delta>)"}


@dataclass(frozen=True)
class CheckReport:
    """What `check_model` looked at."""

    model: str
    n_examples: int
    n_weights: int
    enumerated: bool
    exact: bool
    extensions: tuple[str, ...]
    bounded: bool = False

    def __str__(self) -> str:
        decoder = "as good as brute force" if self.enumerated else "never beaten by another answer"
        if not self.exact:
            decoder = "not compared, as it is not exact"
        if self.bounded:
            decoder += "; bounds: never below an output"
        fast = ", ".join(self.extensions) or "none"
        return (
            f"{self.model} passes on {self.n_examples} examples at {self.n_weights} weights; "
            f"decoder: {decoder}; extensions: {fast}"
        )


def check_model(
    model: Any, X: Any, Y: Any, *, outputs: Any = None, n_weights: int = 20, seed: int = 0,
) -> CheckReport:  # fmt: skip
    """Check a model on a few examples; raise ModelError where it breaks its contract.

    Parameters
    ----------
    model : the Model (protocols.py) to check.  With `exact = False` its decoder may be approximate; where
        it has `decode_bound`, no bound may be below the score + loss of any output that is known.
    X, Y : sequences of examples, a few dozen small ones
    outputs : all outputs of an x, or a function that lists them; `model.outputs` by default.  Where
        there is neither, the decoder is compared with its own answers and the examples' outputs.
    n_weights : how many w to try
    seed : of the w

    Returns
    -------
    CheckReport, to print

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0]])
    >>> print(oneslack.check_model(oneslack.Binary(2), X, [1, -1]))  # doctest: +ELLIPSIS
    Binary passes on 2 examples at 20 weights; decoder: as good as brute force; ...
    """
    if n_weights < 1:
        raise ValueError(f"n_weights must be at least 1; got {n_weights!r}")
    n, m = count_of(X), count_of(Y)
    if n == 0 or n != m:
        raise ValueError(f"X has {n} examples and Y has {m}: give as many of both, at least one")
    _check_members(model)
    listed = outputs is not None or hasattr(model, "outputs")
    watch = Watch(model)
    examples = [
        Example(watch, i, X[i], Y[i], outputs_of(model, X[i], outputs) if listed else None) for i in range(n)
    ]
    _add_neighbours(examples)
    weights = sample_weights(examples, model.n_params, n_weights, np.random.default_rng(seed))
    for example in examples:
        example.check_decoder(weights)
    from .extensions import check_extensions

    extensions = check_extensions(model, X, Y, examples, weights, seed)
    exact = bool(getattr(model, "exact", True))
    bounded = hasattr(model, "decode_bound")
    return CheckReport(type(model).__name__, n, n_weights, listed, exact, extensions, bounded)


def _check_members(model):
    name = type(model).__name__
    lacking = [part for part in ("n_params", "joint_feature", "loss", "decode") if not hasattr(model, part)]
    if lacking:
        raise ModelError(
            f"{name} lacks {', '.join(lacking)}: a model has n_params, joint_feature(x, y), "
            "loss(y, y_hat) and decode(w, x, y=None)"
        )
    n_params = model.n_params
    if isinstance(n_params, bool) or not isinstance(n_params, Integral) or n_params < 1:
        raise ModelError(f"n_params is {n_params!r}, expected a whole number of at least 1")


def sample_weights(examples, n_params, count, rng):
    """w to try: nothing, ties, the direction of the truth, then noise on three scales around the loss."""
    norms = [np.sqrt(float(np.sum(example.psi**2))) for example in examples]
    scale = 1.0 / max(float(np.mean(norms)), 1e-12)
    special = [
        np.zeros(n_params),
        rng.integers(-1, 2, n_params).astype(float),
        scale**2 * np.mean([example.psi for example in examples], axis=0),
    ]
    noise = [scale * (0.3, 1.0, 10.0)[k % 3] * rng.normal(size=n_params) for k in range(count)]
    return [*special, *noise][:count] if count > 6 else noise


def _add_neighbours(examples):
    """Outputs of other examples are candidates too where both x and y have the same kind and size."""
    for example in examples:
        for other in examples:
            if example.outputs is None and other is not example and _alike(example, other):
                example.add_candidate(other.y, f"y of example {other.number}")


def _alike(one, other):
    return _kind(one.x) == _kind(other.x) and _kind(one.y) == _kind(other.y)


def _kind(value):
    if sp.issparse(value):
        return "sparse", value.shape
    try:
        array = np.asarray(value)
    except ValueError:  # lists of unequal lengths
        return type(value), None
    return (type(value), None) if array.dtype == object else (array.dtype.kind, array.shape)


@dataclass(frozen=True)
class _Candidate:
    """An output of an example, with all that a score needs."""

    psi: np.ndarray
    loss: float
    source: str
    output: object = None


class Example:
    """One example and every output seen for it."""

    #: By what share the values of two outputs may differ and still count as the same.
    tolerance = TOLERANCE

    def __init__(self, watch, number, x, y, outputs):
        self.watch, self.model = watch, watch.model
        self.number, self.x, self.y, self.outputs = number, x, y, outputs
        self.before = self.copy_of(x), self.copy_of(y)
        self.psi = self.feature(y, "the truth")
        again = self.feature(y, "the truth")
        if not np.array_equal(self.psi, again):
            j = np.flatnonzero(self.psi != again)[0]
            self.fail("joint_feature", f"feature {j} of the truth was {self.psi[j]:g}, then {again[j]:g}")
        self.unchanged("joint_feature")
        loss = self.loss(y, "the truth")
        if loss != 0:
            self.fail("loss", f"loss(y, y) is {loss:g}, expected 0")
        self.candidates = [_Candidate(self.psi, 0.0, "the truth")]
        if outputs is not None and not outputs:
            self.fail("outputs", "lists 0 outputs, expected at least 1")
        for z in outputs or ():
            self.add_candidate(z, f"output {brief(z)}", required=True)
        self.unchanged("loss")

    @staticmethod
    def copy_of(value):
        """What x or y is like now; None where that cannot be kept."""
        return _copy(value)

    def fail(self, method, problem, cause=None):
        raise ModelError(f"{name_of(self.model)}.{method}, example {self.number}: {problem}") from cause

    def unchanged(self, method):
        """Neither the example nor the model has changed."""
        for what, old, new in zip(("x", "y"), self.before, (self.x, self.y), strict=True):
            if old is not None and not same(old, new):
                self.fail(method, f"changed {what} from {brief(old)} to {brief(new)}")
        for key, old, new in self.watch.changes():
            self.fail(method, f"changed the model: {key} was {old}, now {new}")

    def _call(self, method, first, z, source):
        """model.method(first, z); an error is told with the output that caused it."""
        try:
            return getattr(self.model, method)(first, z)
        except Exception as error:
            self.fail(method, f"{source} ({brief(z)}) raised {type(error).__name__}: {error}", error)

    def feature(self, z, source):
        """psi(x, z) as a flat array, checked."""
        psi = self._call("joint_feature", self.x, z, source)
        fault = shape_fault(psi, self.model.n_params)
        if not fault:
            psi = psi.toarray() if sp.issparse(psi) else psi
            psi = np.array(psi, dtype=np.float64).ravel()
            fault = number_fault(psi)
        if fault:
            self.fail("joint_feature", f"{source} {fault}")
        return psi

    def loss(self, z, source):
        loss = self._call("loss", self.y, z, source)
        fault = loss_fault(loss)
        if fault:
            self.fail("loss", f"{source} {fault}")
        return float(loss)

    def add_candidate(self, z, source, required=False):
        try:
            self.candidates.append(_Candidate(self.feature(z, source), self.loss(z, source), source))
        except ModelError:
            if required:
                raise

    def check_decoder(self, weights):
        """decode is a function, and no known output beats its answers, without and with the loss."""
        answers = {}
        for k, w in enumerate(weights):
            for method in (PLAIN, AUGMENTED):
                answers[method, k] = self._decode(w, method)
        worst = [answers[AUGMENTED, k] for k in range(len(weights))]
        if hasattr(self.model, "decode_bound"):
            from .bounds import check_bounds

            worst = check_bounds(self, weights, answers.values())
        self.hinges = np.array([z.loss + (z.psi - self.psi) @ w for z, w in zip(worst, weights, strict=True)])
        if not getattr(self.model, "exact", True):
            return
        self.candidates += answers.values()
        self.compare({(method, k): (weights[k], answer) for (method, k), answer in answers.items()})

    def compare(self, answers):
        """No known output beats an answer; answers: {(method, any): (w, answer)}."""
        features = np.array([candidate.psi for candidate in self.candidates])
        losses = np.array([candidate.loss for candidate in self.candidates])
        for (method, _), (w, answer) in answers.items():
            self._compare(method, w, answer, self._values(method, w, features, losses))

    def _values(self, method, w, features, losses):
        """What a method looks for the largest of."""
        if method == SLACK:
            return losses * (1.0 + (features - self.psi) @ w)
        return features @ w + (losses if method == AUGMENTED else 0.0)

    def _decode(self, w, method):
        first, second = (self.decode(w, method) for _ in range(2))
        if not np.array_equal(first.psi, second.psi) or first.loss != second.loss:
            one, two = (float(answer.psi @ w) + answer.loss for answer in (first, second))
            self.fail(
                method, f"gave two different answers at the same w, with score + loss {one:g} and {two:g}"
            )
        return first

    def decode(self, w, method):
        """The answer of a method at w, with all that a score needs."""
        given = w.copy()
        arguments = (given, self.x) if method == PLAIN else (given, self.x, self.y)
        try:
            z = (self.model.decode_slack if method == SLACK else self.model.decode)(*arguments)
        except Exception as error:
            self.fail(method, f"raised {type(error).__name__}: {error}", error)
        changed = np.flatnonzero(given != w)
        if len(changed):
            j = changed[0]
            self.fail(method, f"changed w[{j}] from {w[j]:g} to {given[j]:g}")
        self.unchanged(method)
        return self.candidate(z, f"the answer of {method}")

    def candidate(self, z, source):
        """An output with all that a score needs."""
        return _Candidate(self.feature(z, source), self.loss(z, source), f"{source}, {brief(z)},", z)

    def _compare(self, method, w, answer, values):
        what = _WORTH[method]
        value = float(self._values(method, w, answer.psi, answer.loss))
        best = int(np.argmax(values))
        if not agree(value, values[best], self.tolerance):
            source = self.candidates[best].source
            self.fail(method, f"its answer has {what} {value:.9g}, but {source} has {values[best]:.9g}")
        if self.outputs:
            limit = values[1 : 1 + len(self.outputs)].max()
            if not agree(value, limit, self.tolerance):
                self.fail(
                    method,
                    f"its answer has {what} {value:.9g}, but the best of its {len(self.outputs)} "
                    f"outputs has {limit:.9g}",
                )


class Watch:
    """A copy of the model's attributes, to see that no method changes them."""

    def __init__(self, model):
        self.model = model
        self.before = {key: _copy(value) for key, value in attributes(model).items()}

    def changes(self):
        """(attribute, before, now) of what changed; a cached_property may appear."""
        for key, now in attributes(self.model).items():
            if key not in self.before:
                if not isinstance(getattr(type(self.model), key, None), cached_property):
                    yield key, "nothing", brief(now)
            elif self.before[key] is not None and not same(self.before[key], now):
                yield key, brief(self.before[key]), brief(now)


def attributes(model) -> dict:
    """The model's own attributes, whether it has a __dict__ or slots."""
    slots = [name for kind in type(model).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(model, name) for name in slots if name != "__dict__" and hasattr(model, name)}
    return {**held, **getattr(model, "__dict__", {})}


def name_of(model) -> str:
    """What the user calls the model."""
    return type(model.model if isinstance(model, Completed) else model).__name__


def agree(a, b, tolerance=TOLERANCE) -> bool:
    """Whether two numbers are the same but for rounding."""
    return abs(a - b) <= tolerance * (1.0 + abs(a) + abs(b))


def same(a, b, depth=20) -> bool:
    """Equality of whatever examples and models are made of; not looked at beyond a depth."""
    if a is b or depth == 0:
        return True
    if sp.issparse(a) and sp.issparse(b):
        return a.shape == b.shape and (a != b).nnz == 0
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        numeric = np.asarray(a).dtype.kind in "fc"
        return bool(np.array_equal(a, b, equal_nan=numeric))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], depth - 1) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(one, other, depth - 1) for one, other in zip(a, b, strict=True))
    if type(a).__eq__ is object.__eq__:
        return same(attributes(a), attributes(b), depth - 1)
    return bool(a == b) or (a != a and b != b)


def _copy(value):
    """A deep copy, or None where there is none to be had (open files, locks)."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return None

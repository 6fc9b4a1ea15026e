"""What comes out of training: steps while it runs, a Result with its certificate at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from .objective import relative_gap


class Status(Enum):
    """Why training stopped; `advice` is a sentence on what to do about it.

    >>> import oneslack
    >>> oneslack.Status.MAX_ITER.ok, oneslack.Status.CONVERGED.advice
    (False, 'the gap asked for is reached')
    """

    CONVERGED = "the gap asked for is reached"
    EPSILON = "no constraint is violated by more than epsilon"
    INFERENCE = (
        "training has reached the gap asked for; what is left is inference that is not exact: accept it, or "
        "give the decoder more time"
    )
    MAX_ITER = "the number of iterations ran out: raise max_iter, or scale the features"
    TIME_LIMIT = "the time ran out: raise time_limit, or accept a larger tol"
    INTERRUPTED = "interrupted: this is the best model so far"
    STALLED = "rounding stopped the progress: accept a larger tol, or scale the features"
    ROUNDING = (
        "the gap asked for is reached, but for rounding errors that are larger: accept a larger tol, or "
        "scale the features"
    )
    INCONSISTENT = (
        "the model's joint_feature, loss and decode contradict each other, so that nothing is proven: run "
        "check_model on it"
    )
    STOPPED = "a callback asked to stop"
    VALIDATED = (
        "the model that did best on the validation set is kept, from before the gap asked for was reached"
    )

    def __init__(self, advice):
        self.advice: str = advice
        self.ok: bool = self.name in ("CONVERGED", "EPSILON", "INFERENCE", "STOPPED", "VALIDATED")


class Torn(Exception):
    """A dual point was asked for while a step was under way."""


class OutOfTime(Torn):
    """The time is up, and machines that are asked do not answer."""


# Not frozen, as there is one a step: that would take three times as long to make.
@dataclass(eq=False)
class Step:
    """One step of a solver.

    w        a point, (n_params,), or a function that gives it until the next step; not changed later when
             `primal` is given
    dual     a lower bound of the optimum, valid at this step
    primal   P(w), or None where the solver did not pay for it
    n_cuts   planes or duals in play
    violation  by how much the newest constraint is violated (one-slack), in units of mean loss
    state    returns what `start=` needs to go on from here; call it before the next step
    proof    returns the dual point behind `dual` with bounds of its rounding (rounding.Proof), or one as
             good; call it before the next step.  It may return None where there is none yet.  None where
             nothing is proved
    way      how far the scores behind P(w) were moved along from those of other points (rounding.moved); 0
             where they were computed from w, None where nobody knows
    found    the least that P was at any point by real outputs alone, where the decoder gives bounds; None for
             P itself
    within   the problem that w and the dual point are of, where it is another form of the one to solve
    """

    w: np.ndarray | Callable[[], np.ndarray]
    dual: float
    primal: float | None = None
    n_cuts: int = 0
    violation: float | None = None
    stalled: bool = False
    state: Callable[[], dict[str, Any]] = dict
    proof: Callable[[], Any] | None = None
    way: float | None = 0.0
    within: Any = None
    found: float | None = None


def no_dual_point():
    """The proof of a step that has no dual point of the whole problem: at another C, or of a sample."""


@dataclass(eq=False)
class TraceRow:
    """Bounds and work after a step."""

    iteration: int
    seconds: float
    primal: float
    dual: float
    gap: float
    n_cuts: int
    oracle_calls: int = 0
    oracle_seconds: float = 0.0
    cached: int = 0
    rounds: int = 0
    bytes_moved: int = 0
    inference: float = 0.0
    #: On the validation set; None where there is none, or it was not looked at.
    score: float | None = None

    def __eq__(self, other) -> bool:
        # A score that was not taken is NaN, which is not equal to its own copy out of a pickle.
        return isinstance(other, TraceRow) and self._comparable() == other._comparable()

    def __hash__(self) -> int:
        return hash(self._comparable())

    def _comparable(self):
        return tuple(None if value != value else value for value in vars(self).values())


class Trace(list):
    """Rows (iteration, seconds, best primal, best dual, relative gap, n_cuts), one a step; for models
    that are asked example by example also the number of questions, their seconds, and how many were
    answered from memory; for examples that lie with workers (engine="ray") the rounds, that is how often all
    of them were waited for, and the bytes that went out and came back; for decoders that give bounds the part
    of primal - dual that is `inference`: the rest is training."""

    def column(self, name: str) -> np.ndarray:
        values = [getattr(row, name) for row in self]
        return np.array(values, float) if None in values else np.array(values)


@dataclass(frozen=True, repr=False)
class Result:
    """A trained w with its certificate: dual <= optimum <= primal.

    w          (n_params,)
    primal     P(w), or at least that where the decoder gives bounds (`decode_bound`)
    dual       the best lower bound
    status     why it stopped (a Status; its `advice` is a sentence)
    certified  whether dual <= optimum <= primal is proven, rounding included.  Where it is not, the lower
               bound is an estimate (sampled cuts), or the primal is (a decoder that is not exact and gives no
               bounds, whose lower bound is true), or the model's methods disagree
    inference  how much of primal - dual a decoder that is not exact left open: primal less the least
               objective that real outputs showed at any point; the rest is training
    rounding   by how much primal was rounded up and dual down for the proof, together
    radius     the optimum's weights are no farther from `middle` (intercepts aside, and with scales r in the
               metric |r (w - w*)|); inf where nothing is certified, or the penalty is not 1/2 |w|^2
    middle     (n_params,) halfway to the dual point's weights, or None where that is w itself
    primal_error  its standard error, where P(w) is an estimate too
    trace      Trace of the run
    n_iter     steps taken, in so many `seconds`; what was compiled before and meanwhile is not counted
    solver     name of the solver; `reason` says why "auto" chose it
    state      resume with solve(..., start=result)
    duals      the dual point behind `dual` as named arrays, which `save(path, proof=True)` writes down; None
               where nothing is certified, or the solver does not hold it.  A pickle leaves it out

    >>> import numpy as np, oneslack
    >>> result = oneslack.minimize(lambda w: (abs(w[0] - 2), np.sign(w - 2)), 1, tol=1e-6)
    >>> result.dual <= result.primal and result.gap <= 1e-6
    True
    >>> result.status.advice
    'the gap asked for is reached'
    """

    w: np.ndarray
    primal: float
    dual: float
    status: Status
    certified: bool
    trace: Trace
    n_iter: int
    seconds: float
    solver: str
    reason: str = ""
    primal_error: float = 0.0
    rounding: float = 0.0
    inference: float = 0.0
    radius: float = np.inf
    middle: np.ndarray | None = field(default=None, repr=False)
    state: dict[str, Any] = field(default_factory=dict, repr=False)
    duals: dict[str, np.ndarray] | None = field(default=None, repr=False)

    def __getstate__(self):
        # A pickled model is small: one number an example would be most of it.
        return {**vars(self), "duals": None}

    @property
    def gap(self) -> float:
        """Relative duality gap (P - D) / P."""
        return relative_gap(self.primal, self.dual)

    @property
    def parts(self) -> tuple[Result, ...]:
        """The results of the problems: this one, unless an estimator solved several, one a class."""
        return (self,)

    def __repr__(self) -> str:
        return f"<Result of {self}>"

    def __str__(self) -> str:
        kind = "certified" if self.certified else "estimated"
        return (
            f"{self.solver}: {self.status.advice}; {kind} relative gap {self.gap:.2e} "
            f"(primal {self.primal:.6g}, dual {self.dual:.6g}) after {self.n_iter} steps, "
            f"{self.seconds:.2f} s"
        )

    def _repr_html_(self) -> str:
        from .certificate.notebook import certificate_html

        details = (self.solver, f"{self.n_iter:,} steps", f"{self.seconds:.2f} s", self.status.advice)
        return certificate_html(self.primal, self.dual, self.certified, details)

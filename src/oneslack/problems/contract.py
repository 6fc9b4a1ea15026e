"""What the driver and solvers may ask a problem for.  Signatures and words, no code.

tests/test_protocols.py compares it with what they do ask; what there is of it is in capabilities.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Problem(Protocol):
    """Of every problem; what it can do beyond that are small objects, each there or None."""

    #: Weights, examples; what a hinge counts in P, what the mean risk does; a lower bound of it or None.
    n_params: int
    n: int
    C: float
    weight: float
    mean: float
    floor: float | None
    #: Whether the risk can be as low as that.
    reaches_floor: bool
    regulariser: Any
    #: How large a loss is; False where the worst outputs that are found may not be the worst.
    unit: float
    certified: bool
    #: (n,) weights s_i of the examples, C s_i, and sum_i s_i |x_i|^2.
    sample_weights: np.ndarray
    upper_duals: np.ndarray
    stiffness: float
    #: What it can do.
    oracle: Any
    scores: ProblemScores | None
    shares: ProblemShares | None
    passes: Callable | None
    smooth: ProblemSmooth | None
    columns: ProblemColumns | None
    kernel: Any
    parts: list | None
    storage: Any
    #: See capabilities.py; and the model and its packed data, for what is made of them elsewhere.
    sees_scores: bool
    has_batches: bool
    is_compiled: bool
    cache_size: int
    rescaling: str
    model: Any
    data: Any
    engine: Any
    work: Any

    def primal(self, w, weight=None) -> float:
        """P(w), or with another weight of the risk."""

    def primal_parts(self, w) -> tuple[float, float]:
        """Optional: (P(w), what it is by real outputs alone, where the decoder gives bounds)."""

    def mean_cut(self, w) -> Any:
        """The plane under the risk that touches it at w."""

    def cuts(self, w, index=None, precision=0.0) -> Any:
        """The most violated cuts of the examples `index` whose truth is not best; a decoder that is told a
        precision (protocols.Bounds) may leave open such a share of each hinge."""

    # A memory of `size` cuts of each example; what counts and times looks at those of n examples.
    def cut_cache(self, size, enough) -> Any: ...
    def recalling(self, n) -> Any: ...

    # The same problem with other packed examples, another C, or some of the examples that count as all.
    def on(self, data, C=None) -> Problem: ...
    def with_C(self, C) -> Problem: ...
    def sample(self, index) -> Problem: ...

    def identity(self) -> dict:
        """What must be the same where a state is to be of use, as numbers and words; see identity.py."""

    def vouches_for(self, w, primal, weight) -> bool:
        """Whether a state is this problem's though its identity does not see everything."""

    def has_objective(self, w, primal, weight=None) -> bool:
        """Whether P(w) is `primal`, but for rounding."""

    # What rounding can have done (certificate/rounding.py).
    extent: Any

    # At least P(w), computed as `primal`; what a dual point proves where P(w) <= upper; or both (optional).
    def upper(self, w, primal, enough=np.inf, way=0.0) -> float: ...
    def lower(self, proof, w, upper, enough=np.inf) -> Any: ...
    def prove(self, step, w, primal, way, share) -> Any: ...

    def plane_errors(self, lowest) -> tuple[float, float]:
        """By how much a plane's normal and its offset may be off, where none is below `lowest`."""

    def cut_lengths(self) -> Any:
        """No cut is longer: (n,), or one number for all."""

    #: What bounds of rounding rest on that a state must remember, or None; and to take it up.
    seen: list | None

    def see(self, seen: list) -> None: ...
    def estimate(self, w) -> tuple[float, float]:
        """Optional, where P is dear: (P(w), its standard error), for solvers that prove nothing."""

    def chosen(self, solver, seed) -> tuple[Any, str]:
        """Optional, where the examples are elsewhere: (solver, why)."""


class ProblemScores(Protocol):
    """Scores of all examples; scores(w) computes them.  See capabilities.py."""

    shape: tuple | None
    has_dear_cuts: bool

    def adjoint(self, coefficients): ...
    def risk(self, S): ...
    def along(self, S, dS, t): ...
    def cut(self, S): ...
    def plane(self, coefficients, offset): ...
    def group_cuts(self, S, count): ...
    def n_groups(self, count): ...
    def believed(self, w, S, way): ...


class ProblemShares(Protocol):
    """Duals as shares of the wrong outputs."""

    median_square: float
    weights_an_example: float
    can_rest: bool

    def sum(self, shares): ...
    def linear(self, shares): ...
    def balanced(self, shares): ...
    def nearest(self, a): ...
    def proof(self, shares): ...
    def proof_at(self, v, linear, shares): ...
    def point(self, shares) -> dict: ...


class ProblemSmooth(Protocol):
    """The hinge rounded off by mu."""

    hessian_work: float
    step_work: float | None
    has_kinks: bool
    has_products: bool
    has_squares: bool

    def path(self, w, mu, tol, rule, points): ...
    def search(self, S, dS, mu, *start): ...
    def duals(self, S, mu): ...
    def slope(self, S, dS, t, mu): ...
    def hessian(self, shares, mu): ...
    def squares(self, h): ...
    def curvatures(self, shares, mu): ...
    def centre(self, w): ...


class ProblemColumns(Protocol):
    """The features, where they are what is selected.  See columns.py."""

    index: np.ndarray

    def part(self, places): ...
    def adjoint(self, c): ...
    def scores(self, d): ...
    def squares(self, s, is_centred): ...
    def known(self, start=None): ...
    def minimum(self, a, h, penalty, damp, has_bias, known, **aims): ...


class KernelExpansions(Protocol):
    """A problem with a kernel: w is an expansion over examples, scores are (n, slots)."""

    X: Any
    inputs: Any
    intercept: bool
    is_plain: bool
    memory: int
    n_nodes: int
    n_values: int
    slots: int

    def product(self, rows, index, coefficients): ...
    def scores_of(self, w, rows=None): ...
    def risk_at(self, S, rows=None): ...
    def cut_at(self, S, rows=None): ...
    def along(self, S, dS, t, data=None): ...
    def part(self, rows): ...
    def near_order(self, parts): ...
    def linear_twin(self, Z): ...
    def see_square(self, norm2, size): ...


class Elsewhere(Protocol):
    """A problem whose examples lie with workers, or on disk."""

    def total_duals(self, method, *arguments): ...
    def changes(self, method, separate, *arguments, meanwhile=None): ...
    def proof_of_sums(self, v, linear, flow=None): ...
    def in_memory(self) -> Problem: ...

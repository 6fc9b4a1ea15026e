"""The contracts: what a model offers, what a solver is.  Signatures and words, no code.

A user's model has three methods and `n_params`; nothing is imported from here.  Extensions are found
by what a model has, never by its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from .result import Step


class Model(Protocol):
    """What is a good output.  Holds no data, never changes itself."""

    n_params: int

    def joint_feature(self, x: Any, y: Any) -> Any:
        """psi(x, y): (n_params,) array or one CSR row."""

    def loss(self, y: Any, y_hat: Any) -> float:
        """Delta(y, y_hat) >= 0, and 0 for y itself."""

    def decode(self, w: np.ndarray, x: Any, y: Any = None) -> Any:
        """argmax_z <w, psi(x, z)>, plus loss(y, z) when y is given."""


class Extras(Protocol):
    """Optional, each by itself."""

    #: False for a decoder that may miss the best output: D stays a lower bound, as what it does find are true
    #: cuts, but P(w) is measured too low, so that the gap is an estimate.
    exact: bool
    #: Weights that are not penalised (intercepts).
    free: np.ndarray
    #: Names for groups of weights (slices, numbers or masks), to give a prior, scales and signs by.
    blocks: dict

    def outputs(self, x: Any) -> Any:
        """All outputs of an x, for brute force and `check_model`."""

    def decode_slack(self, w: np.ndarray, x: Any, y: Any) -> Any:
        """argmax_z loss(y, z) (1 - <w, psi(x, y) - psi(x, z)>), for rescaled slacks."""

    def decode_topk(self, w: np.ndarray, x: Any, k: int) -> Any:
        """The k best outputs."""


class Batches(Protocol):
    """Optional: compiled decoders on packed examples; `data` has n, weights, offsets, shards and take.

    A shard is a range of examples; outputs Z of a shard lie in one flat array, example i's from
    data.offsets[i] - data.offsets[shard.lo] on.
    """

    def pack(self, X, Y, weights=None) -> Any: ...

    def worst_batch(self, data, shard, w, rescaling) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(Z, losses, <w, delta(z)>) of the worst outputs, one number an example."""

    def delta_sum(self, data, shard, Z, coefficients) -> np.ndarray:
        """(n_params,): sum_i coefficients_i delta_i(z_i)."""

    def delta_rows(self, data, shard, Z, factors) -> Any:
        """CSR, one row an example: factors_i delta_i(z_i)."""


class Compact(Protocol):
    """Optional, beside Batches: cuts are remembered as outputs, and their rows are made anew at each use."""

    #: The smallest integers that hold outputs.
    output_type: np.dtype

    def cut_view(self, data, Z, starts, examples, factors) -> Any:
        """factors_j delta(z_j) as rows of a kind that _jit/cut_rows.py knows; z_j begins at Z[starts_j] and
        belongs to example examples_j."""


class LatentModel(Protocol):
    """What `LatentStructuralSVM` asks for: outputs with a value h that no example tells."""

    n_params: int

    def joint_feature(self, x: Any, y: Any, h: Any) -> Any:
        """psi(x, y, h): (n_params,) array or one CSR row."""

    def loss(self, y: Any, y_hat: Any) -> float:
        """Delta(y, y_hat) >= 0, and 0 for y itself; with a third argument it also gets the latent value."""

    def decode(self, w: np.ndarray, x: Any, y: Any = None) -> tuple[Any, Any]:
        """(z, h) of the highest <w, psi(x, z, h)>, plus loss(y, z) when y is given."""

    def complete(self, w: np.ndarray, x: Any, y: Any) -> Any:
        """The h of the highest <w, psi(x, y, h)>."""


class LatentBinaryModel(Protocol):
    """What `LatentSVM` asks for: a yes has a value h that no example tells."""

    n_params: int

    def feature(self, x: Any, h: Any) -> Any:
        """phi(x, h): (n_params,) array or one CSR row."""

    def best(self, w: np.ndarray, x: Any) -> Any:
        """The h of the highest <w, phi(x, h)>."""


class Scores(Protocol):
    """Optional, `scores`: examples are seen through scores S = S(w), linear in w.

    `data = pack(X, Y, weights)` holds arrays, `data.n`, `data.shards` for what reads examples and
    `data.score_shards(S)` for what reads only scores; methods work on one shard (rows lo <= i < hi).
    `data.unit`, where it is there, tells how large a loss is.
    With this a solver searches a line exactly and takes cuts at any point of it without a pass over the
    data.

    Where the risk is no sum over examples (a ranking, a measure of the whole sample), the model has no
    `joint_feature`, `loss` and `decode`; `score_shards` are then parts of the sample that add up, in the
    model's own order, and one of them is all where nothing does; its `shard.map` then works on pieces in
    threads.
    """

    def pack(self, X, Y, weights=None) -> Any: ...

    def new_scores(self, data) -> np.ndarray:
        """Room for S."""

    def scores(self, data, shard, w, out) -> None:
        """Fill out[lo:hi] with S(w)."""

    def risk(self, data, shard, S) -> float:
        """sum_i s_i H_i at S."""

    def cut(self, data, shard, S, coefficients) -> float:
        """Fill coefficients[lo:hi] so that adjoint(coefficients) = sum_i s_i delta_i(worst output);
        return sum_i s_i loss_i."""

    def adjoint(self, data, shard, coefficients) -> np.ndarray:
        """(n_params,): the transpose of `scores`."""

    def along(self, data, shard, S, dS, t) -> tuple[float, float, float]:
        """At S + t dS: sum_i s_i loss_i of the worst outputs, sum_i s_i H_i, and its slope in t."""

    def cut_along(self, data, shard, S, dS, t, coefficients) -> tuple[float, float, float]:
        """Instead of `along` where cuts are dear: the same, and fill `coefficients` as `cut` does, so that
        the cut need not be found again."""


class Sized(Protocol):
    """Optional, for models with scores or batches: how large their examples are, so that bounds hold whatever
    rounding does.  Without it scores certify nothing; batches are judged by their cuts at w = 0."""

    def sizes(self, data) -> Any:
        """rounding.Sizes of the packed examples; `data.depth` is how many numbers a score sums up."""

    def free_bound(self, data) -> tuple[float, float]:
        """With free weights, (a, b): those of some optimum are at most a + b |w*|."""

    def worsened(self, data, S, e) -> np.ndarray:
        """With scores: others that have every example's hinge raised by e (n,) or more."""


class Duals(Protocol):
    """Optional: duals given as shares p of the wrong outputs, one row an example."""

    def coefficients(self, data, p) -> np.ndarray:
        """Coefficients with adjoint(coefficients) = sum_i s_i sum_z p_iz delta_i(z)."""

    def dual_loss(self, data, p) -> float:
        """sum_i s_i sum_z p_iz loss_iz."""

    def balance(self, data, p) -> np.ndarray:
        """The nearest shares without a component along the free weights."""


class Smooth(Protocol):
    """Optional, for `Newton`: the hinge rounded off by mu.  See solvers/newton.py."""

    def smooth_duals(self, data, shard, S, mu, p) -> tuple[float, float, float]:
        """Fill p[lo:hi]; return dual loss, hinge sum, smoothing error."""

    def smooth_slope(self, data, shard, S, dS, t, mu) -> tuple[float, float]:
        """Slope and curvature of the smoothed hinge sum along dS at t."""

    def smooth_hessian(self, data, shard, p, mu) -> np.ndarray:
        """(n_params, n_params), lower triangle."""

    def centre(self, w) -> np.ndarray:
        """Optional: the shortest of the w that say the same (intercepts known up to a constant)."""


class DualPasses(Protocol):
    """Optional, for `DualCD`: what `model.dual_passes(data, C, seed)` returns; with a regulariser other than
    1/2 |w|^2, model.dual_passes(data, C, seed, regulariser)."""

    point: np.ndarray
    shares: np.ndarray
    count: int
    #: Optional, for solvers/anchor.py: the penalised part of the point; what a step adds to it, in units of
    #: the rows; |delta|^2 of an example beside |x|^2.
    weights: np.ndarray
    scale: float
    #: For another regulariser than 1/2 |w|^2: the point before weights are held >= 0.
    unclipped: np.ndarray
    spread: float

    def run(self, rate: float) -> tuple[float, float]:
        """One pass over the active duals; returns the running gap and the growth of the dual.
        `rate` moves the bias."""

    def linear(self) -> float:
        """sum alpha_iz loss_iz."""

    def reopen(self, S) -> None:
        """Make every dual active that may still move at scores S."""

    def state(self) -> dict: ...
    def restore(self, state: dict) -> None: ...


class Problem(Protocol):
    """What the driver and solvers ask of every problem (tests/test_protocols.py compares it with what they do
    ask).  What it can do beyond that are small objects, each there or None (problems/capabilities.py)."""

    #: Weights, examples; what a hinge counts in P, what the mean risk does; a lower bound of it or None.
    n_params: int
    n: int
    C: float
    weight: float
    mean: float
    floor: float | None
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
    columns: Any
    kernel: Any
    parts: list | None
    storage: Any
    #: See problems/capabilities.py; and the model and its packed data, for what is made of them elsewhere.
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

    def mean_cut(self, w) -> Any:
        """The plane under the risk that touches it at w."""

    def cuts(self, w, index=None) -> Any:
        """The most violated cuts of the examples `index` whose truth is not best."""

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
    """Scores of all examples; scores(w) computes them.  See problems/capabilities.py."""

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

    mean_square: float
    can_rest: bool

    def sum(self, shares): ...
    def linear(self, shares): ...
    def balanced(self, shares): ...
    def moved(self, shares, h, dS): ...
    def proof(self, shares): ...
    def proof_at(self, v, linear, shares): ...


class ProblemSmooth(Protocol):
    """The hinge rounded off by mu."""

    hessian_work: float
    has_kinks: bool

    def duals(self, S, mu): ...
    def slope(self, S, dS, t, mu): ...
    def hessian(self, shares, mu): ...
    def curvatures(self, shares, mu): ...
    def centre(self, w): ...


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
    def proof_of_sums(self, v, linear): ...
    def in_memory(self) -> Problem: ...


class Solver(Protocol):
    """Turns cuts into a better w and a better lower bound.  Meets no x or y, reads no clock."""

    #: What it needs of a problem (solvers/choose.py).
    needs: tuple[str, ...]
    #: Optional: False where its bounds, or its P, are estimates.
    certifies: bool

    def steps(self, problem, start: dict | None, tol: float) -> Iterator[Step]:
        """Yield steps for ever; the driver `solve` stops.  `start` is a Step's state, or {"w": w}."""

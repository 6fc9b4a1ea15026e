"""The contracts: what a model offers, what a solver is.  Signatures and words, no code.

A user's model has three methods and `n_params`; nothing is imported from here.  Extensions are found
by what a model has, never by its class.  What solvers ask of a problem stands in problems/contract.py.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    #: cuts, but P(w) is measured too low, so that the gap is an estimate, unless there is a `decode_bound`.
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


class Bounds(Protocol):
    """Optional: a proven gap although inference is not exact (a relaxation, a search that was cut short)."""

    def decode_bound(self, w: np.ndarray, x: Any, y: Any) -> tuple[Any, float]:
        """(z, upper): a real output z, and upper >= max_z [loss(y, z) + <w, psi(x, z)>], over all outputs.

        It is the loss-augmented score that is bounded, not the hinge, and the number that is returned must
        hold whatever rounding did to it.  Then the hinge is bounded from both sides,

            loss(y, z) - <w, delta(z)>  <=  H(w)  <=  upper - <w, psi(x, y)>

        the left one is a cut, so that D is a lower bound as with an exact decoder, and
        1/2 |w|^2 + C sum_i s_i (upper_i - <w, psi(x_i, y_i)>) >= P(w).  Training asks this in place of
        decode(w, x, y); `Result.inference` tells how much of P - D is due to bounds.
        """

    def at_precision(self, precision: float) -> Model:
        """Optional: the same model with a decoder that may leave open about a share `precision` of each hinge
        (fewer message passes, a gap at which a search ends).  Its outputs are real and its bounds hold all
        the same; solvers ask it for cuts while their own gap is many times as large, and never for the P that
        they report."""


class Batches(Protocol):
    """Optional: compiled decoders on packed examples; `data` has n, weights, offsets, shards and take.

    A shard is a range of examples; outputs Z of a shard lie in one flat array, example i's from
    data.offsets[i] - data.offsets[shard.lo] on.
    """

    def pack(self, X, Y, weights=None) -> Any: ...

    def worst_batch(self, data, shard, w, rescaling) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(Z, losses, <w, delta(z)>) of the worst outputs, one number an example."""

    def bound_batch(self, data, shard, w) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Optional, for decoders that are not exact: (Z, losses, <w, delta(z)>, uppers) with
        uppers_i >= H_i(w), the hinge itself, whatever rounding did."""

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


class Separable(Protocol):
    """Optional, beside Compact: outputs are labels of tokens, and losses and features of what is wrong in
    stretches that lie apart add up.  Cuts are then remembered stretch by stretch (memory/stretches.py)."""

    #: Right tokens that make what is wrong on either side of them independent.
    order: int
    #: (labels + 1, at least labels): the loss of a token by its label and the output's; the last row is for
    #: tokens whose label is not known.
    loss_table: np.ndarray

    def run_view(self, data, *cuts) -> Any:
        """Outputs that are the truth but for one stretch, as rows of a kind that _jit/cut_rows.py knows;
        `cuts` as in RunCuts of _jit/chain_runs.py, from Z on."""

    def decode_work(self, data) -> float:
        """What decoding all examples costs, in numbers that a visit to remembered cuts reads."""


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

    def odds(self, data) -> tuple[float, float] | None:
        """Weights (for, against) whose log-odds, in size, are to be added to a; None where there are none."""

    def worsened(self, data, S, e) -> np.ndarray:
        """With scores: others that have every example's hinge raised by e (n,) or more."""

    def is_zero(self, data, S) -> bool:
        """Whether no example that counts has a hinge above 0 at S, be it less than floats can tell."""


class Duals(Protocol):
    """Optional: duals given as shares p of the wrong outputs, one row an example."""

    def coefficients(self, data, p) -> np.ndarray:
        """Coefficients with adjoint(coefficients) = sum_i s_i sum_z p_iz delta_i(z)."""

    def dual_loss(self, data, p) -> float:
        """sum_i s_i sum_z p_iz loss_iz."""

    def balance(self, data, p) -> np.ndarray:
        """The nearest shares without a component along the free weights."""

    def dual_sizes(self, data, p) -> tuple[float, float]:
        """At least (sum_i s_i |p_i| |x_i|, the sizes of all terms of `dual_loss`), where shares pay for
        themselves; otherwise `sizes` tells."""

    def rest(self, data, S, p) -> np.ndarray:
        """Optional: (n,) how far each example is from moving its shares at scores S; 0 where it may."""


class Smooth(Protocol):
    """Optional, for `Newton`: the hinge rounded off by mu.  See solvers/newton.py."""

    def smooth_duals(self, data, shard, S, mu, p) -> tuple[float, float, float]:
        """Fill p[lo:hi]; return dual loss, hinge sum, smoothing error."""

    def smooth_slope(self, data, shard, S, dS, t, mu) -> tuple[float, float]:
        """Slope and curvature of the smoothed hinge sum along dS at t."""

    def smooth_hessian(self, data, shard, p, mu) -> np.ndarray:
        """(n_params, n_params), lower triangle."""

    def curvatures(self, data, p, mu) -> np.ndarray:
        """Optional, for an L1 penalty: (n,) s_i times the curvature of the loss of each example."""

    def weighted_squares(self, data, shard, h) -> np.ndarray:
        """Optional, with `curvatures`: the sum over the shard of h_i dS_i/dw dS_i/dw' (lower triangle), h of
        any sign."""

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


class Solver(Protocol):
    """Turns cuts into a better w and a better lower bound.  Meets no x or y, reads no clock."""

    #: What it needs of a problem (solvers/choose.py).
    needs: tuple[str, ...]
    #: Optional: False where its bounds, or its P, are estimates.
    certifies: bool

    def steps(self, problem, start: dict | None, tol: float) -> Iterator[Step]:
        """Yield steps for ever; the driver `solve` stops.  `start` is a Step's state, or {"w": w}."""

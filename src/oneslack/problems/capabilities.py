"""What a problem can do, in a handful of small objects, each there or None.

    oracle    the worst outputs of single examples                     models with a decoder
    scores    scores, their adjoint, a line, the cut at scores         models that see examples through scores
    shares    duals as shares of the wrong outputs, and what they prove
    passes    passes(seed): dual coordinate passes of the model's own
    smooth    the hinge rounded off by mu, for Newton steps
    columns   the features, where they are what is selected (L1)
    kernel    the Mercer kernel, where w is an expansion over examples
    parts     who holds which examples, where these lie with workers
    storage   the examples by ranges, where they lie on disk

A solver names what it `needs` (solvers/choose.py), and never asks a problem, a model or data for their class.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..certificate.rounding import Proof, dual_proof, gamma, norm_up
from ..cuts import Plane
from ..data.rows import SMALL, equal_shards
from ..memory.dual_points import class_point
from ..models.answers import finite

_SCORES = ("pack", "new_scores", "scores", "risk", "cut", "adjoint")
_LINE = ("along", "cut_along")  # one of them


def lacks(model, names) -> list[str]:
    """Those of `names` that the model does not have."""
    return [name for name in names if not hasattr(model, name)]


def offers_scores(model, rescaling="margin") -> bool:
    """Whether examples are seen through scores that are linear in w (protocols.Scores)."""
    return rescaling == "margin" and not lacks(model, _SCORES) and len(lacks(model, _LINE)) < len(_LINE)


class Capable:
    """A problem of a model; where nothing else is said it can do nothing but give mean cuts."""

    oracle = scores = shares = passes = smooth = columns = kernel = parts = storage = None
    #: Whether examples are seen through scores, here or elsewhere; whether worst outputs of many examples are
    #: found at once, by compiled code; how many cuts of each example cutting planes should remember.
    sees_scores = has_batches = False
    cache_size = n = 0

    @property
    def is_compiled(self) -> bool:
        """Whether loops over examples are."""
        return self.sees_scores or self.has_batches

    @property
    def reaches_floor(self) -> bool:
        """Whether a loss can be at the floor; one without a flat place is always above it."""
        return not getattr(getattr(getattr(self, "model", None), "phi", None), "has_odds", False)


#: Coefficients of a cut that are kept for a proof, where weights are fewer.
KEPT = 4096
#: How much faster products of dense matrices are than the same products one by one.
PRODUCT = 8.0


#: How much longer a product takes whose sum is not beside the last one.
SCATTERED = 8.0


#: Examples up to which a search along a line is one call.
AT_ONCE = 1 << 16


class Look(NamedTuple):
    """The risk at a point of a line and its slope; with the cut there, where the model gives it."""

    risk: float
    slope: float
    loss: float
    coefficients: np.ndarray | None


class Scores:
    """Scores S = S(w) of all examples: with them there is no pass over the data but in scores(w) and
    `adjoint`."""

    def __init__(self, problem):
        self.problem, self.model, self.data = problem, problem.model, problem.data

    def __call__(self, w) -> np.ndarray:
        S = self.model.new_scores(self.data)
        self.map_rows(self.model.scores, w, S)
        return S

    @property
    def shape(self) -> tuple | None:
        """Of S, where it is known without a look at the examples."""
        return self.model.new_scores(self.data).shape

    @property
    def has_dear_cuts(self) -> bool:
        """Whether a cut costs so much that one which a line search has seen is taken."""
        return hasattr(self.model, "cut_along")

    def map_rows(self, function, *arguments):
        """A model's function over shards of the examples."""
        data, shards = self.data, self.data.shards
        if len(shards) == 1:
            return [function(data, shards[0], *arguments)]
        return self.problem.engine.map(lambda shard: function(data, shard, *arguments), shards)

    def map_scores(self, function, S, *arguments):
        """A model's function of scores over shards of them."""
        engine, data = self.problem.engine, self.data
        shards = data.score_shards(S)
        if len(shards) == 1:  # it is worked on here, so the threads are free for its pieces
            return [function(data, shards[0]._replace(map=engine.map), S, *arguments)]
        return engine.map(lambda shard: function(data, shard, S, *arguments), shards)

    def risk(self, S) -> float:
        return finite(self.problem.mean * sum(self.map_scores(self.model.risk, S)), "risk")

    def along(self, S, dS, t) -> Look:
        """R(S + t dS) and its slope in t."""
        if self.has_dear_cuts:
            c = np.empty_like(S)
            parts = self.map_scores(self.model.cut_along, S, dS, t, c)
        else:
            c = None
            parts = self.map_scores(self.model.along, S, dS, t)
        loss, risk, slope = (self.problem.mean * sum(values) for values in zip(*parts, strict=True))
        return Look(risk, slope, loss, c)

    def cut(self, S) -> Plane:
        """The plane at scores S."""
        c = np.empty_like(S)
        offset = self.problem.mean * sum(self.map_scores(self.model.cut, S, c))
        return self.plane(c, finite(offset, "cut"))

    def plane(self, coefficients, offset) -> Plane:
        """The plane of a cut with these coefficients."""
        normal = finite(self.adjoint(coefficients) * self.problem.mean, "adjoint")
        return Plane(normal, offset, self._place(coefficients))

    def _place(self, c):
        """What the plane of a cut is the plane of, where that is less than a point, or next to nothing."""
        if getattr(self.model, "is_labelling", False):
            return "labels", np.packbits(c != 0.0)
        is_short = c.ndim == 1 and len(c) <= max(KEPT, self.problem.n_params)
        return ("duals", c * self.problem.mean) if is_short and not self.has_dear_cuts else None

    def group_cuts(self, S, count) -> list[Plane]:
        """Planes under the parts of R that `count` groups of neighbouring examples make; R is their sum."""
        data, model, mean = self.data, self.model, self.problem.mean
        groups, c = equal_shards(0, data.n, self.n_groups(count)), np.empty_like(S)

        def plane(group):
            offset = model.cut(data, group, S, c)
            return Plane(model.adjoint(data, group, c) * mean, mean * offset)

        return self.problem.engine.map(plane, groups)

    def n_groups(self, count) -> int:
        """How many planes `group_cuts` gives."""
        return max(1, min(count, self.data.n))

    def adjoint(self, coefficients) -> np.ndarray:
        """sum_i coefficients_i dS_i/dw."""
        total, *others = self.map_rows(self.model.adjoint, coefficients)
        for part in others:  # one by one: w may be long, and memory counted
            total = total + part
        return total

    def believed(self, w, S, way) -> float | None:
        """The way (result.Step) of scores that were written down with w, where they are of w but for so much
        rounding; else None: what is computed from them is not to be believed."""
        if way is None or lacks(self.model, ["sizes"]):
            return None
        off = np.abs(S - self(w))
        lengths = np.asarray(self.model.sizes(self.data).lengths)
        near = gamma(self.problem.extent.terms + 64) * (way + norm_up(w)) * lengths
        return way if (off.reshape(len(off), -1).max(axis=1) <= near).all() else None


class Shares:
    """Duals alpha_iz = C s_i p_iz, given as shares p: (n,) or (n, outputs)."""

    needs = ("coefficients", "dual_loss", "balance")

    def __init__(self, problem):
        self.problem, self.model, self.data = problem, problem.model, problem.data

    @property
    def median_square(self) -> float:
        """The median |x_i|^2."""
        return float(np.median(self.data.norm2))

    @property
    def weights_an_example(self) -> float:
        """How many weights the scores of an example take, in the mean."""
        return self.data.n_entries / self.data.n * (self.problem.n_params / self.data.X.shape[1])

    @property
    def can_rest(self) -> bool:
        """Whether the model tells how far an example is from moving its duals."""
        return hasattr(self.model, "rest")

    def linear(self, shares) -> float:
        """sum alpha loss."""
        return self.problem.C * self.model.dual_loss(self.data, shares)

    def balanced(self, shares) -> np.ndarray:
        """The nearest shares without a component along the free weights."""
        return self.model.balance(self.data, shares)

    def sum(self, shares) -> np.ndarray:
        """v = sum alpha delta."""
        problem = self.problem
        return problem.C * problem.scores.adjoint(self.model.coefficients(self.data, shares))

    def point(self, shares) -> dict:
        """The duals alpha as `Proof.point` gives them: (n,), or (n, L) where labels have their own, what
        scores are multiplied by; or of several classes those of the wrong ones that are not 0, row by row."""
        c = self.problem.C * self.model.coefficients(self.data, shares)
        return {"duals": c} if c.ndim == 1 or self.data.y.ndim > 1 else class_point(c, self.data.y)

    def value(self, shares) -> float:
        """D at shares, balanced where there are intercepts."""
        proof = self.proof(shares)
        return self.problem.regulariser.dual(proof.v, proof.linear)

    def proof(self, shares) -> Proof:
        """The dual point of shares, balanced where there are intercepts: a lower bound of min P, whatever
        they are."""
        shares = self.balanced(shares)
        return self.proof_at(self.sum(shares), self.linear(shares), shares)

    def proof_at(self, v, linear, shares) -> Proof:
        """The same of balanced shares, given its sums."""
        problem = self.problem
        extent, regulariser, C = problem.extent, problem.regulariser, problem.C
        # Shares of several classes may sum to a little more than 1.
        sums, excess = extent.rows, gamma(4 + shares.size // len(shares))

        def point():
            return self.point(shares)

        def refined():
            if hasattr(self.model, "dual_sizes"):
                mass, losses = self.model.dual_sizes(self.data, shares)
                return dual_proof(regulariser, v, linear, C * mass, C * losses, sums, excess, point=point)
            rows = self.model.coefficients(self.data, shares).reshape(len(shares), -1)
            slopes, sizes = np.abs(rows).sum(axis=1), self.model.sizes(self.data)
            mass, losses = sizes.totals(slopes)
            proof = dual_proof(regulariser, v, linear, C * mass, C * losses, sums, excess, point=point)
            if shares.ndim == 1:
                return proof
            # What other classes get the truth gives; it is known as 1 - p, so but for a rounding of 1.
            lost, _ = sizes.totals(np.abs(rows.sum(axis=1)) + gamma(rows.shape[1]) * slopes)
            return replace(
                proof, v_error=proof.v_error + C * lost / regulariser.weakest,
                free_error=proof.free_error + C * lost,
            )  # fmt: skip

        sizes = extent.dual_sizes(C, linear)
        return dual_proof(regulariser, v, linear, *sizes, sums, excess, refined, point)


def passes_of(problem):
    """passes(seed) -> dual coordinate passes of the model's own (protocols.DualPasses), or None where it has
    none, or none that know the regulariser."""
    make, regulariser = getattr(problem.model, "dual_passes", None), problem.regulariser
    if problem.scores is None or make is None:
        return None
    if regulariser.is_plain:
        return lambda seed: make(problem.data, problem.C, seed)
    if "regulariser" not in inspect.signature(make).parameters:
        return None
    return lambda seed: make(problem.data, problem.C, seed, regulariser)


class Smooth:
    """The hinge rounded off by mu; see solvers/newton.py."""

    needs = (*Shares.needs, "smooth_duals", "smooth_slope", "smooth_hessian")

    def __init__(self, problem):
        self.problem, self.model = problem, problem.model

    def duals(self, S, mu):
        """(shares of the duals at S, their loss, the sum of the hinges, what rounding off adds to it), sums
        times C."""
        problem, shares = self.problem, np.empty_like(S)
        parts = problem.scores.map_scores(self.model.smooth_duals, S, mu, shares)
        return shares, *(problem.C * sum(values) for values in zip(*parts, strict=True))

    def slope(self, S, dS, t, mu):
        """(slope, curvature) along dS at t."""
        problem = self.problem
        parts = problem.scores.map_scores(self.model.smooth_slope, S, dS, t, mu)
        return tuple(problem.C * sum(values) for values in zip(*parts, strict=True))

    def curvatures(self, shares, mu) -> np.ndarray:
        """(n,): C s_i times the curvature of the loss of each example."""
        return self.problem.C * self.model.curvatures(self.problem.data, shares, mu)

    @property
    def hessian_work(self) -> float:
        """What a Hessian and its factor take, in passes over the data, if all examples have a part in it."""
        problem = self.problem
        if problem.data.n_entries <= SMALL:
            return 0.0  # less than the calls around it
        k = problem.shares.weights_an_example
        squares = 0.5 * k / (PRODUCT if self.has_products else 1.0)
        return squares + problem.n_params**3 / (6.0 * PRODUCT * problem.n * max(k, 1.0))

    @property
    def step_work(self) -> float | None:
        """What a Hessian and its factor take, in products of two numbers, where many steps can be one call
        (`path`)."""
        problem = self.problem
        if not hasattr(self.model, "smooth_path"):
            return None
        squares = 0.5 * problem.data.n_entries * problem.shares.weights_an_example
        return squares * (1.0 if self.has_products else SCATTERED) + problem.n_params**3 / 6.0

    def path(self, w, mu, tol, rule, points):
        """Newton steps from w in one call; see `smooth_path` of models/linear/scalar.py."""
        problem = self.problem
        return self.model.smooth_path(problem.data, problem.C, problem.regulariser, w, mu, tol, rule, points)

    def search(self, S, dS, mu, *start) -> float | None:
        """How far to go along a step that changes scores by dS, given what P_mu is at its start; None where
        threads are quicker than one call."""
        problem = self.problem
        if problem.n > AT_ONCE or not hasattr(self.model, "smooth_search"):
            return None
        return self.model.smooth_search(problem.data, problem.C, S, dS, mu, *start)

    @property
    def has_kinks(self) -> bool:
        """Whether the loss is not smooth by itself."""
        return getattr(getattr(self.model, "phi", None), "stiffest", np.inf) == np.inf

    @property
    def has_products(self) -> bool:
        """Whether squares of examples are products of dense matrices."""
        return isinstance(self.problem.data.X, np.ndarray) and self.problem.scores.shape == (self.problem.n,)

    def hessian(self, shares, mu) -> np.ndarray:
        """Of sum_i s_i H_mu,i (lower triangle): C times it, and the regulariser's, make that of P_mu."""
        return sum(self.problem.scores.map_rows(self.model.smooth_hessian, shares, mu))

    @property
    def has_squares(self) -> bool:
        """Whether a Hessian is known by what each example weighs in it: `curvatures`, `squares`."""
        return not lacks(self.model, ["curvatures", "weighted_squares"])

    def squares(self, h) -> np.ndarray:
        """sum_i h_i dS_i/dw dS_i/dw' (lower triangle), h of any sign."""
        return sum(self.problem.scores.map_rows(self.model.weighted_squares, h))

    def centre(self, w) -> np.ndarray:
        """The shortest of the w that say the same."""
        return self.model.centre(w) if hasattr(self.model, "centre") else w

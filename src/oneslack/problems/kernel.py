"""KernelProblem: a model whose features are those of a kernel, seen through scores.

Where psi = [sum_t phi(u_t) e_slot(t), rest] factors over nodes, a model needs of w only the scores
S[t, k] = <w_k, phi(u_t)> of each node u_t in each slot k, and a cut is known by its coefficients c: the
weights sum_t phi(u_t) c[t].  Both live in the span of the examples,

    w = sum_t phi(u_t) c[t],     S = K c,     |w|^2 = <c, K c>,

so the score methods of protocols.py (`new_scores`, `risk`, `cut`, `along`) are the whole kernel extension:
the nodes are the rows of X, the slots the columns of S, and the methods that read X are never called.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..certificate.rounding import Lower, Proven
from ..data.digests import Digest
from ..data.identity import Identified, data_digest, unseen_in
from ..data.rows import check_finite, check_total
from ..engines.threads import Threads
from ..errors import users_level
from ..kernels.definite import why_indefinite
from ..kernels.expansion import Expansion
from ..kernels.near_rows import coordinates, near_order
from ..kernels.rounding import dual_down, primal_up, scores_of_both
from ..memory.dual_points import class_point
from ..models.answers import finite
from .capabilities import Capable, lacks
from .in_memory import Problem, check_C

#: What a model must offer.
NEEDS = ("pack", "new_scores", "risk", "cut", "along")
#: Bytes that a solver may hold in kernel values or features.
MEMORY = 2**31
#: Values of the kernel that an estimate of P may cost.
ESTIMATE = 1e8
#: By what share of itself P may differ when kernel values of either precision are added up in another order.
ROUNDING = {"f": 1e-3, "d": 1e-6}
#: Parts of the examples whose means tell the error of the estimate.
PARTS = 20


class _Regulariser:
    """What the driver asks before the first step: a bound and a point."""

    n_params, prior, nonnegative = 0, None, None

    def __init__(self, slots: Any) -> None:
        self.slots = slots
        self.n_free = 0

    def start(self):
        return Expansion(np.empty(0, int), np.empty((0, self.slots)), np.zeros(self.slots))

    @staticmethod
    def dual(v, linear):
        return linear


class KernelProblem(Capable, Identified):
    """Examples (X, Y) under a model with the features of a kernel.

        P(w) = 1/2 |w|^2 + C sum_i s_i H_i(w)

    Parameters
    ----------
    model : Binary, Multiclass, or any model with the score methods
    kernel : mercer.Kernel
    X : (n, d) dense or sparse; the matrix K (n, n) for a precomputed kernel
    Y : (n,) as the model takes it
    intercept : one free weight a slot
    sample_weight : (n,) or None
    memory : bytes that a solver may hold in kernel values or features
    n_jobs : threads; None for all cores

    Examples
    --------
    >>> import oneslack
    >>> from oneslack.datasets import make_checkers
    >>> X, y = make_checkers(200, random_state=0)
    >>> problem = oneslack.KernelProblem(oneslack.Binary(2), oneslack.Kernel("rbf", gamma=10.0), X, y, C=1.0)
    >>> oneslack.solve(problem, oneslack.ExactKernel()).gap <= 1e-3
    True
    """

    floor = 0.0
    has_batches = False
    is_plain = True  # a row of S is an example

    def __init__(
        self, model: Any, kernel: Any, X: Any, Y: Any, C: float = 1.0, *, intercept: bool = False,
        sample_weight: Any = None, memory: Any = MEMORY, n_jobs: int = 1,
    ) -> None:  # fmt: skip
        check_C(C)
        lacking = lacks(model, NEEDS)
        if lacking:
            raise ValueError(
                f"a kernel needs a model with scores; {type(model).__name__} lacks {', '.join(lacking)}. "
                "Use it without a kernel."
            )
        self.model, self.C, self.intercept, self.memory = model, float(C), bool(intercept), int(memory)
        self.X = X = X.tocsr() if sp.issparse(X) else X
        self.kernel = kernel = kernel.fitted(X)
        self.n = self.n_nodes = X.shape[0]
        self.inputs = kernel.inputs(X, np.arange(self.n) if kernel.is_precomputed else None)
        if not (callable(kernel.name) or kernel.is_precomputed):
            check_finite(self.inputs.rows)
        kernel.check_symmetric(self.inputs)
        self.data = model.pack(np.empty((self.n, 0)), Y, sample_weight)
        total = float(self.data.weights.sum())
        check_total(total, self.C)
        self.mean, self.weight = 1.0 / total, self.C * total
        self.engine = Threads(n_jobs)
        self.shape = model.new_scores(self.data).shape[1:]
        self.slots = int(np.prod(self.shape, dtype=int))
        self.n_params = 1
        self.regulariser = _Regulariser(self.slots)
        self.n_values = 0  # values of the kernel computed so far

    def identity(self) -> dict:
        """With the kernel, of which a function is unseen, and its rows."""
        kernel, seen, own = self.kernel, Digest(self.kernel), super().identity()
        name = kernel.name if isinstance(kernel.name, str) else type(kernel.name).__name__
        unseen = filter(None, (own["unseen"], unseen_in(kernel=seen.unseen)))
        return own | {
            "kernel": f"{name} {kernel.gamma!r} {kernel.degree!r} {kernel.coef0!r} {seen.hex}",
            "intercept": self.intercept,
            "data": own["data"] + data_digest(self.inputs)[0],
            "unseen": " and ".join(unseen) or None,
        }

    @cached_property
    def indefinite(self) -> str | None:
        """What shows that the kernel is not positive semi-definite, None where nothing does; warns once."""
        return _warned(why_indefinite(self.kernel, self.inputs))

    def see_square(self, norm2, size):
        """Training has met <c, K c> = `norm2`, a sum of numbers whose absolute values sum to `size`."""
        if norm2 < -self.rounding * size and not self.kernel.is_definite and self.indefinite is None:
            self.indefinite = _warned(f"|w|^2 is {norm2:.3g} for some w")

    @property
    def certified(self) -> bool:
        """Whether a dual value is a bound: it is where the kernel is definite."""
        return self.indefinite is None

    @property
    def rounding(self) -> float:
        return ROUNDING[np.dtype(self.kernel.dtype).char]

    def prove(self, step, w, primal, way, share) -> Proven:
        """Bounds that hold whatever rounding does (kernels/rounding.py), of w and a step's dual point."""
        point, scores = step.proof()
        at_w = scores if w is step.w else None
        if scores is None:
            at_w, scores = scores_of_both(self, w, point)
        upper = primal_up(self, w, at_w)
        dual = dual_down(self, point, upper, scores)
        return Proven(primal, upper, Lower(dual, step.dual), partial(self._written, point))

    def _written(self, point) -> dict:
        """The dual point as `Proof.point` gives it."""
        c = point.coefficients
        return class_point(c[:, 0] if self.slots == 1 else c, self.data.y)

    def near_order(self, parts) -> np.ndarray | None:
        """(n_nodes,): the nodes in an order where neighbours have the same target and are near each other,
        in `parts` parts or more; None where the kernel has no rows of numbers."""
        if callable(self.kernel.name) or self.kernel.is_precomputed:
            return None
        order = near_order(coordinates(self.kernel.plain_rows(self.inputs)), parts)
        return order[np.argsort(self.data.y[order], kind="stable")]

    # Scores are (n, slots) float64 here, and (n, *shape) for the model.

    def _of_model(self, S):
        return S.reshape(len(S), *self.shape)

    def product(self, rows, index, coefficients) -> np.ndarray:
        """K(rows, index) @ coefficients; `rows` None for all."""
        A = self.inputs if rows is None else self.inputs.take(rows)
        self.n_values += len(A) * len(index)
        return self.kernel.product(A, self.inputs.take(index), coefficients, self.engine)

    def scores_of(self, w: Expansion, rows=None) -> np.ndarray:
        """S at w, of all examples or of some."""
        return self.product(rows, w.index, w.coefficients) + w.bias

    def part(self, rows):
        """The packed examples `rows`."""
        if rows is None:
            return self.data
        data = self.data
        return replace(data, X=np.empty((len(rows), 0)), y=data.y[rows], weights=data.weights[rows])

    def _map(self, function, data, S, *arguments):
        S = self._of_model(S)
        shards = data.score_shards(S)
        return self.engine.map(lambda shard: function(data, shard, S, *arguments), shards)

    def risk_at(self, S, rows=None) -> float:
        """The mean hinge of the examples `rows` at their scores."""
        data = self.part(rows)
        return finite(sum(self._map(self.model.risk, data, S)) / float(data.weights.sum()), "risk")

    def cut_at(self, S, rows=None) -> tuple[np.ndarray, float]:
        """(coefficients (n, slots), mean loss) of the worst outputs at S, over the mean of `rows`."""
        data = self.part(rows)
        c = np.empty_like(S)
        loss = sum(self._map(self.model.cut, data, S, self._of_model(c)))
        total = float(data.weights.sum())
        c /= total
        return c, loss / total

    def along(self, S, dS, t, data=None) -> tuple[float, float]:
        """The mean hinge at S + t dS, and its slope in t; of all examples, or of packed ones."""
        data = self.data if data is None else data
        parts = self._map(self.model.along, data, S, self._of_model(dS), t)
        _, risk, slope = (sum(values) for values in zip(*parts, strict=True))
        mean = self.mean if data is self.data else 1.0 / float(data.weights.sum())
        return mean * risk, mean * slope

    def primal(self, w: Expansion, weight=None) -> float:
        """P(w), or with another weight of the risk."""
        w = w.merged()
        return 0.5 * self._norm2(w) + (weight or self.weight) * self.risk_at(self.scores_of(w))

    def _norm2(self, w):
        if w.norm2 is not None:
            return w.norm2
        return float(np.sum(w.coefficients * self.product(w.index, w.index, w.coefficients)))

    def estimate(self, w: Expansion) -> tuple[float, float]:
        """(P(w), 0), or where that would cost too much an estimate from a part of the examples and its
        standard error."""
        w = w.merged()
        affordable = max(int(ESTIMATE / max(len(w.index), 1)), 10_000)
        if self.n <= affordable:
            return self.primal(w), 0.0
        rows = np.random.default_rng(0).choice(self.n, affordable, replace=False)
        S = self.scores_of(w, rows)
        parts = [self.risk_at(S[part], rows[part]) for part in np.array_split(np.arange(affordable), PARTS)]
        error = self.weight * float(np.std(parts, ddof=1)) / np.sqrt(PARTS)
        return 0.5 * self._norm2(w) + self.weight * self.risk_at(S, rows), error

    def linear_twin(self, Z) -> Problem:
        """The linear problem on features Z (n, k), with the same model, weights and C."""
        model = replace(self.model, n_features=Z.shape[1], intercept=self.intercept)
        twin = Problem(model, Z, self.data.y, self.C, sample_weight=self.data.weights, engine=self.engine)
        return twin


def _warned(why):
    """`why` the kernel is not definite, after a warning at the user's line."""
    if why is not None:
        warnings.warn(
            f"the kernel is not positive semi-definite, so that no bound is certified: {why}; use another "
            "kernel, or read the bounds as estimates.",
            stacklevel=users_level(),
        )
    return why

"""KernelChainProblem: sentences under a Chain whose tokens are scored by a kernel.

    <w, psi(x, y)> = sum_t f(x_t)[y_t] + <v, the pairs of y, ...>,     f(x)[a] = sum_j k(x, u_j) c[j, a]

psi has a part with the kernel and a part v without.  Both are one expansion: the rows of S are the scores of
the N tokens, and then v itself, L numbers a row.  A row of v is a node whose kernel is 1 with itself and 0
with any other, so that S = K c, |w|^2 = <c, K c> and all that a solver does with them hold as they stand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.rows import Ragged, check_finite
from ..engines.threads import Threads
from ..kernels.expansion import Expansion
from ..models.chain.data import place
from .in_memory import check_C, lacks
from .kernel import MEMORY, KernelProblem, _Regulariser

#: What a model must offer.
NEEDS = ("n_labels", "pack", "worst_batch", "delta_sum", "predict_batch")


class KernelChainProblem(KernelProblem):
    """Sentences (X, Y) under a Chain with the features of a kernel.

        P(w) = 1/2 |w|^2 + C sum_i s_i H_i(w)

    Trained by `SampledCuts("linear")`; for basis functions there is `SequenceTagger(kernel=...)`.

    Parameters
    ----------
    model : Chain
        Its `n_features` is the number of columns of a token.
    kernel : mercer.Kernel, not precomputed
    X : list of (T, d) matrices, or a Ragged of stacked rows
    Y : list of (T,) labels 0 .. L-1, all known, or a Ragged
    sample_weight : (n,) or None, of sentences
    memory : bytes that a solver may hold in kernel values
    n_jobs : threads; None for all cores

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.uniform(-1, 1, (4, 2)) for _ in range(30)]
    >>> Y = [(x.prod(axis=1) > 0).astype(int) for x in X]
    >>> kernel = oneslack.Kernel("rbf", gamma=3.0)
    >>> problem = oneslack.KernelChainProblem(oneslack.Chain(2, 2), kernel, X, Y, C=10.0)
    >>> result = oneslack.solve(problem, oneslack.SampledCuts("linear", sample_size=100), epsilon=0.01)
    >>> bool(np.mean(np.concatenate(Y) == problem.decode(result.w, X).values) > 0.9)
    True
    """

    is_plain = False

    def __init__(
        self, model: Any, kernel: Any, X: Any, Y: Any, C: float = 1.0, *, sample_weight: Any = None,
        memory: Any = MEMORY, n_jobs: int = 1,
    ) -> None:  # fmt: skip
        check_C(C)
        lacking = lacks(model, NEEDS)
        if lacking:
            raise ValueError(
                f"kernels on tokens need a chain; {type(model).__name__} lacks {', '.join(lacking)}. "
                "Use KernelProblem, or no kernel."
            )
        if kernel.is_precomputed:
            raise ValueError("a chain needs the rows of its tokens; kernel='precomputed' has none")
        packed = model.pack(X, Y, sample_weight)
        packed.known_truth()
        check_finite(packed.X.values, lambda t: place(packed.offsets, t))
        L, N = model.n_labels, len(packed.y)
        self.model, self.C, self.intercept, self.memory = model, float(C), False, int(memory)
        self.kernel = kernel = kernel.fitted(packed.X.values)
        self.inputs = kernel.inputs(packed.X.values)
        kernel.check_symmetric(self.inputs)
        self._without = replace(model, n_features=0)  # v alone
        self._on_scores = replace(model, n_features=L)  # a token's features are its scores
        self.data = replace(packed, X=Ragged(np.empty((N, 0)), packed.offsets))
        self.n_nodes, self.n = N, N + self._without.n_params // L
        total = float(packed.weights.sum())
        if N == 0 or total <= 0:
            raise ValueError("there is no token in a sentence with a positive weight")
        self.mean, self.weight = 1.0 / total, self.C * total
        self.n_values, self.n_params = 0, 1
        self.engine, self.shape, self.slots = Threads(n_jobs), (L,), L
        self.regulariser = _Regulariser(L)

    def product(self, rows, index, coefficients):
        """K(rows, index) @ coefficients, of tokens and of rows of v; `rows` None for all."""
        N, index = self.n_nodes, np.asarray(index)
        rows = np.arange(self.n) if rows is None else np.asarray(rows)
        tokens, of_tokens = rows < N, index < N
        out = np.zeros((len(rows), coefficients.shape[1]))
        chosen = None if tokens.sum() == N == len(self.inputs) and len(rows) == self.n else rows[tokens]
        out[tokens] = super().product(chosen, index[of_tokens], coefficients[of_tokens])
        v = np.zeros((self.n - N, coefficients.shape[1]))
        np.add.at(v, index[~of_tokens] - N, coefficients[~of_tokens])
        out[~tokens] = v[rows[~tokens] - N]
        return out

    def _parts(self, S, offsets):
        """(features, weights) by which a chain on scores sees S."""
        N = int(offsets[-1])
        weights = np.concatenate([np.eye(self.slots).ravel(), S[N:].ravel()])
        return Ragged(np.ascontiguousarray(S[:N]), offsets), weights

    def _worst(self, S):
        """(labels (N,), losses (n,), leads (n,)) of the worst outputs at S."""
        features, w = self._parts(S, self.data.offsets)
        data, model = replace(self.data, X=features), self._on_scores
        parts = self.engine.map(lambda shard: model.worst_batch(data, shard, w, "margin"), data.shards)
        return [np.concatenate(values) for values in zip(*parts, strict=True)]

    def risk_at(self, S, rows=None):
        """The mean hinge at the scores S of all rows."""
        _, losses, leads = self._worst(S)
        return self.mean * float(self.data.weights @ (losses - leads))

    def cut_at(self, S, rows=None):
        """(coefficients (n, L), mean loss) of the worst outputs at S."""
        Z, losses, _ = self._worst(S)
        data, N, c = self.data, self.n_nodes, np.zeros_like(S)
        heft, tokens = np.repeat(data.weights, np.diff(data.offsets)), np.arange(N)
        c[tokens, data.truth] += heft
        c[tokens, Z] -= heft
        parts = self.engine.map(
            lambda shard: self._without.delta_sum(
                data, shard, Z[data.tokens(shard)], data.weights[shard.lo : shard.hi]
            ),
            data.shards,
        )
        c[N:] = sum(parts).reshape(-1, self.slots)
        c *= self.mean
        return c, self.mean * float(data.weights @ losses)

    def along(self, S, dS, t, data=None):
        """The mean hinge at S + t dS, and its slope in t."""
        at = S + t * dS
        c, loss = self.cut_at(at)
        return loss - float(np.sum(c * at)), -float(np.sum(c * dS))

    def part(self, rows):
        return self.data

    def estimate(self, w: Expansion):
        """(P(w), 0): a part of the tokens tells nothing."""
        return self.primal(w), 0.0

    def linear_twin(self, Z):
        raise ValueError("a chain with a kernel has no linear twin; use SequenceTagger(kernel=...)")

    def decode(self, w: Expansion, X) -> Ragged:
        """The best labels of sentences X, list of (T, d) or a Ragged, as one flat array with offsets."""
        w, model, N = w.merged(), self._on_scores, self.n_nodes
        packed = self.model.pack(X, None)
        tokens, of_tokens = self.kernel.inputs(packed.X.values), w.index < N
        S = np.zeros((len(tokens) + self.n - N, self.slots))
        S[: len(tokens)] = self.kernel.product(
            tokens, self.inputs.take(w.index[of_tokens]), w.coefficients[of_tokens], self.engine
        )
        S[len(tokens) + w.index[~of_tokens] - N] = w.coefficients[~of_tokens]
        features, weights = self._parts(S, packed.offsets)
        data = replace(packed, X=features)
        parts = self.engine.map(lambda shard: model.predict_batch(data, shard, weights), data.shards)
        return Ragged(np.concatenate(parts), packed.offsets)

"""Streaming for models that are asked for worst outputs (Ramanan 2013, algorithm 2).

Examples are asked chunk by chunk in a random order; a sequence may read them from disk when it is asked for
them.  What violates its margin is remembered, as outputs or rows, with its dual; after each chunk some of the
examples remembered before are optimised again.  The store of cuts has a budget: first cuts without dual go;
then, where cuts are kept as sparse rows (SparseArena), those of an example are merged into the one that their
duals make,

    x = sum_j alpha_j x_j / sum_j alpha_j,      b = sum_j alpha_j b_j / sum_j alpha_j

which is a cut as well, as H_i is convex, and with alpha = sum_j alpha_j leaves w and D as they are.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...cuts import Cuts
from ...errors import OneslackError
from ...memory.remembered import Hinges, Remembered
from ...result import Step
from ..structured_dual import BLOCK, OPTIMISM, ask_blocks

#: Examples in a chunk; remembered examples that are optimised again after one, for each of its own.
CHUNK, AGAIN = 1024, 4
#: Passes of a chunk over those, at most, and the share of growth that they must keep up.
PASSES, WORTH = 5, 0.2
#: Reads after which the true bound is looked at anyway.
LIMIT = 10
#: Visits without dual after which a cut is forgotten.
IDLE = 50
#: Vectors of weights that are alive at the same time, and bytes of what is kept of an example without cuts.
VECTORS, BESIDE = 6, 64


def structured_streaming(problem, memory, seed, start, tol):
    """The steps of `Streaming` for a model without scores; `memory` is for weights and cuts."""
    run = StructuredRun(problem, memory - fixed_bytes(problem, memory), seed, tol)
    if start and "reading" in start:
        run.restore(start["reading"])
    while True:
        if not run.read_over:
            yield from run.read()
        run.read_over = False
        if run.promises or run.waited >= LIMIT:
            yield run.certify()


def fixed_bytes(problem, memory) -> int:
    """What there is beside the cuts; an error where that is all the memory, or more."""
    fixed = 8 * problem.n_params * VECTORS + problem.n * BESIDE
    if fixed >= memory:
        from ...data.bytes import in_words

        raise OneslackError(
            f"memory={in_words(memory)} is too little: {problem.n_params:,} weights and what is kept of "
            f"{problem.n:,} examples take {in_words(fixed)}, and their cuts must fit beside that; give more."
        )
    return fixed


class StructuredRun:
    """The store of cuts, and where the read is; `memory` is for cuts alone."""

    def __init__(self, problem, memory, seed, tol):
        self.problem, self.memory = problem, memory
        self.store = Remembered(problem, problem.upper_duals)
        self.rng = np.random.default_rng(seed)
        self.chunks = np.array_split(np.arange(problem.n), max(1, -(-problem.n // CHUNK)))
        self.order, self.waited, self.gap = [], 0, 0.0
        self.read_over = False  # and whether to certify is not yet decided
        self.tol, self.target = tol, OPTIMISM * max(tol, 1e-15)

    @property
    def promises(self):
        """Whether the gaps of the examples, as they were met, say that the optimum is near."""
        return self.gap <= self.target * abs(self.store.dual + self.gap)

    def read(self):
        """Ask all examples once."""
        if not self.order:
            self.order, self.gap = self.rng.permutation(len(self.chunks)).tolist(), 0.0
        while self.order:
            gap, growth = self._explore(self.chunks[self.order.pop()])
            self.gap += gap
            self._optimise(growth)
            self._keep_within(self.memory)
            if not self.order:
                self.waited, self.read_over = self.waited + 1, True
            yield Step(
                self.store.w, self.store.dual, n_cuts=len(self.store), state=self.state, proof=self.proof
            )

    def _explore(self, chunk):
        """Ask for worst outputs, remember what violates, and step; (gaps, growth of the dual)."""
        blocks = np.array_split(chunk, max(1, len(chunk) // BLOCK))
        return ask_blocks(self.problem, self.store, self.rng, blocks)

    def _optimise(self, growth):
        """Steps on some of the remembered examples."""
        known = np.flatnonzero(self.store.counts)
        for _ in range(PASSES):
            some = self.rng.permutation(known)[: AGAIN * CHUNK]
            _, more = self.store.visit(some)
            self.problem.work.cached += len(some)
            if more <= WORTH * growth:
                break

    def certify(self):
        """Everyone is asked at one w."""
        self.store.refresh()
        w, upper = self.store.w.copy(), self.store.upper
        hinges = inference = 0.0
        for chunk in self.chunks:
            cuts, values, known, _ = self.store.ask(self.problem, w, chunk)
            most, above = Hinges.of(cuts, values, known).sums(upper[chunk])
            hinges, inference = hinges + most, inference + above
        primal = self.problem.regulariser.value(w) + hinges
        if self.promises:
            self.target *= 0.7
        self.waited = 0
        return Step(
            w, self.store.dual, primal, n_cuts=len(self.store), state=self.state, proof=self.proof,
            found=primal - inference,
        )  # fmt: skip

    def _keep_within(self, memory):
        """Forget, then merge, until the cuts take no more than `memory` bytes."""
        store = self.store
        store.forget(IDLE)
        if n_bytes(store) <= memory:
            return
        store.forget(0)
        if n_bytes(store) > memory and hasattr(store.arena, "ends"):
            self.store = store = merged(self.problem, store)
        if n_bytes(store) > memory:
            from ...data.bytes import in_words

            raise OneslackError(
                f"the cuts of {self.problem.n:,} examples take {in_words(n_bytes(store))}, more than the "
                f"{in_words(memory)} of memory that weights leave for them; give more."
            )

    def proof(self):
        return self.store.proof(self.problem)

    def state(self):
        mine = {"store": self.store.state(), "rng": self.rng.bit_generator.state, "order": list(self.order)}
        mine |= {name: getattr(self, name) for name in ("waited", "read_over", "gap", "tol", "target")}
        return {"w": self.store.w.copy(), "reading": mine}

    def restore(self, state):
        self.store.restore(state["store"])
        self.rng.bit_generator.state, self.order = state["rng"], list(state["order"])
        self.waited, self.read_over, self.gap = state["waited"], state["read_over"], state["gap"]
        if state["tol"] == self.tol:  # another tolerance begins anew
            self.target = state["target"]


def n_bytes(store) -> int:
    """Bytes of the cuts and of what is kept beside them."""
    arena = store.arena
    arrays = [*store.pool, *(getattr(arena, name) for name in (*arena.short, *arena.long))]
    return sum(array.nbytes for array in arrays)


def merged(problem, store):
    """A store with one cut for each example that has duals: the mean of its cuts, weighted by them."""
    places = store._with_dual()
    owners = np.repeat(np.arange(problem.n), store.counts)
    is_dual = store.alpha[store._present()] > 0.0
    examples, group = np.unique(owners[is_dual], return_inverse=True)
    alpha, slots = store.alpha[places], store.slots[places]
    total = np.bincount(group, alpha, minlength=len(examples))
    arena = store.arena
    rows = sp.csr_array(
        (arena.values[: arena.size].astype(np.float64), arena.indices[: arena.size].astype(np.int64),
         arena._indptr()), shape=(arena.n_rows, problem.n_params),
    )  # fmt: skip
    means = sp.csr_array((alpha / total[group], (group, slots)), shape=(len(examples), arena.n_rows))
    new = Remembered(problem, store.upper)
    new.add(Cuts(examples, sp.csr_array(means @ rows), means @ arena.b[: arena.n_rows], None))
    new.alpha[new.base[examples]] = total
    new.now = store.now
    new.used[new.base[examples]] = store.now
    new.refresh()
    return new

"""Dual coordinate ascent over remembered cuts, for any model (Ramanan 2013, section 2); with one remembered
cut an example its steps are those of block-coordinate Frank-Wolfe.

A pass asks the examples, block by block in random order, for their most violated cut at the current w,
remembers it, and solves each example's own block of the dual over all that it remembers, or the blocks of
its stretches (memory/stretches.py); w moves at once.  Between two such passes, visits to remembered cuts ask
nothing.  Where work is counted, a block is visited again while its last visit has raised the dual by more,
for the numbers that it read, than the last asking pass has on average: most of the growth is in few blocks
(Osokin et al. 2016 sample by gaps, for the same reason).  Where nobody knows what an answer costs, all are
visited while that raises the dual by a share of what the asking pass did.

A decoder that may be told a precision leaves open a share of each hinge that is small beside the gap of the
pass before (protocols.Bounds).

The blocks' own gaps, summed while examples are asked, are a running bound; when it promises the tolerance,
all are asked at one w, which gives P(w).
"""

from __future__ import annotations

import numpy as np

from ..memory.stretches import store_of
from ..result import Step

#: Examples asked at the same w.
BLOCK = 64
#: Passes over what is remembered between two asking ones, at most.
CACHED = 20
#: The share of growth that they must keep up where work is not counted.
WORTH = 0.05
#: The gaps that blocks have before their steps sum to about so many times what is left after a pass.
OPTIMISM = 4.0
#: Asking passes after which the true bound is looked at anyway.
LIMIT = 10
#: What a decoder may leave open, beside the relative gap, and at most.
ROUGH, ROUGHEST = 0.1, 0.1
#: Passes without dual after which a cut is forgotten.
FORGET = 100


def begin(store, seed, start, own):
    """(store, rng, whether a run goes on): where `start` is a state of one's own kind, as its name `own`
    says, or has cuts to take over."""
    rng = np.random.default_rng(seed)
    if own in start and "store" in start:
        store.restore(start["store"])
        rng.bit_generator.state = start["rng"]
        return store, rng, True
    store.take_over(start)
    return store, rng, False


def structured_steps(problem, seed, start, tol):
    """The steps of `DualCD` for a model without passes of its own."""
    start = start or {}
    store, rng, goes_on = begin(store_of(problem), seed, start, "waited")
    waited, target = start["waited"] if goes_on else 0, OPTIMISM * max(tol, 1e-15)
    if goes_on and start.get("tol") == tol:  # another tolerance begins anew
        target = start["target"]
    precision = start.get("precision", ROUGHEST) if goes_on else ROUGHEST

    def state():
        mine = {"store": store.state(), "rng": rng.bit_generator.state}
        return mine | {"waited": waited, "tol": tol, "target": target, "precision": precision}

    def proof():
        return store.proof(problem)

    while True:
        expected = store.expected_growth()
        gap, growth = ask_blocks(problem, store, rng, blocks_in_any_order(problem, rng), precision)
        problem.work.cached += revisit(problem, store, rng, growth, expected)
        waited += 1
        store.forget(FORGET)
        dual = store.dual
        precision = rough(gap, dual + gap)
        if gap > target * abs(dual + gap) and waited < LIMIT:
            yield Step(store.w, dual, n_cuts=len(store), state=state, proof=proof)
            continue
        store.refresh()
        primal, dual, inference = _look(problem, store)
        waited, target = 0, 0.7 * target if gap <= target * abs(dual + gap) else target
        yield Step(
            store.w.copy(), dual, primal, n_cuts=len(store), state=state, proof=proof,
            found=primal - inference,
        )  # fmt: skip


def revisit(problem, store, rng, growth, expected):
    """Visit what is remembered while that pays, after a pass that asked everyone and raised the dual by
    `growth`, of which `expected` without asking; returns how many blocks were visited."""
    visits, more = 0, np.inf
    work = store.visit_work()
    for _ in range(CACHED):
        some = store.in_any_order(rng)
        if work is not None:
            rate = max(growth - expected, 0.0) / (problem.model.decode_work(problem.data) + work.sum())
            some = some[store.gained[some] > rate * work[some]]
        elif more <= WORTH * growth:
            break
        if not len(some):
            break
        _, more = store.visit(some)
        visits += len(some)
    return visits


def blocks_in_any_order(problem, rng, size=BLOCK):
    """Neighbours are asked together: their data lie together."""
    blocks = np.array_split(np.arange(problem.n), max(1, problem.n // size))
    return [blocks[k] for k in rng.permutation(len(blocks))]


def rough(gap, primal):
    """What a decoder may leave open of each hinge while the solver's own gap is so large."""
    return min(ROUGH * max(gap, 0.0) / max(abs(primal), 1e-300), ROUGHEST)


def ask_blocks(problem, store, rng, blocks, precision=0.0):
    """Ask the examples block by block and step; (sum of their gaps as they were met, growth of the dual)."""
    gap, growth = 0.0, 0.0
    for block in blocks:
        store.learn(problem, store.w, block, precision)
        block_gap, block_growth = store.visit(store.members(rng.permutation(block)))
        gap, growth = gap + block_gap, growth + block_growth
    return gap, growth


def _look(problem, store):
    """(P, D, how much of P inference left open) at the current w: everyone is asked, and what is found is
    remembered."""
    dual = store.dual
    hinges = store.learn(problem, store.w, np.arange(problem.n))
    most, inference = hinges.sums(problem.upper_duals)
    return problem.regulariser.value(store.w) + most, dual, inference

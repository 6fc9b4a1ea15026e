"""The QP over all planes that remembered cuts can make.

A plane under the risk is a mean of cuts, one an example: k remembered cuts of each of n examples make k^n of
them, of which the 2009 paper's cache adds the worst, one QP after the other (Algorithm 4).  All of them fit
into one QP.  A mixture of planes takes each example's cuts by some shares, all shares can be had so, and the
dual knows no more of a mixture than these:

    { sum_j a_j (g_j, b_j), sum_j a_j = C }  =  { sum_i s_i sum_c alpha_ic (x_ic, b_ic), sum_c alpha_ic = C }

So block steps on the examples' cuts (memory/remembered.py) solve it, and no plane is formed, which is as long
as w.  Then the oracle is asked about all examples at the optimum; or, with `doubts`, about a part of them
(memory/doubts.py), and about all only where little is to be expected of parts.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..memory.doubts import Doubts
from ..result import Step
from .structured_dual import begin

#: Passes over what is remembered for one solution, at most.
PASSES = 1000


def steps_over(problem, store, seed, start, tol, inner, forget_after, parts=0):
    """Steps that solve the QP over the remembered cuts of `store` to the share `inner` of the last gap, or of
    what the last part added, and forget cuts without dual after `forget_after` passes."""
    own = "owed by parts" if parts else "owed by all"
    store, rng, goes_on = begin(store, seed, start, own)
    doubts = Doubts(store.upper, parts) if parts else None
    owed, looked, everyone = 0.0, np.inf, np.arange(problem.n)
    w = None  # where the first question is asked, if that is not the store's own point
    if not goes_on and not len(store) and "w" in start:
        w = problem.regulariser.feasible(start["w"])
    if goes_on:
        owed, looked = start[own], start["looked"]
        if doubts:
            doubts.restore(start["doubts"])

    def state():
        mine = {"store": store.state(), "rng": rng.bit_generator.state, own: owed, "looked": looked}
        return mine | ({"doubts": doubts.state()} if doubts else {})

    def step(w, dual, primal=None, found=None):
        proof = partial(store.proof, problem)
        return Step(w, dual, primal, n_cuts=len(store), state=state, proof=proof, found=found)

    def ask(w, index):
        """Hinges at w, and what is new beside what was remembered."""
        known = store.best(w, index)[0] if doubts else None
        hinges = store.learn(problem, w, index)
        if doubts:
            doubts.note(index, hinges.values - known, known)
        return hinges

    while True:
        if owed > 0.0:
            problem.work.cached += solve_over(store, rng, inner * owed)
        target = tol * abs(store.dual) if tol else 0.5 * looked
        part = doubts.part(target) if doubts else None
        if part is not None:
            ask(store.w, part)
            owed = doubts.fresh
            yield step(store.w, store.dual)
            continue
        if doubts:
            problem.work.cached += solve_over(store, rng, inner * min(target, abs(store.dual)))
        store.refresh()
        place, dual, w = store.w.copy() if w is None else w, store.dual, None
        most, inference = ask(place, everyone).sums(store.upper)
        primal = problem.regulariser.value(place) + most
        owed = looked = primal - inference - dual
        store.forget(forget_after)
        yield step(place, dual, primal, primal - inference)


def solve_over(store, rng, enough) -> int:
    """The dual over all that is remembered, until its own gap is `enough`; how many blocks were visited."""
    present, visits = np.flatnonzero(store.counts), 0
    for _ in range(PASSES):
        gap, growth = store.visit(rng.permutation(present))
        visits += len(present)
        if gap <= enough or growth <= 1e-15 * abs(gap):
            break
    return visits

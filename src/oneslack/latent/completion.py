"""Training with outputs that are known in part: fill in what is not known, train, and again.

Let h be an output that agrees with what is known of y_i, and H_i(w; h) the hinge of example i with psi taken
at h; its loss counts only what is known.  What is minimised is

    L(w) = 1/2 |w|^2 + C sum_i s_i min_h H_i(w; h)

where the best h at w is the one of the highest score, as the model's `complete_batch` finds it.  L is not
convex.  But P(w; h), all h held fixed, is; it lies above L, and touches it where h is best.  So with h best
at w, a w' with P(w'; h) < P(w; h) has L(w') <= P(w'; h) < P(w; h) = L(w): a round that fills in and trains
never raises L.  This is the concave-convex procedure (Yuille & Rangarajan 2003; Yu & Joachims 2009, for
structural SVMs).  What it reaches depends on the first w.

The bounds that are reported are those of the last P(.; h): they say nothing about other ways to fill in.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from .. import driver
from ..result import Result, Status

#: A round that closes less than this share of L is the last.
SLOW = 1e-3
MAX_ROUNDS = 50
#: Statuses after which the next round may begin.
_GO_ON = (Status.CONVERGED, Status.EPSILON, Status.STALLED, Status.ROUNDING)


class Filled:
    """A model on packed data with all labels filled in: it packs to these."""

    def __init__(self, model, data):
        self._model, self._data = model, data

    def pack(self, X, Y, weights=None):
        return self._data

    def __getattr__(self, name):
        return getattr(self._model, name)


def solve_completed(problem_of, model, data, w, *, time_limit=None, **options) -> Result:
    """Rounds of filling in and training, from w on.

    Parameters
    ----------
    problem_of : problem_of(model) -> Problem
        On the examples that `data` holds.
    model : offers `complete_batch(data, shard, w)`
    data : packed, with outputs known in part: `completed(labels)` fills them in
    w : (n_params,) where to begin
    time_limit : seconds, of all rounds
    options : as `driver.solve` takes them; interrupt is "return"

    Returns
    -------
    Result
        Of the last round, at the best w; not certified, as the bound is one for these completions only.  Its
        status is INTERRUPTED after Ctrl-C.
    """
    begin, results = time.perf_counter(), []
    try:
        for result in _rounds(problem_of, model, data, w, begin, time_limit, options):
            results.append(result)
    except KeyboardInterrupt:  # between two trainings
        if not results:
            raise
        results[-1] = replace(results[-1], status=Status.INTERRUPTED)
    result, rounds = results[-1], f"{len(results)} round{'s' * (len(results) > 1)}"
    reason = f"{result.reason}; unknown labels were filled in, in {rounds}"
    return replace(result, seconds=time.perf_counter() - begin, certified=False, reason=reason)


def _rounds(problem_of, model, data, w, begin, time_limit, options):
    """Yield the Result of each."""
    labels = _complete(model, data, w)
    for n_rounds in range(1, MAX_ROUNDS + 1):
        left = None if time_limit is None else max(time_limit - (time.perf_counter() - begin), 1e-9)
        problem = problem_of(Filled(model, data.completed(labels)))
        with problem.engine:
            w = problem.regulariser.feasible(w)
            before = problem.primal(w)
            result = driver.solve(problem, start={"w": w}, time_limit=left, keep_state=False, **options)
        if result.primal >= before:  # within the tolerance: w was as good
            yield replace(result, w=w, primal=before)
            return
        yield result
        w, slow = result.w, before - result.primal <= SLOW * before and n_rounds > 1
        again = _complete(model, data, w)
        if result.status not in _GO_ON or slow or np.array_equal(again, labels):
            return
        labels = again


def _complete(model, data, w):
    """The best labels of all examples that agree with those known."""
    return np.concatenate([model.complete_batch(data, shard, w) for shard in data.shards])

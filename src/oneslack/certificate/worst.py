"""P(w) rounded up example by example: the risk, were every score as wrong as rounding can have made it.

    P(w) <= penalty(w) + C sum_i s_i max { phi_i(z) : |z - S_i| <= e_i }          e_i bounds the error of S_i

A loss is convex, so it is largest at an end (`worsened` of the models), and an error of a score costs what
the loss itself makes of it: nothing beyond the margin of a hinge, and of the logistic loss's tail exp(-m) a
share of exp(e) - 1, however small it is.  What is left are errors of values, products and sums.  All numbers
are >= 0, so they are a share of the sum, gamma(rows + 32), but for what underflows, which is no share of
anything:

    value    exp(-m) below 2^-1022 is off by TINY, and is 0 from m = 746 on; so are squares
    product  s_i times a value, the mean times their sum, the weight times that: by TINY / 2 each; additions
             of such numbers are exact

    C sum_i s_i TINY + C rows TINY + weight TINY + TINY,  where weight = C sum_i s_i              `underflow`

A risk of 0 may be all underflow.  It is 0 exactly where no loss has a slope (`is_zero` of the models): then
nothing is added.  The logistic loss always has one, and its risk is never 0.
"""

from __future__ import annotations

import numpy as np

from .rounding import TINY, gamma, norm_up, rounded_up


def worst_scores(model, data, S, w, terms):
    """Scores S, computed from w as sums of `terms` numbers, changed for the worse by all that rounding can
    have done to the hinges."""
    sizes = model.sizes(data)
    e = gamma(terms + 64) * (norm_up(w) * sizes.lengths + sizes.losses)
    return model.worsened(data, S, e + TINY * terms * (np.asarray(sizes.lengths) > 0.0))


def underflow(weight, C, rows) -> float:
    """What weight times the risk may lack because numbers below it have underflown."""
    return 8.0 * TINY * (weight + C * rows + 1.0)


def worst_primal(problem, w, risk, is_positive) -> float:
    """P(w) rounded up by its worst risk; is_positive: whether a loss is above 0 then."""
    regular, hinges = problem.regulariser.value(w), problem.weight * risk
    error = gamma(len(w) + 16) * regular + gamma(problem.extent.rows + 32) * hinges
    if is_positive:
        error += underflow(problem.weight, problem.C, problem.extent.rows)
    if not problem.regulariser.is_least_at(w):
        error += TINY * len(w)  # squares may have underflown
    return rounded_up(regular + hinges, error)

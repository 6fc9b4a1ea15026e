"""What C is worth for a measure: the loss of one missed positive, beside that of one error.

The hinge of LinearSVC costs 1 for an example, and asks for a score of 1.  In C n R a measure that loses D
where one positive is missed costs n D, and asks for a score of n D: with w = n D u,

    1/2 |w|^2 + C n R(w)  =  (n D)^2 (1/2 |u|^2 + C / (n D) sum of hinges of u)

near a perfect labelling, so that C = n D is for this measure what C = 1 is for the error rate.  Measures of
pairs (ROC area, average precision) ask every pair for a difference of 1, whatever they cost: there it is 1.
"""

from __future__ import annotations

from ...metrics import k_of


def unit_of_C(metric, n_positive, n, *, k=None, beta=1.0) -> float:
    """n times the loss of one missed positive; 1 where a measure has no such unit.

    >>> from oneslack.models.measures.scale import unit_of_C
    >>> unit_of_C("error", 10, 1000), unit_of_C("f1", 10, 1000), unit_of_C("prbep", 10, 1000)
    (1.0, 52.63157894736842, 100.0)
    """
    P = n_positive
    if not 0 < P < n or metric in ("error", "roc_auc", "average_precision"):
        return 1.0
    if metric == "precision_at_k" and k is None:  # which is refused elsewhere
        return 1.0
    if callable(metric):
        loss = float(metric(P - 1, 0, 1, n - P)) - float(metric(P, 0, 0, n - P))
        return n * loss if loss > 0 else 1.0
    if metric in ("f1", "fbeta"):
        square = 1.0 if metric == "f1" else beta * beta
        return n * square / ((1.0 + square) * (P - 1) + square)
    return n / (k_of(k, n) if metric == "precision_at_k" else P)

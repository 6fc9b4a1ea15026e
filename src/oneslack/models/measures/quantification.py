"""Losses of quantifiers, as functions of the contingency table (tp, fp, fn, tn): numbers or arrays.

A quantifier estimates how many examples are positive.  With P = tp + fn true and m = tp + fp predicted
positives of n, and N = n - P, these are the losses that QuaPy trains for by its patched SVM-perf:

    absolute_error            |m - P| / n
    relative_absolute_error   1/2 |m - P| (1 / (P + 1/2) + 1 / (N + 1/2))
    kl_divergence             p log(p / p') + (1 - p) log((1 - p) / (1 - p'))
                              p = (P + 1/2) / (n + 1),  p' = (m + 1/2) / (n + 1)
    normalised_kl_divergence  1 - 2 / (1 + exp(kl_divergence))
    q_loss                    1 - 2 q r / (q + r)      q = 1 - |m - P| / max(P, N),  r = tp / P
    q_accuracy_loss, q_f1_loss, q_gmean_loss           the same with another r

The first four depend only on m (see PrevalenceLoss).  Of all of them none is concave in fp for fixed tp:
the first four have a strict minimum inside, at m = P.  q is concave in fp, 2 q r / (q + r) is concave and
rising in q, so q_loss is convex in fp; with accuracy or the geometric mean for r, both concave in fp, too.
`any_error`, [fp + fn > 0], is concave: over fp = 0, 1, 2, ... it is 0, 1, 1, ... or 1, 1, 1, ....
"""

from __future__ import annotations

import numpy as np


def absolute_error(tp, fp, fn, tn):
    """Distance of predicted and true prevalence.

    >>> from oneslack.models.measures.quantification import absolute_error
    >>> float(absolute_error(3, 3, 1, 3))
    0.2
    """
    return np.abs(fp - fn) / (tp + fp + fn + tn)


def relative_absolute_error(tp, fp, fn, tn):
    """The absolute error relative to the prevalence, mean of both classes; half an example smooths."""
    return 0.5 * np.abs(fp - fn) * (1.0 / (tp + fn + 0.5) + 1.0 / (fp + tn + 0.5))


def kl_divergence(tp, fp, fn, tn):
    """Divergence of the predicted from the true prevalence, in nats; half an example smooths."""
    positive, negative = tp + fn + 0.5, fp + tn + 0.5
    parts = positive * np.log(positive / (tp + fp + 0.5)) + negative * np.log(negative / (fn + tn + 0.5))
    return parts / (positive + negative)


def normalised_kl_divergence(tp, fp, fn, tn):
    """The divergence, brought to [0, 1) by the logistic function."""
    return 1.0 - 2.0 / (1.0 + np.exp(kl_divergence(tp, fp, fn, tn)))


def any_error(tp, fp, fn, tn):
    """1 unless every prediction is right."""
    return np.where(fp + fn > 0, 1.0, 0.0)


def q_loss(tp, fp, fn, tn):
    """1 - the harmonic mean of recall and the normalised absolute score of the count."""
    return _q_loss(_share(tp, tp + fn), tp, fp, fn, tn)


def q_accuracy_loss(tp, fp, fn, tn):
    """As q_loss, with accuracy for recall."""
    return _q_loss((tp + tn) / (tp + fp + fn + tn), tp, fp, fn, tn)


def q_f1_loss(tp, fp, fn, tn):
    """As q_loss, with F1 for recall."""
    return _q_loss(_share(2.0 * tp, 2.0 * tp + fp + fn), tp, fp, fn, tn)


def q_gmean_loss(tp, fp, fn, tn):
    """As q_loss, with the geometric mean of both classes' recalls."""
    return _q_loss(np.sqrt(_share(tp, tp + fn) * _share(tn, fp + tn)), tp, fp, fn, tn)


def _q_loss(r, tp, fp, fn, tn):
    q = 1.0 - np.abs(fp - fn) / np.maximum(tp + fn, fp + tn)
    Q = np.where(tp + fn > 0, _share(2.0 * q * r, q + r), 0.0)
    return 1.0 - Q


def _share(part, whole):
    """part / whole, and 0 for 0 / 0."""
    return part / np.where(whole > 0, whole, 1.0)

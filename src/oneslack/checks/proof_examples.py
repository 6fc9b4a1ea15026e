"""What the checker is given of any problem: weights of examples, classes as places, the penalty."""

from __future__ import annotations

import numpy as np

from ..errors import ProofError
from ..verify.penalty import Penalty
from .definitions.estimators import _ones


def weights_of_examples(n, sample_weight):
    """(n,) weights >= 0 of the examples."""
    s = _ones(n, sample_weight)
    if s.shape != (n,) or not (np.isfinite(s) & (s >= 0.0)).all():
        raise ProofError(f"sample weights must be {n} finite numbers >= 0")
    return s


def codes_among(classes, labels):
    """The places of labels among the classes."""
    known, found = (
        {label: k for k, label in enumerate(classes.tolist())},
        np.unique(labels, return_inverse=True),
    )
    places = np.array([known.get(label, -1) for label in found[0].tolist()])
    if (places < 0).any():
        raise ProofError(f"the data have the label {found[0][np.argmin(places)]!r}, which the model has not")
    return places[found[1]]


def penalty_of(terms) -> Penalty:
    """What a Regulariser says."""
    given = {"prior": terms.prior, "scale": terms.scale, "held": terms.nonnegative}
    return Penalty(**{name: values for name, values in given.items() if values is not None})

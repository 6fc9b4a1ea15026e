"""Probabilities by scikit-learn's CalibratedClassifierCV."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import brier_score_loss

import oneslack


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("kind", ["LinearSVC", "KernelSVC", "MetricSVC"])
def test_probabilities_of_two_classes_beat_a_constant(kind, method):
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    model = CalibratedClassifierCV(getattr(oneslack, kind)(), method=method, cv=3).fit(X[::2], y[::2])
    probability = model.predict_proba(X[1::2])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    share = y[::2].mean()
    constant = brier_score_loss(y[1::2], np.full(len(y[1::2]), share))
    assert brier_score_loss(y[1::2], probability[:, 1]) < constant / 3


def test_probabilities_of_three_classes():
    X, y = load_iris(return_X_y=True)
    model = CalibratedClassifierCV(oneslack.LinearSVC(), cv=3).fit(X, y)
    probability = model.predict_proba(X)
    assert probability.shape == (150, 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert (probability.argmax(axis=1) == y).mean() > 0.9

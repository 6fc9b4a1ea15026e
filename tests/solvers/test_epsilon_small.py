"""The papers' epsilon on small data, where Newton steps are what "auto" takes."""

import numpy as np
import pytest

from oneslack import LinearSVC


@pytest.mark.parametrize("solver", ["auto", "newton", "dual_newton", "dual_cd"])
@pytest.mark.parametrize("epsilon", [1e-2, 1e-5, 1e-8])
def test_epsilon_bounds_the_gap(solver, epsilon):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.7)
    y = np.where(X @ rng.normal(size=5) + 0.5 * rng.normal(size=40) > 0, 1, -1)
    model = LinearSVC(1.25, fit_intercept=False, epsilon=epsilon, solver=solver).fit(X, y)
    P = 0.5 * np.sum(model.coef_**2) + 1.25 * np.maximum(0, 1 - y * (X @ model.coef_[0])).sum()
    assert model.objective_ * (1 + 1e-12) >= P
    assert model.objective_ - model.dual_objective_ <= 1.25 * 40 * epsilon

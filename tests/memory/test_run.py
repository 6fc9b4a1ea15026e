"""A run asks for no proof that cannot be one."""

import numpy as np

from oneslack import LinearSVC
from oneslack.memory.run import Run
from oneslack.objective import relative_gap


def test_only_dual_points_that_close_the_gap_are_proved(monkeypatch):
    # The smoothed losses of a later step may have a worse dual point than those of an earlier one.
    tried, prove = [], Run._proven

    def noted(self, share):
        tried.append(relative_gap(self.primal, max(self.step.dual, self.floor)))
        return prove(self, share)

    monkeypatch.setattr(Run, "_proven", noted)
    for C, seed in ((1, 17), (1, 23), (10, 3), (100, 36)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 4))
        y = X @ rng.normal(size=4) + 0.5 * rng.normal(size=100) > 0.0
        assert LinearSVC(C, fit_intercept=False).fit(X, y).duality_gap_ <= 1e-3
    assert len(tried) >= 4
    assert max(tried) <= 1e-3

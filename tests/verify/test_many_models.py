"""Every model of a path, and one that was stopped, proves the gap that it has itself."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import oneslack

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 5))
Y = np.where(X[:, 0] + RNG.normal(size=80) > 0, 1, -1)


def proven(model, tmp_path):
    model.save(tmp_path / "model", proof=True)
    return oneslack.check_proof(tmp_path / "model", X, Y)


def test_each_model_of_a_path_has_its_own_proof(tmp_path):
    path = oneslack.path(oneslack.LinearSVC(), X, Y, C=[0.01, 0.1, 1.0])
    reports = [proven(model, tmp_path) for model in path]
    assert [report.gap <= 1e-3 for report in reports] == [True] * 3
    assert np.allclose([report.primal for report in reports], path.objective, rtol=1e-9)


@pytest.mark.parametrize("solver", ["dual_cd", "one_slack", "newton"])
def test_a_fit_that_was_stopped_proves_what_it_reached(tmp_path, solver):
    with pytest.warns(ConvergenceWarning):
        model = oneslack.LinearSVC(C=5.0, solver=solver, tol=1e-9, max_iter=3).fit(X, Y)
    report = proven(model, tmp_path)
    assert report.gap > 1e-9
    assert report.gap <= model.duality_gap_ * (1 + 1e-6) + 1e-12


def interrupt(row):
    if row.iteration == 2:
        raise KeyboardInterrupt


def no_more(row):
    return row.iteration == 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["dual_cd", "one_slack", "newton"])
@pytest.mark.parametrize("end", ["ctrl-c", "callback", "time"])
def test_however_a_fit_ended_it_proves_what_it_reached(tmp_path, end, solver):
    model = oneslack.LinearSVC(C=5.0, solver=solver, tol=1e-9, time_limit=1e-9 if end == "time" else None)
    if end == "ctrl-c":
        with pytest.raises(oneslack.Interrupted):
            model.fit(X, Y, callbacks=[interrupt])
    else:
        model.fit(X, Y, callbacks=[no_more] if end == "callback" else [])
    assert model.result_.status is not oneslack.Status.CONVERGED
    report = proven(model, tmp_path)
    assert 1e-9 < report.gap <= model.duality_gap_ * (1 + 1e-6) + 1e-12

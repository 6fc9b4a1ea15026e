"""The examples run, keep the contract of a model, reach a true certificate, and beat their baseline."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest
from reference import Reference

import oneslack
from oneslack.checks.brute import all_cuts

EXAMPLES = Path(__file__).parents[2] / "examples"
TOL = 1e-2


def load(name):
    spec = importlib.util.spec_from_file_location(f"{name}_example", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


matching, image_grid, integer_programme = map(load, ("matching", "image_grid", "integer_programme"))


def permutations(x):
    return [np.array(z) for z in itertools.permutations(range(len(x[0])))]


def labellings(x):
    return [np.reshape(z, x.shape[:2]) for z in itertools.product((0, 1), repeat=x[..., 0].size)]


def choices(x):
    every = np.array(list(itertools.product((0, 1), repeat=len(x.features))))
    return list(every[np.all(every @ x.use.T <= x.limit, axis=1)])


#: Small enough that all outputs can be listed: (model, X, Y, outputs).
SMALL = {
    "matching": (matching.Matching(9), *matching.picture_pairs(6, n_points=4), permutations),
    "image_grid": (image_grid.Grid(2), *image_grid.noisy_pictures(6, size=3), labellings),
    "integer_programme": (
        integer_programme.Programme(5),
        *integer_programme.months(6, n_projects=6),
        choices,
    ),
}


@pytest.fixture(scope="module", params=SMALL)
def small(request):
    return SMALL[request.param]


def test_the_decoder_is_as_good_as_brute_force(small):
    model, X, Y, outputs = small
    report = oneslack.check_model(model, X, Y, outputs=outputs)
    assert report.enumerated
    assert report.exact


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_certificate_holds_the_optimum(small, C):
    """Against a QP over all outputs of all examples."""
    model, X, Y, outputs = small
    svm = oneslack.StructuralSVM(model, C=C, tol=1e-4, n_jobs=1).fit(X, Y)
    cuts = all_cuts(model, X, Y, outputs=outputs)
    reference = Reference.of_cuts(cuts.deltas, cuts.losses, cuts.index, np.full(len(Y), C))
    lower, upper, _ = reference.solve()
    assert svm.duality_gap_ <= 1e-4
    assert svm.objective_ == pytest.approx(reference.primal(svm.coef_), rel=1e-5)
    assert svm.dual_objective_ <= upper * (1 + 1e-6)
    assert svm.objective_ >= lower * (1 - 1e-6)


def test_the_grid_is_cut_well_at_weights_of_either_sign():
    """Not square, no noise in common with the training; each sign of each neighbour weight."""
    rng = np.random.default_rng(3)
    model = image_grid.Grid(2)
    for signs in itertools.product((-1, 0, 1), repeat=2):
        x, y = rng.normal(size=(2, 4, 2)), rng.integers(0, 2, (2, 4))
        w = np.append(rng.normal(size=2), np.array(signs) * rng.uniform(0.2, 2, size=2))
        for truth in (None, y):
            z = model.decode(w, x, truth)
            score = model.joint_feature(x, z) @ w + (0 if truth is None else model.loss(truth, z))
            best = oneslack.brute_force(model, w, x, truth, outputs=labellings)[1]
            assert score == pytest.approx(best, abs=1e-6)


def run(example, capsys):
    """What main returns, its certificate checked, its output looked at."""
    svm, learned, baseline = example.main(tol=TOL)
    printed = capsys.readouterr().out.splitlines()
    assert "certified relative gap" in printed[0]
    assert 3 <= len(printed) <= 6
    assert svm.result_.status.name == "CONVERGED"
    assert svm.result_.certified
    assert svm.duality_gap_ <= TOL
    assert learned < baseline
    return svm


def test_matching_beats_equal_weights(capsys):
    svm = run(matching, capsys)
    X, Y = matching.picture_pairs(60, seed=2)
    equal = [svm.model.decode(np.ones(svm.model.n_params), x) for x in X]
    assert matching.wrong(Y, svm.predict(X)) < 0.5 * matching.wrong(Y, equal)
    assert svm.coef_[3] > 2 * svm.coef_[-1]  # the steadiest descriptor and the least steady one


def test_the_grid_beats_single_pixels(capsys):
    svm = run(image_grid, capsys)
    X, Y = image_grid.noisy_pictures(30, seed=2)
    alone = image_grid.pixel_by_pixel(*image_grid.noisy_pictures(20, seed=0), X, C=svm.C)
    threshold = np.array(X)[..., 0] > 0  # the best there is without neighbours
    errors = [np.mean(np.array(labels) != Y) for labels in (svm.predict(X), alone, threshold)]
    assert errors[0] < 0.5 * min(errors[1:])


def test_the_programme_beats_single_projects(capsys):
    svm = run(integer_programme, capsys)
    X, Y = integer_programme.months(40, seed=2)
    other = integer_programme.one_by_one(*integer_programme.months(24, seed=0), svm.C)
    lost = [integer_programme.value_lost(X, Y, svm.model, w) for w in (svm.coef_, other)]
    wrong = [np.mean([svm.model.decode(w, x) != y for x, y in zip(X, Y)]) for w in (svm.coef_, other)]
    assert 0 <= lost[0] < lost[1]
    assert wrong[0] < wrong[1]


@pytest.mark.parametrize("name", SMALL)
def test_an_example_is_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 100

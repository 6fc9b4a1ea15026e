"""Choosing C: as a cold grid search does, with less work."""

import threading

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

import oneslack
from oneslack.selection.rule import best_of
from oneslack.selection.tuning import may_win

GRID = [1e-4, 1e-2, 1.0, 100.0]


def cold_search(X, y, Cs, folds, **options):
    """(scores (m, folds), best): every candidate trained from scratch, and the rule of the search."""
    scores, right, losses = [], [], []
    for C in Cs:
        found = [held_out(oneslack.LinearSVC(C=C, **options), X, y, *split) for split in folds.split(X, y)]
        scores.append([answers.mean() for answers, _ in found])
        right.append(np.concatenate([answers for answers, _ in found]))
        losses.append(np.concatenate([loss for _, loss in found]))
    return np.array(scores), best_of(right, losses)


def held_out(model, X, y, train, test):
    """Which examples a model is right about, and their hinges by the definition."""
    model.fit(X[train], y[train])
    scores, truth = model.decision_function(X[test]), np.searchsorted(model.classes_, y[test])
    if scores.ndim == 1:
        losses = np.maximum(0.0, 1.0 - np.where(truth == 1, 1.0, -1.0) * scores)
    else:
        own = scores[np.arange(len(truth)), truth]
        margin = 1.0 - np.eye(scores.shape[1])[truth]
        losses = (scores + margin).max(axis=1) - own
    return model.predict(X[test]) == y[test], losses


@pytest.mark.parametrize("data", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("solver", ["newton", "dual_cd"])
def test_the_best_C_is_that_of_a_cold_grid_search(data, solver):
    X, y = data(return_X_y=True)
    X = X / X.max(axis=0)
    folds, Cs = StratifiedKFold(4, shuffle=True, random_state=0), [1e-4, 1e-2, 1.0, 10.0]
    model = oneslack.LinearSVC(solver=solver)
    found = oneslack.tune(model, X, y, Cs, cv=folds, stop_early=False)
    scores, best = cold_search(X, y, Cs, folds, tol=1e-6)
    assert found.best == best
    # What cannot win is trained coarsely; the best is off by two of 150 examples at most.
    np.testing.assert_allclose(found.scores, scores, atol=0.06)
    np.testing.assert_allclose(found.mean, scores.mean(axis=1), atol=0.04)
    assert found.mean.max() == pytest.approx(scores.mean(axis=1).max(), abs=0.014)
    again = oneslack.LinearSVC(solver=solver, C=found.best_C).fit(X, y)
    np.testing.assert_array_equal(found.model.coef_, again.coef_)


@pytest.mark.parametrize("options", [{"class_weight": "balanced"}, {"fit_intercept": False}, {"scale": 2.0}])
def test_a_search_knows_the_options_of_the_estimator(options):
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    found = oneslack.tune(oneslack.LinearSVC(**options), X, y, GRID, cv=3, stop_early=False, refit=False)
    scores, _ = cold_search(X, y, GRID, StratifiedKFold(3), tol=1e-6, **options)
    np.testing.assert_allclose(found.mean, scores.mean(axis=1), atol=0.01)


def test_any_scorer_gives_the_best_C_of_a_cold_grid_search():
    """By the way that all estimators can go."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    model = oneslack.LinearSVC(tol=1e-6)
    found = oneslack.tune(model, X, y, GRID, cv=folds, scoring="balanced_accuracy")
    cold = GridSearchCV(model, {"C": GRID}, cv=folds, scoring="balanced_accuracy").fit(X, y)
    assert found.best_C == cold.best_params_["C"]
    assert found.losses is None
    finished = found.gaps <= 1e-6
    np.testing.assert_allclose(
        found.mean[finished], cold.cv_results_["mean_test_score"][finished], atol=1e-12
    )
    np.testing.assert_array_equal(found.model.coef_, cold.best_estimator_.coef_)


def test_hopeless_candidates_are_left_behind():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    steps = []
    found = oneslack.tune(
        oneslack.LinearSVC(tol=1e-5), X, y, GRID, cv=3, scoring="f1", on_candidate=lambda *s: steps.append(s)
    )
    assert found.gaps[0] > 1e-5 >= found.gaps[found.best]
    assert len(steps) < 2 * 3 * len(GRID)
    assert [row["C"] for row in found.rows()] == GRID


def noise_with_a_rule(n=400, d=100):
    """Labels of which a quarter are wrong: large C learn these by heart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(rng.random(n) < 0.25, -1, 1) * np.where(X[:, :3].sum(axis=1) > 0, 1, -1)


@pytest.mark.parametrize("solver", ["newton", "dual_cd"])
def test_larger_C_that_fit_worse_are_not_tried(solver):
    X, y = noise_with_a_rule()
    steps = []
    model, Cs = oneslack.LinearSVC(solver=solver), np.logspace(-4, 1, 8)
    found = oneslack.tune(model, X, y, Cs, cv=3, on_candidate=lambda *step: steps.append(step), n_jobs=2)
    every = oneslack.tune(model, X, y, Cs, cv=3, stop_early=False)
    n_tried = int(np.isfinite(found.scores).all(axis=1).sum())
    assert 3 <= n_tried < len(Cs) - 1
    assert len(steps) == 3 * n_tried
    assert np.isfinite(every.scores).all()
    np.testing.assert_array_equal(found.scores[:n_tried], every.scores[:n_tried])
    np.testing.assert_array_equal(found.losses[:n_tried], every.losses[:n_tried])
    for rows in (found.scores, found.losses, found.gaps):
        assert np.isnan(rows[n_tried:]).all()
    assert found.best == every.best
    assert np.isnan(found.rows()[-1]["score"])


def test_the_models_of_a_search_are_near_their_optimum():
    """What Newton's path takes for its distance from the optimum is no less than it is."""
    from oneslack.solvers.newton_path import newton_path

    X, y = load_breast_cancer(return_X_y=True)
    X, y = X / X.max(axis=0), np.where(y == 1, 1.0, -1.0)
    Cs = np.logspace(-3, 3, 7)
    problem = oneslack.Problem(oneslack.Binary(X.shape[1], True), X, y)
    for C, (w, gap) in zip(Cs, newton_path(problem, Cs), strict=True):
        here = oneslack.Problem(problem.model, X, y, C)
        optimum = oneslack.solve(here, tol=1e-8).dual
        assert here.primal(w) - optimum <= 1.2 * gap * here.primal(w)
        assert gap <= 1e-2


@pytest.mark.parametrize("scoring", [None, "f1"])
def test_the_number_of_threads_does_not_matter(scoring):
    X, y = noise_with_a_rule(d=30)
    one = oneslack.tune(oneslack.LinearSVC(), X, y, GRID, cv=3, n_jobs=1, scoring=scoring)
    two = oneslack.tune(oneslack.LinearSVC(), X, y, GRID, cv=3, n_jobs=2, scoring=scoring)
    np.testing.assert_array_equal(one.scores, two.scores)


def test_other_parameters_and_estimators_without_warm_start():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 2))
    y = (np.hypot(*X.T) < 0.7).astype(int)
    found = oneslack.tune(
        oneslack.KernelSVC(method="exact"), X, y, [0.1, 10.0], grid={"gamma": [1e-6, 1.0]}, cv=3
    )
    assert found.best_params == {"gamma": 1.0, "C": 10.0}
    assert len(found.candidates) == 4


def test_a_scorer_and_numbers():
    X, y = load_diabetes(return_X_y=True)
    found = oneslack.tune(
        oneslack.LinearSVR(), X, y, [1e-4, 10.0], cv=3, scoring="neg_mean_absolute_error", refit=False
    )
    assert found.best_C == 10.0
    assert found.model is None
    assert (found.mean < 0).all()


def test_equals_are_won_by_the_smallest_C():
    X = np.repeat([[-1.0], [1.0]], 20, axis=0)
    found = oneslack.tune(oneslack.LinearSVC(), X, np.repeat([0, 1], 20), [10.0, 1.0, 0.1], cv=2)
    assert found.best_C == 0.1


def test_who_may_still_win():
    scores = np.array([[0.90, 0.92, 0.91], [0.90, 0.91, 0.92], [0.80, 0.82, 0.81], [0.90, 0.92, 0.91]])
    assert may_win(scores).tolist() == [True, True, False, True]


@pytest.mark.parametrize(("kind", "data"), [("LinearSVC", load_breast_cancer), ("LinearSVR", load_diabetes)])
def test_auto_is_what_tune_finds(kind, data, tmp_path):
    X, y = data(return_X_y=True)
    X = X / np.abs(X).max(axis=0)
    estimator = getattr(oneslack, kind)
    model = estimator(C="auto").fit(X, y)
    found = oneslack.tune(estimator(), X, y)
    assert found.best_C == model.C_
    assert model.C == "auto"
    np.testing.assert_array_equal(model.coef_, found.model.coef_)
    assert model.duality_gap_ == found.model.duality_gap_
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(oneslack.load(tmp_path / "model").predict(X), model.predict(X))


def test_auto_takes_no_weights_and_no_other_word():
    with pytest.raises(ValueError, match=r"oneslack\.tune"):
        oneslack.LinearSVC(C="auto").fit(np.eye(4), [0, 1, 0, 1], sample_weight=np.ones(4))
    with pytest.raises(TypeError, match="C must be a positive number"):
        oneslack.LinearSVC(C="best").fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_a_score_that_is_no_number():
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(ValueError, match="a score is not a number; use fewer folds, or another scorer"):
        oneslack.tune(oneslack.LinearSVR(), X, X[:, 0], [0.1, 1.0], cv=6)


CALLERS = set()


class Watched(oneslack.ThreadCrews):
    """An engine that remembers which threads have asked for workers."""

    def start(self, *arguments):
        CALLERS.add(threading.get_ident())
        return super().start(*arguments)


def test_a_cluster_serves_one_fold_after_the_other():
    X, y = load_iris(return_X_y=True)
    estimator = oneslack.LinearSVC(engine=Watched(2))
    found = oneslack.tune(estimator, X, y, [0.1, 1.0], cv=3, n_jobs=3, refit=False)
    assert len(CALLERS) == 1
    assert found.scores.shape == (2, 3)


@pytest.mark.parametrize(
    "options", [{"solver": "distributed_dual"}, {"solver": "one_slack"}, {"epsilon": 0.1}]
)
def test_what_has_no_path_of_its_own_goes_the_general_way(options):
    X, y = load_iris(return_X_y=True)
    found = oneslack.tune(oneslack.LinearSVC(**options), X[:100], y[:100], [0.1, 1.0], cv=2, refit=False)
    assert found.losses is None
    assert (found.scores == 1.0).all()


def test_parameters_may_be_arrays():
    X, y = load_iris(return_X_y=True)
    costs = [np.ones((3, 3)) - np.eye(3), 2.0 * (np.ones((3, 3)) - np.eye(3))]
    found = oneslack.tune(oneslack.LinearSVC(), X, y, [0.1, 1.0], grid={"loss": costs}, cv=3, refit=False)
    cold = [oneslack.tune(oneslack.LinearSVC(loss=cost), X, y, [0.1, 1.0], cv=3) for cost in costs]
    assert len(found.candidates) == 4
    finished = found.gaps <= 1e-3
    mean = np.concatenate([one.mean for one in cold])
    np.testing.assert_allclose(found.mean[finished], mean[finished], atol=0.02)


def test_held_out_losses_have_the_class_weights_of_the_training_rows():
    """Folds of sorted labels: the classes of a held-out part are no measure of what they weigh."""
    X, y = load_breast_cancer(return_X_y=True)
    X, order = X / X.max(axis=0), np.argsort(y, kind="stable")
    X, y, Cs = X[order], y[order], [0.01, 1.0]
    model = oneslack.LinearSVC(class_weight="balanced")
    found = oneslack.tune(model, X, y, Cs, cv=KFold(5), stop_early=False, refit=False)
    for k, C in enumerate(Cs):
        for fold, (train, test) in enumerate(KFold(5).split(X)):
            _, losses = held_out(oneslack.LinearSVC(C, class_weight="balanced", tol=1e-6), X, y, train, test)
            weights = len(train) / (2 * np.bincount(y[train]))
            assert found.losses[k, fold] == pytest.approx((weights[y[test]] * losses).mean(), abs=0.05)


def test_a_held_out_part_of_a_class_that_counts_nothing_has_a_score():
    X, y = load_breast_cancer(return_X_y=True)
    X, order = X / X.max(axis=0), np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    model = oneslack.LinearSVC(class_weight={0: 2.0, 1: 0.0})
    found = oneslack.tune(model, X, y, [0.01, 1.0], cv=KFold(5), refit=False)
    cold = GridSearchCV(model, {"C": [0.01, 1.0]}, cv=KFold(5)).fit(X, y)
    np.testing.assert_allclose(found.mean, cold.cv_results_["mean_test_score"])
    assert (found.losses[:, 2:] == 0.0).all()


def test_a_far_jump_of_C_is_trained_from_scratch():
    """Newton's steps run out on the way from one C to the next; a model of its own does not."""
    from oneslack.solvers.newton_path import newton_path

    X, y = load_breast_cancer(return_X_y=True)
    Cs, folds = [1e-4, 1e-2, 1.0, 100.0, 1e6], StratifiedKFold(4, shuffle=True, random_state=0)
    train, _ = next(folds.split(X, y))
    problem = oneslack.Problem(oneslack.Binary(30, True), X[train], np.where(y[train] == 1, 1.0, -1.0))
    assert [gap > 1e-2 for _, gap in newton_path(problem, Cs)] == [False] * 4 + [True]
    found = oneslack.tune(oneslack.LinearSVC(), X, y, Cs, cv=folds, stop_early=False, refit=False)
    assert (found.gaps <= 1e-2).all()
    assert not found.unfinished.any()
    scores, best = cold_search(X, y, Cs, folds, tol=1e-3)
    assert found.best == best
    np.testing.assert_allclose(found.mean, scores.mean(axis=1), atol=0.01)


@pytest.mark.parametrize(("solver", "max_iter"), [("newton", 2), ("dual_cd", 20)])
def test_models_that_stopped_early_are_said_in_one_warning(solver, max_iter):
    """On raw columns; the smallest C are trained in time by dual passes, none by two steps."""
    X, y = load_breast_cancer(return_X_y=True)
    model, Cs = oneslack.LinearSVC(solver=solver, max_iter=max_iter), [1e-9, 1.0, 100.0]
    with pytest.warns(ConvergenceWarning) as said:
        found = oneslack.tune(model, X, y, Cs, cv=3, stop_early=False, refit=False)
    open_ends = [f"{C:g}" for C, is_open in zip(Cs, found.unfinished, strict=True) if is_open]
    assert found.unfinished.tolist() == [solver == "newton", True, True]
    assert len(said) == 1
    text = f"the models for C = {', '.join(open_ends)} stopped at relative gaps of up to "
    assert str(said[0].message).startswith(f"{text}{found.gaps.max():.2g}, too far from their optimum")
    assert said[0].filename == __file__


def test_who_asks_for_few_steps_has_the_models_of_as_few():
    X, y = load_breast_cancer(return_X_y=True)
    X, model = X / X.max(axis=0), oneslack.LinearSVC(max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"C = 0.01, 1 stopped .* raise max_iter"):
        found = oneslack.tune(model, X, y, [0.01, 1.0], cv=3, refit=False)
    with pytest.warns(ConvergenceWarning, match="LinearSVC stopped at"):
        cold = GridSearchCV(model, {"C": [0.01, 1.0]}, cv=3, refit=False).fit(X, y)
    np.testing.assert_allclose(found.mean, cold.cv_results_["mean_test_score"])


@pytest.mark.parametrize("scoring", [None, "f1"])
def test_who_watches_hears_the_gaps_that_were_reached(scoring):
    X, y = load_breast_cancer(return_X_y=True)
    heard = {}

    def watch(params, fold, gap):
        heard[params["C"], fold] = gap

    options = {"scoring": scoring, "stop_early": False, "refit": False, "on_candidate": watch}
    found = oneslack.tune(oneslack.LinearSVC(), X / X.max(axis=0), y, GRID, cv=3, **options)
    assert [max(heard[C, fold] for fold in range(3)) for C in GRID] == found.gaps.tolist()


def test_fits_that_stopped_early_are_known_the_general_way():
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="LinearSVR stopped at"):
        found = oneslack.tune(oneslack.LinearSVR(max_iter=3), X, y, [1e-6, 1e3], cv=3, n_jobs=1, refit=False)
    assert found.unfinished.tolist() == [False, True]


@pytest.mark.parametrize("scaling", [1.0, 30.0])
def test_a_penalised_intercept_is_searched_with(scaling):
    """The columns are far from 0, so that without an intercept nothing is found."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 5.0
    y = (X[:, 0] > 5.0).astype(int)
    options = {"penalize_intercept": True, "intercept_scaling": scaling}
    found = oneslack.tune(oneslack.LinearSVC(**options), X, y, GRID, cv=StratifiedKFold(3))
    scores, _ = cold_search(X, y, GRID, StratifiedKFold(3), **options)
    assert found.scores[found.best].mean() > 0.9
    np.testing.assert_allclose(found.scores[found.best], scores[found.best], atol=0.05)

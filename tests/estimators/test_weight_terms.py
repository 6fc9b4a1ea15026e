"""prior, scale and nonnegative of the estimators: what they accept, and that the certificate is theirs."""

import numpy as np
import pytest
from reference import Reference

import oneslack
from oneslack import (
    Binary,
    LinearSVC,
    LinearSVR,
    Multiclass,
    Problem,
    Regression,
    SequenceTagger,
    StructuralSVM,
)
from oneslack.checks.brute import all_cuts

TOL = 1e-5


def examples(k=2, n=40, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k))).argmax(axis=1), rng


@pytest.mark.grid(1)
@pytest.mark.parametrize("solver", ["dual_cd", "one_slack", "auto"])
@pytest.mark.parametrize("k", [2, 3])
def test_classes_against_a_qp(k, solver):
    X, y, rng = examples(k)
    rows = 1 if k == 2 else k
    prior, scale = rng.normal(size=(rows, 4)), rng.uniform(0.5, 2, (rows, 4))
    svc = LinearSVC(tol=TOL, solver=solver, prior=prior, scale=scale, nonnegative=[0, 2]).fit(X, y)
    model = Binary(4, True) if k == 2 else Multiclass(4, k, True)
    codes = 2 * y - 1 if k == 2 else y

    def flat(values, last):
        return np.append(values.T.ravel(), np.full(rows, last))

    held = np.zeros((rows, 4), bool)
    held[:, [0, 2]] = True
    cuts = all_cuts(model, X, codes)
    reference = Reference.of_cuts(
        cuts.deltas, cuts.losses, cuts.index, np.ones(40), flat(prior, 0.0), model.free, flat(held, 0) > 0,
        flat(scale, 1.0),
    )  # fmt: skip
    lower, upper, _ = reference.solve()
    assert lower * (1 - 1e-7) <= svc.objective_ <= upper * (1 + 2 * TOL)
    assert svc.dual_objective_ <= upper * (1 + 1e-7)
    w = np.append(svc.coef_.T.ravel(), svc.intercept_)
    assert reference.primal(w) == pytest.approx(svc.objective_, rel=1e-7)
    assert (svc.coef_[:, [0, 2]] >= 0).all()


@pytest.mark.parametrize("terms", [{}, {"prior": [1.0, -1.0, 0.5, 0.0], "nonnegative": [0, 3]}])
@pytest.mark.parametrize("k", [2, 3])
def test_a_penalised_intercept_is_the_weight_of_a_column(k, terms):
    """As LIBLINEAR has it: of the value intercept_scaling, drawn to 0."""
    X, y, _ = examples(k)
    X, wide = X + 2.0, np.column_stack([X + 2.0, np.full(40, 7.7)])
    svc = LinearSVC(tol=TOL, penalize_intercept=True, intercept_scaling=7.7, **terms).fit(X, y)
    terms = {"prior": [*terms["prior"], 0.0], "nonnegative": terms["nonnegative"]} if terms else {}
    plain = LinearSVC(tol=TOL, fit_intercept=False, **terms).fit(wide, y)
    assert svc.dual_objective_ <= plain.objective_
    assert plain.dual_objective_ <= svc.objective_
    assert np.abs(svc.intercept_).max() > 0.1
    oneslack.check_certificate(svc, X, y)


def test_one_against_the_rest_takes_a_row_a_class():
    X, y, rng = examples(3)
    prior = rng.normal(size=(3, 4))
    svc = LinearSVC(multi_class="ovr", tol=TOL, prior=prior, nonnegative=True).fit(X, y)
    for k in range(3):
        problem = Problem(
            Binary(4, True), X, np.where(y == k, 1, -1), prior=np.append(prior[k], 0), nonnegative=True
        )
        assert problem.primal(svc.result_.parts[k].w) == pytest.approx(svc.result_.parts[k].primal, rel=1e-9)
        alone = oneslack.solve(problem, tol=TOL)
        assert alone.primal == pytest.approx(svc.result_.parts[k].primal, rel=1e-4)
    assert (svc.coef_ >= 0).all()


def test_a_strong_prior_keeps_the_earlier_model():
    X, y, _ = examples()
    early = LinearSVC(C=0.1).fit(X, y)
    again = LinearSVC(C=1e-6, prior=early.coef_).fit(X, 1 - y)
    assert np.allclose(again.coef_, early.coef_, atol=1e-3)
    assert np.allclose(LinearSVC(C=1e-6).fit(X, 1 - y).coef_, 0, atol=1e-3)


def test_regression():
    X, _, rng = examples(n=60)
    y = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 3.0 + 0.1 * rng.normal(size=60)
    svr = LinearSVR(tol=TOL, nonnegative=True, scale=[(slice(0, 2), 0.1)], prior=np.ones(4)).fit(X, y)
    assert (svr.coef_ >= 0).all()
    assert svr.coef_[1] == 0
    w = np.append(svr.coef_, svr.intercept_)
    problem = Problem(
        Regression(4, 0.0, True),
        X,
        y,
        prior=np.append(np.ones(4), 0),
        scale=[0.1, 0.1, 1, 1, 1],
        nonnegative=True,
    )
    assert problem.primal(w) == pytest.approx(svr.objective_, rel=1e-7)
    assert oneslack.solve(problem, tol=TOL).primal == pytest.approx(svr.objective_, rel=1e-4)


def test_columns_by_name():
    pandas = pytest.importorskip("pandas")
    X, y, _ = examples()
    frame = pandas.DataFrame(X, columns=list("abcd"))
    named = LinearSVC(nonnegative=["a", "c"], scale={"d": 100.0}, tol=TOL).fit(frame, y)
    numbered = LinearSVC(nonnegative=[0, 2], scale=[1, 1, 1, 100.0], tol=TOL).fit(X, y)
    assert np.allclose(named.coef_, numbered.coef_)
    with pytest.raises(ValueError, match="no block of weights 'e'; it has 'a', 'b', 'c', 'd'"):
        LinearSVC(scale={"e": 1.0}).fit(frame, y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"prior": np.zeros(3)},
            r"prior has shape \(3,\), expected numbers of shape \(4,\), one a feature, or \(1, 4\)",
        ),
        ({"prior": np.zeros((3, 4))}, r"prior has shape \(3, 4\)"),
        ({"scale": -1.0}, "scale must hold numbers > 0"),
        ({"scale": {"a": 1.0}}, "scale is given by names, but the model names no blocks"),
        ({"nonnegative": np.ones((2, 4), bool)}, r"nonnegative has shape \(2, 4\), expected a mask"),
        ({"nonnegative": [7]}, "nonnegative must be a mask, or indices below 4"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    X, y, _ = examples()
    with pytest.raises(ValueError, match=message):
        LinearSVC(**given).fit(X, y)


def test_newton_refuses_to_hold_weights():
    X, y, _ = examples()
    with pytest.raises(ValueError, match="Newton cannot hold weights >= 0"):
        LinearSVC(solver="newton", nonnegative=True).fit(X, y)


def test_a_warm_start_tells_another_prior():
    X, y, _ = examples()
    for solver in ("dual_cd", "one_slack", "newton"):
        svc = LinearSVC(tol=TOL, warm_start=True, solver=solver, prior=np.ones(4)).fit(X, y)
        again = svc.set_params(prior=-np.ones(4)).fit(X, y)
        fresh = LinearSVC(tol=TOL, prior=-np.ones(4)).fit(X, y)
        assert again.objective_ == pytest.approx(fresh.objective_, rel=1e-4)
        assert again.dual_objective_ <= fresh.objective_


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_file_keeps_them(kind, tmp_path):
    X, y, _ = examples()
    estimator = LinearSVC if kind == "classes" else LinearSVR
    model = estimator(prior=np.arange(4.0), scale=2.0, nonnegative=[True, False, True, False]).fit(X, y)
    model.save(tmp_path / "m")
    again = oneslack.load(tmp_path / "m")
    assert again.prior.tolist() == [0, 1, 2, 3]
    assert again.scale == 2.0
    assert again.nonnegative.tolist() == [True, False, True, False]


SENTENCES = [
    [{"w": "the"}, {"w": "cat"}],
    [{"w": "a"}, {"w": "dog"}, {"w": "barks"}],
    [{"w": "the"}, {"w": "dog"}],
]
TAGS = [["D", "N"], ["D", "N", "V"], ["D", "N"]]


@pytest.mark.parametrize("solver", ["dual_cd", "n_slack", "one_slack"])
def test_taggers(solver):
    prior = {"w=cat": -1.0, ("w=dog", "V"): 2.0, "pairs": 0.1}
    options = {"C": 1.0, "tol": 1e-4, "solver": solver, "n_jobs": 1}
    tagger = SequenceTagger(prior=prior, scale={"features": 3.0}, nonnegative=["pairs"], **options)
    tagger.fit(SENTENCES, TAGS)
    L, names = 3, tagger._indexer.feature_names()
    expected = np.zeros(tagger.model_.n_params)
    expected[names.index("w=cat") * L : names.index("w=cat") * L + L] = -1.0
    expected[names.index("w=dog") * L + 2] = 2.0
    expected[-L * L :] = 0.1
    scale = np.append(np.full(len(names) * L, 3.0), np.ones(L * L))
    mask = np.append(np.zeros(len(names) * L, bool), np.ones(L * L, bool))
    by_arrays = SequenceTagger(prior=expected, scale=scale, nonnegative=mask, **options).fit(SENTENCES, TAGS)
    assert by_arrays.objective_ == tagger.objective_
    assert (tagger.coef_[-L * L :] >= 0).all()
    assert tagger.duality_gap_ <= 1e-4
    far = SequenceTagger(prior=expected, **{**options, "C": 1e-9}).fit(SENTENCES, TAGS)
    assert np.allclose(far.coef_, expected, atol=1e-6)


def test_taggers_say_which_names_there_are():
    with pytest.raises(
        ValueError, match="prior: the model has no block of weights 'w=cow'; it has 'features', 'pairs'"
    ):
        SequenceTagger(prior={"w=cow": 1.0}).fit(SENTENCES, TAGS)


def test_taggers_with_unknown_labels():
    tags = [["D", None], ["D", "N", "V"], ["D", "N"]]
    tagger = SequenceTagger(C=1.0, nonnegative=True, start=True, n_jobs=1).fit(SENTENCES, tags)
    assert (tagger.coef_ >= 0).all()


def test_structural_svms():
    X, y, rng = examples(3)
    prior = rng.normal(size=12)
    svm = StructuralSVM(Multiclass(4, 3), prior=prior, nonnegative=[0, 1], tol=TOL).fit(X, y)
    svc = LinearSVC(fit_intercept=False, prior=prior.reshape(4, 3).T, tol=TOL).fit(X, y)
    assert svm.objective_ >= svc.dual_objective_  # it is held by more
    assert (svm.coef_[:2] >= 0).all()

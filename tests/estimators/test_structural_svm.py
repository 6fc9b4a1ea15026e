"""StructuralSVM: users' models and built-in ones, their certificates, files and refusals."""

import pickle
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference
from sklearn import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate

import oneslack
from oneslack import (
    Binary,
    Chain,
    FormatError,
    Multiclass,
    OneSlack,
    OneslackError,
    Problem,
    Ranking,
    StructuralSVM,
)
from oneslack.checks.brute import all_cuts
from oneslack.formats import load_model, save_model


@dataclass(frozen=True)
class MultiLabel:
    """Independent yes/no labels, the model of docs/write_your_own_model.md; it can also list and rescale."""

    n_features: int
    n_labels: int

    @property
    def n_params(self):
        return self.n_features * self.n_labels

    def joint_feature(self, x, y):
        return np.outer(y, x).ravel()

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def decode(self, w, x, y=None):
        scores = w.reshape(self.n_labels, self.n_features) @ x
        if y is not None:
            scores += 1 - 2 * y
        return (scores > 0).astype(int)


@dataclass(frozen=True)
class Listed(MultiLabel):
    """The same with what is optional: all outputs, the k best, rescaled slacks."""

    def outputs(self, x):
        return [np.array(z) for z in product((0, 1), repeat=self.n_labels)]

    def decode_topk(self, w, x, k):
        scores = [float(self.joint_feature(x, z) @ w) for z in self.outputs(x)]
        return [self.outputs(x)[i] for i in np.argsort(scores)[::-1][:k]]

    def decode_slack(self, w, x, y):
        lead = [self.joint_feature(x, y) @ w - self.joint_feature(x, z) @ w for z in self.outputs(x)]
        losses = [self.loss(y, z) for z in self.outputs(x)]
        return self.outputs(x)[int(np.argmax(np.array(losses) * (1 - np.array(lead))))]


class Guess(MultiLabel):
    """A decoder that does not promise the best."""

    exact = False


RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
NOISY = X @ RNG.normal(size=(3, 2)) + 0.5 * RNG.normal(size=(30, 2))
Y = (NOISY > 0).astype(int)
SENTENCES = [RNG.normal(size=(T, 3)) for T in RNG.integers(1, 4, size=20)]
TAGS = [np.array([int(x[t, 0] > 0) + int(x[t, 1] > 0.5) for t in range(len(x))]) for x in SENTENCES]
LISTED = Listed(3, 2)
#: Model, X, Y; those that can be saved.
BUILT_IN = {
    "Binary": (Binary(3), X, np.where(Y[:, 0] > 0, 1, -1)),
    "Binary, bias": (Binary(3, intercept=True), sp.csr_array(X), np.where(Y[:, 0] > 0, 1, -1)),
    "Multiclass": (Multiclass(3, 2), X, Y[:, 0]),
    "Multiclass, costs": (Multiclass(3, 3, losses=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]), X, Y.sum(axis=1)),
    "Chain": (Chain(3, 3), SENTENCES, TAGS),
    "Chain, all": (
        Chain(3, 3, order=2, start=True, end=True, allowed=np.ones((3, 3)), allowed_end=[1, 1, 1]),
        SENTENCES, TAGS,
    ),
}  # fmt: skip
ALL = BUILT_IN | {"your own": (LISTED, X, Y)}


def reference_of(svm, X, Y, s=None):
    cuts = all_cuts(svm.model, X, Y)
    deltas = cuts.deltas.toarray() if sp.issparse(cuts.deltas) else cuts.deltas
    if svm.rescaling == "slack":
        deltas = deltas * cuts.losses[:, None]
    weights = svm.C * (np.ones(len(Y)) if s is None else s)
    return Reference.of_cuts(deltas, cuts.losses, cuts.index, weights, free=getattr(svm.model, "free", ()))


def assert_certified(svm, reference):
    lower, upper, _ = reference.solve()
    assert svm.duality_gap_ <= svm.tol
    assert svm.objective_ == pytest.approx(reference.primal(svm.coef_), rel=1e-9)
    assert svm.objective_ >= lower * (1 - 1e-8)
    assert svm.dual_objective_ <= upper * (1 + 1e-8)
    assert svm.result_.certified


@pytest.mark.parametrize(("model", "X", "Y"), ALL.values(), ids=ALL)
def test_the_certificate_holds(model, X, Y):
    svm = StructuralSVM(model, C=0.7, tol=1e-6).fit(X, Y)
    assert_certified(svm, reference_of(svm, X, Y))
    assert svm.coef_.shape == (model.n_params,)
    assert svm.objective_ == pytest.approx(Problem(model, X, Y, 0.7).primal(svm.coef_), rel=1e-9)


@pytest.mark.parametrize("solver", ["one_slack", "n_slack", "dual_cd", oneslack.OneSlack(line_search=False)])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_every_solver_with_weights_and_both_rescalings(solver, rescaling):
    s = RNG.choice([0.0, 0.5, 2.0], size=len(X))
    svm = StructuralSVM(LISTED, C=0.7, solver=solver, rescaling=rescaling, tol=1e-6, cache_size=0)
    assert_certified(svm.fit(X, Y, sample_weight=s), reference_of(svm, X, Y, s))


def test_predictions_and_score():
    svm = StructuralSVM(MultiLabel(3, 2), C=1.0).fit(X, Y)
    predicted = svm.predict(X)
    assert isinstance(predicted, list)
    for x, z in zip(X, predicted, strict=True):
        assert np.array_equal(z, svm.coef_.reshape(2, 3) @ x > 0)
    losses = np.sum(np.array(predicted) != Y, axis=1)
    assert 0 < losses.mean() < 0.5
    assert svm.score(X, Y) == pytest.approx(1 - losses.mean())
    s = np.arange(len(X)) % 3
    assert svm.score(X, Y, sample_weight=s) == pytest.approx(1 - losses @ s / s.sum())


def test_the_best_few():
    svm = StructuralSVM(LISTED).fit(X, Y)
    best = svm.predict_topk(X, 2)
    assert all(len(outputs) == 2 for outputs in best)
    assert all(np.array_equal(a[0], b) for a, b in zip(best, svm.predict(X), strict=True))
    chain = StructuralSVM(Chain(3, 3)).fit(SENTENCES, TAGS)
    for (Z, scores), z in zip(chain.predict_topk(SENTENCES, 3), chain.predict(SENTENCES), strict=True):
        assert np.array_equal(Z[0], z)
        assert (np.diff(scores) <= 0).all()
    with pytest.raises(OneslackError, match=r"MultiLabel has no decode_topk\(w, x, k\)"):
        StructuralSVM(MultiLabel(3, 2)).fit(X, Y).predict_topk(X, 2)


def test_weights_count_as_repetition():
    counts = np.arange(len(X)) % 3
    settings = {"C": 0.5, "tol": 1e-7}
    weighted = StructuralSVM(LISTED, **settings).fit(X, Y, sample_weight=counts)
    repeated = StructuralSVM(LISTED, **settings).fit(
        np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-7)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=5e-3)


def test_a_warm_start_goes_on():
    svm = StructuralSVM(LISTED, C=0.5, solver="one_slack", warm_start=True, tol=1e-4).fit(X, Y)
    cold = svm.n_iter_
    assert svm.fit(X, Y).n_iter_ < cold
    assert svm.duality_gap_ <= 1e-4
    # A near problem profits too; one of another size begins anew.
    changed = svm.set_params(C=0.6).fit(X, Y)
    reference = reference_of(changed, X, Y)
    assert changed.objective_ == pytest.approx(reference.primal(changed.coef_), rel=1e-9)
    assert changed.dual_objective_ <= reference.solve()[1] * (1 + 1e-8)
    svm.set_params(model=Listed(2, 2)).fit(X[:, :2], Y)
    assert svm.coef_.shape == (4,)


@pytest.mark.parametrize("solver", ["auto", "one_slack", "n_slack", "dual_cd"])
@pytest.mark.parametrize("name", ["Multiclass", "Chain"])
def test_a_warm_start_is_safe_for_every_solver(solver, name):
    model, X, Y = BUILT_IN[name]
    svm = StructuralSVM(model, solver=solver, warm_start=True, tol=1e-6).fit(X, Y)
    assert_certified(svm.fit(X, Y), reference_of(svm, X, Y))


def test_the_cache_and_workers_change_nothing_but_time(monkeypatch):
    monkeypatch.setattr("oneslack.engines.processes.SLOW", -1.0)
    fixed = OneSlack(cache_size=10)
    one, two = (StructuralSVM(LISTED, solver=fixed, n_jobs=jobs, tol=1e-3).fit(X, Y) for jobs in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)
    assert one.result_.trace[-1].cached > 0
    measured = StructuralSVM(LISTED, n_jobs=1, tol=1e-3).fit(X, Y)
    assert measured.result_.trace[-1].cached > 0
    assert measured.objective_ == pytest.approx(one.objective_, rel=2e-3)
    without = StructuralSVM(LISTED, cache_size=0, n_jobs=1, tol=1e-3).fit(X, Y)
    assert without.result_.trace[-1].cached == 0
    assert without.objective_ == pytest.approx(one.objective_, rel=2e-3)


def test_a_guessing_decoder_is_not_certified():
    assert not StructuralSVM(Guess(3, 2)).fit(X, Y).result_.certified


def test_the_papers_rule():
    svm = StructuralSVM(LISTED, C=0.5, solver="one_slack", epsilon=0.05).fit(X, Y)
    assert svm.result_.status.name == "EPSILON"
    assert svm.objective_ - svm.dual_objective_ <= 0.05 * svm.C * len(X) * (1 + 1e-9)


def test_interruptions_keep_a_model_with_its_gap():
    def interrupt(row):
        if row.iteration == 2:
            raise KeyboardInterrupt

    svm = StructuralSVM(LISTED, tol=1e-12)
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, Y, callbacks=[interrupt])
    assert svm.n_iter_ == 2
    assert svm.objective_ == pytest.approx(reference_of(svm, X, Y).primal(svm.coef_), rel=1e-9)
    with pytest.warns(ConvergenceWarning, match="time"):
        StructuralSVM(LISTED, tol=1e-12, time_limit=1e-6).fit(X, Y)


# scikit-learn.


def test_model_selection():
    labels = list(Y)
    found = cross_validate(StructuralSVM(LISTED), X, labels, cv=3, return_estimator=True)
    fold = np.arange(10)
    assert found["test_score"][0] == found["estimator"][0].score(X[fold], Y[fold])
    grid = {"C": [0.01, 1.0], "model": [LISTED, MultiLabel(3, 2)]}
    search = GridSearchCV(StructuralSVM(LISTED), grid, cv=2, error_score="raise").fit(X, labels)
    assert len(search.predict(X)) == len(X)


def test_clones_and_pickles():
    svm = StructuralSVM(LISTED, C=2.0).fit(X, Y)
    assert clone(svm).get_params() == svm.get_params()
    assert not hasattr(clone(svm), "coef_")
    again = pickle.loads(pickle.dumps(svm))
    assert np.array_equal(again.predict(X), svm.predict(X))
    assert again.result_.primal == svm.result_.primal


# Refusals.


class NoLoss:
    n_params = 3

    def joint_feature(self, x, y):
        return y * x

    def decode(self, w, x, y=None):
        return 1


BAD = {
    "a class": (MultiLabel, {}, "model is the class MultiLabel; give an object of it"),
    "no loss": (NoLoss(), {}, "StructuralSVM needs more than NoLoss offers: it lacks loss"),
    "no decoder": (Ranking(3), {}, "needs more than Ranking offers: it lacks joint_feature, loss, decode"),
    "text": ("svm", {}, "needs more than str offers"),
    "no slack": (MultiLabel(3, 2), {"rescaling": "slack"}, "needs a method decode_slack.* of MultiLabel"),
    "rescaling": (LISTED, {"rescaling": "both"}, "rescaling='both' is not known"),
    "C": (LISTED, {"C": 0}, "C must be a positive number; got 0"),
    "cache": (LISTED, {"cache_size": -1}, "cache_size must be a number of cuts >= 0; got -1"),
    "solver": (LISTED, {"solver": "newton"}, "Newton needs more than Listed offers"),
    "size": (MultiLabel(4, 2), {}, r"joint_feature, example 0: .* expected n_params = \(8,\)"),
}  # fmt: skip


@pytest.mark.parametrize(("model", "settings", "words"), BAD.values(), ids=BAD)
def test_bad_settings_get_their_sentence(model, settings, words):
    svm = StructuralSVM(model, **settings)
    with pytest.raises((TypeError, ValueError), match=words):
        svm.fit(X, Y)
    with pytest.raises(NotFittedError):
        svm.predict(X)


def test_bad_examples_get_their_sentence():
    svm = StructuralSVM(LISTED)
    with pytest.raises(ValueError, match="X has 30 examples but Y has 29"):
        svm.fit(X, Y[:-1])
    with pytest.raises(ValueError, match=r"sample_weight has shape \(2,\), expected \(30,\)"):
        svm.fit(X, Y, sample_weight=[1, 2])
    with pytest.raises(ValueError, match=r"sample_weight must be >= 0; example 0 has -1\.0"):
        svm.fit(X, Y, sample_weight=-np.ones(30))
    with pytest.raises(ValueError, match="X has no example: there is nothing to learn from"):
        svm.fit(X[:0], Y[:0])
    with pytest.raises(ValueError, match=r"example 3: y is .*7.*, expected 0 \.\. 1"):
        StructuralSVM(Multiclass(3, 2)).fit(X, np.where(np.arange(30) == 3, 7, 0))


# Files.


@pytest.fixture
def path(tmp_path):
    return tmp_path / "svm.model"


@pytest.mark.parametrize(("model", "X", "Y"), BUILT_IN.values(), ids=BUILT_IN)
def test_files_give_back_the_svm(path, model, X, Y):
    svm = StructuralSVM(model, C=0.5, random_state=3).fit(X, Y)
    svm.save(path)
    again = oneslack.load(path)
    assert type(again) is StructuralSVM
    assert type(again.model) is type(model)
    for name, value in vars(model).items():
        if not name.startswith("_") and name != "layout":
            np.testing.assert_array_equal(getattr(again.model, name), value)
            assert type(getattr(again.model, name)) is type(value)
    parameters, loaded = svm.get_params(), again.get_params()
    assert {**parameters, "model": None} == {**loaded, "model": None}
    assert np.array_equal(again.coef_, svm.coef_)
    for name in ("objective_", "dual_objective_", "duality_gap_", "n_iter_"):
        assert getattr(again, name) == getattr(svm, name)
    for ours, theirs in zip(again.predict(X), svm.predict(X), strict=True):
        assert np.array_equal(ours, theirs)
    again.save(path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == path.read_bytes()
    assert np.array_equal(again.fit(X, Y).coef_, svm.coef_)


def test_saving_needs_a_fit(path):
    with pytest.raises(NotFittedError):
        StructuralSVM(Binary(3)).save(path)


def fields_with(**values):
    return lambda header, arrays: header["model"]["fields"].update(values)


DAMAGE = {
    "no model": (lambda header, arrays: header.pop("model"), "lacks 'model'"),
    "unknown model": (lambda header, arrays: header["model"].update(name="Listed"), "'Listed' is not known"),
    "no size": (lambda header, arrays: header["model"]["fields"].pop("n_classes"), "lacks 'n_classes'"),
    "fewer classes": (fields_with(n_classes=1), "losses of the model have shape (2, 2), expected (1, 1)"),
    "fewer features": (fields_with(n_features=2), "coef.index must hold whole numbers from 0 to 3"),
    "absurd size": (fields_with(n_features=10**17), "damaged"),
    "size is text": (fields_with(n_features="3"), "expected a whole number"),
    "no weights": (lambda header, arrays: arrays.pop("coef.index"), "lacks 'coef.index'"),
    "model twice": (lambda header, arrays: header["parameters"].update(model=1), "damaged"),
    "another kind": (
        lambda header, arrays: header.update(kind="SequenceTagger"),
        "the model file is damaged",
    ),
}


@pytest.mark.parametrize(("damage", "words"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_files_are_refused(path, damage, words):
    StructuralSVM(Multiclass(3, 2)).fit(X, Y[:, 0]).save(path)
    header, arrays = load_model(path)
    damage(header, arrays)
    save_model(path, header, arrays)
    with pytest.raises(FormatError) as caught:
        oneslack.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)

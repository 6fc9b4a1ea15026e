"""Learners: all reach the same optimum, that of our own estimators and of brute force, with a certificate."""

import itertools
import pickle

import numpy as np
import pytest
from small_examples import CRFS, crf_cases, flat_cases, graphs, labels, outputs, truth

import oneslack
from oneslack.adapters.pystruct.learners import (
    FrankWolfeSSVM,
    LatentSSVM,
    NSlackSSVM,
    OneSlackSSVM,
    StructuredPerceptron,
    SubgradientLatentSSVM,
    SubgradientSSVM,
)
from oneslack.adapters.pystruct.learners.wrapped import wrapped
from oneslack.adapters.pystruct.models import (
    BinaryClf,
    ChainCRF,
    GraphCRF,
    LatentGraphCRF,
    MultiClassClf,
    StructuredModel,
)
from oneslack.adapters.pystruct.utils import SaveLogger, objective_primal

LEARNERS = {
    "one slack": lambda model, C: OneSlackSSVM(model, C=C, tol=1e-6),
    "n slack": lambda model, C: NSlackSSVM(model, C=C, tol=1e-5, max_iter=1000),
    "frank wolfe": lambda model, C: FrankWolfeSSVM(model, C=C, tol=1e-5),
    "subgradient": lambda model, C: SubgradientSSVM(model, C=C, max_iter=1000),
}


def brute_primal(model, w, X, truths, C):
    """1/2 |w|^2 + C sum_i max over all outputs."""
    hinges = []
    for x, h in zip(X, truths):
        y = model.label_from_latent(h) if hasattr(model, "label_from_latent") else h
        losses = [model.loss(h, z) + w @ model.joint_feature(x, z) for z in outputs(model, x, y)]
        hinges.append(max(losses) - w @ model.joint_feature(x, h))
    return 0.5 * w @ w + C * sum(hinges)


@pytest.mark.parametrize("name", CRFS)
def test_certificates_hold_by_brute_force(rng, name):
    model, X, Y = crf_cases(rng)[name]
    truths = [truth(model, x, y, np.zeros(model.size_joint_feature)) for x, y in zip(X, Y)]
    found = []
    for learner in (OneSlackSSVM(model, C=0.5, tol=1e-3), SubgradientSSVM(model, C=0.5)):
        learner.fit(X, truths, initialize=False)
        result = learner.result_
        assert result.certified
        at_w = brute_primal(model, learner.w, X, truths, 0.5)
        assert result.dual <= at_w <= result.primal * (1 + 1e-12)
        assert np.isclose(learner.primal_objective_curve_[-1], at_w)
        found.append((result.dual, at_w))
    assert max(dual for dual, _ in found) <= min(at_w for _, at_w in found)
    assert min(at_w for _, at_w in found) <= max(dual for dual, _ in found) * 1.1


@pytest.mark.parametrize("learner", LEARNERS)
def test_optimum_is_that_of_graph_tagger(rng, learner):
    X, Y = graphs(rng, 6), labels(rng, 6, 3)
    svm = LEARNERS[learner](GraphCRF(), 0.3).fit(X, Y)
    tagger = oneslack.GraphTagger(C=0.3, tol=1e-5).fit(X, Y)
    assert svm.result_.dual <= tagger.objective_ * (1 + 1e-9)
    assert tagger.dual_objective_ <= svm.result_.primal * (1 + 1e-9)
    assert np.isclose(svm.result_.dual, tagger.dual_objective_, rtol=2e-3)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", ["binary", "classes", "rescaled"])
def test_plain_labels_reach_the_optimum_of_their_own_objective(rng, learner, name):
    model, X, Y = flat_cases(rng, 40)[name]
    svm = LEARNERS[learner](model, 2.0).fit(X, Y)
    assert svm.result_.certified
    assert svm.result_.gap <= 2e-3
    assert np.isclose(objective_primal(model, svm.w, X, Y, 2.0), svm.result_.primal)


def test_C_counts_as_in_linear_svc(rng):
    X, y = rng.normal(size=(50, 3)), np.where(rng.normal(size=50) > 0, 1, -1)
    svm = OneSlackSSVM(BinaryClf(), C=0.4, tol=1e-6).fit(X, y)
    ours = oneslack.LinearSVC(C=0.4, tol=1e-6, fit_intercept=False).fit(X, y)
    assert np.isclose(svm.result_.primal, ours.objective_, rtol=1e-4)
    assert np.allclose(svm.w, ours.coef_.ravel(), atol=1e-2)


def test_weights_held_negative_are_the_constrained_optimum(rng):
    """Against the projected optimum of an independent solver: minimize over w <= 0."""
    X, Y = rng.normal(size=(30, 3)), np.resize([-1, 1], 30)
    X[:, 0] += Y
    svm = OneSlackSSVM(BinaryClf(), C=1.0, tol=1e-7, negativity_constraint=[0, 1]).fit(X, Y)

    def risk(w):
        w = np.array([-w[0], -w[1], w[2]])
        margins = Y * (X @ w)
        lost = margins < 1
        slope = -(Y[lost, None] * X[lost]).sum(axis=0) * [-1, -1, 1]
        return float((1 - margins[lost]).sum()), slope

    reference = oneslack.minimize(risk, 3, tol=1e-7, nonnegative=[0, 1])
    assert (svm.w[:2] <= 0).all()
    assert svm.result_.certified
    assert np.isclose(svm.result_.primal, reference.primal, rtol=1e-5)


class Sign(StructuredModel):
    """A user's model; counts calls with the loss."""

    size_joint_feature = 3

    def joint_feature(self, x, y):
        return y * x / 2

    def inference(self, x, w, relaxed=None):
        return 1 if w @ x >= 0 else -1

    def loss_augmented_inference(self, x, y, w, relaxed=None):
        return 1 if w @ x - y >= 0 else -1

    def max_loss(self, y):
        return 1


class OldSign:
    """The same before version 0.2, without a base class."""

    size_psi = 3

    def psi(self, x, y):
        return y * x / 2

    def inference(self, x, w):
        return 1 if w @ x >= 0 else -1

    def loss_augmented_inference(self, x, y, w):
        return 1 if w @ x - y >= 0 else -1

    def loss(self, y, y_hat):
        return float(y != y_hat)


class InheritedPsi(Sign):
    joint_feature = StructuredModel.joint_feature

    def psi(self, x, y):
        return y * x / 2


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("model", [Sign, OldSign, InheritedPsi])
def test_users_models_train_to_the_same_certified_optimum(rng, learner, model):
    X, y = rng.normal(size=(20, 3)), np.resize([-1, 1], 20)
    svm = LEARNERS[learner](model(), 1.0).fit(X, y)
    reference = OneSlackSSVM(BinaryClf(), tol=1e-7).fit(X, y)
    assert svm.result_.certified
    assert np.isclose(svm.result_.primal, reference.result_.primal, rtol=2e-3)


def test_a_user_without_sizes_or_loss_augmented_inference_is_told(rng):
    X, y = rng.normal(size=(4, 3)), np.array([-1, 1, -1, 1])
    lost = type("Lost", (Sign,), {"loss_augmented_inference": StructuredModel.loss_augmented_inference})
    with pytest.raises(oneslack.OneslackError, match="loss_augmented_inference"):
        OneSlackSSVM(lost()).fit(X, y)
    with pytest.raises(ValueError, match="has no size_joint_feature"):
        OneSlackSSVM(type("Unsized", (Sign,), {"size_joint_feature": None})()).fit(X, y)


def test_inference_that_nobody_vouches_for_is_not_certified(rng):
    X, Y = graphs(rng, 4), labels(rng, 4, 2)
    assert not OneSlackSSVM(GraphCRF(inference_method="unary")).fit(X, Y).result_.certified
    assert not OneSlackSSVM(GraphCRF(inference_method=("unary", {}))).fit(X, Y).result_.certified
    mine = type("Mine", (GraphCRF,), {"inference": GraphCRF.inference})
    assert not OneSlackSSVM(mine()).fit(X, Y).result_.certified
    assert OneSlackSSVM(GraphCRF()).fit(X, Y).result_.certified


def test_curves_loggers_and_pickles(rng, tmp_path):
    X, Y = graphs(rng, 4), labels(rng, 4, 2)
    steps = []
    svm = NSlackSSVM(GraphCRF(), show_loss_every=2, logger=lambda learner, step: steps.append(step)).fit(X, Y)
    n = svm.result_.n_iter
    assert steps == [*range(n), "final"]
    assert len(svm.loss_curve_) == (n + 1) // 2
    assert len(svm.objective_curve_) == len(svm.primal_objective_curve_) == n + 1
    assert len(svm.timestamps_) == n + 2
    assert all(a <= b * (1 + 1e-9) for a, b in zip(svm.objective_curve_, svm.objective_curve_[1:]))
    logger = SaveLogger(str(tmp_path / "model.pickle"))
    svm = OneSlackSSVM(GraphCRF(), logger=logger).fit(X, Y)
    loaded = logger.load()
    assert np.array_equal(loaded.w, svm.w)
    assert loaded.score(X, Y) == svm.score(X, Y)
    assert np.array_equal(pickle.loads(pickle.dumps(svm)).w, svm.w)


def test_warm_start_begins_at_w(rng):
    X, Y = graphs(rng, 6), labels(rng, 6, 3)
    svm = OneSlackSSVM(GraphCRF(), C=0.3, tol=1e-4).fit(X, Y)
    before = svm.result_
    svm.fit(X, Y, warm_start=True)
    assert svm.result_.trace[0].primal <= before.primal * (1 + 1e-9)


def test_latent_learners_reach_what_no_linear_rule_can(rng):
    x = np.linspace(-2, 2, 21)
    X = [(np.array([[each, 1.0]]), np.empty((0, 2), int)) for each in x]
    Y = [np.array([int(abs(each) > 1)]) for each in x]
    model = LatentGraphCRF(n_states_per_label=[1, 2])
    for base in (OneSlackSSVM(model, C=100), NSlackSSVM(model, C=100), SubgradientSSVM(model, C=100)):
        svm = LatentSSVM(base).fit(X, Y)
        assert svm.score(X, Y) == 1.0
        assert len(svm.predict_latent(X)) == 21
        assert not svm.result_.certified
        assert base.result_.certified
    assert SubgradientLatentSSVM(model, C=100).fit(X, Y).score(X, Y) == 1.0
    assert OneSlackSSVM(GraphCRF(), C=100).fit(X, Y).score(X, Y) < 1.0


def test_rounds_never_raise_the_latent_objective(rng):
    """L(w) = P(w; best states at w) is no higher after a round than before, within the gap."""
    X, Y = graphs(rng, 8), labels(rng, 8, 2)
    model, values = LatentGraphCRF(n_states_per_label=2), []
    base = SubgradientSSVM(model, C=1.0, max_iter=500)

    def note(learner, number):
        H = [model.latent(x, y, learner.w) for x, y in zip(X, Y)]
        values.append((base.result_.primal, brute_primal(model, learner.w, X, H, 1.0)))

    LatentSSVM(base, latent_iter=4, logger=note).fit(X, Y)
    assert all(after <= convex * (1 + 1e-9) for convex, after in values)
    assert all(b[0] <= a[1] * (1 + 2e-3) for a, b in itertools.pairwise(values))


def test_perceptron_stops_without_mistakes(rng):
    X, y = rng.normal(size=(30, 3)), np.ones(30, int)
    y[X @ [1.0, -1.0, 0.5] < 0] = -1
    svm = StructuredPerceptron(BinaryClf(), max_iter=2000).fit(X, y)
    assert svm.score(X, y) == 1.0
    assert svm.loss_curve_[-1] == 0
    with pytest.raises(ValueError, match="average must be"):
        StructuredPerceptron(BinaryClf(), average=-2).fit(X, y)


def test_wrong_options_are_refused(rng):
    X, y = rng.normal(size=(6, 2)), np.array([0, 1, 0, 1, 0, 1])
    with pytest.raises(ValueError, match="sample_method"):
        FrankWolfeSSVM(BinaryClf(), sample_method="none")
    with pytest.raises(ValueError, match="batch_size"):
        NSlackSSVM(MultiClassClf(), batch_size=0).fit(X, y)
    weighted = MultiClassClf(class_weight=[1.0, 2.0], rescale_C=True)
    with pytest.raises(ValueError, match="rescale_C"):
        OneSlackSSVM(weighted, negativity_constraint=[0]).fit(X, y)


def test_processes_and_threads_change_nothing(rng):
    X, Y = [rng.normal(size=(3, 2)) for _ in range(6)], labels(rng, 6, 2, (3,))
    one, two = (SubgradientSSVM(ChainCRF(), n_jobs=n).fit(X, Y) for n in (1, 2))
    assert np.array_equal(one.w, two.w)


QUICK = ("symmetric", "labels", "latent nodes")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CRFS]
)
def test_wrapped_models_keep_the_contract(rng, monkeypatch, name):
    """What solvers are given passes `check_model`: bounds against outputs, psi, loss and decoder."""
    # But for the counter, which is PyStruct's.
    monkeypatch.setattr(
        StructuredModel, "inference_calls", property(lambda self: 0, lambda self, count: None)
    )
    model, X, Y = crf_cases(rng)[name]
    truths = [truth(model, x, y, np.zeros(model.size_joint_feature)) for x, y in zip(X, Y)]
    signs = np.where(np.arange(model.size_joint_feature) % 3, 1.0, -1.0)
    oneslack.check_model(wrapped(model, signs), X, truths)

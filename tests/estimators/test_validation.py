"""A validation set: the best model by its score is kept, and its certificate is that of what is kept."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import f1_score

import oneslack
from oneslack.result import Status

CANCER = load_breast_cancer(return_X_y=True)
IRIS = load_iris(return_X_y=True)


@dataclass(frozen=True)
class Signs:
    """A user's model: two labels."""

    n_params: int

    def joint_feature(self, x, y):
        return y * x

    def loss(self, y, z):
        return float(y != z)

    def decode(self, w, x, y=None):
        scores = {z: z * (w @ x) + (0.0 if y is None else float(y != z)) for z in (1, -1)}
        return max(scores, key=scores.get)


def halves(X, y, seed=0):
    """(train X, train y, held-out X, held-out y), with a fifth of the training labels wrong."""
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], y[order]
    n = len(y) // 2
    noisy = y[:n].copy()
    noisy[::5] = np.roll(noisy, 1)[::5]
    return X[:n], noisy, X[n:], y[n:]


CASES = {
    "one_slack": (oneslack.LinearSVC(10.0, solver="one_slack"), CANCER),
    "dual_cd": (oneslack.LinearSVC(1.0, solver="dual_cd"), CANCER),
    "newton": (oneslack.LinearSVC(1.0, solver="newton"), CANCER),
    "crammer_singer": (oneslack.LinearSVC(1.0, solver="one_slack"), IRIS),
    "f1": (oneslack.MetricSVC("f1"), CANCER),
    "ordinal": (oneslack.OrdinalSVC(), IRIS),
    "regression": (oneslack.LinearSVR(solver="one_slack"), (CANCER[0], CANCER[0][:, 0] + CANCER[1])),
    "own model": (oneslack.StructuralSVM(Signs(30)), (CANCER[0], 2 * CANCER[1] - 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_kept_is_the_best_and_its_certificate_holds(name):
    model, (X, y) = CASES[name]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X, y, X_dev, y_dev = halves(X, y)
    model.fit(X, y, validation=(X_dev, y_dev))
    steps, scores = zip(*model.validation_scores_, strict=True)
    assert model.best_validation_score_ == max(scores) == model.score(X_dev, y_dev)
    assert list(steps) == sorted(set(steps))
    assert model.result_.certified
    assert model.result_.status in (Status.VALIDATED, Status.CONVERGED, Status.STOPPED)
    assert model.duality_gap_ <= model.tol or model.result_.status is not Status.CONVERGED
    oneslack.check_certificate(model, X, y)
    plain = type(model)(**model.get_params()).fit(X, y)
    assert model.objective_ >= plain.dual_objective_  # both bound the same optimum
    assert model.dual_objective_ <= plain.objective_


def test_patience_ends_the_training_and_the_trace_has_the_scores():
    X, y, X_dev, y_dev = halves(CANCER[0] / CANCER[0].std(axis=0), CANCER[1])
    rows = []
    held_out = oneslack.Validation(X_dev, y_dev, patience=3)
    model = oneslack.LinearSVC(100.0, solver="one_slack", tol=1e-6)
    model.fit(X, y, validation=held_out, callbacks=[rows.append])
    full = oneslack.LinearSVC(100.0, solver="one_slack", tol=1e-6).fit(X, y)
    assert model.n_iter_ < full.n_iter_
    assert model.result_.status is Status.VALIDATED
    best = np.argmax([score for _, score in model.validation_scores_])
    assert len(model.validation_scores_) - 1 - best <= 3 + 1
    seen = [(row.iteration, row.score) for row in rows if row.score is not None]
    assert seen == model.validation_scores_[: len(seen)]
    again = oneslack.LinearSVC(100.0, solver="one_slack", tol=1e-6).fit(X, y, validation=held_out)
    assert np.array_equal(again.coef_, model.coef_)
    again.fit(X, y)
    assert not hasattr(again, "validation_scores_")


def test_a_measure_of_one_class_and_a_function():
    X, y, X_dev, y_dev = halves(CANCER[0] / CANCER[0].std(axis=0), CANCER[1])
    held_out = oneslack.Validation(X_dev, y_dev, scoring="f1")
    model = oneslack.LinearSVC(solver="one_slack").fit(X, y, validation=held_out)
    assert model.best_validation_score_ == f1_score(y_dev, model.predict(X_dev))
    own = oneslack.Validation(X_dev, y_dev, scoring=lambda model, X, y: -np.mean(model.predict(X) != y))
    model.fit(X, y, validation=own)
    assert model.best_validation_score_ == -np.mean(model.predict(X_dev) != y_dev)


def test_rankings_and_taggers():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(120, 4)), np.repeat(np.arange(12), 10)
    y = np.round(X @ [1.0, -1, 0, 0] + 0.5 * rng.normal(size=120))
    held_out = oneslack.Validation(X[60:], y[60:], groups=groups[60:])
    model = oneslack.RankSVM().fit(X[:60], y[:60], groups[:60], validation=held_out)
    assert model.best_validation_score_ == model.score(X[60:], y[60:], groups[60:])
    words = [[{f"w={w}": 1.0} for w in rng.integers(0, 9, 8)] for _ in range(30)]
    tags = [[("B-X" if "w=1" in t else "O") for t in sentence] for sentence in words]
    held_out = oneslack.Validation(words[20:], tags[20:], scoring="phrase_f1")
    tagger = oneslack.SequenceTagger(solver="one_slack").fit(words[:20], tags[:20], validation=held_out)
    assert tagger.best_validation_score_ == oneslack.metrics.phrase_f1(tags[20:], tagger.predict(words[20:]))
    oneslack.check_certificate(tagger, words[:20], tags[:20])


def test_what_does_not_go_together_is_refused():
    X, y = IRIS
    with pytest.raises(ValueError, match="here are 3, one a class"):
        oneslack.LinearSVC(multi_class="ovr").fit(X, y, validation=(X, y))
    with pytest.raises(ValueError, match="validation keeps an earlier model"):
        oneslack.LinearSVC().fit(X, y, validation=(X, y), checkpoint="kept")
    with pytest.raises(ValueError, match=r"validation must be \(X, y\)"):
        oneslack.LinearSVC().fit(X, y, validation=X)
    with pytest.raises(ValueError, match="patience must be"):
        oneslack.Validation(X, y, patience=0)

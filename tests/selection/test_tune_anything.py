"""`tune` for whatever has a C: pipelines, rankings, orders, measures, taggers; a sentence for the rest."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oneslack import LinearSVC, MetricSVC, OrdinalSVC, RankSVM, SequenceTagger, tune
from oneslack.formats import Sentences


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(120) < 0.25, "fraud", "ok")
    X = rng.normal(size=(120, 3))
    X[y == "fraud", 0] += 2
    return X, y


def test_a_pipeline_is_tuned_as_scikit_learn_would(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), LinearSVC(tol=1e-6))
    found = tune(pipeline, X, y, C=[0.1, 1.0], cv=StratifiedKFold(3))
    for C, score in zip([0.1, 1.0], found.mean, strict=True):
        pipeline.set_params(linearsvc__C=C)
        if not found.abandoned[[0.1, 1.0].index(C)]:
            assert score == pytest.approx(cross_val_score(pipeline, X, y, cv=StratifiedKFold(3)).mean())
    assert found.best_C == found.model[-1].C


def test_a_ranking_keeps_its_queries_whole(data):
    X, _ = data
    y, groups = np.round(X[:, 0]), np.repeat(np.arange(12), 10)
    found = tune(RankSVM(tol=1e-6), X, y, C=[1.0], cv=3, groups=groups)
    for k, (train, test) in enumerate(GroupKFold(3).split(X, y, groups)):
        model = RankSVM(C=1.0, tol=1e-6).fit(X[train], y[train], groups=groups[train])
        assert found.scores[0, k] == pytest.approx(model.score(X[test], y[test], groups=groups[test]))


def test_orders_measures_and_taggers(data):
    X, y = data
    assert tune(OrdinalSVC(class_weight="balanced"), X, np.digitize(X[:, 0], [0, 1]), C=[1.0], cv=3).best == 0
    assert tune(MetricSVC("prbep"), X, y, C=[0.1, 1.0], cv=3).model.pos_label_ == "fraud"
    sentences = Sentences.from_lists(w=[["the", "cat"], ["a", "dog", "ran"]] * 6)
    tags = [["D", "N"], ["D", "N", "V"]] * 6
    for scoring in (None, "token_accuracy"):
        assert (
            tune(SequenceTagger(templates="w[0]"), sentences, tags, C=[1.0], cv=3, scoring=scoring).mean == 1
        )


def test_a_scorer_looks_for_the_rarer_class(data):
    X, y = data
    found = tune(LinearSVC(tol=1e-6), X, y, C=[1.0], cv=StratifiedKFold(3), scoring="f1")
    scorer = make_scorer(f1_score, pos_label="fraud")
    expected = cross_val_score(LinearSVC(tol=1e-6), X, y, cv=StratifiedKFold(3), scoring=scorer)
    assert found.scores[0] == pytest.approx(expected)


def test_what_was_abandoned_has_no_score(data):
    X, y = data
    found = tune(MetricSVC("prbep"), X, y, C=[1e-9, 1.0], cv=3)
    for k in np.flatnonzero(found.abandoned):
        assert np.isnan(found.rows()[k]["score"])
        assert "abandoned" in repr(found)
    assert not found.abandoned[found.best]


def test_what_has_no_C_gets_a_sentence(data):
    with pytest.raises(ValueError, match="StandardScaler is none: use scikit-learn's GridSearchCV"):
        tune(StandardScaler(), *data)
    with pytest.raises(ValueError, match="use 'f1_macro'"):
        tune(LinearSVC(), data[0], np.arange(120) % 3, scoring="f1")


def test_sentences_are_sliced_and_iterated():
    sentences = Sentences.from_lists(w=[["a", "b"], ["c"], ["d", "e", "f"]])
    rows = list(sentences)
    for chosen in (slice(1, None), np.array([2, 0]), np.array([True, False, True])):
        assert list(sentences[chosen]) == [rows[i] for i in np.arange(3)[chosen]]
    assert sentences[1] == [("c",)]
    tagger = SequenceTagger(templates="w[0]").fit(X=sentences, y=[["x", "y"], ["x"], ["x", "y", "y"]])
    assert tagger.score(sentences, y=[["x", "y"], ["x"], ["x", "y", "y"]]) == 1

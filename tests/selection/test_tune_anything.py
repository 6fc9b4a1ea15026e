"""`tune` for whatever has a C: pipelines, rankings, orders, measures, taggers; a sentence for the rest."""

from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import oneslack
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


SENTENCES = [["Ada", "met", "Bob"], ["He", "ran"]] * 10
TAGS = [["P", "O", "P"], ["O", "O"]] * 10
#: What finds its C by itself, and how it is fitted.
AUTO = {
    "OrdinalSVC": lambda X, model: model.fit(X, np.digitize(X[:, 0], [-0.5, 0.5])),
    "RankSVM": lambda X, model: model.fit(X, X[:, 0], groups=np.arange(len(X)) // 10),
    "MetricSVC": lambda X, model: model.fit(X, X[:, 0] > 0.5),
    "KernelSVC": lambda X, model: model.fit(X, X[:, 0] > 0),
    "MultiLabelSVC": lambda X, model: model.fit(X, (X > 0).astype(int)),
    "SequenceTagger": lambda X, model: model.set_params(templates="ner").fit(SENTENCES, TAGS),
}


@pytest.mark.parametrize("name", AUTO)
def test_C_auto_is_what_tune_finds(name, tmp_path):
    X = np.random.default_rng(1).normal(size=(60, 3))
    model = AUTO[name](X, getattr(oneslack, name)(C="auto"))
    assert model.C == "auto"
    assert model.C_ > 0
    assert model.duality_gap_ <= model.tol
    again = AUTO[name](X, getattr(oneslack, name)(C=model.C_))
    assert model.objective_ == pytest.approx(again.objective_, rel=2 * model.tol)
    rows = SENTENCES if name == "SequenceTagger" else X
    model.save(tmp_path / "model")
    assert str(oneslack.load(tmp_path / "model").predict(rows)) == str(model.predict(rows))


def test_C_auto_refuses_what_a_search_cannot_take():
    X, y = np.eye(10), np.arange(10) % 2
    for given in ({"sample_weight": np.ones(10)}, {"callbacks": [print]}, {"validation": (X, y)}):
        with pytest.raises(ValueError, match=f"C='auto' cannot take {next(iter(given))}; choose C with"):
            LinearSVC(C="auto").fit(X, y, **given)
    with pytest.raises(TypeError, match="C must be a positive number, or 'auto'; got 'atuo'"):
        LinearSVC(C="atuo").fit(X, y)


def test_a_misspelt_scorer_gets_a_sentence(data):
    with pytest.raises(ValueError, match=r"'f1macro' is no scorer .* did you mean 'f1_macro'"):
        tune(LinearSVC(), *data, scoring="f1macro")


def test_the_table_of_the_docs_is_true():
    page = (Path(__file__).parents[2] / "docs" / "tune.md").read_text(encoding="utf-8")
    table = page[page.index("| | `C=") :].split("\n\n")[0].splitlines()
    columns = [cell.strip(" `") for cell in table[0].split("|")[2:-1]]
    told = {
        row.split("`")[1]: {c for c, cell in zip(columns, row.split("|")[2:], strict=False) if "yes" in cell}
        for row in table[2:]
    }
    classes = {name: getattr(oneslack, name) for name in oneslack.__all__ if name[0].isupper()}
    estimators = {name: cls for name, cls in classes.items() if hasattr(cls, "get_params")}
    assert told == {
        name: {column for column in columns if offers(cls, column)}
        for name, cls in estimators.items()
        if "C" in signature(cls).parameters
    }


def offers(cls, column):
    """Whether an estimator has what a column of the table tells."""
    if column == 'C="auto"':
        try:
            getattr(cls, "_checks", {}).get("C", lambda name, value: 1 / 0)("C", "auto")
        except (TypeError, ZeroDivisionError):
            return False
        return True
    return column in {*signature(cls).parameters, *signature(cls.fit).parameters} or hasattr(cls, column)

"""Taggers as users of other libraries know them: plain words, shares of labels, weights by name, a scorer."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import oneslack
from oneslack.formats import Sentences
from oneslack.metrics import phrase_f1, phrase_f1_scorer

WORDS = [["He", "sat", "in", "Rome"], ["Rome", "fell"], ["The", "cat", "ran"], ["Oslo", "ran"]] * 3
TAGS = [["O", "O", "O", "B-LOC"], ["B-LOC", "O"], ["O", "O", "O"], ["B-LOC", "O"]] * 3


def test_plain_words_are_sentences():
    plain = oneslack.SequenceTagger(templates="ner", C=1.0).fit(WORDS, TAGS)
    read = oneslack.SequenceTagger(templates="ner", C=1.0).fit(Sentences.from_lists(w=WORDS), TAGS)
    assert np.array_equal(plain.coef_, read.coef_)
    assert plain.predict(WORDS) == read.predict(Sentences.from_lists(w=WORDS)) == TAGS
    assert plain.predict_single(["Rome", "ran"]) == ["B-LOC", "O"]
    assert plain.score(WORDS, TAGS) == 1.0
    pairs = [[(word, word[0]) for word in sentence] for sentence in WORDS]
    both = oneslack.SequenceTagger(templates="chunking").fit(pairs, TAGS)
    pos = [[word[0] for word in sentence] for sentence in WORDS]
    again = oneslack.SequenceTagger(templates="chunking").fit(Sentences.from_lists(w=WORDS, pos=pos), TAGS)
    assert np.array_equal(both.coef_, again.coef_)
    with pytest.raises(ValueError, match="templates need words"):
        oneslack.SequenceTagger(templates="ner").fit([[{"a": 1.0}]], [["O"]])
    with pytest.raises(ValueError, match=r"'nerr'.*chunking"):
        oneslack.SequenceTagger(templates="nerr").fit(WORDS, TAGS)


def test_segmenters_take_them_too():
    model = oneslack.SequenceSegmenter(templates="ner", C=1.0).fit(WORDS, TAGS)
    assert model.predict(WORDS)[0] == [("LOC", 3, 4)]


def test_weights_by_name_score_a_sentence():
    X = [[{word: 1.0} for word in sentence] for sentence in WORDS]
    model = oneslack.SequenceTagger(C=1.0, solver="one_slack").fit(X, TAGS)
    states, steps = model.state_features_, model.transition_features_

    def score(words, labels):
        total = sum(states.get((w, label), 0.0) for w, label in zip(words, labels, strict=True))
        return total + sum(steps[pair] for pair in itertools.pairwise(labels))

    for words in (["He", "sat", "in", "Rome"], ["Oslo", "fell"]):
        sequences = list(itertools.product(model.classes_.tolist(), repeat=len(words)))
        best = max(sequences, key=lambda labels: score(words, labels))
        assert model.predict_single([{w: 1.0} for w in words]) == list(best)
        # Shares by brute force over all sequences.
        shares = model.predict_marginals([[{w: 1.0} for w in words]])[0]
        for t in range(len(words)):
            tops = {c: max(score(words, s) for s in sequences if s[t] == c) for c in model.classes_.tolist()}
            exp = {c: np.exp(value - max(tops.values())) for c, value in tops.items()}
            assert shares[t] == pytest.approx({c: e / sum(exp.values()) for c, e in exp.items()})
    assert model.predict_marginals([]) == []


def test_phrase_f1_scores_cross_validation():
    X = [[{word: 1.0} for word in sentence] for sentence in WORDS]
    scores = cross_val_score(oneslack.SequenceTagger(C=1.0), X, TAGS, scoring=phrase_f1_scorer, cv=3)
    assert scores.shape == (3,)
    model = oneslack.SequenceTagger(C=1.0).fit(X, TAGS)
    assert phrase_f1_scorer(model, X, TAGS) == phrase_f1(TAGS, model.predict(X))


def test_mixed_labels_are_refused_in_lists():
    with pytest.raises(ValueError, match="y holds int and str"):
        oneslack.LinearSVC().fit([[1.0], [2.0], [3.0]], [1, "b", 1])


def test_what_is_no_model_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.pkl").write_bytes(b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00}\x94.")
    with pytest.raises(oneslack.FormatError, match=r"is a pickle.*its own `save`"):
        oneslack.load("model.pkl")
    Path("data.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(oneslack.FormatError, match=r"is not a model file, but text.*model first"):
        oneslack.load("data.csv")

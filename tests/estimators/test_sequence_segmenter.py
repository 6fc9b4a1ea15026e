"""SequenceSegmenter: codings, whole segments, prices, files and the command line."""

import json
from itertools import pairwise, product

import numpy as np
import pytest

import oneslack
from oneslack import SequenceSegmenter, SequenceTagger
from oneslack.cli import main
from oneslack.estimators._shared.segment_tags import all_tags, prices, rules, segments_of, tags_of
from oneslack.formats import read_conll


def sentences(n=40, seed=0):
    """Words that lie in segments of 1 to 3 tokens with noisy features, as matrices."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        T, t, found = int(rng.integers(3, 9)), 0, []
        while t < T:
            length = int(rng.integers(1, 4))
            if t + length <= T and rng.random() < 0.5:
                found.append(("ab"[rng.integers(2)], t, t + length))
                t += length
            t += 1
        tags = tags_of(found, T, "bilou")
        known = all_tags("ab", "bilou").tolist()
        x = np.eye(len(known))[[known.index(tag) for tag in tags]]
        X.append(x + 0.4 * rng.normal(size=x.shape))
        Y.append(found)
    return X, Y


@pytest.mark.parametrize("coding", ["bio", "bilou"])
def test_codings_go_there_and_back(coding):
    for y in sentences()[1]:
        assert segments_of(tags_of(y, 9, coding)) == y


def test_all_codings_are_read():
    expected = [("x", 0, 2), ("x", 2, 3), ("y", 4, 5)]
    for text in ("B-x I-x B-x O B-y", "B-x L-x U-x O U-y", "B-x E-x S-x O S-y", "I-x I-x B-x O I-y"):
        assert segments_of(text.split()) == expected


@pytest.mark.parametrize("coding", ["bio", "bilou"])
def test_rules_allow_what_segments_make_and_nothing_else(coding):
    tags = all_tags("xy", coding)
    allowed, start, end = rules(tags, coding)
    for T in (1, 2, 3):
        for codes in product(range(len(tags)), repeat=T):
            text = [str(tags[k]) for k in codes]
            ours = start[codes[0]] and end[codes[-1]] and all(allowed[a, b] for a, b in pairwise(codes))
            assert ours == (tags_of(segments_of(text), T, coding) == text)


def test_prices_are_of_tokens():
    tags = ["B-x", "I-x", "O"]
    assert prices(tags, 3.0, 1.0).tolist() == [[0, 2, 3], [2, 0, 3], [1, 1, 0]]


@pytest.mark.parametrize("coding", ["bio", "bilou"])
def test_solvers_bracket_the_same_optimum(coding):
    X, Y = sentences(12)
    fits = [
        SequenceSegmenter(C=0.5, coding=coding, missed=2.0, solver=solver, tol=1e-4).fit(X, Y)
        for solver in ("dual_cd", "n_slack", "one_slack")
    ]
    assert all(fit.result_.certified for fit in fits)
    assert max(fit.dual_objective_ for fit in fits) <= min(fit.objective_ for fit in fits)
    short = [x[:3] for x in X]
    cut = [[one for one in y if one[2] <= 3] for y in Y]
    codes = [np.searchsorted(fits[0].classes_, tags_of(y, 3, coding)) for y in cut]
    oneslack.check_model(fits[0].model_, short[:3], codes[:3], n_weights=2)


def test_bio_with_equal_prices_is_the_tagger():
    X, Y = sentences()
    tags = [tags_of(y, len(x), "bio") for x, y in zip(X, Y, strict=True)]
    ours = SequenceSegmenter(coding="bio", tol=1e-5).fit(X, Y)
    theirs = SequenceTagger(constraints="iob", tol=1e-5).fit(X, tags)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-5)
    assert ours.predict_tags(X) == theirs.predict(X)


def test_segments_are_found_and_dear_misses_are_fewer():
    X, Y = sentences(80)
    X_test, Y_test = sentences(80, 1)
    fit = SequenceSegmenter().fit(X, Y)
    assert fit.score(X_test, Y_test) > 0.8
    assert fit.labels_ == ["a", "b"]
    dear = SequenceSegmenter(C=1e-2, missed=5.0, false_alarm=0.5).fit(X, Y)
    cheap = SequenceSegmenter(C=1e-2, missed=0.5, false_alarm=5.0).fit(X, Y)
    counts = [sum(map(len, one.predict(X_test))) for one in (cheap, dear)]
    assert counts[0] < counts[1]
    best = fit.predict_topk(X_test[:3], 2)
    assert [outputs[0][0] for outputs in best] == fit.predict(X_test[:3])


def test_a_file_keeps_it(tmp_path):
    X, Y = sentences()
    fit = SequenceSegmenter(missed=2.0).fit(X, Y)
    fit.save(tmp_path / "m")
    again = oneslack.load(tmp_path / "m")
    assert again.predict(X) == fit.predict(X)
    fit.save(tmp_path / "p", proof=True)
    assert oneslack.check_proof(tmp_path / "p", X, Y).gap <= fit.duality_gap_ * (1 + 1e-6)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([("a", 0, 2), ("a", 1, 3)], "sentence 0: segment .* overlaps"),
        ([("a", 1, 9)], "not inside a sentence of 3 tokens"),
        ([("a", 1)], "is no segment"),
        (["B-a", "X", "O"], "sentence 0: position 1: 'X' is no tag"),
        (["B-a"], "sentence 0 has 3 tokens but 1 tags"),
        ([], "Y has no segment"),
    ],
)
def test_bad_segments_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        SequenceSegmenter().fit([np.eye(3)], [y])


@pytest.fixture
def text(tmp_path):
    lines = [
        "see O",
        "New B-place",
        "York L-place",
        "",
        "in O",
        "Rome U-place",
        "",
        "Ada U-name",
        "sees O",
        "",
    ]
    path = tmp_path / "few.conll"
    path.write_text("\n".join(lines * 3) + "\n")
    return path


def test_the_command_line(text, tmp_path, capsys):
    model = str(tmp_path / "m")
    assert main(["train", "segments", str(text), "-o", model, "-C", "10", "--templates", "w[-1..1]"]) == 0
    assert "segments of 2 labels" in capsys.readouterr().out
    assert main(["evaluate", model, str(text), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert next(iter(facts["measures"])) == "phrase_f1"
    assert facts["measures"]["phrase_f1"] == 1.0
    assert main(["evaluate", model, str(text)]) == 0
    assert main(["info", model]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(text)]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "see O O",
        "New B-place B-place",
        "York L-place I-place",
    ]
    assert main(["report", model, "--data", str(text), "-o", str(tmp_path / "r.html")]) == 0
    X = read_conll(text, columns=["w", "y"])
    assert oneslack.load(model).score(X, "y") == 1.0

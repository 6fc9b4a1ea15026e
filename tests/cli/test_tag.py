"""Tagging from the command line: the same models as Python's, text that keeps its lines, a sentence for every
bad file."""

import bz2
import gzip
import json
import lzma
import os
import signal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import oneslack
from oneslack import SequenceTagger, metrics
from oneslack.cli import interrupt
from oneslack.data.rows import Ragged
from oneslack.features import read_templates
from oneslack.formats import conll_blocks, read_conll, read_conllu, read_svmhmm

WORDS = {
    ("O", "."): ["und", "is", "the"],
    ("B-X", "N"): ["Bo", "Mä", "is"],
    ("I-X", "N"): ["Bo", "der", "Uz"],
    ("B-Y", "V"): ["ran", "is"],
}
COLUMNS = ["w", "pos", "tag"]


def sentences(n, seed):
    """Rows (word, pos, tag) of short sentences with well-formed phrases; words are not always telling."""
    rng = np.random.default_rng(seed)
    kinds, found = list(WORDS), []
    for T in rng.integers(1, 6, size=n):
        rows = []
        for _ in range(T):
            inside = bool(rows) and rows[-1][2] in ("B-X", "I-X")
            tag, pos = kinds[rng.choice([k for k in range(4) if inside or k != 2])]
            shown = kinds[rng.integers(4)] if rng.random() < 0.2 else (tag, pos)
            rows.append((str(rng.choice(WORDS[shown])), pos if rng.random() < 0.8 else "N", tag))
        found.append(rows)
    return found


def as_text(rows, columns=(0, 1, 2), cut=" "):
    return "\n".join("".join(cut.join(row[c] for c in columns) + "\n" for row in s) for s in rows)


def as_conllu(rows):
    text = ""
    for i, sentence in enumerate(rows):
        text += f"# sent_id = {i}\n1-2\tBoUz\t_\t_\t_\t_\t_\t_\t_\t_\n"
        for k, (word, pos, tag) in enumerate(sentence, 1):
            text += f"{k}\t{word}\t{word.lower()}\t{pos}\t{tag}\t_\t0\troot\t_\t{'A=b' if k == 1 else '_'}\n"
        text += "1.1\tnothing\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
    return text


TRAIN, TEST = sentences(60, 0), sentences(25, 1)
QUICK = ["--jobs", "1", "-q"]


@pytest.fixture
def text(folder):
    """The folder with train.txt and test.txt: words, parts of speech and IOB tags."""
    (folder / "train.txt").write_text(as_text(TRAIN))
    (folder / "test.txt").write_text(as_text(TEST))
    return folder


@pytest.fixture
def tagger(text, run):
    """The folder with `m` too, trained on train.txt with a few templates."""
    assert run("train", "tag", "train.txt", "-o", "m", "--templates", "w[-1..1]\npos[0]", *QUICK).code == 0
    return text


@pytest.fixture
def numbers(folder):
    """The folder with train.dat and test.dat of SVM-hmm."""
    rng = np.random.default_rng(3)
    for name, n in (("train.dat", 40), ("test.dat", 15)):
        lines, tag = [], 1
        for i in range(1, n + 1):
            for _ in range(rng.integers(1, 5)):
                tag = int(rng.integers(1, 4)) if rng.random() < 0.6 else tag
                value = np.round(rng.normal(size=3) + 2 * np.eye(3)[tag - 1], 2)
                lines.append(f"{tag} qid:{i} " + " ".join(f"{k + 1}:{v}" for k, v in enumerate(value)))
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def words_of(path="test.txt", columns=COLUMNS):
    return read_conll(path, columns)


def flat(Y):
    return [label for y in Y for label in y]


# Training.

WAYS = {
    "plain": ("", {}),
    "C and tol": ("-C 2 --tol 1e-4", {"C": 2.0, "tol": 1e-4}),
    "second order": ("--order 2 --start --end", {"order": 2, "start": True, "end": True}),
    "iob": ("--constraints iob", {"constraints": "iob"}),
    "slack": ("--rescaling slack", {"rescaling": "slack"}),
    "cutting planes": ("--solver one_slack --epsilon 0.2", {"solver": "one_slack", "epsilon": 0.2}),
    "n slacks": ("--solver n_slack", {"solver": "n_slack"}),
    "often": ("--min-count 3", {"min_count": 3}),
    "hashed": ("--hash-bits 8", {"hash_bits": 8}),
    "seed": ("--seed 3 --max-iter 50", {"random_state": 3, "max_iter": 50}),
}


@pytest.mark.parametrize(("options", "parameters"), WAYS.values(), ids=WAYS)
def test_the_model_is_the_one_that_python_trains(text, run, options, parameters):
    done = run("train", "tag", "train.txt", "-o", "m", "--templates", "chunking", *options.split(), *QUICK)
    assert (done.code, done.out, done.err) == (0, "", "")
    here = SequenceTagger(templates="chunking", n_jobs=1, **parameters).fit(words_of("train.txt"), "tag")
    there = oneslack.load("m")
    np.testing.assert_array_equal(there.coef_, here.coef_)
    assert there.classes_.tolist() == here.classes_.tolist()
    assert there.duality_gap_ == here.duality_gap_
    lines = run("predict", "m", "test.txt").out.splitlines()
    assert [line.split()[-1] for line in lines if line] == flat(here.predict(words_of()))


def test_the_report_and_its_json(text, run):
    done = run("train", "tag", "train.txt", "-o", "m")
    n_tokens = sum(map(len, TRAIN))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("m: at most ")
    assert f"60 sentences, {n_tokens} tokens, " in done.out
    assert "4 labels; read in" in done.out
    assert "templates: chunking; label: col2" in done.out
    facts = json.loads(run("train", "tag", "train.txt", "-o", "m", "--json").out)
    assert (facts["examples"], facts["tokens"], facts["exit_code"]) == (60, n_tokens, 0)
    assert facts["classes"] == ["B-X", "B-Y", "I-X", "O"]
    assert facts["features"] == oneslack.load("m").model_.n_features
    assert facts["relative_gap"] <= 0.01
    assert facts["dual"] <= facts["primal"]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [((0, 1, 2), "chunking"), ((0, 2), "ner"), ((0, 1), "tagging")],
)
def test_templates_are_chosen_by_the_columns_and_labels(text, run, columns, expected):
    (text / "some.txt").write_text(as_text(TRAIN, columns))
    facts = json.loads(run("train", "tag", "some.txt", "-o", "m", "--json").out)
    assert facts["templates"] == expected
    here = SequenceTagger(templates=expected).fit(
        words_of("some.txt", [COLUMNS[c] for c in columns]), COLUMNS[columns[-1]]
    )
    np.testing.assert_allclose(oneslack.load("m").coef_, here.coef_, atol=1e-9)


def test_templates_from_a_file_and_from_the_command_line(text, run):
    own = "w[0]  # the word\nsuffix(w[0], 1) & pos[-1]"
    (text / "my.templates").write_text(own)
    here = SequenceTagger(templates=read_templates("my.templates")).fit(words_of("train.txt"), "tag")
    for given in ("my.templates", own):
        assert run("train", "tag", "train.txt", "-o", "m", "--templates", given, *QUICK).code == 0
        np.testing.assert_allclose(oneslack.load("m").coef_, here.coef_, atol=1e-9)


def test_columns_can_be_named_and_the_label_be_anywhere(text, run):
    assert run("train", "tag", "train.txt", "-o", "a", *QUICK).code == 0
    (text / "other.txt").write_text(as_text(TRAIN, (1, 2, 0, 2), "\t"))
    named = ["--columns", "pos,tag,w,-"]
    for label in ("tag", "1", "-3"):
        assert run("train", "tag", "other.txt", "-o", "b", *named, "--label", label, *QUICK).code == 0
        np.testing.assert_array_equal(oneslack.load("a").coef_, oneslack.load("b").coef_)
    by_place = ["--label", "1", "--templates", "col2[-1..1]\ncol0[0]"]
    assert run("train", "tag", "other.txt", "-o", "b", *by_place, *QUICK).code == 0
    one = ["--templates", "w[-1..1]\npos[0]"]
    assert run("train", "tag", "train.txt", "-o", "a", *one, *QUICK).code == 0
    np.testing.assert_array_equal(oneslack.load("a").coef_, oneslack.load("b").coef_)


def test_labels_that_are_not_known(text, run):
    rng = np.random.default_rng(0)
    rows = [[(w, pos, "?" if rng.random() < 0.4 else tag) for w, pos, tag in s] for s in TRAIN]
    (text / "some.txt").write_text(as_text(rows))
    done = run("train", "tag", "some.txt", "-o", "m", "--unlabelled", "?", "--jobs", "1")
    assert done.code == 0
    assert "4 labels" in done.out
    assert "(estimated)" in done.out  # the bound is one for the labels filled in
    assert "unknown labels were filled in" in done.out
    Y = [[None if row[2] == "?" else row[2] for row in s] for s in rows]
    here = SequenceTagger(templates="chunking", n_jobs=1).fit(words_of("some.txt"), Y)
    np.testing.assert_array_equal(oneslack.load("m").coef_, here.coef_)
    assert json.loads(run("train", "tag", "some.txt", "-o", "m", "--json").out)["classes"][0] == "?"


@pytest.mark.parametrize(("name", "pack"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
def test_packed_files(tagger, run, name, pack):
    for part in ("train", "test"):
        data = (tagger / f"{part}.txt").read_bytes()
        (tagger / f"{part}.txt.{name}").write_bytes(pack.compress(data))
    options = ["--templates", "w[-1..1]\npos[0]", *QUICK]
    assert run("train", "tag", f"train.txt.{name}", "-o", "n", *options).code == 0
    np.testing.assert_array_equal(oneslack.load("m").coef_, oneslack.load("n").coef_)
    for command in ("predict", "evaluate"):
        assert run(command, "m", f"test.txt.{name}").out == run(command, "m", "test.txt").out


def test_stopping_early_is_said_saved_and_has_its_exit_code(text, run):
    done = run("train", "tag", "train.txt", "-o", "m", "--max-iter", "2", "--tol", "1e-9")
    assert (done.code, done.err.count("\n")) == (4, 1)
    assert "raise --max-iter" in done.err
    assert oneslack.load("m").n_iter_ == 2


def test_ctrl_c_keeps_the_best_model_and_says_its_gap(text, run, monkeypatch):
    def asked(self, row):
        self.asked_by = signal.SIGINT if row.iteration >= 12 else None
        return self.asked

    monkeypatch.setattr(interrupt.Interrupt, "__call__", asked)
    done = run("train", "tag", "train.txt", "-o", "m", "--tol", "1e-12")
    assert done.code == 130
    assert "interrupted" in done.err
    assert "saved m: " in done.err
    model = oneslack.load("m")
    assert model.n_iter_ == 12
    assert 0 < model.dual_objective_ <= model.objective_


# Prediction.


def python_labels(path="test.txt"):
    return flat(oneslack.load("m").predict(words_of(path)))


def test_every_line_stays_with_its_label_behind_it(tagger, run):
    done = run("predict", "m", "test.txt")
    assert (done.code, done.err) == (0, "")
    labels = iter(python_labels())
    expected = [f"{line} {next(labels)}" if line else "" for line in as_text(TEST).split("\n")[:-1]]
    assert done.out.split("\n")[:-1] == expected
    assert run("predict", "m", "test.txt", "-o", "out.txt").out == ""
    assert (tagger / "out.txt").read_text() == done.out


def test_what_is_no_token_stays_as_it_is(tagger, run):
    (tagger / "odd.txt").write_bytes(
        "\ufeff-DOCSTART- -X- O\n\n\nBo  N O  \r\n  \nUz N O\n-DOCSTART-\nis V O".encode()
    )
    (tagger / "even.txt").write_text("Bo N O\n\nUz N O\n\nis V O\n")
    a, b, c = python_labels("even.txt")
    assert run("predict", "m", "odd.txt", "-o", "out").code == 0
    expected = f"-DOCSTART- -X- O\n\n\nBo  N O {a}\r\n  \nUz N O {b}\n-DOCSTART-\nis V O {c}\n"
    assert (tagger / "out").read_bytes() == expected.encode()


def test_tabs_are_kept_and_fields_may_be_empty(tagger, run):
    (tagger / "tabs.txt").write_text("New York\tN\tO\nis\tV\t\n")
    lines = run("predict", "m", "tabs.txt", "--scores").out.split("\n")
    model = oneslack.load("m")
    words = read_conll("tabs.txt", COLUMNS, separator="tab")
    margins = model.predict_margins(words)[0]
    labels = model.predict(words)[0]
    assert lines[0].split("\t") == ["New York", "N", "O", labels[0], f"{margins[0]:.6g}"]
    assert lines[1].split("\t") == ["is", "V", "", labels[1], f"{margins[1]:.6g}"]


@pytest.mark.parametrize("chunk", [1, 17, 90])
@pytest.mark.parametrize("ending", ["\n", "\n\n \n", ""])
def test_blocks_make_no_difference(tagger, run, monkeypatch, chunk, ending):
    (tagger / "cut.txt").write_text("\n\n" + as_text(TEST).rstrip("\n") + ending)
    expected = run("predict", "m", "cut.txt").out
    read = []
    monkeypatch.setattr(conll_blocks, "CHUNK", chunk)
    real = conll_blocks.read_sentences
    monkeypatch.setattr(
        conll_blocks, "read_sentences", lambda *a, **k: read.append(real(*a, **k)) or read[-1]
    )
    assert run("predict", "m", "cut.txt").out == expected
    assert len(read) > 5  # it was read in blocks
    assert [line.split()[-1] for line in expected.split("\n") if line.strip()] == python_labels()


def test_a_mistake_far_down_is_named_with_its_line_and_nothing_is_written(tagger, run, monkeypatch):
    (tagger / "bad.txt").write_text(as_text(TEST) + "\nBo N\n")
    monkeypatch.setattr(conll_blocks, "CHUNK", 50)
    done = run("predict", "m", "bad.txt", "-o", "out")
    line = as_text(TEST).count("\n") + 2
    assert (done.code, done.out) == (3, "")
    assert f"bad.txt, line {line}: expected 3 columns, as the first token has, found 2" in done.err
    (tagger / "bad.txt").write_bytes(as_text(TEST).encode() + b"\nBo N\xe9 O\n")
    assert f"bad.txt, line {line}: " in run("predict", "m", "bad.txt", "-o", "out").err
    assert not [name for name in os.listdir() if name == "out" or name.endswith(".part")]


def test_the_label_may_be_left_out_wherever_it_stood(text, run):
    for columns, named in (((0, 1, 2), "w,pos,tag"), ((0, 2, 1), "w,tag,pos"), ((2, 0, 1), "tag,w,pos")):
        (text / "all.txt").write_text(as_text(TRAIN, columns))
        (text / "new.txt").write_text(as_text(TEST, columns))
        (text / "bare.txt").write_text(as_text(TEST, [c for c in columns if c != 2]))
        run("train", "tag", "all.txt", "-o", "m", "--columns", named, "--label", "tag", *QUICK)
        expected = [line.split()[-1] for line in run("predict", "m", "new.txt").out.splitlines() if line]
        found = run("predict", "m", "bare.txt").out.splitlines()
        assert [line.split()[-1] for line in found if line] == expected
        assert {len(line.split()) for line in found if line} == {3}
        assert "holds no labels to compare with" in run("evaluate", "m", "bare.txt").err


def test_columns_may_differ_when_they_are_named(tagger, run):
    (tagger / "four.txt").write_text(as_text(TEST, (1, 0, 2, 0)))
    done = run("predict", "m", "four.txt")
    assert done.code == 3
    assert "has 4 columns, but m was trained with 3 (w, pos, col2)" in done.err
    lines = run("predict", "m", "four.txt", "--columns", "pos,w,-,-").out.splitlines()
    assert [line.split()[-1] for line in lines if line] == python_labels()
    facts = run("evaluate", "m", "four.txt", "--columns", "pos,w,tag,-", "--label", "tag").out
    assert facts == run("evaluate", "m", "test.txt").out


def test_conllu_keeps_its_form(text, run):
    for name, rows in (("train.conllu", TRAIN), ("test.conllu", TEST)):
        (text / name).write_text(as_conllu(rows))
    assert run("train", "tag", "train.conllu", "-o", "m", *QUICK).code == 0
    here = SequenceTagger(templates="tagging").fit(
        read_conllu("train.conllu", {"w": "form", "y": "upos"}), "y"
    )
    np.testing.assert_allclose(oneslack.load("m").coef_, here.coef_, atol=1e-9)
    run("predict", "m", "test.conllu", "-o", "out.conllu", "--scores")
    words = read_conllu("test.conllu", {"w": "form"})
    labels, margins = flat(here.predict(words)), flat(here.predict_margins(words))
    before, after = as_conllu(TEST).split("\n"), (text / "out.conllu").read_text().split("\n")
    assert len(before) == len(after)
    k = 0
    for old, new in zip(before, after, strict=True):
        fields = old.split("\t")
        if fields[0].isdigit():
            fields[3], note = labels[k], f"Margin={margins[k]:.6g}"
            fields[9] = note if fields[9] == "_" else f"A=b|{note}"
            k += 1
        assert new == "\t".join(fields)
    assert k == words.n_tokens
    assert run("evaluate", "m", "out.conllu").out.startswith("token accuracy 100.00 %")


def test_another_column_of_conllu(text, run):
    (text / "train.conllu").write_text(as_conllu(TRAIN).replace("\n", "\r\n"))
    facts = json.loads(run("train", "tag", "train.conllu", "--label", "xpos", "-o", "m", "--json").out)
    assert (facts["label"], facts["templates"]) == ("xpos", "ner")
    out = run("predict", "m", "train.conllu", "-o", "out.conllu")
    assert out.code == 0
    assert (text / "out.conllu").read_bytes().count(b"\r\n") == as_conllu(TRAIN).count("\n")
    assert json.loads(run("evaluate", "m", "out.conllu", "--json").out)["accuracy"] == 1.0


def test_svmhmm(numbers, run):
    assert run("train", "tag", "train.dat", "-o", "m", *QUICK).code == 0
    train, test = read_svmhmm("train.dat"), read_svmhmm("test.dat")
    Y = [train.tags[lo:hi] for lo, hi in pairwise(train.offsets)]
    here = SequenceTagger().fit(Ragged(train.X, train.offsets), Y)
    np.testing.assert_allclose(oneslack.load("m").coef_, here.coef_, atol=1e-9)
    X = Ragged(test.X, test.offsets)
    labels = flat(here.predict(X))
    assert run("predict", "m", "test.dat").out.split() == list(map(str, labels))
    rows = [line.split("\t") for line in run("predict", "m", "test.dat", "--scores").out.splitlines()]
    np.testing.assert_allclose([float(row[1]) for row in rows], flat(here.predict_margins(X)), rtol=1e-4)
    facts = json.loads(run("evaluate", "m", "test.dat", "--json").out)
    assert facts["accuracy"] == pytest.approx(np.mean(test.tags == np.array(labels)))
    assert facts["phrases"] is None
    assert "3 labels" in run("train", "tag", "train.dat", "-o", "m").out


def test_svmhmm_with_a_kernel(numbers, run):
    options = ["--kernel", "rbf", "--gamma", "0.5", "--n-basis", "30"]
    done = run("train", "tag", "train.dat", "-o", "m", *options)
    assert done.code == 0, done.err
    train, test = read_svmhmm("train.dat"), read_svmhmm("test.dat")
    Y = [train.tags[lo:hi] for lo, hi in pairwise(train.offsets)]
    here = SequenceTagger(kernel="rbf", gamma=0.5, n_basis=30, random_state=0)
    here.fit(Ragged(train.X, train.offsets), Y)
    np.testing.assert_allclose(oneslack.load("m").coef_, here.coef_, atol=1e-9)
    labels = flat(here.predict(Ragged(test.X, test.offsets)))
    assert run("predict", "m", "test.dat").out.split() == list(map(str, labels))
    facts = json.loads(run("evaluate", "m", "test.dat", "--json").out)
    assert facts["accuracy"] == pytest.approx(np.mean(test.tags == np.array(labels)))
    assert run("info", "m").code == 0
    assert "--n-basis is for a kernel" in run("train", "tag", "train.dat", "-o", "x", "--n-basis", "5").err


def test_a_kernel_is_not_for_text(text, run):
    done = run("train", "tag", "train.txt", "-o", "x", "--kernel", "rbf")
    assert done.code == 2
    assert "train.txt: holds text, but --kernel needs numbers" in done.err


def test_svmhmm_features_beside_those_of_training(numbers, run):
    """Those that training did not have are left out, absent ones are zero, and counting starts as there."""
    lines = (numbers / "train.dat").read_text().splitlines()
    shift = [" ".join([*w[:2], *(f"{int(p.split(':')[0]) - 1}:{p.split(':')[1]}" for p in w[2:])])
             for w in map(str.split, lines)]  # fmt: skip
    (numbers / "zero.dat").write_text("\n".join(shift))
    run("train", "tag", "train.dat", "-o", "one", *QUICK)
    run("train", "tag", "zero.dat", "-o", "zero", *QUICK)
    np.testing.assert_array_equal(oneslack.load("one").coef_, oneslack.load("zero").coef_)
    (numbers / "a.dat").write_text("1 qid:1 2:3\n1 qid:1 1:3\n")
    (numbers / "b.dat").write_text("1 qid:1 1:3\n1 qid:1 0:3\n")
    (numbers / "c.dat").write_text("1 qid:1 2:3 9:5\n1 qid:1 1:3 4:1\n")
    expected = run("predict", "one", "a.dat", "--scores").out
    assert run("predict", "zero", "b.dat", "--scores").out == expected
    assert run("predict", "one", "c.dat", "--scores").out == expected
    (numbers / "d.dat").write_text("1 qid:1 1:3\n")
    assert run("predict", "zero", "d.dat", "--scores").out != run("predict", "one", "d.dat", "--scores").out


# Evaluation.


def test_evaluate_agrees_with_the_metrics(tagger, run):
    facts = json.loads(run("evaluate", "m", "test.txt", "--json").out)
    Y = [[row[2] for row in sentence] for sentence in TEST]
    Y_hat = oneslack.load("m").predict(words_of())
    scores = metrics.phrase_scores(Y, Y_hat)
    whole = scores.pop(None)
    assert facts["measures"] == pytest.approx(
        {
            "accuracy": metrics.token_accuracy(Y, Y_hat),
            "sentence_accuracy": np.mean([y == y_hat for y, y_hat in zip(Y, Y_hat, strict=True)]),
            "phrase_precision": whole.precision,
            "phrase_recall": whole.recall,
            "phrase_f1": whole.f1,
        }
    )
    assert (facts["examples"], facts["tokens"]) == (25, len(flat(Y)))
    assert [row["type"] for row in facts["phrases"]] == ["X", "Y"]
    for row in facts["phrases"]:
        assert row["f1"] == pytest.approx(scores[row["type"]].f1)
        assert (row["phrases"], row["predicted"]) == scores[row["type"]][:2]
    pairs = list(zip(flat(Y), flat(Y_hat), strict=True))
    for row in facts["classes"]:
        hits = pairs.count((row["label"], row["label"]))
        assert row["recall"] == pytest.approx(hits / flat(Y).count(row["label"]))
        assert row["precision"] == pytest.approx(hits / flat(Y_hat).count(row["label"]))
        assert row["examples"] == flat(Y).count(row["label"])
    assert np.sum(facts["confusion"]) == len(pairs)
    shown = run("evaluate", "m", "test.txt").out
    right = sum(a == b for a, b in pairs)
    assert shown.startswith(
        f"token accuracy {100 * right / len(pairs):.2f} %  ({right} of {len(pairs)} right)"
    )
    assert f"phrase F1 {100 * whole.f1:.2f} %" in shown
    assert "true \\ predicted" in shown


def test_labels_without_phrases_and_unknown_ones(text, run):
    (text / "pos.txt").write_text(as_text(TRAIN, (0, 1)))
    run("train", "tag", "pos.txt", "-o", "m", *QUICK)
    (text / "new.txt").write_text("Bo N\nran V\n\nis XX\n")
    facts = json.loads(run("evaluate", "m", "new.txt", "--json").out)
    assert (facts["unknown_labels"], facts["phrases"]) == (1, None)
    assert list(facts["measures"]) == ["accuracy", "sentence_accuracy"]
    assert facts["measures"]["sentence_accuracy"] <= 0.5
    assert "1 tokens have a label that the model does not know" in run("evaluate", "m", "new.txt").out


# Facts.


def test_info_of_a_tagger_and_of_tagged_text(tagger, run):
    facts = json.loads(run("info", "m", "--json").out)
    assert facts["holds"] == "a SequenceTagger model"
    assert facts["classes"] == ["B-X", "B-Y", "I-X", "O"]
    assert facts["templates"] == ["w[-1]", "w[0]", "w[1]", "pos[0]"]
    model = oneslack.load("m")
    assert (facts["features"], facts["weights"]) == (model.model_.n_features, model.coef_.size)
    assert (facts["columns"], facts["label"], facts["status"]) == (["w", "pos", "col2"], 2, "converged")
    assert run("info", "m").code == 0
    facts = json.loads(run("info", "test.txt", "--json").out)
    assert facts["holds"] == "tagged text (CoNLL)"
    assert (facts["sentences"], facts["tokens"]) == (25, sum(map(len, TEST)))
    Y = [[row[2] for row in sentence] for sentence in TEST]
    assert facts["labels"]["counts"] == {label: flat(Y).count(label) for label in set(flat(Y))}
    scores = metrics.phrase_scores(Y, Y)
    assert facts["phrases"]["counts"] == {kind: scores[kind].n_true for kind in ("X", "Y")}
    shown = run("info", "test.txt", "--columns", "w,pos,tag").out
    assert "tag (4 different" in shown
    assert json.loads(run("info", "test.txt", "--label", "1", "--json").out)["labels"]["classes"] == 3


def test_info_tells_text_from_tables(text, numbers, run):
    (text / "a.conllu").write_text(as_conllu(TEST))
    assert json.loads(run("info", "a.conllu", "--json").out)["holds"] == "tagged text (CoNLL-U)"
    (text / "words.txt").write_text("Bo\nUz\n\nis\n")
    facts = json.loads(run("info", "words.txt", "--format", "conll", "--json").out)
    assert (facts["tokens"], facts["labels"]) == (3, None)
    assert json.loads(run("info", "train.svm", "--json").out)["holds"] == "svmlight data"
    assert json.loads(run("info", "kinds.csv", "--json").out)["holds"] == "csv data"
    (text / "tabs").write_text("width\theight\n1\t2\n3\t4\n")
    assert json.loads(run("info", "tabs", "--json").out)["holds"] == "csv data"
    facts = json.loads(run("info", "train.dat", "--format", "svmhmm", "--json").out)
    assert (facts["sentences"], facts["features"]) == (40, 3)


# Models from Python.


def test_taggers_that_were_saved_from_python(tagger, run):
    SequenceTagger(templates="w[-1..1]\npos[0]").fit(words_of("train.txt"), "tag").save("p")
    assert run("predict", "p", "test.txt").out == run("predict", "m", "test.txt").out
    assert run("evaluate", "p", "test.txt").out == run("evaluate", "m", "test.txt").out
    (tagger / "bare.txt").write_text(as_text(TEST, (0, 1)))
    assert run("predict", "p", "bare.txt").out == run("predict", "m", "bare.txt").out
    assert run("info", "p").code == 0
    named = SequenceTagger(templates="word[0]").fit(words_of("train.txt", ["word", None, "tag"]), "tag")
    named.save("p")
    assert (
        "use the column 'word', but it has w, pos, col2; name its columns"
        in run("predict", "p", "test.txt").err
    )
    assert run("predict", "p", "test.txt", "--columns", "word,-,-").code == 0


def test_models_that_no_file_suits(text, run):
    X = [[{"w": row[0]} for row in sentence] for sentence in TRAIN]
    SequenceTagger().fit(X, [[row[2] for row in sentence] for sentence in TRAIN]).save("dicts")
    done = run("predict", "dicts", "test.txt")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert "dicts of features, which no file holds" in done.err
    assert run("info", "dicts").code == 0
    X = [np.eye(3)[:2], np.eye(3)[1:]]
    SequenceTagger(kernel="rbf").fit(X, [["a", "b"], ["b", "a"]]).save("kernel")
    for command in ("predict", "evaluate"):
        done = run(command, "kernel", "test.txt")
        assert (done.code, done.err.count("\n")) == (3, 1)
        assert "is no SVM-hmm file (TAG qid:NUMBER FEATURE:VALUE ...), but kernel was trained" in done.err
    assert run("info", "kernel").code == 0
    assert run("report", "kernel", "-o", "page.html").code == 0
    X, y = np.eye(3), [0, 1, 1]
    oneslack.StructuralSVM(oneslack.Multiclass(3, 2)).fit(X, y).save("s")
    for command in ("predict", "evaluate"):
        done = run(command, "s", "train.svm")
        assert (done.code, done.err.count("\n")) == (3, 1)
        assert "holds a StructuralSVM, whose inputs no data file holds; use it in Python" in done.err
    assert "Multiclass" in run("info", "s").out


# Refusals.

BAD = {
    "absent.txt": (None, [], 3, "no such file"),
    "folder": (Path.mkdir, [], 3, "name a folder that `oneslack pack` wrote"),
    "empty.txt": ("", [], 3, "line 1: the file ends without any token"),
    "blank.txt": ("\n\n", [], 3, "without any token"),
    "one.txt": ("Bo\nUz\n", [], 3, "has one column only, so no labels"),
    "ragged.txt": ("Bo N O\nUz N O\n\nis V\n", [], 3, "line 4: expected 3 columns"),
    "latin.txt": ("Bo O\nM\xe4 B-X\n".encode("latin-1"), [], 3, "line 2: "),
    "same.txt": ("Bo O\nUz O\n", [], 3, "all tokens have the label 'O'"),
    "broken.txt": ("Bo B-X\nUz O\n\nis I-X\n", ["--constraints", "iob"], 3, "sentence 1, position 0: 'I-X'"),
    "label.txt": ("Bo N O\nUz V B\n", ["--label", "tag"], 3, "no label column 'tag'; its columns are w, pos"),
    "place.txt": ("Bo N O\nUz V B\n", ["--label", "7"], 3, "no label column '7'"),
    "leak.txt": ("Bo N O\nUz V B\n", ["--label", "1", "--templates", "chunking"], 3, "which is the label"),
    "columns.txt": ("Bo N O\nUz V B\n", ["--columns", "w,tag"], 2, "has 3 columns, but --columns gives 2"),
    "twice.txt": ("Bo N O\nUz V B\n", ["--columns", "w,w,tag"], 2, "gives 2 different names"),
    "used.txt": ("Bo O\nUz B\n", ["--templates", "lemma[0]"], 3, "the column 'lemma', but it has w, col1"),
    "train.svm": ("1 1:1\n-1 1:2\n", [], 3, "looks like a table of numbers"),
    "plain.dat": ("1 1:1\n-1 1:2\n", ["--format", "svmhmm"], 3, "line 1: no qid"),
    "a.dat": ("1 qid:1 1:1\n2 qid:1 1:2\n", ["--templates", "ner"], 2, "holds numbers"),
    "b.dat": ("1 qid:1 1:1\n2 qid:1 1:2\n", ["--columns", "w"], 2, "--columns has no meaning"),
    "c.dat": ("1 qid:1 1:1\n2 qid:1 1:2\n", ["--hash-bits", "4"], 2, "--hash-bits"),
    "d.dat": ("1 qid:1\n2 qid:1\n", [], 3, "no features"),
    "a.conllu": ("1\tBo\n", [], 3, "line 1: expected 10 columns, as CoNLL-U has"),
    "b.conllu": (as_conllu(TEST), ["--columns", "w"], 2, "drop --columns"),
    "c.conllu": (as_conllu(TEST), ["--label", "tag"], 2, "CoNLL-U has no column 'tag'"),
    "d.conllu": (as_conllu(TEST), ["--templates", "chunking"], 3, "use the column 'pos', which is the label"),
    "e.conllu": (as_conllu(TEST), ["--templates", "x[0]"], 3, "the column 'x', but CoNLL-U has w, pos, id"),
    "none.txt": ("Bo ?\nUz ?\n", ["--unlabelled", "?"], 3, "no token has a label"),
    "e.dat": ("1 qid:1 1:1\n2 qid:1 1:2\n", ["--unlabelled", "?"], 2, "--unlabelled has no meaning"),
    "set.txt": ("Bo O\nUz B\n", ["--templates", "nerr"], 2, "no set and no file 'nerr'"),
    "template.txt": ("Bo O\nUz B\n", ["--templates", "w[0"], 3, "templates, line 1, column 4"),
    "both.txt": ("Bo O\nUz B\n", ["--hash-bits", "4", "--min-count", "2"], 2, "do not go together"),
    "cut.txt.gz": (gzip.compress(as_text(TRAIN).encode())[:-20], [], 3, "cut short"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_training_refuses(folder, run, name):
    content, options, code, sentence = BAD[name]
    path = folder / name
    if callable(content):
        content(path)
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run("train", "tag", name, "-o", "m", *options)
    assert (done.code, done.out) == (code, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert not (folder / "m").exists()


def test_models_and_files_that_do_not_fit_each_other(tagger, numbers, run):
    run("train", "classify", "train.svm", "-o", "classes", *QUICK)
    run("train", "tag", "train.dat", "-o", "numbers", *QUICK)
    (tagger / "one.txt").write_text("Bo N\nUz V\n")
    (tagger / "gone.txt").write_text("Bo N P\nUz V Q\n")
    cases = {
        ("predict", "classes", "test.txt"): "is tagged text, not a table of numbers; classes is a LinearSVC",
        ("evaluate", "classes", "one.txt"): "is tagged text, not a table of numbers",
        ("train", "classify", "test.txt", "-o", "x"): "use `oneslack train tag` to learn from it",
        ("predict", "m", "train.svm"): "looks like a table of numbers, but m tags text",
        ("evaluate", "m", "train.dat"): "looks like a table of numbers, but m tags text",
        ("predict", "numbers", "test.txt"): "is no SVM-hmm file",
        ("predict", "numbers", "train.svm"): "is no SVM-hmm file",
        ("evaluate", "m", "one.txt"): "holds no labels to compare with; use `oneslack predict`",
        ("evaluate", "m", "gone.txt"): "none of its labels, such as 'P', is a label of m (B-X, B-Y, I-X, O)",
        ("predict", "m", "absent.txt"): "no such file",
        ("predict", "m", "test.txt", "-o", "test.txt"): "is read and written by the same command",
        ("predict", "m", "test.txt", "--group", "1"): "--group has no meaning",
        ("predict", "m", "test.txt", "--zero-based"): "are for files of numbers",
        ("predict", "classes", "train.svm", "--columns", "w"): "where --columns has no meaning",
        ("evaluate", "classes", "train.svm", "--format", "conll"): "where --format has no meaning",
        ("train", "tag", "train.txt", "-o", "train.txt"): "is read and written by the same command",
    }
    for command, sentence in cases.items():
        done = run(*command)
        assert done.code in (2, 3), command
        assert sentence in done.err, (command, done.err)
        assert done.err.count("\n") == 1
        assert done.out == ""

"""Packed folders where commands take a file."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from oneslack.cli.options import Machines
from oneslack.engines.crew import ThreadCrews
from oneslack.formats import open_shards, write_svmlight
from oneslack.solvers.streaming.reader import Streaming

CONLL = "\n".join(f"the D B-NP\ndog{k} N I-NP\nran V B-VP\n" for k in range(30))


@pytest.fixture
def packed(two_classes, run):
    """The folder with two.svm packed into `two`, seven shards."""
    assert run("pack", "two.svm", "-o", "two", "--dtype", "float64", "--shard-size", "1KB", "-q").code == 0
    assert len(open_shards("two")) > 3
    return two_classes


def test_classify_says_its_memory_and_learns_the_same(packed, run):
    done = run("train", "classify", "two", "-o", "disk", "--json")
    assert done.code == 0
    assert re.match(r"memory: about [\d.]+ [MG]B \(budget for training 2 GB\)\n", done.err)
    facts = json.loads(done.out)
    assert facts["solver"] == "streaming"
    assert facts["examples"] == 120
    assert facts["classes"] == [0, 1]
    assert facts["memory_estimate"] > 10_000_000
    other = json.loads(run("train", "classify", "two.svm", "-o", "memory", "--json").out)
    assert facts["dual"] <= other["primal"]
    assert other["dual"] <= facts["primal"]
    assert "memory_estimate" not in other or other["memory_estimate"] is None


def test_a_small_budget_is_enough(packed, run):
    done = run("train", "classify", "two", "-o", "m", "--memory", "9KB", "--tol", "0.01", "--json")
    assert done.code == 0
    facts = json.loads(done.out)
    assert facts["relative_gap"] <= 0.01
    assert facts["steps"] > 3


@pytest.mark.parametrize("command", [("train", "classify", "two", "-o", "new"), ("predict", "m", "two")])
def test_a_damaged_shard_is_named_and_nothing_written(packed, run, command):
    assert run("train", "classify", "two", "-o", "m", "-q").code == 0
    path = open_shards("two")[2].path
    with open(path, "r+b") as file:
        file.seek(-20, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-20, os.SEEK_END)
        file.write(bytes([byte ^ 64]))
    done = run(*command, "-q" if command[0] == "train" else "--scores")
    assert done.code == 3
    assert f"{path}: the shard is damaged, its checksum does not match; pack the data again" in done.err
    assert not os.path.exists("new")


def test_models_are_used_on_folders_as_on_files(packed, run):
    run("train", "classify", "two", "-o", "m", "-q")
    assert run("predict", "m", "two").out == run("predict", "m", "two.svm").out
    assert run("predict", "m", "two", "--scores").out == run("predict", "m", "two.svm", "--scores").out
    assert run("evaluate", "m", "two").out == run("evaluate", "m", "two.svm").out
    found = run("info", "two", "--json")
    facts = json.loads(found.out)
    assert facts["holds"] == "packed sparse float64"
    assert (facts["examples"], facts["features"], facts["classes"]) == (120, 3, [0, 1])
    assert "packed sparse float64" in run("info", "two").out


def test_absent_features_are_zeros(packed, run):
    write_svmlight("wide.svm", np.hstack([packed.X, packed.X]), packed.y)
    run("train", "classify", "wide.svm", "-o", "m", "-q")
    assert run("predict", "m", "two").out == run("predict", "m", "two.svm").out


def test_other_trainings_load_the_folder(packed, run):
    for way in (["classify", "--metric", "f1"], ["ordinal"], ["rank"]):
        mine = json.loads(run("train", *way, "two", "-o", "a", "--json").out)
        other = json.loads(run("train", *way, "two.svm", "-o", "b", "--json").out)
        assert mine["primal"] == pytest.approx(other["primal"], rel=1e-6)


def test_queries_go_along(queries, run):
    run("pack", "queries.svm", "-o", "q", "--dtype", "float64", "-q")
    mine = json.loads(run("train", "rank", "q", "-o", "a", "--json").out)
    assert mine["queries"] == 9
    assert run("evaluate", "a", "q").out == run("evaluate", "a", "queries.svm").out


def test_regress(folder, run):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4)).round(3)
    write_svmlight("numbers.svm", X, (X @ [1, 2, 3, 4] + rng.normal(size=100)).round(3))
    run("pack", "numbers.svm", "-o", "n", "--dtype", "float64", "--shard-size", "2KB", "-q")
    done = run("train", "regress", "n", "-o", "a", "--tube", "0.1", "--json")
    mine = json.loads(done.out)
    other = json.loads(run("train", "regress", "numbers.svm", "-o", "b", "--tube", "0.1", "--json").out)
    assert "memory: about" in done.err
    assert mine["dual"] <= other["primal"]
    assert other["dual"] <= mine["primal"]
    assert "mean absolute error" in run("evaluate", "a", "n").out


def test_tagged_text(folder, run):
    (folder / "text.conll").write_text(CONLL)
    run("pack", "text.conll", "-o", "t", "--columns", "w,pos,chunk", "--shard-size", "1KB", "-q")
    mine = json.loads(run("train", "tag", "t", "-o", "a", "--json").out)
    other = json.loads(run("train", "tag", "text.conll", "--columns", "w,pos,chunk", "-o", "b", "--json").out)
    assert mine["primal"] == pytest.approx(other["primal"], rel=1e-9)
    assert mine["label"] == "chunk"
    assert run("evaluate", "a", "t").out == run("evaluate", "a", "text.conll").out
    done = run("predict", "a", "t")
    assert (done.code, "give the file itself" in done.err) == (3, True)
    facts = json.loads(run("info", "t", "--json").out)
    assert (facts["sentences"], facts["tokens"], facts["columns"]) == (30, 90, ["w", "pos", "chunk"])


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["two", "--label", "1"], 2, "two: is packed; give --label to `oneslack pack` instead"),
        (["two", "--memory", "much"], 2, "--memory: the size 'much' is not understood"),
        (["two", "--memory", "2KB"], 2, "two: memory=2 KB is too little: .* give at least"),
        (["two", "--memory", "1GB", "--solver", "one_slack"], 2, "--memory is for --solver streaming"),
        (["two", "--solver", "dual_cd"], 3, "two: DualCD needs more .* examples in memory"),
        (["empty"], 3, "empty: holds no manifest.json; name a folder that `oneslack pack` wrote"),
    ],
)
def test_what_cannot_be_is_refused(packed, run, arguments, code, sentence):
    os.mkdir("empty")
    done = run("train", "classify", *arguments, "-o", "m")
    assert re.search(sentence, done.err), done.err
    assert done.code == code
    assert not os.path.exists("m")


def test_a_damaged_shard_is_named(packed, run):
    path = sorted(packed.path.glob("two/shard-*"))[1]
    path.write_bytes(path.read_bytes()[:-5])
    done = run("train", "classify", "two", "-o", "m")
    assert done.code == 3
    assert f"two/{path.name}: the shard has" in done.err


def test_a_training_on_a_folder_resumes(packed, run):
    limits = ("--memory", "9KB", "--tol", "1e-9", "--quiet")
    kept = ("-o", "half", *limits, "--checkpoint", "runs")
    run("train", "classify", "two", "-o", "whole", *limits, "--max-iter", 30)
    run("train", "classify", "two", *kept, "--max-iter", 12)
    done = run("train", "classify", "two", *kept, "--max-iter", 30, "--resume")
    assert done.code in (0, 4), done.err  # such a gap may be out of reach
    assert run("predict", "half", "two", "--scores").out == run("predict", "whole", "two", "--scores").out


def test_workers_of_an_engine_read_the_folder(packed, run, monkeypatch):
    monkeypatch.setattr(Machines, "engine_for", lambda *options: ThreadCrews(2))
    done = run("train", "classify", "two", "-o", "parts", "--engine", "ray", "--json")
    assert done.code == 0, done.err
    mine = json.loads(done.out)
    other = json.loads(run("train", "classify", "two.svm", "-o", "whole", "--json", "--tol", "1e-6").out)
    assert "parts" in mine["reason"]
    assert max(mine["dual"], other["dual"]) <= min(mine["primal"], other["primal"])
    done = run("train", "classify", "two", "-o", "m", "--engine", "ray", "--memory", "1GB")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--memory is for a training on this machine; drop it, or --engine" in done.err


@pytest.mark.parametrize(
    "way", [["classify", "--kernel", "rbf"], ["ordinal"], ["rank"], ["classify", "--metric", "f1"]]
)
def test_every_kind_of_model_is_evaluated_on_a_folder(packed, run, way):
    run("train", *way, "two.svm", "-o", "m", "-q")
    mine, other = run("evaluate", "m", "two"), run("evaluate", "m", "two.svm")
    assert (mine.code, mine.out) == (0, other.out)


def test_tagged_text_stays_on_disk_where_it_is_too_large(folder, run):
    text = "".join(f"the D\ndog{k} N\nran V\n" for k in range(10)) + "\n"
    (folder / "text.conll").write_text(300 * text)
    run("pack", "text.conll", "-o", "t", "--columns", "w,tag", "--shard-size", "10KB", "-q")
    options = ["--templates", "w[0]", "--json"]
    done = run("train", "tag", "t", "-o", "a", "--memory", "300KB", *options)
    assert re.match(r"memory: at most about [\d.]+ [MG]B, .* \(budget for training 300 KB\)\n", done.err), (
        done.err
    )
    mine = json.loads(done.out)
    other = json.loads(run("train", "tag", "text.conll", "--columns", "w,tag", "-o", "b", *options).out)
    assert mine["solver"] == "streaming"
    assert other["solver"] == "dual_cd"
    assert mine["dual"] <= other["primal"]
    assert other["dual"] <= mine["primal"]
    assert mine["relative_gap"] <= 0.01
    assert (mine["examples"], mine["tokens"], mine["features"]) == (300, 9000, 12)
    assert run("evaluate", "a", "t").out == run("evaluate", "a", "text.conll").out


@pytest.fixture
def large_text(folder, run, monkeypatch):
    """Packed text `t` with features that take more than the default budget."""
    (folder / "text.conll").write_text(CONLL)
    run("pack", "text.conll", "-o", "t", "--columns", "w,pos,chunk", "--shard-size", "1KB", "-q")
    monkeypatch.setattr(Streaming, "memory", "4KB")
    return ["t", "--templates", "w[0]"]


@pytest.mark.parametrize("other", [["--engine", "ray"], ["--unlabelled", "?"]])
def test_text_is_loaded_where_it_cannot_stay_on_disk(large_text, run, monkeypatch, other):
    monkeypatch.setattr(Machines, "engine_for", lambda *options: ThreadCrews(2) if "ray" in other else None)
    done = run("train", "tag", *large_text, "-o", "m", "--json", *other)
    assert (done.code, done.err) == (0, "")
    mine = json.loads(done.out)
    assert (mine["examples"], mine["memory_estimate"]) == (30, None)
    other = json.loads(run("train", "tag", "text.conll", "--templates", "w[0]", "-o", "b", "--json").out)
    assert max(mine["dual"], other["dual"]) <= min(mine["primal"], other["primal"])


def test_no_bound_is_promised_where_the_solver_keeps_none(large_text, run):
    done = run("train", "tag", *large_text, "-o", "m", "--json", "--solver", "one_slack")
    assert (done.code, done.err) == (0, "")
    facts = json.loads(done.out)
    assert (facts["solver"], facts["memory_estimate"]) == ("one_slack", None)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_FSIZE")
def test_a_disk_without_room_for_features_is_said(folder, run):
    text = "".join(f"the D\ndog{k} N\nran V\n" for k in range(10)) + "\n"
    (folder / "text.conll").write_text(300 * text)
    run("pack", "text.conll", "-o", "t", "--columns", "w,tag", "-q")
    (folder / "here").mkdir()
    command = "ulimit -f 50; exec {} -m oneslack train tag t -o m --templates 'w[0]' --memory 300KB -q"
    done = subprocess.run(
        ["sh", "-c", command.format(sys.executable)], capture_output=True, text=True,
        env={**os.environ, "TMPDIR": str(folder / "here")},
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr == (
        f"oneslack: t: features cannot be written to {folder}/here (the disk is full); make room, or name "
        "another folder by TMPDIR.\n"
    )
    assert not os.listdir("here")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["text.conll", "--memory", "1MB"],
            "text.conll: --memory is for a packed folder; run `oneslack pack`",
        ),
        (["t", "--memory", "2KB"], "t: memory=2 KB is too little: .* weights .* give more"),
        (["t", "--memory", "1KB", "--solver", "one_slack"], "--memory is for --solver streaming"),
        (["t", "--memory", "1GB", "--engine", "ray"], "--memory is for a training on this machine; drop it"),
        (["t", "--memory", "1KB", "--unlabelled", "?"], "t: text .* is loaded whole; drop --memory"),
    ],
)
def test_tagging_says_what_memory_is_for(folder, run, arguments, sentence):
    (folder / "text.conll").write_text(CONLL)
    run("pack", "text.conll", "-o", "t", "--columns", "w,pos,chunk", "-q")
    done = run("train", "tag", *arguments, "-o", "m")
    assert re.search(sentence, done.err), done.err
    assert done.code in (2, 3)
    assert not os.path.exists("m")

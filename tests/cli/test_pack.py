"""`oneslack pack`: what it says, what it leaves behind, and how it goes on."""

import io
import json
import math
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from oneslack.cli import progress
from oneslack.formats import open_shards, read_data
from oneslack.formats.packing import Progress

COMMAND = [sys.executable, "-m", "oneslack", "pack"]


@pytest.fixture
def large(folder):
    """big.svm: 7 MB, enough to be caught at work with small shards."""
    line = "1 " + " ".join(f"{index}:0.{index}" for index in range(1, 90)) + "\n"
    (folder / "big.svm").write_text(line * 5_000 + line.replace("1", "2", 1) * 5_000)
    return folder / "big.svm"


def shard_files(folder):
    return {path.name: path.read_bytes() for path in folder.glob("shard-*")}


def test_pack_says_what_it_packed(folder, run):
    done = run("pack", "train.svm", "-o", "packed")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("packed: 20 × 3 sparse float32, 2 classes (-1, 1), 1 shard, ")
    assert "  from 282 bytes in " in done.out or re.search(r"  from \d+ bytes in \d", done.out)
    shards = open_shards("packed")
    np.testing.assert_array_equal(shards[0].X.toarray(), read_data("train.svm").X.toarray().astype("f4"))


def test_options_reach_the_files(folder, run):
    done = run(
        "pack", "kinds.csv", "-o", "p", "--label", "width", "--dtype", "float64", "--format", "csv", "-q"
    )
    assert done.code == 3  # the kind is a word
    assert re.search(r"kinds\.csv, line 2, column 3 \(kind\): 'low' is not a finite number", done.err)
    done = run(
        "pack", "kinds.csv", "-o", "q", "--dtype", "float64", "--jobs", 1, "--json", "--shard-size", "1KB"
    )
    facts = json.loads(done.out)
    assert (facts["rows"], facts["features"], facts["kind"], facts["dtype"]) == (24, 2, "dense", "float64")
    assert facts["classes"] == ["high", "low", "middle"]
    assert facts["shards"] == len(open_shards("q"))
    assert facts["bytes"] == sum(path.stat().st_size for path in (folder / "q").glob("shard-*"))
    (folder / "zero.svm").write_text("1 1:1\n")
    assert json.loads(run("pack", "zero.svm", "-o", "z", "--zero-based", "--json").out)["features"] == 2


def test_queries_and_numbers(folder, run, queries):
    for name in ("queries.svm", "queries.npz"):
        assert run("pack", name, "-o", f"{name}.d", "-q") == SimpleNamespace(code=0, out="", err="")
    assert run("pack", "queries.csv", "-o", "queries.csv.d", "--group", "query", "-q").code == 0
    found = open_shards("queries.csv.d")[0]
    assert found.qid.tolist() == [f"q{g}" for g in queries.group]
    for name in ("queries.svm.d", "queries.npz.d"):
        assert open_shards(name)[0].qid.tolist() == queries.group.tolist()


def test_tagged_text(folder, run):
    (folder / "text").write_text("Stop VB\n! .\n\nGo VB\n")
    done = run("pack", "text", "-o", "p", "--format", "conll", "--columns", "w,pos")
    assert done.out.startswith("p: 2 sentences, 3 tokens, 1 shard")
    assert open_shards("p")[0].sentences.sentence(1) == [("Go", "VB")]


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["absent.svm", "-o", "p"], 3, "absent.svm: cannot be read (No such file or directory)"),
        (["train.svm", "kinds.csv", "-o", "p"], 3, "kinds.csv: its rows are dense"),
        (["train.svm", "-o", "train.svm"], 3, "train.svm: cannot be made a folder"),
        (["train.svm", "-o", "."], 3, ".: is not empty; name a new folder"),
        (["train.svm", "-o", "p", "--shard-size", "many"], 3, "the size 'many' is not understood"),
        (["train.svm", "-o", "p", "--dtype", "int8"], 2, "'int8'"),
        (["train.svm"], 2, "--output"),
        (["-o", "p"], 2, "FILE"),
    ],
)
def test_mistakes_get_one_line_and_an_exit_code(folder, run, arguments, code, complaint):
    done = run("pack", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.count("\n") == 1
    assert complaint in done.err


def test_resume_after_the_work_is_done_does_nothing(folder, run):
    for _ in range(2):
        assert run("pack", "train.svm", "-o", "p", "--resume").out.startswith("p: 20 × 3")
    again = run("pack", "train.svm", "-o", "p")
    assert again.code == 3
    assert "p: holds packed data already" in again.err


def wait_for_shards(folder, process, n):
    """Until there are n shards, or the process is through."""
    end = time.monotonic() + 60
    while len(list(folder.glob("shard-*"))) < n and process.poll() is None and time.monotonic() < end:
        time.sleep(0.001)


def test_killed_and_resumed_it_is_the_same(large, run):
    folder = large.parent
    command = [*COMMAND, large, "-o", "p", "--shard-size", "100KB", "--resume", "-q"]
    kills = 0
    for n in (2, 20):
        process = subprocess.Popen(command)
        wait_for_shards(folder / "p", process, n)
        process.kill()
        kills += process.wait(timeout=60) == -signal.SIGKILL
    assert kills >= 1  # a quick machine may be through before the second
    assert run("pack", large, "-o", "p", "--shard-size", "100KB", "--resume", "-q").code == 0
    assert run("pack", large, "-o", "whole", "--shard-size", "100KB", "-q").code == 0
    assert len(shard_files(folder / "p")) > 40
    assert shard_files(folder / "p") == shard_files(folder / "whole")
    assert open_shards("p").n_rows == 10_000
    assert open_shards("p").classes.tolist() == [1, 2]


def test_ctrl_c_says_how_to_go_on(large):
    process = subprocess.Popen(
        [*COMMAND, large, "-o", "p", "--shard-size", "20KB", "-q"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    wait_for_shards(large.parent / "p", process, 5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "oneslack: interrupted; the shards so far are in p: go on with --resume.\n"


def test_a_file_that_cannot_grow_is_a_full_disk(large, run):
    """The limit on the size of files fails the writing in the middle, as a full disk does."""
    run("pack", "train.svm", "-o", "small", "-q")  # the compiled loops are in their cache then
    limits = (300_000, resource.RLIM_INFINITY)
    process = subprocess.run(
        [*COMMAND, large, "-o", "p", "--shard-size", "1MB", "-q"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits),
    )
    assert process.returncode == 3
    assert process.stderr == ("oneslack: p: the disk is full; make room, then go on with --resume.\n")
    assert not list((large.parent / "p").glob(".*.part"))
    assert run("pack", large, "-o", "p", "--shard-size", "1MB", "-q", "--resume").code == 0
    open_shards("p").verify()


def test_progress_on_a_terminal_and_elsewhere(monkeypatch):
    states = [Progress(done, 3_000_000, done // 10**6, done) for done in (10**6, 2 * 10**6, 3 * 10**6)]
    stream = io.StringIO()
    monkeypatch.setattr(progress, "LINE_INTERVAL", 0)
    clock = iter([1.0, 3.0, 5.0])
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    with progress.PackLines(stream) as show:
        for state in states[1:]:
            show(state)
    assert stream.getvalue().splitlines()[-1] == ("100 %  3 MB of 3 MB  500 KB/s  3,000,000 rows in 3 shards")
    monkeypatch.undo()
    terminal = io.StringIO()
    with progress.PackBar(terminal) as show:
        for state in states:
            show(state)
    assert "packing" in terminal.getvalue()
    assert "3 shards" in terminal.getvalue()
    assert isinstance(progress.pack_progress(quiet=True), progress.Silence)
    assert isinstance(progress.pack_progress(stream=stream), progress.PackLines)
    assert math.isfinite(progress.LINE_INTERVAL)


def test_text_that_was_packed_without_names_is_learned_from(folder, run):
    text = "He PRP B-NP\nsat VBD B-VP\n\nThe DT B-NP\ncat NN I-NP\nran VBD B-VP\n"
    Path("x.conll").write_text(text)
    assert run("pack", "x.conll", "-o", "packed").code == 0
    told = run("train", "tag", "packed", "-o", "m")
    assert told.code == 0, told.err
    assert run("train", "tag", "x.conll", "-o", "plain").code == 0
    assert run("predict", "m", "x.conll").out == run("predict", "plain", "x.conll").out
    assert run("evaluate", "m", "packed").code == 0


def test_a_failed_packing_leaves_its_folder_free(folder, run):
    Path("bad.csv").write_text("a,b\n1,x\n2,y\nz,x\n")
    assert run("pack", "bad.csv", "-o", "packed").code == 3
    assert not Path("packed").exists()
    Path("bad.csv").write_text("a,b\n1,x\n2,y\n3,x\n")
    assert run("pack", "bad.csv", "-o", "packed").code == 0
    Path("there").mkdir()
    Path("bad.csv").write_text("a,b\n1,x\n2,y\nz,x\n")
    assert run("pack", "bad.csv", "-o", "there").code == 3
    assert list(Path("there").iterdir()) == []


def test_trees_are_no_tagged_text(folder, run):
    Path("x.trees").write_text("(S (NP (PRP He)) (VP (VBD sat)))\n")
    told = run("train", "tag", "x.trees", "-o", "m")
    assert told.code == 3
    assert "holds trees, no tagged text; use `oneslack train parse`" in told.err


def test_a_pickle_is_named(folder, run):
    Path("m.pkl").write_bytes(b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00}\x94.")
    for command in (["info", "m.pkl"], ["predict", "m.pkl", "train.svm"]):
        assert "is a pickle" in run(*command).err
    assert "give the model first" in run("predict", "train.svm", "train.svm").err

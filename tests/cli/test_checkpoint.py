"""--checkpoint, --every and --resume; SIGTERM."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import oneslack
from oneslack.formats import write_svmlight


@pytest.fixture
def three_classes(folder):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 6)).round(3)
    write_svmlight("three.svm", X, (X[:, :3] + rng.normal(size=(150, 3))).argmax(axis=1))
    return folder


WORDS = ["the", "cat", "sat", "on", "my", "new", "red", "hat"]
WAYS = {
    "crammer_singer": [],
    "ovr": ["--multi-class", "ovr", "--solver", "dual_cd"],
    "one_slack": ["--solver", "one_slack"],
    "f1": ["--metric", "f1"],
}


@pytest.mark.parametrize("way", WAYS)
def test_what_goes_on_ends_the_same(three_classes, run, way):
    options = ["train", "classify", "three.svm", "--tol", "1e-5", *WAYS[way]]
    assert run(*options, "-o", "whole", "-q").code == 0
    kept = [*options, "-o", "m", "--checkpoint", "kept", "--every", "0s"]
    done = run(*kept, "--max-iter", "2")
    assert done.code == 4
    assert done.err.endswith("--resume goes on from here.\n")
    assert os.listdir("kept")
    again = run(*kept)
    assert (again.code, again.err.count("\n")) == (3, 1)
    assert "there are checkpoints already" in again.err
    assert run(*kept, "--resume", "-q").code == 0
    assert not os.path.exists("kept")
    one, two = oneslack.load("whole"), oneslack.load("m")
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.n_iter_ == two.n_iter_


def test_a_resume_without_steps_left_changes_nothing(three_classes, run):
    train = ["train", "classify", "three.svm", "--tol", "1e-9", "--max-iter", "3", "--json"]
    train += ["--checkpoint", "kept", "--resume", "-o"]
    first, *others = (json.loads(run(*train, name).out) for name in ("one", "two", "three"))
    for facts, name in zip(others, ("two", "three"), strict=True):
        for key in ("steps", "primal", "dual", "status"):
            assert facts[key] == first[key]
        one, other = oneslack.load("one"), oneslack.load(name)
        np.testing.assert_array_equal(other.coef_, one.coef_)
        assert len(other.trace_) == len(one.trace_)


def test_a_tagger_goes_on(folder, run):
    lines = [f"{word} {'B' if word[0] < 'm' else 'I'}" for word in WORDS]
    (folder / "s.conll").write_text(("\n".join(lines) + "\n\n") * 5)
    options = ["train", "tag", "s.conll", "--tol", "1e-6", "--templates", "w[-1..1]"]
    assert run(*options, "-o", "whole", "-q").code == 0
    kept = [*options, "-o", "m", "--checkpoint", "kept", "--resume"]
    assert run(*kept, "--max-iter", "1").code == 4
    assert run(*kept, "-q").code == 0
    np.testing.assert_array_equal(oneslack.load("whole").coef_, oneslack.load("m").coef_)


@pytest.mark.parametrize("solver", ["dual_cd", "one_slack", "newton"])
def test_other_examples_are_refused_though_they_look_alike(folder, run, solver):
    """Bags of words, permuted inside each class: the objective of any model is the same."""
    rng = np.random.default_rng(0)
    X, y = (rng.random((300, 40)) < 0.1).astype(float), np.repeat([-1, 1], 150)
    X[:, 0] = 1.0
    write_svmlight("words.svm", X, y)
    kept = ["train", "classify", "words.svm", "-o", "m", "--solver", solver, "--checkpoint", "kept"]
    assert run(*kept, "--tol", "1e-9", "--max-iter", "2").code == 4
    before = {name: (folder / "kept" / name).read_bytes() for name in os.listdir("kept")}
    write_svmlight("words.svm", np.vstack([rng.permutation(X[:150]), rng.permutation(X[150:])]), y)
    done = run(*kept, "--resume", "-q")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert "the checkpoint is of other data; name another file, or remove it to begin anew" in done.err
    assert before == {name: (folder / "kept" / name).read_bytes() for name in os.listdir("kept")}


def test_wrong_options(three_classes, run):
    train = ["train", "classify", "three.svm", "-o", "m"]
    assert run(*train, "--resume").code == 2
    for text in ("soon", "5 years", "-3s", ""):
        done = run(*train, "--checkpoint", "kept", "--every", text)
        assert done.code == 2
        assert "is not a time" in done.err
    assert not os.path.exists("kept")
    (three_classes / "file").write_text("")
    done = run(*train, "--checkpoint", "file")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert not os.path.exists("m")


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
@pytest.mark.parametrize(
    ("engine", "goes_on"),
    [
        ("threads", "threads"),
        pytest.param("ray", "threads", marks=pytest.mark.slow),
        pytest.param("ray", "ray", marks=pytest.mark.slow),
    ],
)
def test_sigterm_leaves_a_model_and_a_checkpoint(folder, run, engine, goes_on):
    """Ray would have the signal for itself."""
    if engine == "ray":
        pytest.importorskip("ray")
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4000, 60)).round(3)
    write_svmlight("hard.svm", X, np.where(rng.uniform(size=4000) < 0.5, 1, -1))
    command = ["train", "classify", "hard.svm", "-o", "m", "--json", "--solver", "one_slack", "-C", "100"]
    command += ["--tol", "1e-12", "--checkpoint", "kept", "--every", "0.1s", "--engine"]
    process = subprocess.Popen(
        [sys.executable, "-m", "oneslack", *command, engine],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):  # until it trains
        if os.path.exists("kept") and os.listdir("kept"):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 143, err
    facts = json.loads(out)
    assert (facts["status"], facts["checkpoint"]) == ("interrupted", "kept")
    steps = facts["steps"]
    more = run(*command, goes_on, "--resume", "--max-iter", steps + 3)
    assert more.code == 4, more.err
    assert json.loads(more.out)["steps"] == steps + 3

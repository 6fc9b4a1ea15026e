"""Model files that lie, through the commands: one sentence and an exit code, in little time and memory."""

import resource
import subprocess
import sys

import numpy as np
import pytest
from forged_files import forgeries

import oneslack
from oneslack import SequenceTagger, StructuralSVM
from oneslack.formats import load_model, save_model
from oneslack.models import Binary

CONLL = "the D\ncat N\nsat V\n\na D\ndog N\nran V\n\n" * 3
TREES = "(S (NP (D the) (N cat)) (VP (V sat)))\n(S (NP (D a) (N dog)) (VP (V ran)))\n" * 3
#: kind: (name and content of the data, command)
TRAINED = {
    "classify": ("kinds.csv", None, ["--solver", "one_slack"]),
    "tag": ("words.conll", CONLL, ["--templates", "w[0]"]),
    "parse": ("some.trees", TREES, ["--tagged"]),
}


@pytest.mark.parametrize("kind", TRAINED)
def test_forged_notes(folder, run, monkeypatch, kind):
    monkeypatch.setattr("oneslack.formats.atomic.os.fsync", lambda descriptor: None)
    data, content, options = TRAINED[kind]
    if content:
        (folder / data).write_text(content)
    assert run("train", kind, data, "-o", "m", "-q", "--tol", "0.1", *options).code == 0
    header, arrays = load_model("m")
    notes = {name: header[name] for name in ("source", "training")}
    rng, codes = np.random.default_rng(0), set()
    for what, forged, _ in forgeries(notes, {}):
        if rng.random() > 0.06:
            continue
        save_model("forged", header | forged, arrays)
        for command in (["info", "forged"], ["predict", "forged", data], ["report", "forged", "-o", "page"]):
            done = run(*command)
            assert done.code in (0, 2, 3), (what, command, done.err)
            assert done.err.count("\n") == (done.code != 0), (what, done.err)
            codes.add(done.code)
    assert codes >= {0, 3}


def in_little_room(*command):
    """(exit code, stderr) of a command that may have 4 GB of addresses and 60 s."""
    done = subprocess.run(
        [sys.executable, "-m", "oneslack", *command], capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("order", [1, 2])
def test_losses_that_are_left_out_are_not_made_up(folder, order):
    """Of 20,000 labels they would take 3 GB, where the file has 2 kB."""
    X, Y = [np.eye(2)] * 4, [["a", "b"]] * 4
    SequenceTagger(tol=0.5, order=order).fit(X, Y).save("m")
    header, arrays = load_model("m")
    n = 20_000
    header["model"]["fields"] |= {"n_labels": n, "label_losses": None}
    arrays.pop("model.label_losses")
    header["classes"] = {"type": "number"}
    arrays["classes"] = np.arange(n)
    save_model("m", header, arrays)
    code, err = in_little_room("info", "m")
    assert (code, err) == (
        3, "oneslack: m: the model file lacks 'model.label_losses'; train the model again\n",
    )  # fmt: skip


@pytest.mark.parametrize("n_features", [10**9, 10**12, 2**61])
def test_features_without_end_are_refused(folder, n_features):
    X, y = np.eye(4), [1, -1, 1, -1]
    StructuralSVM(Binary(4)).fit(X, y).save("m")
    header, arrays = load_model("m")
    header["model"]["fields"]["n_features"] = n_features
    save_model("m", header, arrays)
    code, err = in_little_room("info", "m")
    assert (code, err.count("\n")) == (3, 1)
    assert err.startswith("oneslack: m: the model file is damaged (")


def test_many_features_without_weights_are_told_quickly(folder):
    X, y = np.eye(4), [1, -1, 1, -1]
    StructuralSVM(Binary(4)).fit(X, y).save("m")
    header, arrays = load_model("m")
    header["model"]["fields"]["n_features"] = 10**8
    save_model("m", header, arrays)
    assert in_little_room("info", "m") == (0, "")
    assert np.count_nonzero(oneslack.load("m").coef_) == 4

"""Model files that lie, through the commands: one sentence and an exit code, in little time and memory."""

import json
import resource
import subprocess
import sys

import numpy as np
import pytest
from forged_files import forgeries
from grids import few

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


@pytest.mark.parametrize("share", few([0.02, 0.06], 1))
@pytest.mark.parametrize("kind", TRAINED)
def test_forged_notes(folder, run, monkeypatch, kind, share):
    monkeypatch.setattr("oneslack.formats.atomic.os.fsync", lambda descriptor: None)
    data, content, options = TRAINED[kind]
    if content:
        (folder / data).write_text(content)
    assert run("train", kind, data, "-o", "m", "-q", "--tol", "0.1", *options).code == 0
    header, arrays = load_model("m")
    notes = {name: header[name] for name in ("source", "training")}
    rng, codes = np.random.default_rng(0), set()
    for what, forged, _ in forgeries(notes, {}):
        if rng.random() > share:
            continue
        save_model("forged", header | forged, arrays)
        for command in (["info", "forged"], ["predict", "forged", data], ["report", "forged", "-o", "page"]):
            done = run(*command)
            assert done.code in (0, 2, 3), (what, command, done.err)
            assert done.err.count("\n") == (done.code != 0), (what, done.err)
            codes.add(done.code)
    assert codes >= {0, 3}


INFO = """
import contextlib, io, json, sys
from oneslack.cli import main
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        code = int(main(["info", name]))
    print(json.dumps([code, err.getvalue()]))
"""


def told_in_little_room(*names):
    """[exit code, stderr] of `oneslack info` of each model, in a process that may have 4 GB of addresses and
    60 s."""
    done = subprocess.run(
        [sys.executable, "-c", INFO, *names], capture_output=True, text=True, timeout=60, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )  # fmt: skip
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_losses_that_are_left_out_are_not_made_up(folder):
    """Of 20,000 labels they would take 3 GB, where the file has 2 kB."""
    X, Y = [np.eye(2)] * 4, [["a", "b"]] * 4
    for order in (1, 2):
        SequenceTagger(tol=0.5, order=order).fit(X, Y).save(f"m{order}")
        header, arrays = load_model(f"m{order}")
        n = 20_000
        header["model"]["fields"] |= {"n_labels": n, "label_losses": None}
        arrays.pop("model.label_losses")
        header["classes"] = {"type": "number"}
        arrays["classes"] = np.arange(n)
        save_model(f"m{order}", header, arrays)
    lacks = "the model file lacks 'model.label_losses'; train the model again\n"
    assert told_in_little_room("m1", "m2") == [[3, f"oneslack: m{order}: {lacks}"] for order in (1, 2)]


def test_features_without_end_are_refused_and_many_are_told_quickly(folder):
    X, y = np.eye(4), [1, -1, 1, -1]
    StructuralSVM(Binary(4)).fit(X, y).save("m")
    header, arrays = load_model("m")
    for n_features in (10**8, 10**9, 10**12, 2**61):
        header["model"]["fields"]["n_features"] = n_features
        save_model(f"m{n_features}", header, arrays)
    many, *endless = told_in_little_room(f"m{10**8}", f"m{10**9}", f"m{10**12}", f"m{2**61}")
    assert many == [0, ""]
    assert np.count_nonzero(oneslack.load(f"m{10**8}").coef_) == 4
    for n_features, (code, err) in zip((10**9, 10**12, 2**61), endless, strict=True):
        assert (code, err.count("\n")) == (3, 1)
        assert err.startswith(f"oneslack: m{n_features}: the model file is damaged (")

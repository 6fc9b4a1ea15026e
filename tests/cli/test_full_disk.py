"""Disks that are full: what was trained is kept elsewhere, and nothing is left half-written."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import oneslack

TRAIN = ["train", "classify", "train.svm", "-q", "-o"]


@pytest.fixture
def full(monkeypatch, tmp_path_factory):
    """A function that makes all folders full but one, which it gives the temporary, the home or the current
    one; the others are made."""

    def fill(roomy):
        folders = {"temporary": tmp_path_factory.mktemp("tmp"), "home": tmp_path_factory.mktemp("home")}
        folders["current"] = Path.cwd()
        monkeypatch.setattr(tempfile, "tempdir", str(folders["temporary"]))
        monkeypatch.setenv("HOME", str(folders["home"]))
        room, real = folders.get(roomy), os.replace

        def replace(source, target):
            if room is None or Path(target).parent != room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(source, target)

        monkeypatch.setattr(os, "replace", replace)
        return folders

    return fill


def files(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize("roomy", ["temporary", "home", "current"])
def test_a_model_is_saved_elsewhere(trained, run, full, roomy):
    (trained / "out").mkdir()
    (trained / "out" / "model").write_bytes(b"old")
    folders = full(roomy)
    before = {name: files(folder) for name, folder in folders.items()}
    done = run(*TRAIN, "out/model")
    assert (done.code, done.out, done.err.count("\n")) == (3, "", 1)
    assert "out/model: cannot be written (No space left on device); the model is saved as " in done.err
    place = Path(done.err.partition(" is saved as ")[2].partition(" instead")[0])
    assert place.resolve().parent == folders[roomy]
    np.testing.assert_array_equal(oneslack.load(place).coef_, oneslack.load("model").coef_)
    assert run("predict", place, "train.svm").out == run("predict", "model", "train.svm").out
    place.unlink()
    assert {name: files(folder) for name, folder in folders.items()} == before
    assert files(trained / "out") == ["model"]
    assert (trained / "out" / "model").read_bytes() == b"old"


def test_where_there_is_no_room_at_all_nothing_is_left(trained, run, full):
    folders = full(None)
    before = {name: files(folder) for name, folder in folders.items()}
    content = Path("model").read_bytes()
    done = run(*TRAIN, "model")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert "nor does the model fit into the temporary, the home or the current folder" in done.err
    assert {name: files(folder) for name, folder in folders.items()} == before
    assert Path("model").read_bytes() == content


def test_a_folder_that_went_away_while_training(trained, run, monkeypatch):
    Path("out").mkdir()
    real = oneslack.LinearSVC.fit

    def fit(self, *args, **kwargs):
        Path("out").rmdir()
        return real(self, *args, **kwargs)

    monkeypatch.setattr(oneslack.LinearSVC, "fit", fit)
    done = run(*TRAIN, "out/model")
    assert done.code == 3
    assert "out/model: cannot be written (No such file or directory); the model is saved as " in done.err


@pytest.mark.parametrize(
    "command",
    [["predict", "model", "train.svm"], ["report", "model"], ["report", "model", "--data", "train.svm"]],
)
def test_other_outputs_are_whole_or_not_there(trained, run, full, command):
    Path("out").write_text("old")
    before = files(full(None)["current"])
    done = run(*command, "-o", "out")
    assert done.err == (
        "oneslack: out: cannot be written (No space left on device); make room, or name another place.\n"
    )
    assert (done.code, done.out) == (3, "")
    assert Path("out").read_text() == "old"
    assert files(trained) == before


@pytest.mark.filterwarnings("default")
def test_a_checkpoint_without_room_does_not_cost_the_model(folder, run, monkeypatch):
    real = os.replace

    def replace(source, target):
        if "kept" in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    done = run(*TRAIN, "model", "--checkpoint", "kept", "--max-iter", "1", "--solver", "one_slack")
    assert done.code == 4
    assert done.err.startswith("oneslack: kept/0.checkpoint: the checkpoint cannot be written (No space left")
    assert oneslack.load("model").n_iter_ == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
@pytest.mark.parametrize("command", [["predict", "model", "train.svm"], ["info", "model"]])
def test_a_full_disk_behind_stdout(trained, command):
    with open("/dev/full", "w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "oneslack", *command], stdout=out, stderr=subprocess.PIPE, text=True
        )
    told = "the output cannot be written whole (No space left on device); make room and run it again."
    assert done.stderr == f"oneslack: {told}\n"
    assert done.returncode == 3

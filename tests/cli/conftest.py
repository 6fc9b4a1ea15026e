"""Small files and trained models for the tests of the command line."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from oneslack.cli import main, progress
from oneslack.formats import write_svmlight

SVMLIGHT = "".join(
    f"{label} 1:{1 + 0.1 * k:.1f} 3:{sign * (2 + 0.2 * k):.1f}\n"
    for k in range(10)
    for label, sign in ((1, 1), (-1, -1))
)
CSV = "width,height,kind\n" + "".join(
    f"{1 + 0.1 * k:.1f},{height + 0.2 * k:.1f},{kind}\n"
    for k in range(8)
    for kind, height in (("low", 0), ("middle", 5), ("high", 10))
)


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command line in this process: its exit code, stdout and stderr.  A slow machine must not write
    lines of progress that a quick one does not, nor one that has to compile."""
    monkeypatch.setattr(progress, "LINE_INTERVAL", math.inf)
    monkeypatch.setattr(progress.PlainLines, "compiling", progress.Silence.compiling)

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=int(code), out=out, err=err)

    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with train.svm (3 features) and kinds.csv (2 features, 3 classes)."""
    (tmp_path / "train.svm").write_text(SVMLIGHT)
    (tmp_path / "kinds.csv").write_text(CSV)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def queries(folder):
    """The folder with 90 items of 9 queries, grades 0 to 3, in queries.svm, queries.csv and queries.npz."""
    rng = np.random.default_rng(1)
    X, group = rng.normal(size=(90, 4)).round(3), np.repeat(np.arange(9), 10)
    y = np.clip(np.round(X @ [1.0, -1.0, 0.5, 0.0] + 0.7 * rng.normal(size=90) + 1), 0, 3).astype(int)
    write_svmlight("queries.svm", X, y, group)
    rows = (
        ",".join(map(str, [f"q{g}", *row, grade])) for g, row, grade in zip(group, X.tolist(), y.tolist())
    )
    (folder / "queries.csv").write_text("query,a,b,c,d,grade\n" + "\n".join(rows) + "\n")
    np.savez("queries.npz", X=X, y=y, qid=group)
    return SimpleNamespace(path=folder, X=X, y=y, group=group)


@pytest.fixture
def two_classes(folder):
    """The folder with two.svm: 120 overlapping examples, a third of them of the class 1, the others 0."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 3)).round(3)
    y = (X @ [1.0, 1.0, -1.0] + rng.normal(size=120) > 0.8).astype(int)
    write_svmlight("two.svm", X, y)
    return SimpleNamespace(path=folder, X=X, y=y)


@pytest.fixture
def trained(folder, run):
    """The folder with `model`, trained on train.svm."""
    assert run("train", "classify", "train.svm", "-o", "model", "--quiet").code == 0
    return folder


@pytest.fixture
def trained_on_csv(folder, run):
    """The folder with `kinds.model`, trained on kinds.csv."""
    done = run("train", "classify", "kinds.csv", "-o", "kinds.model", "-q", "--solver", "one_slack")
    assert done.code == 0
    return folder

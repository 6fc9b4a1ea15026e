"""Small files and a trained model for the tests of the command line."""

from types import SimpleNamespace

import pytest

from oneslack.cli import main

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
def run(capsys):
    """Run a command line in this process: its exit code, stdout and stderr."""

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

"""Small files of the older programs, and their command lines in the test's own process."""

from __future__ import annotations

import pytest
from adapters.programs.old_files import points

from oneslack.adapters import programs
from oneslack.formats import write_svmlight


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """Runs `run("svm_learn -c 1 train model")`: its standard output, after an exit code of 0."""

    def command(line):
        name, *words = line.split()
        code = programs.main(name, words)
        said = capsys.readouterr()
        assert code == 0, said.err
        return said.out

    return command


@pytest.fixture
def refused(folder, capsys):
    """The sentence on stderr of a command line that ends with 1 and leaves no model behind."""

    def command(line):
        name, *words = line.split()
        assert programs.main(name, words) == 1
        assert not (folder / "model").exists()
        return capsys.readouterr().err

    return command


@pytest.fixture
def two_classes(folder):
    """X, y of -1 and +1, in the files train and test."""
    X, y = points(60, 5)
    write_svmlight("train", X[:40], 2 * y[:40] - 1)
    write_svmlight("test", X[40:], 2 * y[40:] - 1)
    return X, 2 * y - 1

"""The newcomer's walk, step by step, in this process; `make release-check` takes it with the wheel."""

import contextlib
import io

import newcomer
import pytest

from oneslack.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("newcomer")


def in_this_process(*words, code=0):
    """A new process would spend its seconds on imports."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        assert main([*words]) == code, said.getvalue()
    return said.getvalue()


@pytest.mark.parametrize("step", newcomer.STEPS, ids=lambda step: step.__name__)
def test_the_walk(step, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(newcomer, "oneslack", in_this_process)
    step(say=lambda *words: None)

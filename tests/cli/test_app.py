import subprocess
import sys
from typing import get_args

import pytest

import oneslack
from oneslack.cli.options import TableFormat, TaggedFormat
from oneslack.cli.output import Exit
from oneslack.formats.registry import FORMATS


def test_version(run):
    done = run("--version")
    assert (done.code, done.out) == (0, f"oneslack {oneslack.__version__}\n")


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["train"],
        ["train", "classify"],
        ["train", "rank"],
        ["train", "ordinal"],
        ["predict"],
        ["evaluate"],
        ["info"],
        ["demo"],
    ],
)
def test_help(run, command):
    done = run(*command, "--help")
    assert done.code == 0
    assert f"Usage: oneslack {' '.join(command)}".strip() in done.out


def test_no_command_shows_help(run):
    for command in ([], ["train"]):
        done = run(*command)
        assert "Commands:" in done.out + done.err
        assert done.code == Exit.USAGE


def test_help_names_every_exit_code(run):
    text = run("--help").out
    for code in Exit:
        assert f"  {code.value:<4} {code.meaning}" in text


def test_help_imports_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib'}"
    code = (
        "import sys; from oneslack.cli import main; main(['--help']); "
        f"sys.exit(len({heavy} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_an_unexpected_error_is_one_sentence(folder, run, monkeypatch):
    def broken(*args):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("oneslack.cli.data.read_any", broken)
    done = run("info", "train.svm")
    assert done.code == Exit.UNEXPECTED
    assert done.err.count("\n") == 1
    assert "unexpected RuntimeError: two lines" in done.err
    monkeypatch.setenv("ONESLACK_DEBUG", "1")
    with pytest.raises(RuntimeError):
        run("info", "train.svm")


@pytest.mark.parametrize(("listed", "holds"), [(TaggedFormat, "sentences"), (TableFormat, "table")])
def test_formats_to_choose_from_are_those_of_the_registry(listed, holds):
    assert get_args(listed) == tuple(entry.name for entry in FORMATS.values() if entry.holds == holds)

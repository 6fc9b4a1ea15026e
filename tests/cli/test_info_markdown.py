"""`oneslack info --markdown`: tables that a bug report can hold."""

import importlib.util
import platform

import numba
import pytest

import oneslack


def rows(text):
    """{name: words} of all tables."""
    assert all(line.startswith("| ") or line in ("", "|---|---|") for line in text.splitlines())
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {cell[0]: cell[1] for cell in cells if len(cell) == 2}


def test_versions_alone(run):
    done = run("info", "--markdown")
    assert (done.code, done.err) == (0, "")
    found = rows(done.out)
    assert found["oneslack"] == oneslack.__version__
    assert found["Python"].startswith(platform.python_version())
    assert found["numba"] == numba.__version__
    assert ("ray" in found) == (importlib.util.find_spec("ray") is not None)


def test_a_model_and_versions(trained, run):
    found = rows(run("info", "--markdown", "model").out)
    assert found["holds"] == "a LinearSVC model"
    assert "above the optimum" in found["certificate"]
    assert found["oneslack"] == oneslack.__version__


def test_a_bar_does_not_end_its_cell(folder, run):
    (folder / "bars.csv").write_text("a,b,kind\n1,2,x|y\n3,1,z\n1,1,z\n")
    done = run("info", "--markdown", "bars.csv")
    assert "x\\|y" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"), [([], "Missing argument 'MODEL|FILE'"), (["--json", "--markdown"], "do not go")]
)
def test_what_cannot_be(arguments, words, run):
    done = run("info", *arguments)
    assert done.code == 2
    assert words in done.err

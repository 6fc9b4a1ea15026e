"""The types that `py.typed` promises: every public signature has them, and checkers read them as users would.

`make release-check` runs mypy on typed_user.py with the wheel installed; here it runs where mypy is at hand.
"""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import oneslack

HERE = Path(__file__).parent
USER = HERE / "typed_user.py"
PACKAGE = Path(oneslack.__file__).parent
CLASSES = [value for name in oneslack.__all__ if inspect.isclass(value := getattr(oneslack, name))]
ESTIMATORS = [cls for cls in CLASSES if hasattr(cls, "fit")]
FUNCTIONS = [value for name in oneslack.__all__ if inspect.isfunction(value := getattr(oneslack, name))]


def test_checkers_are_told_of_the_names_that_are_imported_late():
    body = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body
    told = {
        one.asname: f"oneslack.{node.module}"
        for node in body
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for one in node.names
    }
    assert told == {name: f"oneslack.{home}" for name, home in oneslack._HOME.items()}


def own_methods(cls):
    """The constructor and the public methods that are written in oneslack."""
    found = {name: getattr(cls, name) for name in dir(cls) if not name.startswith("_") or name == "__init__"}
    found = {name: inspect.unwrap(value) for name, value in found.items() if inspect.isroutine(value)}
    return [value for value in found.values() if (value.__module__ or "").startswith("oneslack")]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_estimators_have_types(cls):
    for method in own_methods(cls):
        assert not untyped(method), f"{method.__qualname__}: {untyped(method)}"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_have_types(function):
    assert not untyped(function)


def untyped(function):
    """The parameters without a type, and "return"."""
    signature = inspect.signature(function)
    found = [
        name
        for name, one in signature.parameters.items()
        if name not in ("self", "cls") and one.annotation is one.empty
    ]
    return found + ["return"] * (signature.return_annotation is signature.empty)


def test_what_has_no_type_is_found():
    def half(x: int, y):
        return x + y

    assert untyped(half) == ["y", "return"]


def refused(output):
    """The numbers of the lines of typed_user.py that a checker refuses."""
    return sorted({int(line) for line in re.findall(r"typed_user\.py:(\d+)(?::\d+)?:? (?:- )?error", output)})


@pytest.mark.slow
def test_mypy_reads_them():
    pytest.importorskip("mypy", reason="`make release-check` brings mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", str(USER)]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = USER.read_text(encoding="utf-8").splitlines()
    expected = [number for number, line in enumerate(lines, 1) if "# error: " in line]
    assert refused(done.stdout) == expected, done.stdout + done.stderr

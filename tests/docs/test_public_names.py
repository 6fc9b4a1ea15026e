"""Every public name has a docstring, with shapes where it takes arrays, and an example that runs."""

import doctest
import importlib
import inspect
import re
import sys

import pytest

import oneslack

#: Modules whose names are public beside those of `oneslack` itself.
MODULES = ("viz", "formats", "features", "metrics", "trees", "engines", "datasets", "loggers")
#: Parameters that are arrays, or sequences of examples.
ARRAYS = {"X", "Y", "y", "w", "scores", "sample_weight", "predicted", "groups", "qid", "y_true", "y_pred"}
#: A shape, as (n,), (n, d), "array of shape"; or what takes its place where examples are no rows.
SHAPE = re.compile(r"\(\w+,\)|\(\w+(, [\w' +]+)+\)|of shape|sequences? of|list of|one for each|sentences")


def public_names():
    """{name after `oneslack.`: what it is}."""
    names = {name: getattr(oneslack, name) for name in oneslack.__all__ if name != "__version__"}
    for part in MODULES:
        module = importlib.import_module(f"oneslack.{part}")
        listed = getattr(module, "__all__", None) or [
            name for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        ]  # fmt: skip
        names |= {f"{part}.{name}": getattr(module, name) for name in listed}
    return names


NAMES = public_names()


@pytest.mark.parametrize("name", NAMES)
def test_has_a_docstring_with_an_example(name, tmp_path, monkeypatch):
    value = NAMES[name]
    text = inspect.getdoc(value)
    assert text
    assert ">>>" in text, f"oneslack.{name} has no example"
    monkeypatch.chdir(tmp_path)
    module = sys.modules[value.__module__]
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder(recurse=False).find(
        value, name, module=module, globs=vars(module).copy()
    ):
        assert runner.run(test).failed == 0


def functions_of(value):
    """The functions of a public name, itself or its public methods of ours, with what describes each."""
    if not inspect.isclass(value):
        return {"": (value, inspect.getdoc(value))}
    found = {"__init__": (value, inspect.getdoc(value))}
    for one in value.__mro__:
        if one.__module__.startswith("oneslack"):
            found |= {
                name: (function, inspect.getdoc(getattr(value, name)))
                for name, function in vars(one).items()
                if inspect.isfunction(function) and not name.startswith("_") and name not in found
            }
    return found


@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(NAMES[name], "fit")])
def test_public_methods_have_docstrings(name):
    for method, (_, text) in functions_of(NAMES[name]).items():
        assert text, f"{name}.{method}"


@pytest.mark.parametrize("name", NAMES)
def test_arrays_have_shapes(name):
    for method, (function, text) in functions_of(NAMES[name]).items():
        if method not in ("", "__init__") and not hasattr(NAMES[name], "fit"):
            continue  # methods of models and solvers are told in protocols.py
        try:
            taken = set(inspect.signature(function).parameters) & ARRAYS
        except ValueError:
            continue
        if taken:
            assert SHAPE.search(text or ""), f"{name}.{method} takes {sorted(taken)} of what shape?"

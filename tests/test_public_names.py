"""Every public name has a docstring with an example that runs."""

import doctest
import inspect
import sys

import pytest

import oneslack

NAMES = [name for name in oneslack.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_has_a_docstring_with_an_example(name, tmp_path, monkeypatch):
    value = getattr(oneslack, name)
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


@pytest.mark.parametrize("name", NAMES)
def test_public_methods_have_docstrings(name):
    value = getattr(oneslack, name)
    if not inspect.isclass(value) or not hasattr(value, "fit"):
        return
    for one in value.__mro__:
        if one.__module__.startswith("oneslack"):
            for method, function in vars(one).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    assert inspect.getdoc(getattr(value, method)), f"{name}.{method}"

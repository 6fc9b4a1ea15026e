"""The reference is made from the docstrings: all names are there, and parameters are those of the code."""

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import oneslack

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
api_pages = importlib.import_module("api_pages")

NAMES = api_pages.public_names()
ESTIMATORS = [name for name, value in NAMES.items() if inspect.isclass(value) and hasattr(value, "fit")]


def test_every_name_is_listed_once():
    index = api_pages.index()
    for name in NAMES:
        assert index.count(f"[`{name}`]({api_pages.path_of(name)})") == 1
    assert set(oneslack.__all__) - {"__version__"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_whole(name):
    page = api_pages.pages()[api_pages.path_of(name)]
    assert page.startswith(f"# {name}\n")
    assert page.count("```") % 2 == 0
    outside = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    assert ">>>" not in outside  # all examples are code
    assert not re.search(r"\]\([^)]*\)", outside)  # nothing turned into a link by accident


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_those_of_the_constructor(name):
    text = inspect.getdoc(NAMES[name])
    section = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    documented = [
        one
        for line in section.splitlines()
        if not line.startswith(" ")
        for one in line.partition(" : ")[0].split(", ")
    ]
    assert documented == list(inspect.signature(NAMES[name]).parameters)


def test_entries_and_escapes():
    text = "Of a *thing*.\n\nParameters\n----------\nC : float, default=1.0\n    Weight of [x].\na, b : int\n"

    def thing():
        pass

    thing.__doc__ = text
    page = api_pages.docstring(thing)
    assert "Of a \\*thing\\*." in page
    assert "- `C` (float, default=1.0):\n    Weight of \\[x\\]." in page
    assert "- `a, b` (int):" in page


def test_links_out_of_the_docs_lead_to_pages():
    pytest.importorskip("mkdocs")
    import site_hooks

    text = "see [a](../examples/matching.py), [b](../benchmarks/RESULTS.md#kernels) and [c](tag.md#x)"
    expected = "see [a](examples/matching.md), [b](benchmarks/RESULTS.md#kernels) and [c](tag.md#x)"
    assert site_hooks.outward(text) == expected
    listed = [
        page for section in site_hooks.sections(ROOT / "docs" / "index.md") for page in section.values()
    ]
    files = {path for pages in listed for page in pages for path in page.values()}
    assert files == {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}


def test_code_has_no_page():
    pytest.importorskip("mkdocs")
    import site_hooks

    assert site_hooks.inward("[`normals`](../src/oneslack/x.py), [t](tests/a.py)") == "`normals`, t"
    assert site_hooks.inward("[a](../docs/tag.md), [b](docs/tag.md)") == "[a](../tag.md), [b](tag.md)"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_defaults_are_those_of_the_constructor(name):
    section = inspect.getdoc(NAMES[name]).split("Parameters\n----------\n")[1].split("\n\n")[0]
    parameters = inspect.signature(NAMES[name]).parameters
    for line in section.splitlines():
        if line.startswith(" ") or "default=" not in line:
            continue
        names, _, default = line.partition(" : ")[0], *line.partition("default=")[1:]
        names, said = names.split(", "), default.split(" (")[0].replace("_", "").split(" and ")
        for one, text in zip(names, said if len(said) == len(names) else said * len(names), strict=True):
            assert _is_written(parameters[one].default, text.strip()), line


def _is_written(value, text):
    """Whether a docstring's text is this default: "auto", None, 1e-3, 3."""
    if isinstance(value, str):
        return text == f'"{value}"'.replace("_", "")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text == repr(value)
    return re.fullmatch(r"[\d.e*-]+", text) is not None and eval(text) == value  # digits, as 2**31

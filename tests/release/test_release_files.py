"""What a release is made of says the same everywhere: versions, dependencies, supported Pythons, files."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

import oneslack

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def yaml_of(name):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(read(name))


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("CHANGELOG.md", r"^## (\d\S*)"),
        ("conda/recipe.yaml", r'^  version: "(\S+)"$'),
    ],
)
def test_the_version_is_the_same_everywhere(name, pattern):
    assert re.search(pattern, read(name), re.MULTILINE).group(1) == oneslack.__version__


def test_conda_installs_what_pip_installs():
    recipe = yaml_of("conda/recipe.yaml")
    wanted = {
        re.sub(r"\s", "", one) for one in recipe["requirements"]["run"] if not one.startswith("python ")
    }
    assert wanted == set(PROJECT["dependencies"])
    (entry,) = recipe["build"]["python"]["entry_points"]
    name, target = entry.split(" = ")
    assert PROJECT["scripts"] == {name: target}
    assert PROJECT["requires-python"] == f">={recipe['context']['python_min']}"


def test_every_python_that_is_named_is_tested_on_three_systems():
    matrix = yaml_of(".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert matrix["python"] == named


@pytest.mark.parametrize("name", ["bug", "idea", "docs"])
def test_issue_forms_ask_something(name):
    form = yaml_of(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert {"name", "description", "body"} <= set(form)
    assert len({part["id"] for part in form["body"]}) == len(form["body"])
    assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_the_archive_holds_what_its_tests_read():
    for name in PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / name).exists() or name == "src", name


def test_the_oldest_dependencies_are_those_of_pyproject():
    spec = importlib.util.spec_from_file_location("release_check", Path(__file__).with_name("check.py"))
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    constraints = check.oldest()
    assert "numpy==2.0.*" in constraints
    assert len(constraints) == len(PROJECT["dependencies"]) + 1
    assert all(re.fullmatch(r"[A-Za-z-]+==[\d.]+\.\*", one) for one in constraints)

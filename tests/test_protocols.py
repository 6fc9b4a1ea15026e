"""problems/contract.py lists every name of a problem that the driver, solvers and their memory touch."""

import ast
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from public_problems import PROBLEMS, SOLVERS

import oneslack
from oneslack.problems import contract
from oneslack.problems.capabilities import Capable, Scores, Shares, Smooth
from oneslack.problems.columns import Columns

ROOT = Path(oneslack.__file__).parent
WATCHED = ("solvers", "memory", "certificate", "kernels", "driver.py", "checks/first_look.py")
#: Asked for by getattr alone, and of a class.
OPTIONAL = {"names_examples", "__class__", "__dict__"}
LISTED = {
    Capable: ("Problem", "KernelExpansions", "Elsewhere"),
    Scores: ("ProblemScores",),
    Shares: ("ProblemShares",),
    Smooth: ("ProblemSmooth",),
    Columns: ("ProblemColumns",),
}


def listed(kind):
    """The names that the protocols of a kind of object have."""
    found = set()
    for name in LISTED[kind]:
        protocol = getattr(contract, name)
        found |= set(protocol.__annotations__) | {each for each in vars(protocol) if not each.startswith("_")}
    return found


def is_watched(path):
    try:
        return str(Path(path).relative_to(ROOT)).startswith(WATCHED)
    except ValueError:
        return False


@pytest.fixture
def touched(monkeypatch):
    """{kind of object: names that watched files ask it for}."""
    found = {kind: set() for kind in LISTED}

    def watch(kind):
        def get(self, name):
            if is_watched(sys._getframe(1).f_code.co_filename):
                found[kind].add(name)
            return object.__getattribute__(self, name)

        monkeypatch.setattr(kind, "__getattribute__", get, raising=False)

    for kind in LISTED:
        watch(kind)
    return found


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_touched_is_listed(name, touched, tmp_path):
    for number, solver in enumerate(SOLVERS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        problem = PROBLEMS[name](folder)
        with suppress(ValueError):  # a refusal, which test_choose_solver.py looks at
            oneslack.solve(problem, solver, tol=1e-2)
        if hasattr(getattr(problem, "engine", None), "close"):
            problem.engine.close()
    for kind, names in touched.items():
        assert names - OPTIONAL <= listed(kind)
    assert touched[Capable]


def test_what_is_listed_is_touched():
    """Somewhere in the text: nobody lists what nobody needs."""
    trees = [ast.parse(path.read_text()) for path in ROOT.rglob("*.py") if is_watched(path)]
    read = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    optional = {"chosen", "prove", "estimate"}  # asked for by hasattr and getattr
    assert {name for kind in LISTED for name in listed(kind)} - read - optional == set()

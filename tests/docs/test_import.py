"""Importing oneslack is cheap and silent, and all its public names are there."""

import json
import subprocess
import sys

import pytest

import oneslack


def python(code):
    """Run code in a fresh interpreter where warnings are errors; its last line is JSON."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return json.loads(run.stdout.splitlines()[-1])


def test_import_brings_in_nothing_heavy():
    loaded = python("import oneslack, sys, json; print(json.dumps(sorted(sys.modules)))")
    assert "oneslack" in loaded
    assert not {"numba", "sklearn", "scipy", "llvmlite", "matplotlib"} & set(loaded)


def test_the_core_compiles_nothing_until_it_trains():
    """Models, problems and solvers by name only: no numba, no scikit-learn."""
    code = """
import json, sys
import numpy as np
import oneslack
from oneslack import Binary, DualCD, Multiclass, Newton, OneSlack, Problem, minimize
problem = Problem(Binary(1), np.ones((2, 1)), [1, -1])
result = minimize(lambda w: (float(abs(w[0] - 1)), np.sign(w - 1)), 1)
assert result.gap <= 1e-3
print(json.dumps([name for name in ("numba", "sklearn") if name in sys.modules]))
"""
    assert python(code) == []


def test_compiling_needs_no_scikit_learn():
    code = """
import json, sys
import numpy as np
from oneslack import Binary, Problem, solve
solve(Problem(Binary(1), np.ones((2, 1)), [1, -1]))
print(json.dumps(["numba" in sys.modules, "sklearn" in sys.modules]))
"""
    assert python(code) == [True, False]


@pytest.mark.parametrize("name", oneslack.__all__)
def test_public_names_resolve(name):
    assert getattr(oneslack, name) is not None
    assert name in dir(oneslack)


def test_public_names_of_the_core_are_all_there():
    core = {
        "solve", "minimize", "Problem", "OneSlack", "DualCD", "Newton", "Result", "Status", "Binary",
        "Multiclass", "LinearSVC", "check_model", "brute_force", "load", "OneslackError",
    }  # fmt: skip
    assert core <= set(oneslack.__all__)
    assert len(oneslack.__all__) == len(set(oneslack.__all__))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'oneslack' has no attribute 'nonsense'"):
        _ = oneslack.nonsense


def test_star_import_gives_the_public_names():
    names = python("from oneslack import *; import json; print(json.dumps(sorted(globals())))")
    assert set(oneslack.__all__) <= set(names)


def test_there_is_a_version():
    assert [part.isdigit() for part in oneslack.__version__.split(".")[:2]] == [True, True]

"""Everything compiled also runs as plain Python: a slice of the suite with NUMBA_DISABLE_JIT=1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]

SLICE = {
    "models/test_chain_model.py": "best_and_worst or slack or k_best or margins or deltas",
    "models/test_measure_models.py": "worst_output or worst_ranking",
    "models/test_ranking_model.py": "small_cases or (medium_cases and 9-None)",
    "memory/test_remembered.py": "rows_again or pools or scattered or cache_remembers or normals_one",
    "models/test_regression_model.py": "(true_and_tight and (empty or example)) or smoothed or keep_what",
    "problems/test_constraint_problem.py": "single_steps or empty_rows or pruning",
    "problems/test_regulariser.py": (
        "(linear_models and dual_cd-all and False-0) or (dual_cd and all-0) or change_of"
    ),
    "solvers/test_streaming.py": "independent_qp and 1- and not multiclass",
    "solvers/test_sampled_cuts.py": "reaches and exact and (three or intercept)",
    "data/test_digests.py": "others_differ or compiled",
    "models/test_grammar_model.py": "blocks",
    "adapters/pystruct/test_inference.py": "methods_find and True",
    "checks/test_check_model.py": "linear_models_pass and (asarray-True or csr_array-False)",
    "solvers/test_solvers.py": (
        "true_and_tight and (empty or one_example or weights) and not (column or large)"
    ),
}


@pytest.mark.slow
def test_without_compilation():
    files = [*SLICE]
    chosen = " or ".join(f"({Path(file).name} and ({SLICE[file]}))" for file in files)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", chosen]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-rp", *(HERE / file for file in files)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    for file in files:
        assert f"PASSED tests/{file}::" in run.stdout
    assert "skipped" not in run.stdout

"""What the quick runs leave out: of grids, no pair of values; of a change, no test that is named after it."""

from itertools import combinations, product
from pathlib import Path

import pytest
from grids import covering
from touched import ROOT, TESTS, import_graph, touched_by


@pytest.mark.parametrize("strength", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(3,), (2, 5), (2, 3, 4), (4, 2, 3, 2, 3)])
def test_what_is_chosen_of_a_grid_holds_every_combination(sizes, strength):
    cases = [dict(enumerate(case)) for case in product(*map(range, sizes))]
    chosen = [cases[number] for number in covering(cases, strength)]
    for names in combinations(range(len(sizes)), strength):
        whole = set(product(*(range(sizes[name]) for name in names)))
        assert {tuple(case[name] for name in names) for case in chosen} == whole
    if strength < len(sizes):
        assert len(chosen) < len(cases)


@pytest.fixture(scope="module")
def graph():
    return import_graph()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("src/oneslack/cli/train.py", {"cli/test_train.py": 1, "cli/test_tag.py": 2}),
        (
            "src/oneslack/solvers/simplex_qp.py",
            {"solvers/test_simplex_qp.py": 1, "solvers/test_solvers.py": 2},
        ),
        ("src/oneslack/_jit/cky.py", {"_jit/test_jit_off.py": 2, "models/test_cky.py": 4}),
        (
            "src/oneslack/_jit/scalar_loss.py",
            {"solvers/test_solvers.py": 4, "problems/test_regulariser.py": 5},
        ),
        ("tests/reference.py", {"solvers/test_solvers.py": 3}),
        ("tests/cli/conftest.py", {"cli/test_tune.py": 2}),
        ("tests/cli/test_tune.py", {"cli/test_tune.py": 0}),
        ("docs/objective.md", {"docs/test_docs.py": 2}),
    ],
)
def test_what_a_change_touches(graph, changed, expected):
    files = sorted(path.relative_to(ROOT) for path in TESTS.rglob("test_*.py"))
    found = touched_by(Path(changed), graph, files)
    assert {name: found.get(Path("tests", name)) for name in expected} == expected

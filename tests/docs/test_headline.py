"""The figures of speed in README, docs and RESULTS.md are those of benchmarks/unseen.csv."""

import importlib.util
import itertools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: "0.31 of LIBLINEAR's time": prose that would drift apart from the file.
SHARE = re.compile(
    r"(\d\.\d+|sixth|fifth|quarter|third|half) of (?:`?)(LIBLINEAR|CRFsuite|LIBOCAS|SVC)(?:`?)'s\s+time"
)


def _overview():
    spec = importlib.util.spec_from_file_location("overview", ROOT / "benchmarks" / "overview.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


overview = _overview()
CASES = overview.read()


def table_of(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    start = lines.index(overview.HEADER)
    return list(itertools.takewhile(lambda line: line.startswith("|"), lines[start:]))


def shares(cases):
    """What prose may claim: a ratio of one case, or the mean of a kind."""
    found = {(case.beside, f"{case.ratio:.2f}") for case in cases}
    for row in list(overview.table(cases))[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        found |= {(cells[1], cells[3]), (cells[1], cells[4])}
    return found


def claims(page, cases):
    """Shares of time in a page that no case gives."""
    known = shares(cases)
    said = SHARE.findall(page.read_text(encoding="utf-8"))
    return [(peer, share) for share, peer in said if (peer, share) not in known]


@pytest.mark.parametrize("page", overview.PAGES, ids=lambda page: page.name)
def test_the_table_of_a_page_is_that_of_the_cases(page):
    assert table_of(page) == list(overview.table(CASES))


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_no_other_share_of_time_stands_in_a_page(page):
    assert not claims(page, CASES)


def test_the_readme_shows_all_on_one_screen():
    """What it is, the install line, a run, the picture and the table stand in its first 50 lines."""
    top = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:50])
    assert top.index("# oneslack") < top.index("pip install") < top.index("```python") < top.index(".svg)")
    assert top.index(".svg)") < top.index(list(overview.table(CASES))[-1])


def test_the_table_tells_means_and_the_worst_by_hand():
    def case(ours, theirs, name):
        return overview.Case("hinge", "LIBLINEAR", name, "C=1", ours, theirs, "")

    rows = list(overview.table([case(0.002, 0.001, "a"), case(0.005, 0.010, "b"), case(0.25, 2.0, "c")]))
    assert rows[2:] == ["| hinge | LIBLINEAR | 3 | 0.50 | 0.25 | 1 | 2.00 (a, C=1) |"]


def test_a_claim_that_no_case_gives_is_found_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("It takes 0.12 of LIBLINEAR's time, and a third of CRFsuite's time.", encoding="utf-8")
    case = overview.Case("hinge", "LIBLINEAR", "a9a", "C=1", 0.012, 0.1, "")
    assert claims(page, [case]) == [("CRFsuite", "third")]

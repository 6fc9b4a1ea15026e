"""The figures of speed in README and docs are those of benchmarks/headline.csv, and of RESULTS.md."""

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADLINE = ROOT / "benchmarks" / "headline.csv"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
#: Pages that have the whole table.
TABLES = ("README.md", "docs/index.md")
NUMBER = re.compile(r"\d+\.\d+")


def read():
    with HEADLINE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def as_row(figure):
    """The line of the table in README and on the front page."""
    share = figure["share"] + (f" ({figure['reservation']})" if figure["reservation"] else "")
    return f"| {figure['training']} | {figure['beside']} | {share} | {figure['worst']} ({figure['where']}) |"


def section(text, heading):
    """A section of RESULTS.md, its lines joined."""
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"RESULTS.md has no section {heading!r}"
    return " ".join(found[1].split())


def differences(figure, results):
    """What RESULTS.md does not say of a figure."""
    quotes = figure["quotes"].split("||")
    text = section(results, figure["section"])
    absent = [quote for quote in quotes if " ".join(quote.split()) not in text]
    told = set(NUMBER.findall(" ".join(quotes)))
    claimed = {figure["share"], figure["worst"], *NUMBER.findall(figure["reservation"])}
    return absent + sorted(claimed - told)


@pytest.mark.parametrize("figure", read(), ids=lambda figure: figure["training"])
def test_a_figure_is_that_of_the_results(figure):
    assert not differences(figure, RESULTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", TABLES)
def test_the_table_is_that_of_the_file(page):
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    start = lines.index("| training | beside | share of its time | worst case |")
    assert lines[start + 2 : start + 2 + len(read())] == [as_row(figure) for figure in read()]
    assert not lines[start + 2 + len(read())].startswith("|")


@pytest.mark.parametrize("figure", read(), ids=lambda figure: figure["training"])
def test_pages_that_tell_a_figure_tell_this_one(figure):
    for page in figure["pages"].split():
        assert figure["share"] in NUMBER.findall((ROOT / page).read_text(encoding="utf-8")), page


def test_no_share_of_time_stands_elsewhere():
    """Prose such as "0.31 of LIBLINEAR's time" in README or docs would drift apart from the file."""
    shares = {(figure["beside"], figure["share"]) for figure in read()}
    pattern = re.compile(r"(\d\.\d+|sixth|fifth|quarter|third|half) of (LIBLINEAR|CRFsuite|LIBOCAS)'s\s+time")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for share, peer in pattern.findall(page.read_text(encoding="utf-8")):
            assert (peer, share) in shares, f"{page.name}: {share} of {peer}'s time"


def test_another_figure_is_found_out():
    figure = read()[0]
    results = RESULTS.read_text(encoding="utf-8")
    assert differences(figure | {"share": "0.30"}, results) == ["0.30"]
    quote = figure["quotes"]
    assert differences(figure, results.replace("geometric mean 0.31", "geometric mean 0.41")) == [quote]


def test_the_readme_shows_all_on_one_screen():
    """What it is, the install line, a run, the picture and the table stand in its first 45 lines."""
    top = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:45])
    assert top.index("# oneslack") < top.index("pip install") < top.index("```python") < top.index(".svg)")
    assert top.index(".svg)") < top.index(as_row(read()[-1]))

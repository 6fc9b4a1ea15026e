"""The code of README and docs runs: page by page, block by block, in an empty folder."""

import os
import re
import shlex
from pathlib import Path

import pytest

from oneslack.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Pages whose links are checked, but whose code is not run.
OTHERS = [
    ROOT / name
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/RESULTS.md", "benchmarks/README.md")
]
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
ANCHOR = re.compile(r"\]\(([^)#:\s]*)#([^)\s]+)\)")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
#: Commands that build or install: what they do is tested elsewhere.
SKIPPED = ("make", "pip", "git", "python3", ".")


def blocks(text):
    """(language, code) of each fenced block."""
    return [match.groups() for match in FENCE.finditer(text)]


def run_page(text):
    """Run a page in the current folder: Python in one namespace, shell lines one by one."""
    namespace = {"__name__": "page"}
    for language, code in blocks(text):
        if language == "python":
            exec(compile(code, "<page>", "exec"), namespace)
        elif language in ("sh", "console"):
            for line in commands(code):
                run_line(line)


def commands(code):
    """The command lines of a block, without prompts, output and comments."""
    lines = code.splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    lines = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return [line for line in lines if line.split()[0] not in SKIPPED]


def run_line(line):
    """Run one command in this process: a new one would spend its time on imports."""
    program, *arguments = shlex.split(line, comments=True)
    if program == "oneslack":
        code = main(arguments)
        assert code == 0, f"{line}: exit code {code}"
    elif program == "python" and arguments[0] == "-c":
        exec(compile(arguments[1], "<line>", "exec"), {"__name__": "line"})
    else:
        raise AssertionError(f"do not know how to run {line!r}")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs(page):
    run_page(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def anchors(text):
    """What links to the headings of a page say after #."""
    outside = FENCE.sub("", text)
    words = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in HEADING.findall(outside)]
    return {re.sub(r"[-\s]+", "-", heading) for heading in words}


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.name)
def test_anchors_are_headings(page):
    for target, anchor in ANCHOR.findall(page.read_text(encoding="utf-8")):
        there = page.parent / target if target else page
        assert anchor in anchors(there.read_text(encoding="utf-8")), f"{page.name}: {target}#{anchor}"


def test_an_anchor_without_a_heading_is_found_out():
    assert anchors("# A `b` c, (d)\n## To *rank*\n```sh\n# no heading\n```\n") == {"a-b-c-d", "to-rank"}


def test_the_model_of_the_docs_is_the_example():
    code = blocks((ROOT / "docs" / "write_your_own_model.md").read_text(encoding="utf-8"))[0][1]
    shown = code[code.index("@dataclass") :].strip()
    assert shown in (ROOT / "examples" / "multilabel.py").read_text(encoding="utf-8")


def test_the_fast_model_of_the_docs_is_the_example():
    code = blocks((ROOT / "docs" / "make_it_fast.md").read_text(encoding="utf-8"))[0][1]
    shown = code[code.index("class Packed") :].strip()
    assert shown in (ROOT / "examples" / "multilabel_fast.py").read_text(encoding="utf-8")


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert page.name == "index.md" or f"]({page.name})" in index


#: Pages of the front page's tasks that train nothing, or the same as others.
NO_OBJECTIVE = ("quantify.md", "feature_templates.md", "larger_than_memory.md", "scaling.md", "segments.md")


def test_the_objective_is_on_the_page_that_trains_it():
    tasks = (
        (ROOT / "docs" / "index.md")
        .read_text(encoding="utf-8")
        .partition("## Tasks")[2]
        .partition("\n## ")[0]
    )
    pages = [page for page in re.findall(r"\]\((\w+\.md)\)", tasks) if page not in NO_OBJECTIVE]
    assert len(pages) >= 13
    for page in [*pages, "write_your_own_model.md"]:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert re.search(r"^    .*½ ?(‖w‖²|Σ)", text, re.MULTILINE), page


def test_every_exit_code_is_documented():
    from oneslack.cli.output import Exit

    text = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    for code in Exit:
        assert f"| {code.value} | {code.meaning}" in text


@pytest.mark.parametrize(
    "page",
    [
        "```python\nassert 1 == 2\n```\n",
        "```python\nx = 1\n```\nwords\n\n```python\nassert x == 2\n```\n",
        "```sh\noneslack info absent.svm\n```\n",
        "```console\n$ oneslack info absent.svm\nsome output\n```\n",
        "```sh\npython -c 'assert False'\n```\n",
        "```sh\nrm -r everything\n```\n",
    ],
)
def test_a_page_can_fail(page):
    with pytest.raises(AssertionError):
        run_page(page)


def test_commands_of_a_block():
    assert commands("$ oneslack info a\noutput\n$ make demo\n") == ["oneslack info a"]
    assert commands("# why\noneslack info a\n\nmake demo\n") == ["oneslack info a"]


def test_pages_hold_code():
    """A fence that the pattern misses would hide its code from the test."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks(text)), os.fspath(page)

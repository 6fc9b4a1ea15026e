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


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


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

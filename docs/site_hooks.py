"""What the documentation site has beside the pages of this folder, for `mkdocs build`.

Pages link to files of the repository (results, examples): those become pages, too.  The order of the pages is
that of index.md, where a test wants every one of them.  The reference is made from the docstrings, and the
gallery by running its scripts.
"""

import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

import api_pages
import gallery_pages

#: Files outside this folder that are pages of the site: where they are, and what they are called.
PAGES = {
    "benchmarks/RESULTS.md": "Results",
    "benchmarks/README.md": "Benchmarks",
    "CONTRIBUTING.md": "Contributing",
    "CHANGELOG.md": "Changes",
}
HEADING = re.compile(r"^## (.+)$")
ENTRY = re.compile(r"- |\d+\. ")
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
SOURCE = re.compile(r"\[([^\]]+)\]\((?:\.\./)?(?:src|tests)/[^)]+\)")
OUTWARD = re.compile(r"\]\(\.\./((?:benchmarks|examples)/[^)]+|[A-Z]+\.md[^)]*)\)")


def on_config(config):
    """The navigation, from index.md and what is made here."""
    listed = sections(ROOT / "docs" / "index.md")
    names = [{name: api_pages.path_of(name)} for name in sorted(api_pages.public_names(), key=str.lower)]
    listed[-1]["Reference"] += names
    config.nav = [
        {"oneslack": "index.md"},
        *listed,
        {
            "Gallery": [
                {page_title(path): f"examples/gallery/{path.stem}.md"} for path in gallery_pages.scripts()
            ]
        },
        {"Examples": [{page_title(path): f"examples/{path.stem}.md"} for path in examples()]},
        {"The project": [{title: path} for path, title in PAGES.items()]},
    ]
    return config


def sections(index):
    """[{heading: [{title: page}]}] of a page of links."""
    found = []
    for line in index.read_text("utf-8").splitlines():
        if heading := HEADING.match(line):
            found.append((heading[1], []))
        elif found and ENTRY.match(line) and (link := LINK.search(line)) and link[2].endswith(".md"):
            found[-1][1].append({link[1].replace("`", ""): link[2]})
    return [{heading: pages} for heading, pages in found if pages]


def on_files(files, config):
    """The files of the repository that are pages, the examples, and the reference."""
    made = {path: (ROOT / path).read_text("utf-8") for path in PAGES}
    made |= {f"examples/{path.stem}.md": example_page(path) for path in examples()}
    made |= api_pages.pages()
    made |= gallery_pages.files()
    for path, text in made.items():
        content = inward(text) if isinstance(text, str) else text
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to files of the repository lead to their pages; the list of names goes below its page."""
    if page.file.src_uri == "api.md":
        return f"{markdown}\n{api_pages.index()}"
    if page.file.src_uri == "gallery.md":
        return outward(gallery_pages.with_pictures(markdown))
    return outward(markdown) if "/" not in page.file.src_uri else markdown


def outward(markdown):
    """`../examples/x.py` is the page examples/x.md, `../benchmarks/RESULTS.md` is benchmarks/RESULTS.md."""
    return OUTWARD.sub(lambda link: f"]({link[1].replace('.py', '.md')})", markdown)


def inward(text):
    """Links of a file of the repository as they are on the site: docs/ is the top, code has no page."""
    text = SOURCE.sub(r"\1", text)
    return text.replace("](../docs/", "](../").replace("](docs/", "](")


def examples():
    """The example files."""
    return sorted((ROOT / "examples").glob("*.py"))


def example_page(path):
    """An example as a page: its own text and code, included, not copied."""
    return f"# {page_title(path)}\n\n`examples/{path.name}`\n\n```python\n{path.read_text('utf-8')}```\n"


def page_title(path):
    return path.stem.replace("_", " ").capitalize()

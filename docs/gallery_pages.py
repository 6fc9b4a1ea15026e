"""The gallery: each script of examples/gallery/ is run; its picture and what it prints make a page."""

import contextlib
import functools
import importlib.util
import io
import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent.parent / "examples" / "gallery"
#: An entry of gallery.md.
ENTRY = re.compile(r"^- \[([^\]]+)\]\(\.\./(examples/gallery/(\w+)\.py)\): (.*)$", re.MULTILINE)


class Made(NamedTuple):
    """What a script gives: its own text, what it printed, and its picture as a PNG."""

    text: str
    printed: str
    picture: bytes


def files():
    """{path on the site: Markdown or PNG} of all scripts."""
    found = {}
    for path in scripts():
        made = run(path, path.read_text("utf-8"))
        found[f"examples/gallery/{path.stem}.md"] = page_of(path, made)
        found[f"examples/gallery/{path.stem}.png"] = made.picture
    return found


def scripts():
    """The scripts in the order of gallery.md."""
    entries = ENTRY.findall((Path(__file__).parent / "gallery.md").read_text("utf-8"))
    return [FOLDER / f"{stem}.py" for _, _, stem, _ in entries]


@functools.cache
def run(path, code):
    """The script once for each state of its code, so that `mkdocs serve` runs what has changed only."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    spec = importlib.util.spec_from_file_location(f"{path.stem}_of_the_gallery", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    printed, picture = io.StringIO(), io.BytesIO()
    with contextlib.redirect_stdout(printed):
        figure, _ = module.main()
    figure.savefig(picture, format="png", dpi=110, metadata={"Software": None})
    pyplot.close("all")
    return Made(module.__doc__, printed.getvalue(), picture.getvalue())


def page_of(path, made):
    """A page: the script's own text, its picture, what it prints, and its code."""
    title, _, text = made.text.strip().partition("\n\n")
    code = path.read_text("utf-8").split('"""', 2)[2].strip()
    return "\n\n".join(
        (
            f"# {title.rstrip('.')}",
            text,
            f"![{title}]({path.stem}.png)",
            f"```text\n{made.printed.strip()}\n```",
            f"`python examples/gallery/{path.name}` trains it again and draws the picture.",
            f"```python\n{code}\n```\n",
        )
    )


def with_pictures(markdown):
    """gallery.md as the site has it: its list is a table with the pictures."""
    rows = ENTRY.sub(
        r"| [![\1](examples/gallery/\3.png)](examples/gallery/\3.md) | [\1](examples/gallery/\3.md): \4 |",
        markdown,
    )
    return rows.replace("\n\n|", "\n\n| | |\n|---|---|\n|", 1)

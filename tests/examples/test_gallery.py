"""The gallery's scripts: each keeps its claim, draws a picture, and is a page of the site."""

import importlib.util
import sys
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "gallery"
sys.path.insert(0, str(ROOT / "docs"))
gallery_pages = importlib.import_module("gallery_pages")

#: What each page says, of the figures that its script tells.
CLAIMS = {
    "text": lambda told: told["right"] > 0.8 and told["macro_f1"] > 0.75 and told["gap"] <= 1e-3,
    "imbalanced_data": lambda told: max(told, key=told.get) == 'MetricSVC("f1")',
    "ranking": lambda told: told["RankSVM"] > told["LinearSVR"] + 0.01 and told["gap"] <= 1e-3,
    "ordinal_grades": lambda told: told["ordinal"] < told["classes"] - 0.1 and told["gap"] <= 1e-3,
    "tagging": lambda told: told["f1"] > 0.9 > told["alone"],
    "parsing": lambda told: told["spans"] == 1.0 > told["rules"] and told["gap"] <= 1e-2,
    "segmentation": lambda told: told["together"] < 0.3 * told["alone"] and told["gap"] <= 1e-2,
    "kernels": lambda told: told["rbf kernel"] > 0.95 and told["linear"] < 0.8,
    "embeddings": lambda told: all(told["embedding"][k] > told["pixels"][k] for k in (2, 5, 10, 20, 50)),
    "larger_than_memory": lambda told: max(low for low, _ in told.values())
    <= min(up for _, up in told.values()),
    "own_model": lambda told: told["learned"] > told["plain"] + 0.1 and told["gap"] <= 1e-3,
    "certificate": lambda told: told["settled"] == sorted(told["settled"]) and told["settled"][-1] > 0.98
    and all(settled <= same for settled, same in zip(told["settled"], told["same"])),
}  # fmt: skip
QUICK = ("own_model", "kernels")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CLAIMS]
)
def test_an_example_keeps_its_claim(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    path = FOLDER / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    figure, told = module.main()
    assert CLAIMS[name](told), told
    figure.savefig("picture.png")
    module.plt.close("all")
    assert [one.name for one in tmp_path.iterdir()] == ["picture.png"]  # it leaves nothing else


def test_the_gallery_has_every_script_and_no_other():
    names = {path.stem for path in FOLDER.glob("*.py")}
    assert names == {path.stem for path in gallery_pages.scripts()} == set(CLAIMS)
    assert len(names) == 12


def test_scripts_are_short_and_need_no_data():
    for path in FOLDER.glob("*.py"):
        code = path.read_text("utf-8")
        assert len(code.splitlines()) <= 110, path.name
        assert "fetch_" not in code, path.name
        assert f'savefig("{path.stem}.png")' in code, path.name


SCRIPT = '''"""Points: three of them.

They stand in a line.
"""

import matplotlib.pyplot as plt


def main():
    print("three points")
    figure, ax = plt.subplots()
    ax.plot([1, 2, 3])
    return figure, {}
'''


def test_a_page_has_text_picture_output_and_code(tmp_path):
    path = tmp_path / "points.py"
    path.write_text(SCRIPT)
    made = gallery_pages.run(path, SCRIPT)
    page = gallery_pages.page_of(path, made)
    assert made.picture.startswith(b"\x89PNG")
    title, text, picture, printed, _, *code = page.split("\n\n")
    assert title == "# Points: three of them"
    assert text == "They stand in a line."
    assert picture.endswith("(points.png)")
    assert printed == "```text\nthree points\n```"
    assert code[0].startswith("```python\nimport matplotlib")
    assert page.count("They stand") == 1


def test_the_list_becomes_a_table_with_pictures():
    markdown = gallery_pages.with_pictures((ROOT / "docs" / "gallery.md").read_text("utf-8"))
    assert markdown.count("| [![") == 12
    assert (
        "\n| | |\n|---|---|\n| [![Text](examples/gallery/text.png)](examples/gallery/text.md) | [Text]"
        in markdown
    )
    assert "../examples/gallery/" not in markdown.replace("`python", "")

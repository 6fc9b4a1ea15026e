"""The example of operators: it runs, is short, and learns what Python knows."""

import importlib.util
from pathlib import Path

import pytest

from oneslack.trees import Tree

PATH = Path(__file__).parents[2] / "examples" / "precedence.py"


def load():
    spec = importlib.util.spec_from_file_location("precedence_example", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_precedence_is_learned_back(capsys):
    example = load()
    parser, learned, unlearned = example.main()
    printed = capsys.readouterr().out
    assert "certified relative gap" in printed
    assert "└─ Not" in printed
    assert parser.result_.certified
    assert learned > 0.9
    assert unlearned < 0.5
    for text in ("x + x * x", "x * x + x", "x - x - x", "x or x and x", "not x == x", "x + x < x and x"):
        assert parser.predict([text.split()])[0] == example.python_tree(text.split())


def test_only_what_needs_no_brackets_is_learned_from(tmp_path):
    example = load()
    (tmp_path / "a.py").write_text("(a + b) * c\na + b * c\nf(1) - -g[2]\nx == (y or z)\na * (not b)\n")
    found = {" ".join(tree.words()): tree for tree in example.expressions([tmp_path / "a.py"])}
    assert list(found) == ["x + x * x", "x - - x"]
    assert found["x - - x"] == Tree.parse("(Sub (x x) (- -) (USub (- -) (x x)))")


def test_the_example_is_short():
    assert len(PATH.read_text(encoding="utf-8").splitlines()) < 100

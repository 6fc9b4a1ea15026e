"""examples/label_sets.py and examples/segments.py run, and show what they say."""

import importlib.util
from pathlib import Path


def load(name):
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_labels_that_depend_on_each_other():
    found = load("label_sets").main()
    assert found["full"]["hamming_loss"] < found["none"]["hamming_loss"]
    assert found["full"]["example_f1"] > found["none"]["example_f1"]


def test_a_dearer_miss_tells_more_bursts():
    found = load("segments").main()
    assert found[3.0][1] > found[1.0][1]
    assert found[3.0][0] > 0.4

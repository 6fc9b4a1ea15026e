import pytest

from oneslack.cli import demo


@pytest.fixture(autouse=True)
def in_a_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_demo_draws_and_compares(tmp_path, run, monkeypatch, whole):
    pytest.importorskip("matplotlib")
    if not whole:
        monkeypatch.setattr(demo, "_tasks", lambda tasks=demo._tasks: tasks()[:1])
    done = run("demo")
    assert done.code == 0, done.err
    assert (tmp_path / "demo-output" / "convergence.png").read_bytes().startswith(b"\x89PNG")
    for word in ("Breast cancer", "certified", "scikit-learn"):
        assert word in done.out
    assert ("Handwritten digits" in done.out) == whole
    assert "no lower bound" not in done.out


def test_without_a_picture(tmp_path, run, monkeypatch):
    monkeypatch.setattr(demo, "_tasks", list)
    assert run("demo", "--no-plot").code == 0
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setattr(demo, "_tasks", list)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    done = run("demo")
    assert done.code == 0
    assert 'pip install "oneslack[plot]"' in done.out

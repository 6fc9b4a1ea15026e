"""Checkpoints that lie, though their checksum fits: a sentence that names the file, or a run that goes on."""

import json
import warnings

import numpy as np
import pytest
from forged_files import forgeries
from memory.test_checkpoint import RUNS, binary, cut_short

from oneslack import OneSlack, OneslackError, solve
from oneslack.formats import load_model, save_model


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("oneslack.formats.atomic.os.fsync", lambda descriptor: None)
    return tmp_path / "run"


def forge(name, path, share):
    """How many forgeries, of which a share is tried, are refused."""
    make, solver = RUNS[name]
    problem, refused, rng = make(), 0, np.random.default_rng(0)
    solve(problem, solver, tol=1e-9, max_iter=2, checkpoint=path)
    header, arrays = load_model(path)
    for what, forged_header, forged_arrays in forgeries(header, arrays):
        if rng.random() >= share:
            continue
        save_model(path, forged_header, forged_arrays)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # absurd numbers overflow
                solve(problem, solver, tol=1e-9, max_iter=4, checkpoint=path, resume=True)
        except OneslackError as error:
            told, refused = str(error), refused + 1
            if not told.startswith(f"{path}: ") or "\n" in told:
                pytest.fail(f"{what}: {told}")
        except BaseException as error:
            error.add_note(what)
            raise
    return refused


@pytest.mark.parametrize("name", RUNS)
def test_some_forgeries(name, path):
    # The stretches of a chain have the most arrays that compiled loops find their way by.
    assert forge(name, path, 0.2 if name == "dual_cd, chain" else 0.04) > 5


@pytest.mark.parametrize("change", [lambda w: w[:-1], lambda w: w[:0], lambda w: np.append(w, 1.0)])
def test_newton_goes_on_from_a_point_of_the_problem_only(path, change):
    make, solver = RUNS["newton"]
    problem = make()
    state = solve(problem, solver, tol=1e-9, max_iter=2).state
    with pytest.raises(ValueError, match="the weights are not 6 finite numbers"):
        next(solver.steps(problem, state | {"w": change(state["w"])}))


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_all_forgeries(name, path):
    assert forge(name, path, 1.0) > 200


FORGED = {
    "no header": (lambda header, arrays: {}, "is a model, not a checkpoint"),
    "of nothing": (lambda header, arrays: header | {"about": 3}, "does not say what it is of"),
    "nothing saved": (lambda header, arrays: header | {"saved": None}, "is damaged"),
    "of a new kind": (
        lambda header, arrays: _replaced(header, '"tuple"', '"set"'),
        "kind 'set' are not known",
    ),
    "two at once": (
        lambda header, arrays: _replaced(header, '"tuple": ', '"list": [], "dict": '),
        "where one",
    ),
    "no such status": (
        lambda header, arrays: _replaced(header, '["done", null]', '["done", "ALL"]'),
        "'ALL'",
    ),
    "weights of another": (lambda header, arrays: _shorter(header, arrays, "w"), "are not 5 finite numbers"),
    "no trace": (lambda header, arrays: _shorter(header, arrays, "iteration"), "is damaged"),
}


def _replaced(header, old, new):
    text = json.dumps(header)
    assert old in text
    return json.loads(text.replace(old, new))


def _shorter(header, arrays, name):
    """Takes one number from the last array of this name."""
    place = json.dumps(header).rpartition(f'["{name}", {{"array": "')[2].partition('"')[0]
    arrays[place] = arrays[place][:-1]
    return header


@pytest.mark.parametrize(("forgery", "words"), FORGED.values(), ids=FORGED)
def test_what_is_wrong_is_named(path, forgery, words):
    solve(binary(), OneSlack(), tol=1e-9, max_iter=3, checkpoint=path)
    header, arrays = load_model(path)
    save_model(path, forgery(header, arrays), arrays)
    with pytest.raises(OneslackError) as caught:
        cut_short(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)

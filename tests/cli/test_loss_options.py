"""--loss and what goes with it."""

import inspect
import typing

import pytest

import oneslack
from oneslack.cli import train
from oneslack.losses import names


@pytest.mark.parametrize(("command", "has_sides"), [(train.classify, True), (train.regress, False)])
def test_the_losses_are_those_of_the_library(command, has_sides):
    option = typing.get_type_hints(inspect.unwrap(command))["loss"]
    assert set(typing.get_args(typing.get_args(option)[0])) == set(names(has_sides))


@pytest.mark.parametrize("loss", names(True))
@pytest.mark.parametrize("file", ["train.svm", "kinds.csv"])
def test_classes(folder, run, loss, file):
    done = run("train", "classify", file, "-o", "m", "--loss", loss)
    assert done.code == 0
    assert "(certified)" in done.out
    assert oneslack.load("m").loss == loss
    assert run("evaluate", "m", file).code == 0


@pytest.mark.parametrize("loss", names(False))
def test_numbers(folder, run, loss):
    done = run("train", "regress", "train.svm", "-o", "m", "--loss", loss)
    assert done.code == 0
    assert "(certified)" in done.out
    assert oneslack.load("m").loss == loss
    assert run("report", "m", "-o", "m.html").code == 0


def test_a_quantile_is_enough(folder, run):
    assert run("train", "regress", "train.svm", "-o", "m", "--quantile", "0.9").code == 0
    model = oneslack.load("m")
    assert (model.loss, model.quantile) == ("pinball", 0.9)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("regress --loss huber --quantile 0.5", "--quantile has a meaning only with --loss pinball"),
        ("regress --delta 2", "--delta has a meaning only with --loss huber"),
        ("regress --loss pinball --tube 1", "--tube has no meaning with --loss pinball"),
        ("regress --quantile 1", "1 is not a number between 0 and 1"),
        ("classify --loss logistic --metric f1", "--loss and --metric do not go together"),
        ("classify --loss logistic --kernel rbf", "--loss and --kernel do not go together"),
    ],
)
def test_what_has_no_meaning_is_refused(folder, run, command, sentence):
    kind, *options = command.split()
    done = run("train", kind, "train.svm", "-o", "m", *options)
    assert done.code == 2
    assert sentence in done.err
    assert not (folder / "m").exists()


def test_l1_selects(folder, run):
    done = run("train", "classify", "kinds.csv", "-o", "m", "--penalty", "l1", "-C", "0.1", "--no-intercept")
    assert done.code == 0
    assert "(certified)" in done.out
    model = oneslack.load("m")
    assert (model.penalty, model.loss, model.multi_class) == ("l1", "squared_hinge", "ovr")
    done = run("train", "classify", "kinds.csv", "-o", "n", "--penalty", "l1", "--loss", "hinge")
    assert done.code != 0
    assert "penalty='l1' needs a loss without kinks" in done.err

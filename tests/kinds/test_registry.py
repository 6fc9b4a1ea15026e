"""One table knows all kinds; a kind without a command of its own is trained by the options that it names."""

import importlib
import inspect
import pkgutil
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

import oneslack
import oneslack.estimators
from oneslack.cli.app import WRITTEN, train_app
from oneslack.cli.train_kind import command_of, commands
from oneslack.kinds import classify, in_python, plain
from oneslack.kinds.registry import KINDS, Examples, Kind, estimator_of, kind_of


@pytest.mark.parametrize("name", KINDS)
def test_every_estimator_in_the_table_has_a_kind(name):
    assert estimator_of(name).__name__ == name
    kind = kind_of(name)
    assert isinstance(kind, Kind)
    assert (kind.takes == "own") == (kind.read is not None)
    assert (kind.takes is None) == (kind.cells is None) == (kind.measure is None) == (kind.command is None)


def test_every_estimator_that_can_be_saved_is_in_the_table():
    found = set()
    for module in pkgutil.iter_modules(oneslack.estimators.__path__):
        if not module.name.startswith("_"):
            names = vars(importlib.import_module(f"oneslack.estimators.{module.name}"))
            found |= {
                name for name, value in names.items() if inspect.isclass(value) and hasattr(value, "save")
            }
    assert found - {"LinearModel", "Latent", "Fitted", "GraphLabels"} == set(KINDS)


def test_commands_in_the_cli_are_those_of_the_kinds():
    written, known = {command.__name__ for command in WRITTEN}, {kind_of(name).command for name in KINDS}
    found = {command.callback.__name__ for command in train_app.registered_commands}
    assert found == {*known, "suggest"} - {None}
    assert {command.__name__ for command in commands(written)} == known - {None} - written


def train(kind, *arguments):
    app = typer.Typer()
    app.command()(command_of("LinearSVC", kind))
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("a,b,kind\n" + "".join(f"{k},{9 - k},{'low' if k < 5 else 'high'}\n" for k in range(10)))
    return path


PLAIN = replace(
    classify.KIND,
    command="plain",
    about="Train a plain classifier.",
    parameters={"C": (1.0, "Weight of errors."), "multi_class": ("ovr", "How to treat many classes.")},
)


def test_a_kind_of_rows_is_trained_by_its_parameters(table):
    path = table.with_suffix(".model")
    ran = train(PLAIN, table, "-o", path, "-C", "0.5", "--tol", "1e-4")
    assert ran.exit_code == 0, ran.output
    model = oneslack.load(path)
    assert (model.C, model.multi_class, model.tol) == (0.5, "ovr", 1e-4)
    assert "10 examples, 2 features" in ran.output


def test_its_help_names_them(table):
    told = train(PLAIN, "--help").output
    assert "Train a plain classifier." in told
    assert all(
        words in told for words in ("-C", "Weight of errors.", "--multi-class", "--checkpoint", "--label")
    )


def test_a_kind_reads_files_of_its_own(table):
    def read(path, saved, with_outputs):
        rows = [line.split(",") for line in path_of(path).read_text().splitlines()[1:]]
        return Examples(path, [[float(a), float(b)] for a, b, _ in rows], [label for _, _, label in rows])

    path_of, path = type(table), table.with_suffix(".model")
    ran = train(replace(PLAIN, takes="own", read=read, subject=plain.subject), table, "-o", path)
    assert ran.exit_code == 0, ran.output
    assert "10 examples, each with its output" in ran.output
    assert oneslack.load(path).classes_.tolist() == ["high", "low"]


def test_what_a_kind_does_where_it_says_nothing_else(capsys):
    kind = replace(in_python.KIND, takes="own")
    facts = {"examples": 3, "measures": {"accuracy": 0.5, "overlap": None}}
    kind.show(facts)
    assert capsys.readouterr().out == "accuracy 50.00 %\nOVERLAP –\n"
    good, errors = kind.sections(None, None, facts)
    assert "50.00 %" in good
    assert "3 examples." in good
    assert errors == ""

"""A command takes options that go together as one dataclass; the command line shows each of them."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from oneslack.cli.option_groups import with_groups


@dataclass(frozen=True)
class Size:
    """Two options that go together."""

    width: Annotated[int, typer.Option(help="From left to right.")]
    height: Annotated[int, typer.Option(help="From top to bottom.")] = 2


def area(*, name: str, size: Size, loud: bool = False):
    """Say how large something is."""
    print(f"{name}: {size.width * size.height}{'!' * loud}")


def run(*arguments):
    app = typer.Typer()
    app.command()(with_groups(area))
    return CliRunner().invoke(app, arguments)


def test_fields_are_options_in_the_place_of_the_group():
    assert run("box", "--width", "3").output == "box: 6\n"
    assert run("box", "--width", "3", "--height", "5", "--loud").output == "box: 15!\n"
    told = run("--help").output
    assert "Say how large something is." in told
    assert told.index("--width") < told.index("--height") < told.index("--loud")
    assert "From top to bottom." in told


def test_a_field_without_a_default_is_needed():
    ran = run("box")
    assert ran.exit_code == 2
    assert "--width" in ran.output


def test_a_command_without_groups_stays_as_it_is():
    assert with_groups(run) is run

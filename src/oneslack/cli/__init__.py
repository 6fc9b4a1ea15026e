"""The command line: `oneslack train | predict | evaluate | info | demo`, one file a command.

Nothing heavy is imported before a command runs, so that `oneslack --help` answers at once.
"""

from __future__ import annotations


def main(arguments: list[str] | None = None) -> int:
    """Run a command line and return its exit code (see `output.Exit`)."""
    from .app import run

    return run(arguments)

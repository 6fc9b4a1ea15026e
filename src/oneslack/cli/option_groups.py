"""Options that go together: a command takes them as one dataclass, the command line shows each field."""

from __future__ import annotations

import functools
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import get_type_hints


def with_groups(command):
    """The command as typer takes it: in place of a parameter that is a dataclass stand its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: group for name, group in hints.items() if is_dataclass(group)}
    if not groups:
        return command
    options = []
    for name, parameter in signature(command).parameters.items():
        options += _fields(groups[name]) if name in groups else [(name, hints[name], parameter.default)]

    @functools.wraps(command)
    def flat(**given):
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        return command(**given)

    return with_options(flat, options)


def with_options(command, options):
    """The command, which takes keywords, with the (name, annotation, default) of each for typer to see."""
    command.__annotations__ = {name: annotation for name, annotation, _ in options}
    command.__signature__ = Signature(
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, annotation, default in options
    )
    return command


def _fields(group):
    hints = get_type_hints(group, include_extras=True)
    return [
        (field.name, hints[field.name], Parameter.empty if field.default is MISSING else field.default)
        for field in fields(group)
    ]

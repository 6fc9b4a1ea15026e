"""Examples made by a seed: data of the papers."""

from .checkers import make_checkers

__all__ = ["make_checkers"]

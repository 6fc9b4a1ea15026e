"""What finding worst outputs has cost."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass
class Work:
    """What finding worst outputs has cost so far; the trace shows it."""

    oracle_calls: int = 0
    oracle_seconds: float = 0.0
    cached: int = 0
    cached_seconds: float = 0.0

    def __add__(self, other) -> Work:
        return Work(*(mine + more for mine, more in zip(astuple(self), astuple(other), strict=True)))

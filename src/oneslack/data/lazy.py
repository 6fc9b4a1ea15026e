"""Values that are found when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class lazy:
    """`functools.cached_property` as it is from Python 3.12 on: without a lock, which takes longer than most
    of what is found for small data.

    >>> class Square:
    ...     side = 3
    ...     area = lazy(lambda self: self.side**2)
    >>> square = Square()
    >>> square.area, vars(square)
    (9, {'area': 9})
    """

    def __init__(self, find: Callable[[Any], Any]) -> None:
        self.find, self.__doc__ = find, find.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, item: Any, owner: type | None = None) -> Any:
        if item is None:
            return self
        found = item.__dict__[self.name] = self.find(item)  # which is looked at before this, the next time
        return found

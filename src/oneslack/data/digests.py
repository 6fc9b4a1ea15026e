"""Digest: 64 bits by which whatever examples are made of is told from anything else."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .rows import Ragged

#: Bytes of an array that are looked at at a time: a copy of so many, where one is needed, is no matter.
PIECE = 1 << 24
#: Fewer bytes are gathered before they are looked at.
FEW = 1 << 14

#: Classes that stand elsewhere since, by the names that digests in checkpoints were made with.
MOVED = {"oneslack.data.rows.Ragged": "oneslack.data.ragged.Ragged"}

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype)


class Digest:
    """Of numbers, text, arrays, sparse matrices, and lists, tuples, dicts, sets and objects of them.

    An object is what pickle would make of it: its fields or attributes.

    unseen  what could not be looked into, as "a function"; None while there is none

    >>> from oneslack.data.digests import Digest
    >>> Digest([1.0, "two"]).hex == Digest([1.0, "two"]).hex != Digest([1.0, "too"]).hex
    True
    >>> Digest({"f": lambda x: x}).unseen
    'a function'
    """

    def __init__(self, *values):
        self.unseen, self._words, self._few = None, np.uint64(0), bytearray()
        self._met = {}
        for value in values:
            self.add(value)

    def add(self, value):
        try:
            self._see(value)
        except RecursionError:
            self.unseen = self.unseen or "something that is nested too deeply"

    def add_examples(self, examples, n):
        """A sequence of n, as it is asked for its items: one of the user's may hold no more than a path."""
        if isinstance(examples, list | tuple | np.ndarray | Ragged) or sp.issparse(examples):
            self.add(examples)
        else:
            for i in range(n):
                self.add(examples[i])

    @property
    def hex(self) -> str:
        """The digest of all so far: 16 letters."""
        self._look_at_few()
        return f"{int(self._words):016x}"

    # What there is to look at.

    def _see(self, value):
        if isinstance(value, _PLAIN):
            self._note(value)
            self._more_of(value)
        elif isinstance(value, np.ndarray):
            self._array(value)
        elif sp.issparse(value):
            self._sparse(value)
        elif isinstance(value, list | tuple | dict | set | frozenset):
            self._container(value)
            self._more_of(value)
        elif isinstance(value, type):
            self._named(value)
        else:
            self._object(value)

    def _note(self, value):
        """The kind, the length and the content: no two lists of values read alike."""
        text = value
        if isinstance(value, int):
            text = f"{value:x}"  # however long
        elif not isinstance(value, str | bytes):
            text = repr(value)
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogatepass")
        self._few += f"{type(value).__name__} {len(text)} ".encode()
        self._few += text
        if len(self._few) > FEW:
            self._look_at_few()

    def _named(self, kind):
        name = f"{kind.__module__}.{kind.__qualname__}"
        self._note(MOVED.get(name, name))

    def _array(self, array):
        self._note(f"array {array.dtype.str} {array.shape}")
        if array.dtype.hasobject:
            self._items(array.ravel().tolist())
        elif array.nbytes < FEW:
            self._few += array.tobytes()
        else:
            rows = max(1, PIECE // array[:1].nbytes)
            for lo in range(0, len(array), rows):
                self._look_at(np.ascontiguousarray(array[lo : lo + rows]).reshape(-1).view(np.uint8))
        if isinstance(array, np.ma.MaskedArray):
            self._array(np.ma.getmaskarray(array))

    def _sparse(self, matrix):
        rows = matrix.tocsr()
        self._note(f"sparse {rows.shape}")
        self._items((rows.indptr, rows.indices, rows.data))

    def _items(self, values):
        for value in values:
            self._see(value)

    def _container(self, value):
        self._note(f"{type(value).__qualname__} of {len(value)}")
        if isinstance(value, dict):
            self._items(part for pair in value.items() for part in pair)
        elif isinstance(value, set | frozenset):
            parts = [Digest(item) for item in value]
            self._items(sorted(part.hex for part in parts))
            self.unseen = self.unseen or next((part.unseen for part in parts if part.unseen), None)
        else:
            self._items(value)

    def _more_of(self, value):
        """Of a class that a user has derived."""
        if getattr(value, "__dict__", None):
            self._see(vars(value))

    def _object(self, value):
        if id(value) in self._met:  # kept there, so that nothing else gets its id
            self._note(f"object {self._met[id(value)][0]} again")
            return
        self._met[id(value)] = (len(self._met), value)
        self._named(type(value))
        parts = _parts_of(value)
        if parts is None:
            name = type(value).__name__
            self.unseen = self.unseen or f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
        else:
            self._items(parts)

    # The looking.

    def _look_at(self, memory):
        """memory (n,): bytes of an array."""
        end = len(memory) - len(memory) % 8
        self._few += memory[end:].tobytes()
        self._look_at_few()
        self._look_at_words(memory[:end].view(np.uint64))

    def _look_at_few(self):
        if self._few:
            self._few += bytes(-len(self._few) % 8)
            self._look_at_words(np.frombuffer(bytes(self._few), np.uint64))
            self._few.clear()

    def _look_at_words(self, words):
        from .._jit.digest import digest

        words = words if words.flags.aligned else words.copy()
        words.flags.writeable = False  # one kind of array, one compiled loop
        with np.errstate(over="ignore"):  # where nothing is compiled
            self._words = np.uint64(digest(words, self._words))


def _parts_of(value):
    """What an object is made of, without what it only remembers; None where nobody knows."""
    kind = type(value)
    if dataclasses.is_dataclass(value):
        return [
            (field.name, getattr(value, field.name)) for field in dataclasses.fields(value) if field.compare
        ]
    try:
        made = value.__reduce_ex__(2)
        if isinstance(made, str):
            return [made]
        maker, arguments, state, *items = (*made, None)[: max(len(made), 3)]
        items = [list(part) for part in items if part is not None]
    except Exception:  # functions, locks, files, and whatever refuses to be copied
        return None
    if isinstance(state, dict):
        state = {k: v for k, v in state.items() if not isinstance(getattr(kind, k, None), cached_property)}
    return [getattr(maker, "__qualname__", repr(maker)), arguments, state, *items]

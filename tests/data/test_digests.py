"""Digests: equal values have the same, others another; what cannot be looked into is named."""

import threading
from collections import namedtuple
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from oneslack._jit.digest import digest
from oneslack.data.digests import FEW, PIECE, Digest


def of(value):
    found = Digest(value)
    assert found.unseen is None
    return found.hex


@dataclass
class Point:
    x: float
    room: list = field(default_factory=list, compare=False)


class Plain:
    def __init__(self, x):
        self.x = x

    @cached_property
    def double(self):
        return 2 * self.x


class Slots:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Named(list):
    """A list with a name, as trees of other libraries are."""

    def __init__(self, items, name):
        super().__init__(items)
        self.name = name


class Token(str):
    """A word with a tag."""

    def tagged(self, tag):
        self.tag = tag
        return self


Pair = namedtuple("Pair", "a b")
#: Pairs that differ, each made anew.
OTHERS = {
    "numbers": lambda: (1, 2),
    "kinds": lambda: (1, 1.0),
    "text": lambda: ("1", 1),
    "ulp": lambda: (1.0, np.nextafter(1.0, 2.0)),
    "long numbers": lambda: (10**5000, 10**5000 + 1),
    "truth": lambda: (True, 1),
    "nothing": lambda: (None, 0),
    "bytes": lambda: (b"a", "a"),
    "grouping": lambda: ([[1], [2]], [[1, 2], []]),
    "joined text": lambda: (["ab", "c"], ["a", "bc"]),
    "list and tuple": lambda: ([1, 2], (1, 2)),
    "order": lambda: ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "values": lambda: ({"a": 1}, {"a": 2}),
    "sets": lambda: ({1, 2}, {1, 3}),
    "shapes": lambda: (np.zeros((2, 3)), np.zeros((3, 2))),
    "types": lambda: (np.zeros(2), np.zeros(4, np.float32)),
    "objects": lambda: (np.array([[1], None], object), np.array([[2], None], object)),
    "columns": lambda: (sp.csr_array([[0.0, 1.0]]), sp.csr_array([[1.0, 0.0]])),
    "rows": lambda: (sp.csr_array([[0.0, 1.0], [0, 0]]), sp.csr_array([[0, 0], [0.0, 1.0]])),
    "dataclasses": lambda: (Point(1.0), Point(2.0)),
    "plain objects": lambda: (Plain(1), Plain(2)),
    "slots": lambda: (Slots(1), Slots(2)),
    "named tuples": lambda: (Pair(1, 2), Pair(2, 1)),
    "names of lists": lambda: (Named([1], "a"), Named([1], "b")),
    "tags of words": lambda: (Token("a").tagged("N"), Token("a").tagged("V")),
    "masks": lambda: (np.ma.array([1.0, 2.0], mask=[0, 1]), np.ma.array([1.0, 2.0], mask=[1, 0])),
    "dates": lambda: (date(2000, 1, 1), date(2000, 1, 2)),
    "classes": lambda: (Point, Plain),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_others_differ_and_equals_do_not(kind):
    (one, other), (again, _) = OTHERS[kind](), OTHERS[kind]()
    assert of(one) == of(again) != of(other)
    assert of([one, other]) == of([again, other]) != of([other, one])


def test_what_is_only_remembered_does_not_count():
    used, fresh = Plain(3), Plain(3)
    assert used.double == 6
    assert of(used) == of(fresh)
    assert of(Point(1.0, [1])) == of(Point(1.0))


@given(st.integers(0, 3 * FEW), st.integers(0, 2**20), st.integers(1, 255))
def test_any_byte_counts(size, place, change):
    memory = np.random.default_rng(size).integers(0, 256, size + 1, np.uint8)
    other = memory.copy()
    other[place % len(other)] ^= change
    assert of(memory) != of(other)
    assert of(memory) == of(memory.copy())


@pytest.mark.parametrize("n", [0, 1, 7, FEW // 8, FEW // 8 + 3, PIECE // 64 + 1])
def test_however_an_array_lies_in_memory(n):
    rows = np.random.default_rng(n).random((n, 8))
    room = np.zeros((n, 16))
    room[:, ::2] = rows
    moved = np.empty(rows.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(n, 8)
    moved[:] = rows
    frozen = rows.copy()
    frozen.flags.writeable = False
    forms = [np.asfortranarray(rows), room[:, ::2], moved, frozen]
    assert {of(form) for form in forms} == {of(rows)}
    assert moved.flags.aligned is not (n > 0)
    assert rows.flags.writeable


def test_what_cannot_be_looked_into_is_named():
    values = [lambda x: x, threading.Lock(), (i for i in range(3)), open]
    assert [Digest(value).unseen for value in values] == ["a function", "a lock", "a generator", None]
    assert Digest({"a": [1, {frozenset([1]), lambda: 1}]}).unseen == "a function"
    assert Digest(Point(lambda: 1)).unseen == "a function"
    # The rest is seen.
    assert Digest([lambda: 1, 1]).hex != Digest([lambda: 1, 2]).hex


def test_what_holds_itself():
    one, other = Plain(1), Plain(1)
    one.me, other.me = one, other
    assert of(one) == of(other) != of(Plain(1))
    deep = []
    deep.append(deep)
    assert Digest(deep).unseen == "something that is nested too deeply"


class FromDisk:
    """Examples that are read when they are asked for."""

    def __init__(self, path):
        self.path = path

    def __getitem__(self, i):
        return float(self.path.read_text().split()[i])


def test_examples_are_asked_for(tmp_path):
    found = []
    for text in ("1 2 3", "1 2 3", "1 3 2"):
        (tmp_path / "numbers").write_text(text)
        found.append(Digest())
        found[-1].add_examples(FromDisk(tmp_path / "numbers"), 3)
    assert found[0].hex == found[1].hex != found[2].hex


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 600])
def test_compiled_as_in_plain_python(n):
    words, seed = np.random.default_rng(n).integers(0, 2**63, n).astype(np.uint64), np.uint64(n)
    with np.errstate(over="ignore"):
        assert int(digest(words, seed)) == int(getattr(digest, "py_func", digest)(words, seed))


def test_digests_stay_the_same():
    """Checkpoints hold them."""
    assert of([1.5, "a", np.arange(4000.0), sp.csr_array(np.eye(3))]) == "2827ab2226051d1d"

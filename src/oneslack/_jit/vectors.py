"""Compiled loops over vectors that need no room for what lies between."""

from .compiler import njit, register_jitable


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def dot(a, b):
    """<a, b>."""
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def distance2(a, b):
    """|a - b|^2."""
    total = 0.0
    for k in range(a.shape[0]):
        total += (a[k] - b[k]) * (a[k] - b[k])
    return total


@njit(nogil=True, cache=True)
def add_scaled(total, factor, part):
    """total += factor part, both (n,)."""
    for i in range(total.shape[0]):
        total[i] += factor * part[i]


@register_jitable
def longest(offsets, lo, hi):
    """The length of the longest of the rows lo <= i < hi, row i from offsets[i] to offsets[i + 1] - 1."""
    n = 0
    for i in range(lo, hi):
        n = max(n, offsets[i + 1] - offsets[i])
    return n

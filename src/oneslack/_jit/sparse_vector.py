"""A sparse vector, as numbers and values of its non-zeros, beside a dense one."""

from numba import njit


@njit(nogil=True, cache=True)
def dot(index, values, w):
    """<x, w>."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    n = index.shape[0]
    even = n & -4
    for k in range(0, even, 4):
        s0 += values[k] * w[index[k]]
        s1 += values[k + 1] * w[index[k + 1]]
        s2 += values[k + 2] * w[index[k + 2]]
        s3 += values[k + 3] * w[index[k + 3]]
    for k in range(even, n):
        s0 += values[k] * w[index[k]]
    return (s0 + s1) + (s2 + s3)


@njit(nogil=True, cache=True)
def add(c, index, values, out):
    """out += c x."""
    for k in range(index.shape[0]):
        out[index[k]] += c * values[k]

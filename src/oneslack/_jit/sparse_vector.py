"""A sparse vector, as numbers and values of its non-zeros, beside a dense one."""

from .compiler import njit


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


@njit(nogil=True, cache=True)
def nonzeros(x, index, values):
    """Numbers and values of what is not 0 in x; there is room for one more than there are, so that the loop
    needs no branch."""
    k = 0
    for i in range(x.shape[0]):
        index[k], values[k] = i, x[i]
        k += x[i] != 0.0


@njit(nogil=True, cache=True)
def number(index, places, numbers, size, out):
    """out = where the numbers `index` stand in `numbers`, by `places`; those that do not are put at its end.
    Returns how many there are then."""
    for k in range(index.shape[0]):
        i = index[k]
        if places[i] < 0:
            places[i], numbers[size] = size, i
            size += 1
        out[k] = places[i]
    return size


@njit(nogil=True, cache=True)
def copy_at(index, source, target):
    """target = source at the places `index`."""
    for k in range(index.shape[0]):
        target[index[k]] = source[index[k]]


@njit(nogil=True, cache=True)
def add_and_copy(index, values, point, other):
    """point += x, and other = point at its places."""
    for k in range(index.shape[0]):
        i = index[k]
        point[i] += values[k]
        other[i] = point[i]


@njit(nogil=True, cache=True)
def dot_sparse(index, values, other_index, other_values):
    """The inner product of two sparse vectors, numbers sorted."""
    i, j, total = 0, 0, 0.0
    while i < index.shape[0] and j < other_index.shape[0]:
        # Which one is ahead is anybody's guess: sums cost less than branches.
        a, b = index[i], other_index[j]
        total += (a == b) * values[i] * other_values[j]
        i += a <= b
        j += b <= a
    return total


@njit(nogil=True, cache=True)
def merge(c, index, values, d, other_index, other_values, out_index, out_values):
    """c x + d y of two sparse vectors, numbers sorted; how many places of `out` are filled."""
    i, j, k = 0, 0, 0
    while i < index.shape[0] and j < other_index.shape[0]:
        a, b = index[i], other_index[j]
        out_index[k] = min(a, b)
        out_values[k] = (a <= b) * c * values[i] + (b <= a) * d * other_values[j]
        i += a <= b
        j += b <= a
        k += 1
    for rest in range(i, index.shape[0]):
        out_index[k], out_values[k] = index[rest], c * values[rest]
        k += 1
    for rest in range(j, other_index.shape[0]):
        out_index[k], out_values[k] = other_index[rest], d * other_values[rest]
        k += 1
    return k

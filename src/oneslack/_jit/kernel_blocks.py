"""Compiled distances of two blocks of rows, by differences: near rows keep all digits, wherever they are."""

from .compiler import njit


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def city_block(A, B, out):
    """out[i, j] = sum_k |A[i, k] - B[j, k]|."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                total += abs(A[i, k] - B[j, k])
            out[i, j] = total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def squared_distances(A, B, out):
    """out[i, j] = sum_k (A[i, k] - B[j, k])^2."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                difference = A[i, k] - B[j, k]
                total += difference * difference
            out[i, j] = total

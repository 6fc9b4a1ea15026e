"""Compiled distances of two blocks of rows."""

from numba import njit


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def city_block(A, B, out):
    """out[i, j] = sum_k |A[i, k] - B[j, k]|."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = out.dtype.type(0)
            for k in range(A.shape[1]):
                total += abs(A[i, k] - B[j, k])
            out[i, j] = total

"""Kernels as small problems: w = sum_i phi(x_i) c_i is known by its coefficients.

P = 1/2 sum_z <c_z, K c_z> + sum_i C s_i hinge_i(K c + b)
"""

from fractions import Fraction

from .linear import dot
from .optimum import ZERO, Block, Cut, Small


def poly(X, gamma, coef0, degree):
    """(gamma <a, b> + coef0)^degree, as rational numbers."""
    return [[(gamma * dot(a, b) + coef0) ** degree for b in X] for a in X]


def linear_kernel(X):
    return [[dot(a, b) for b in X] for a in X]


def kernel_two_classes(K, y, c, intercept) -> Small:
    """Coefficients (n,), then the intercept."""
    n = len(K)

    def definition(w):
        f = [dot(row, w[:n]) for row in K]
        b = w[n] if intercept else ZERO
        hinges = [c_i * max(ZERO, 1 - y_i * (f_i + b)) for f_i, y_i, c_i in zip(f, y, c, strict=True)]
        return dot(w[:n], f) / 2 + sum(hinges, ZERO)

    blocks = [
        Block(c_i, [Cut(Fraction(1), {i: Fraction(y_i)} | ({n: Fraction(y_i)} if intercept else {}))])
        for i, (y_i, c_i) in enumerate(zip(y, c, strict=True))
    ]
    free = [None] * intercept
    return Small(blocks, definition, [Fraction(1)] * n + free, [ZERO] * (n + len(free)), gram=K)


def kernel_many_classes(K, y, c, n_classes) -> Small:
    """Crammer and Singer; coefficients (classes, n), row by row."""
    n = len(K)
    labels = range(n_classes)

    def definition(w):
        rows = [w[z * n : z * n + n] for z in labels]
        f = [[dot(row, coefficients) for row in K] for coefficients in rows]
        norm = sum((dot(coefficients, f_z) for coefficients, f_z in zip(rows, f, strict=True)), ZERO)
        hinges = [
            c_i * (max((z != y_i) + f[z][i] for z in labels) - f[y_i][i])
            for i, (y_i, c_i) in enumerate(zip(y, c, strict=True))
        ]
        return norm / 2 + sum(hinges, ZERO)

    blocks = [
        Block(
            c_i,
            [
                Cut(Fraction(1), {y_i * n + i: Fraction(1), z * n + i: Fraction(-1)})
                for z in labels
                if z != y_i
            ],
        )
        for i, (y_i, c_i) in enumerate(zip(y, c, strict=True))
    ]
    size = n_classes * n
    gram = [[K[a % n][b % n] if a // n == b // n else ZERO for b in range(size)] for a in range(size)]
    return Small(blocks, definition, [Fraction(1)] * size, [ZERO] * size, gram=gram)

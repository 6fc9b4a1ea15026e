"""Linear models as small problems: P by its definition in rational numbers, and all cuts.

Weights come as `coef_` and `intercept_` do: those of the features, row by row, then the intercepts.
"""

from fractions import Fraction

from .optimum import ZERO, Block, Cut, Small


def exact(values):
    """Nested lists of numbers, or an array, as the rational numbers that the floats are."""
    values = values.tolist() if hasattr(values, "tolist") else values
    return [exact(value) for value in values] if isinstance(values, list | tuple) else Fraction(values)


def dot(u, v) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), ZERO)


def vector(values) -> dict[int, Fraction]:
    return {k: value for k, value in enumerate(values) if value}


class Penalty:
    """1/2 sum_k (scale_k (w_k - prior_k))^2 of d weights, some held >= 0; what follows them is free."""

    def __init__(self, d, n_free=0, prior=None, scale=None, nonnegative=()):
        self.d, self.n_free = d, n_free
        self.prior = [ZERO] * d if prior is None else exact(prior)
        self.curvature = [Fraction(1)] * d if scale is None else [value**2 for value in exact(scale)]
        self.nonnegative = frozenset(nonnegative)

    def __call__(self, w) -> Fraction:
        assert all(w[k] >= 0 for k in self.nonnegative)
        terms = zip(self.curvature, w[: self.d], self.prior, strict=True)
        return sum((r2 * (value - prior) ** 2 for r2, value, prior in terms), ZERO) / 2

    def problem(self, blocks, risk, **more) -> Small:
        """With risk(w), weighted as it is in P."""
        return Small(
            blocks,
            lambda w: self(w) + risk(w),
            self.curvature + [None] * self.n_free,
            self.prior + [ZERO] * self.n_free,
            self.nonnegative,
            **more,
        )


def two_classes(X, y, c, intercept, **penalty) -> Small:
    """sum_i c_i max(0, 1 - y_i (<w, x_i> + b)); y of -1 and +1."""
    d = len(X[0])

    def risk(w):
        b = w[d] if intercept else ZERO
        return sum(
            (c_i * max(ZERO, 1 - y_i * (dot(w[:d], x) + b)) for x, y_i, c_i in zip(X, y, c, strict=True)),
            ZERO,
        )

    blocks = [
        Block(c_i, [Cut(Fraction(1), vector([y_i * value for value in x + [Fraction(1)] * intercept]))])
        for x, y_i, c_i in zip(X, y, c, strict=True)
    ]
    return Penalty(d, int(intercept), **penalty).problem(blocks, risk)


def many_classes(X, y, c, K, cost, intercept, **penalty) -> Small:
    """Crammer and Singer: sum_i c_i (max_z cost[y_i][z] + f_z(x_i)) - f_y_i(x_i)."""
    d = len(X[0])

    def risk(w):
        total = ZERO
        for x, y_i, c_i in zip(X, y, c, strict=True):
            f = [dot(w[z * d : z * d + d], x) + (w[K * d + z] if intercept else 0) for z in range(K)]
            total += c_i * (max(cost[y_i][z] + f[z] for z in range(K)) - f[y_i])
        return total

    def delta(x, y_i, z):
        values = {}
        for label, sign in ((y_i, 1), (z, -1)):
            values |= {label * d + k: sign * value for k, value in enumerate(x) if value}
            values |= {K * d + label: Fraction(sign)} if intercept else {}
        return values

    blocks = [
        Block(c_i, [Cut(cost[y_i][z], delta(x, y_i, z)) for z in range(K) if z != y_i])
        for x, y_i, c_i in zip(X, y, c, strict=True)
    ]
    return Penalty(K * d, K if intercept else 0, **penalty).problem(blocks, risk)


def tube(X, y, c, epsilon, intercept, **penalty) -> Small:
    """sum_i c_i max(0, |y_i - <w, x_i> - b| - epsilon)."""
    d = len(X[0])

    def risk(w):
        b = w[d] if intercept else ZERO
        errors = [abs(y_i - dot(w[:d], x) - b) for x, y_i in zip(X, y, strict=True)]
        return sum((c_i * max(ZERO, error - epsilon) for error, c_i in zip(errors, c, strict=True)), ZERO)

    blocks = []
    for x, y_i, c_i in zip(X, y, c, strict=True):
        row = vector(x + [Fraction(1)] * intercept)
        below = Cut(y_i - epsilon, row)
        above = Cut(-y_i - epsilon, {k: -value for k, value in row.items()})
        blocks.append(Block(c_i, [below, above]))
    return Penalty(d, int(intercept), **penalty).problem(blocks, risk)


def constraints(rows, margins, groups, c, **penalty) -> Small:
    """sum_g c_g max(0, max over the rows of group g of margin - <w, row>)."""

    def risk(w):
        worst = [ZERO] * len(c)
        for row, margin, g in zip(rows, margins, groups, strict=True):
            worst[g] = max(worst[g], margin - dot(w, row))
        return dot(c, worst)

    blocks = [
        Block(c_g, [Cut(margins[j], vector(rows[j])) for j in range(len(rows)) if groups[j] == g])
        for g, c_g in enumerate(c)
    ]
    return Penalty(len(rows[0]), **penalty).problem(blocks, risk)


def planes(slopes, heights, C, **penalty) -> Small:
    """C max_j (height_j + <slope_j, w>), a risk that may be negative."""

    def risk(w):
        return C * max(height + dot(slope, w) for slope, height in zip(slopes, heights, strict=True))

    cuts = [
        Cut(height - heights[0], vector([a - b for a, b in zip(slopes[0], slope, strict=True)]))
        for slope, height in zip(slopes[1:], heights[1:], strict=True)
    ]
    first = {k: -C * value for k, value in vector(slopes[0]).items()}
    return Penalty(len(slopes[0]), **penalty).problem(
        [Block(C, cuts)], risk, linear=first, constant=C * heights[0]
    )

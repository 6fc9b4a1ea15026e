"""Losses of one score as small problems: squares by a variable xi_i a row, which takes a part of the error.

    c max(0, u)^2                =  min over xi of  c xi^2 + M max(0, u - xi)              M beyond any slope
    Huber(r) with slope delta    =  min over xi of  1/2 xi^2 + delta |r - xi|
    pinball(r)                   =  (quantile - 1) r + max(0, r)
    |w|                          =  max(0, 2 w) - w                                        an L1 penalty

Weights are those of the features, then the xi, then the intercept; P is defined without the xi.
"""

from fractions import Fraction

from oneslack.losses import Huber, Pinball, SquaredHinge, SquaredTube

from .linear import Penalty, dot, vector
from .optimum import ZERO, Block, Cut, Small


class Sizes:
    """sum_k r_k |w_k| of d weights, in place of a Penalty; for P they are free, and have a cut each."""

    nonnegative = frozenset()

    def __init__(self, d, scale=None):
        self.r = [Fraction(1)] * d if scale is None else [Fraction(r) for r in scale]
        self.curvature, self.prior = [None] * d, [ZERO] * d

    def __call__(self, w) -> Fraction:
        return sum((r * abs(value) for r, value in zip(self.r, w, strict=True)), ZERO)

    def blocks(self):
        return [Block(r, [Cut(ZERO, {k: Fraction(-2)})]) for k, r in enumerate(self.r)]


def value(phi, y, z) -> Fraction:
    """phi(y, z) of rational numbers, by its definition."""
    if isinstance(phi, SquaredHinge):
        return max(ZERO, 1 - y * z) ** 2
    r = y - z
    if isinstance(phi, SquaredTube):
        return max(ZERO, abs(r) - Fraction(phi.epsilon)) ** 2
    if isinstance(phi, Pinball):
        return max(Fraction(phi.quantile) * r, (Fraction(phi.quantile) - 1) * r)
    assert isinstance(phi, Huber)
    delta = Fraction(phi.delta)
    return r**2 / 2 if abs(r) <= delta else delta * abs(r) - delta**2 / 2


def scalar(phi, X, y, c, intercept, is_l1=False, **penalty) -> Small:
    """sum_i c_i phi(y_i, <w, x_i> + b)."""
    d = len(X[0])
    terms = Sizes(d, **penalty) if is_l1 else Penalty(d, int(intercept), **penalty)
    used = [(x, y_i, c_i) for x, y_i, c_i in zip(X, y, c, strict=True) if c_i > 0]
    has_xi = not isinstance(phi, Pinball)
    n = len(used) if has_xi else 0

    def definition(w):
        b = w[-1] if intercept else ZERO
        risk = sum((c_i * value(phi, y_i, dot(w[:d], x) + b) for x, y_i, c_i in used), ZERO)
        return terms(w[:d]) + risk

    # What no dual of a square exceeds: c u^2 <= P(0) gives 2 c u <= 2 (P(0) + c).
    at_zero = terms([ZERO] * d)  # a prior is far from 0
    most = 8 * sum((c_i * (1 + value(phi, y_i, ZERO)) for _, y_i, c_i in used), Fraction(1) + at_zero)
    blocks, linear, constant = [], {}, ZERO
    if is_l1:
        blocks, linear = terms.blocks(), dict(enumerate(terms.r))
    for i, (x, y_i, c_i) in enumerate(used):
        row = vector(x) | ({d + n: Fraction(1)} if intercept else {})
        xi = {d + i: Fraction(1)} if has_xi else {}
        if isinstance(phi, SquaredHinge):
            blocks.append(Block(most, [Cut(Fraction(1), _times(y_i, row) | xi)]))
        elif isinstance(phi, SquaredTube):
            eps = Fraction(phi.epsilon)
            blocks.append(Block(most, [Cut(y_i - eps, row | xi), Cut(-y_i - eps, _times(-1, row) | xi)]))
        elif isinstance(phi, Huber):
            cuts = [Cut(y_i, row | xi), Cut(-y_i, _times(-1, row | xi))]
            blocks.append(Block(c_i * Fraction(phi.delta), cuts))
        else:
            blocks.append(Block(c_i, [Cut(y_i, row)]))
            share = c_i * (Fraction(phi.quantile) - 1)
            constant += share * y_i
            for k, number in row.items():
                linear[k] = linear.get(k, ZERO) + share * number
    of_xi = [c_i if isinstance(phi, Huber) else 2 * c_i for _, _, c_i in used][:n]
    return Small(
        blocks,
        definition,
        terms.curvature + of_xi + [None] * intercept,
        terms.prior + [ZERO] * (n + intercept),
        terms.nonnegative,
        linear,
        constant,
    )


def _times(factor, row):
    return {k: factor * number for k, number in row.items()}

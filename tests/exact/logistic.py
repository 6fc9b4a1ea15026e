"""Logistic regression as a small problem: bounds of P and of its optimum, the same in tens of digits.

    P(w) = penalty(w) + sum_i c_i log(1 + exp(-y_i z_i))           z_i = <w, x_i> + b

The optimum is approached by Newton steps in decimal numbers, under an L1 penalty on w = p - q with barriers
-mu log p - mu log q, mu going to 0.  None of it is believed: what is returned is the value of a dual point,
in rational numbers and bounds of logarithms, and P at the w that was found is near it.
"""

from dataclasses import dataclass
from fractions import Fraction

from .enclosures import CONTEXT, decimal, entropy, log_1_plus, share, small_exp, softplus
from .linear import Penalty, dot
from .losses import Sizes
from .optimum import ZERO

#: What a reference may leave open, as a share of P.
OPEN = Fraction(1, 10**25)


@dataclass(frozen=True)
class LogisticProblem:
    """What `optimum.Small` is, but for numbers that are not rational; y of -1 and +1.

    terms  Penalty or Sizes of the weights; the intercept, where there is one, comes last
    """

    terms: Penalty | Sizes
    X: list
    y: list
    c: list
    intercept: bool

    @property
    def d(self) -> int:
        return len(self.X[0]) + self.intercept

    def _margins(self, w):
        d = len(self.X[0])
        b = w[d] if self.intercept else ZERO
        return [y * (dot(w[:d], x) + b) for x, y in zip(self.X, self.y, strict=True)]

    def definition(self, w) -> Fraction:
        """At least P(w), and hardly more."""
        losses = [softplus(-m)[1] for m in self._margins(w)]
        return self.terms(w[: len(self.X[0])]) + dot(self.c, losses)

    def optimum(self):
        """(at most inf P, and hardly less; a w that comes near)."""
        is_one_sided = len({y for y, c in zip(self.y, self.c, strict=True) if c}) < 2
        if self.intercept and is_one_sided:  # b goes to infinity, other weights where they cost nothing
            return ZERO, None
        w = [Fraction(value) for value in _minimum(self)]
        lower, upper = self._dual([share(-m) for m in self._margins(w)]), self.definition(w)
        if upper - lower > OPEN * upper:
            raise ArithmeticError(f"P(w) = {float(upper)} but the dual is {float(lower)}")
        return lower, w

    def _dual(self, p) -> Fraction:
        """At most D, of shares p made feasible."""
        mass = [c * share * y for c, share, y in zip(self.c, p, self.y, strict=True)]
        if self.intercept:
            up, down = sum(m for m in mass if m > 0), -sum(m for m in mass if m < 0)
            keep = {1: min(up, down) / up, -1: min(up, down) / down}
            p = [share * keep[y] for share, y in zip(p, self.y, strict=True)]
        v = self._sum(p)
        if isinstance(self.terms, Sizes):
            most = max([Fraction(1), *(abs(a) / r for a, r in zip(v, self.terms.r, strict=True))])
            return sum((c * entropy(share / most)[0] for c, share in zip(self.c, p, strict=True)), ZERO)
        paid = sum((c * entropy(share)[0] for c, share in zip(self.c, p, strict=True)), ZERO)
        terms = zip(v, self.terms.curvature, self.terms.prior, strict=True)
        return paid - sum((a * prior + a * a / (2 * r2) for a, r2, prior in terms), ZERO)

    def _sum(self, p):
        """v = sum_i c_i p_i y_i x_i."""
        a = [c * share * y for c, share, y in zip(self.c, p, self.y, strict=True)]
        return [dot(a, [x[k] for x in self.X]) for k in range(len(self.X[0]))]


# Newton steps in decimal numbers, which need not be right.


class _Barrier:
    """P of u, split where the penalty is L1, plus barriers; values and derivatives in decimal numbers."""

    def __init__(self, problem):
        terms, X = problem.terms, problem.X
        self.is_l1, d = isinstance(terms, Sizes), len(X[0])
        signs = [1] * d + ([-1] * d if self.is_l1 else []) + [1] * problem.intercept
        columns = [*range(d), *(range(d) if self.is_l1 else []), *([None] if problem.intercept else [])]
        self.A = [
            [decimal(y * s * (1 if k is None else x[k])) for s, k in zip(signs, columns, strict=True)]
            for x, y in zip(X, problem.y, strict=True)
        ]
        self.c = [decimal(c) for c in problem.c]
        self.r = [decimal(terms.r[k] if self.is_l1 else terms.curvature[k]) for k in columns if k is not None]
        self.prior = [decimal(0 if self.is_l1 else terms.prior[k]) for k in columns if k is not None]
        self.n_held = len(self.r)
        self.size = len(signs)

    def start(self, mu):
        first = [mu / r for r in self.r] if self.is_l1 else self.prior
        return [*first, *([decimal(0)] * (self.size - self.n_held))]

    def value(self, u, mu):
        total = sum((self._held(k, u[k], mu)[0] for k in range(self.n_held)), decimal(0))
        return total + sum(c * self._loss(m)[0] for c, m in zip(self.c, self._margins(u), strict=True))

    def derivatives(self, u, mu):
        g, H = [decimal(0)] * self.size, [[decimal(0)] * self.size for _ in range(self.size)]
        for k in range(self.n_held):
            _, g[k], H[k][k] = self._held(k, u[k], mu)
        for row, c, m in zip(self.A, self.c, self._margins(u), strict=True):
            _, slope, bend = self._loss(m)
            for k, a in enumerate(row):
                g[k] += c * slope * a
                for other in range(self.size):
                    H[k][other] += c * bend * a * row[other]
        return g, H

    def _margins(self, u):
        return [sum((a * b for a, b in zip(row, u, strict=True)), decimal(0)) for row in self.A]

    def _held(self, k, value, mu):
        """Penalty of one number and its derivatives."""
        r = self.r[k]
        if self.is_l1:
            return r * value - mu * value.ln(), r - mu / value, mu / value**2
        off = value - self.prior[k]
        return r * off**2 / 2, r * off, r

    @staticmethod
    def _loss(m):
        small = small_exp(m)
        value = max(-m, decimal(0)) + log_1_plus(small)
        part = (small if m > 0 else 1) / (1 + small)
        return value, -part, small / (1 + small) ** 2


def _minimum(problem):
    """A w, as decimal numbers."""
    from decimal import localcontext

    with localcontext(CONTEXT):
        barrier, zero = _Barrier(problem), decimal(0)
        least = sum(barrier.c, zero) or decimal(1)
        mu = least if barrier.is_l1 else zero
        u = barrier.start(mu)
        while True:
            u = _newton(barrier, u, mu)
            if mu <= least * decimal(Fraction(1, 10**45)):
                break
            mu = mu / 100
        d = len(problem.X[0])
        if not barrier.is_l1:
            return u
        return [p - q for p, q in zip(u[:d], u[d : 2 * d], strict=True)] + u[2 * d :]


def _newton(barrier, u, mu):
    for _ in range(400):
        g, H = barrier.derivatives(u, mu)
        step = _solved(H, g)
        fall = sum(a * b for a, b in zip(g, step, strict=True))
        value = barrier.value(u, mu)
        if fall <= abs(value) * decimal(Fraction(1, 10**60)):
            break
        t = decimal(1)
        while t > decimal(Fraction(1, 10**30)):
            new = [a - t * b for a, b in zip(u, step, strict=True)]
            inside = not barrier.is_l1 or all(a > 0 for a in new[: barrier.n_held])
            if inside and barrier.value(new, mu) <= value - t * fall / 10:
                u = new
                break
            t = t / 2
        else:
            break
    return u


def _solved(H, g):
    """x with H x = g, by Cholesky's elimination."""
    H, x, n = [row[:] for row in H], g[:], len(g)
    for k in range(n):
        for i in range(k + 1, n):
            factor = H[i][k] / H[k][k]
            for j in range(k, n):
                H[i][j] -= factor * H[k][j]
            x[i] -= factor * x[k]
    for k in reversed(range(n)):
        x[k] = (x[k] - sum(H[k][j] * x[j] for j in range(k + 1, n))) / H[k][k]
    return x

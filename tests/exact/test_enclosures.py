"""Bounds of logarithms hold, by series in rational numbers; the logistic reference is the optimum."""

from fractions import Fraction

import numpy as np
import pytest
from exact.enclosures import ROUNDED, entropy, share, softplus
from exact.linear import Penalty, exact
from exact.logistic import LogisticProblem
from exact.losses import Sizes
from losses.conic import optimum

from oneslack.losses import Logistic

HALF = Fraction(1, 2)
POINTS = [Fraction(0), Fraction(1, 3), Fraction(-7, 2), Fraction(20), Fraction(-25), Fraction(1, 1024)]


def exp(x):
    """(low, high): the series of exp(x / 2^k) for a small one, whose rest is less than its last term, squared
    k times."""
    k = 0
    while abs(x) > 1:
        x, k = x / 2, k + 1
    term = total = Fraction(1)
    for j in range(1, 100):
        term = term * x / j
        total += term
    low, high = _shortened(total - abs(term), -1), _shortened(total + abs(term), 1)
    for _ in range(k):
        low, high = _shortened(low * low, -1), _shortened(high * high, 1)
    return low, high


def log(x):
    """(low, high) of 1 <= x <= 2: 2 artanh((x - 1) / (x + 1)), terms of which fall by a ninth or more."""
    bounds = []
    for side in (-1, 1):
        power = _shortened((x - 1) / (x + 1), side)
        square, total = _shortened(power * power, side), Fraction(0)
        for j in range(120):
            total += _shortened(2 * power / (2 * j + 1), side)
            power = _shortened(power * square, side)
        bounds.append(total)
    return bounds[0], bounds[1] + power


def _shortened(x, side):
    """x with 130 digits, rounded down or up."""
    digits = x * 10**130
    return Fraction(digits.__floor__() if side < 0 else digits.__ceil__(), 10**130)


@pytest.mark.parametrize("x", POINTS, ids=str)
def test_softplus_is_between_its_bounds(x):
    low, high = softplus(x)
    first, last = exp(-abs(x))
    least, most = log(1 + first)[0] + max(x, 0), log(1 + last)[1] + max(x, 0)
    assert low <= least <= most <= high
    assert high - low <= 4 * ROUNDED * (1 + abs(x))


@pytest.mark.parametrize("p", [HALF, Fraction(1, 3), Fraction(1, 10**9), 1 - Fraction(1, 10**9)], ids=str)
def test_entropy_is_between_its_bounds(p):
    """-p log p = p log(1 / p), and 1 / p is a power of 2 times a number between 1 and 2."""

    def part(p):
        k = 0
        while p <= HALF:
            p, k = 2 * p, k + 1
        low, high = log(1 / p)
        return k * log(Fraction(2))[0] + low, k * log(Fraction(2))[1] + high

    (a, b), (c, d) = part(p), part(1 - p)
    low, high = entropy(p)
    assert low <= p * a + (1 - p) * c <= p * b + (1 - p) * d <= high
    assert high - low <= 100 * ROUNDED


def test_far_away_and_at_the_ends():
    assert softplus(Fraction(-(10**9)))[0] == 0
    assert softplus(Fraction(10**9))[0] == 10**9
    assert entropy(Fraction(0))[0] == entropy(Fraction(1))[0] == 0
    assert [share(Fraction(x)) for x in (-(10**9), 0, 10**9)] == [0, HALF, 1]


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_reference_is_the_optimum_of_a_conic_solver(penalty, intercept):
    rng = np.random.default_rng(3)
    X, y, c = rng.normal(size=(8, 3)), np.tile([1.0, -1.0], 4), rng.uniform(0.5, 2.0, 8)
    terms = Sizes(3) if penalty == "l1" else Penalty(3, int(intercept))
    problem = LogisticProblem(terms, exact(X), exact(y), exact(c), intercept)
    lower, w = problem.optimum()
    assert lower <= problem.definition(w) <= lower * (1 + Fraction(1, 10**25))
    found, b = optimum(Logistic(), X, y, c, penalty, 0.0 if intercept else None)
    theirs = problem.definition(exact([*found, b][: problem.d]))
    assert lower <= theirs
    assert float(theirs) == pytest.approx(float(lower), rel=1e-7)


def test_a_problem_of_one_side_has_no_best_intercept():
    problem = LogisticProblem(Penalty(1, 1), exact([[1.0], [2.0]]), [1, -1], exact([1.0, 0.0]), True)
    assert problem.optimum()[0] == 0


@pytest.mark.parametrize("x", [-150, -400, -750, -1200])
def test_bounds_of_faint_numbers_are_a_share_of_them(x):
    """log(1 + e) lies between e - e^2 / 2 and e; the entropy of p between p log(1 / p) + p - p^2 and + p."""
    e = exp_of_power(x)
    low, high = softplus(Fraction(x))
    assert low <= e[1]
    assert e[0] - e[0] ** 2 <= high
    assert 0 < high - low <= 4 * ROUNDED * (1 - x) * high
    p = share(Fraction(x))
    low, high = entropy(p)
    assert 0 < high - low <= 4 * ROUNDED * high
    assert p * (-x - 1) < low < high < p * (-x + 2)


def exp_of_power(x):
    """(low, high) of exp(x) for a whole x < 0, as 1 / e^-x, e by its first 40 digits."""
    e = Fraction(27182818284590452353602874713526624977572, 10**40)
    return 1 / (e + Fraction(1, 10**40)) ** -x, 1 / e**-x

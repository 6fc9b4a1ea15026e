"""Scores that are moved along with w are off by no more than their way says, in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from exact.linear import dot, exact

import oneslack
from oneslack.certificate.rounding import gamma, moved, norm_up
from oneslack.solvers.line import Line, Origin, polish, way_between

SIZES = [1e-8, 1.0, 1e8]


def drawn(seed, n=6, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, d)
    return rng, X, rng.choice([-1.0, 1.0], n)


def bound_holds(X, w, S, way):
    """|S_i - <w, x_i>| <= gamma(terms + 64) way |x_i|, as rational numbers."""
    limit = Fraction(gamma(X.shape[1] + 1 + 64)) * Fraction(way)
    for x, s in zip(X, S, strict=True):
        off = Fraction(float(s)) - dot(exact([x])[0], exact([w])[0])
        if off**2 > limit**2 * dot(exact([x])[0], exact([x])[0]):
            return False
    return True


@pytest.mark.parametrize("seed", range(20))
def test_directions_with_scores_of_their_own(seed):
    """As Newton steps go: lengths that cancel by many orders."""
    rng, X, _ = drawn(seed)
    w = rng.normal(size=5) * rng.choice(SIZES)
    S, way = X @ w, norm_up(w)
    for _ in range(8):
        direction = rng.normal(size=5) * rng.choice(SIZES) - (w if rng.random() < 0.5 else 0.0)
        t = float(rng.choice([1.0, rng.random(), 300.0]))
        way = moved(way + abs(t) * norm_up(direction), w, t, direction)
        w, S = w + t * direction, S + t * (X @ direction)
        assert bound_holds(X, w, S, way)


@pytest.mark.parametrize("seed", range(20))
def test_lines_between_points(seed):
    """As a one-slack line search goes, from the best point to candidates, and beyond."""
    rng, X, y = drawn(seed)
    problem = oneslack.Problem(oneslack.Binary(5), X, y)
    w = rng.normal(size=5) * 1e8
    S, way = problem.scores(w), norm_up(w)
    for _ in range(8):
        other = rng.normal(size=5) * rng.choice(SIZES)
        ways = way, norm_up(other)
        line = Line(problem, w, S, other - w, problem.scores(other) - S, lambda t, w=ways: way_between(*w, t))
        found = line.point(float(rng.choice([1.0, 0.999, rng.random(), 1.5])))
        w, S, way = found.w, found.S, found.way
        assert bound_holds(X, w, S, way)


@pytest.mark.parametrize("has_prior", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_a_polished_point(seed, has_prior):
    rng, X, y = drawn(seed)
    prior = rng.normal(size=5) * rng.choice(SIZES) if has_prior else None
    problem = oneslack.Problem(oneslack.Binary(5), X, y, prior=prior)
    w = rng.normal(size=5) * rng.choice(SIZES)
    found = polish(problem, w, problem.scores(w), 0.0, Origin.of(problem))
    assert bound_holds(X, found.w, found.S, found.way)


def test_the_bound_can_fail():
    rng, X, _ = drawn(0)
    w = rng.normal(size=5)
    S = X @ w
    assert bound_holds(X, w, S, norm_up(w))
    assert not bound_holds(X, w, S + 1e-12 * np.abs(X).max(), norm_up(w))
    assert not bound_holds(X, w, (S + X @ (1e9 * w)) - X @ (1e9 * w), 1e-3 * norm_up(w))


def test_scores_that_were_written_down_are_believed_where_they_are_of_w():
    rng, X, y = drawn(1)
    problem = oneslack.Problem(oneslack.Binary(5), X, y)
    w = rng.normal(size=5)
    S, way = problem.scores(w), norm_up(w)
    assert problem.scores.believed(w, S, way) == way
    assert problem.scores.believed(w, S + 1e-9 * np.abs(X).max(), way) is None
    assert problem.scores.believed(w, S, None) is None

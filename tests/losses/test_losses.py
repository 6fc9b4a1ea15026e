"""Every loss against its definition: slopes and curvatures by differences, conjugates and steps by search."""

from fractions import Fraction

import numpy as np
import pytest
from exact.enclosures import entropy
from scipy.optimize import minimize_scalar

import oneslack
from oneslack.losses import LOSSES, Hinge, Huber, Logistic, Pinball, SquaredHinge, SquaredTube, Tube
from oneslack.models.linear.scalar import Linear

ALL = [
    Hinge(), SquaredHinge(), Logistic(), Tube(0.0), Tube(0.3), SquaredTube(0.0), SquaredTube(0.3),
    Pinball(0.5), Pinball(0.9), Huber(0.5), Huber(2.0),
]  # fmt: skip
each_loss = pytest.mark.parametrize("phi", ALL, ids=str)
H = 1e-6


def draw(phi, seed=0, size=40):
    """(y, z) pairs, none of them on a kink."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size) if phi.has_sides else rng.normal(size=size)
    return list(zip(y.tolist(), rng.normal(scale=2.0, size=size).tolist(), strict=True))


def test_all_losses_are_tested():
    assert {type(phi) for phi in ALL} == set(LOSSES.values())


@each_loss
def test_the_dual_is_minus_the_slope(phi):
    for y, z in draw(phi):
        slope = (phi.value(y, z + H) - phi.value(y, z - H)) / (2 * H)
        assert phi.dual(y, z) == pytest.approx(-slope, abs=1e-5)
        assert abs(phi.dual(y, z)) <= phi.steepest
        low, high = phi.bounds(np.array([y]), np.array([1.0]))
        assert low[0] <= phi.dual(y, z) <= high[0]


@each_loss
def test_the_conjugate_is_that_of_the_loss(phi):
    """phi(z) >= t p - charge(p) - p z for all p and z (Fenchel and Young), with = at p = -phi'(z)."""
    points = draw(phi, size=15)
    for y, z in points:
        p = phi.dual(y, z)
        bound = phi.target(y) * p - phi.charge(y, p, 1.0)
        assert bound - p * z == pytest.approx(phi.value(y, z), abs=1e-9)
        assert all(phi.value(y, other) >= bound - p * other - 1e-9 for _, other in points)


@each_loss
def test_a_charge_of_a_weighted_loss_is_that_of_its_share(phi):
    for y, z in draw(phi, 1):
        p, C = phi.dual(y, z), 3.7
        assert phi.charge(y, C * p, C) == pytest.approx(C * phi.charge(y, p, 1.0), abs=1e-9)


@pytest.mark.parametrize("p", [1e-300, 1e-17, 3e-12, 4e-8, 0.3, 1 - 4e-8, 1 - 2e-16, 1.0])
def test_an_entropy_has_all_its_digits(p):
    """Also where 1 - p has lost most of those of p."""
    low, high = map(float, entropy(Fraction(p)))
    for found in (
        Logistic().charge(1.0, p, 1.0),
        float(Logistic().charge(np.ones(1), np.array([p]), 1.0)[0]),
    ):
        assert low * (1 - 1e-15) <= -found <= high * (1 + 1e-15)


@each_loss
@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("q", [0.0, 0.1, 10.0])
def test_a_step_is_the_best_one(phi, C, q):
    for k, (y, z) in enumerate(draw(phi, 2, 20)):
        low, high = (float(bound[0]) for bound in phi.bounds(np.array([y]), np.array([C])))
        low, high = max(low, -100.0 * C), min(high, 100.0 * C)
        a = (0.0, low, high, 0.3 * low + 0.1 * high)[k % 4]

        def gain(new, y=y, z=z, a=a):
            return phi.target(y) * new - phi.charge(y, new, C) - (new - a) * z - 0.5 * q * (new - a) ** 2

        new = phi.step(y, z, a, C, q)
        assert low <= new <= high
        found = minimize_scalar(
            lambda x: -gain(x), bounds=(low, high), method="bounded", options={"xatol": 1e-10}
        )
        best = max(-found.fun, gain(low), gain(high), gain(0.0))
        assert gain(new) >= best - 1e-7 * max(abs(best), C)


@each_loss
def test_a_dual_rests_where_no_step_moves_it(phi):
    """At a bound, the pull says whether the best step stays there."""
    seen = set()
    for C in (0.5, 2.0):
        for y, z in draw(phi, 3, 200):
            low, high = (float(bound[0]) for bound in phi.bounds(np.array([y]), np.array([C])))
            for a in {0.0, low, high, phi.step(y, z, 0.0, C, 1.0)} - {np.inf, -np.inf}:
                at, u = phi.place(y, a, C), phi.pull(y, z, a, C)
                stays = phi.step(y, z, a, C, 1.0) == a
                if at:
                    assert stays == (at * u >= 0)
                    seen.add((at, bool(stays)))
                elif abs(u) > 1e-9:
                    assert not stays
    assert seen or isinstance(phi, Logistic | SquaredTube)  # these may have no bound


@each_loss
@pytest.mark.parametrize("mu", [0.01, 0.4, 3.0])
def test_the_smoothed_loss_lies_above_and_has_its_derivatives(phi, mu):
    def smoothed(y, z):
        p, error = phi.smooth(y, z, mu)
        return phi.target(y) * p - phi.charge(y, p, 1.0) - p * z + error

    for y, z in draw(phi, 4):
        p, _ = phi.smooth(y, z, mu)
        assert smoothed(y, z) >= phi.value(y, z) - 1e-12
        slope = (smoothed(y, z + H) - smoothed(y, z - H)) / (2 * H)
        assert p == pytest.approx(-slope, abs=1e-5)
        bend = (phi.smooth(y, z - H, mu)[0] - phi.smooth(y, z + H, mu)[0]) / (2 * H)
        assert phi.curvature(p, mu) == pytest.approx(bend, rel=1e-4, abs=1e-6)


@each_loss
def test_no_intercept_is_best_beyond_its_bound(phi):
    rng = np.random.default_rng(5)
    y = rng.choice([-1.0, 1.0], 9, p=[0.8, 0.2]) if phi.has_sides else rng.normal(size=9)
    s = rng.uniform(0.1, 2.0, size=9)
    edge = np.max(phi.size(y))
    if isinstance(phi, Logistic):
        edge += abs(np.log(s[y > 0].sum() / s[y < 0].sum()))

    def total(b):
        return sum(si * phi.value(yi, b) for si, yi in zip(s, y, strict=True))

    for far in (1.5, 3.0, 10.0):
        assert total(edge) <= total(edge + far) + 1e-12
        assert total(-edge) <= total(-edge - far) + 1e-12


@pytest.mark.grid(1)
@each_loss
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.05, 5.0])
def test_solvers_agree(phi, intercept, C):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 4))
    X[0] = 0.0
    z = X @ rng.normal(size=4) + 0.5 + rng.normal(size=60)
    y, s = np.sign(z) if phi.has_sides else z, rng.uniform(0.0, 2.0, size=60)
    s[:5] = 0.0
    found = []
    for solver in (oneslack.DualCD(), oneslack.Newton(), oneslack.OneSlack()):
        problem = oneslack.Problem(Linear(4, phi, intercept), X, y, C=C, sample_weight=s)
        result = oneslack.solve(problem, solver, tol=1e-4)
        assert result.certified
        assert result.gap <= 1e-4
        found.append(result)
    assert max(result.dual for result in found) <= min(result.primal for result in found)

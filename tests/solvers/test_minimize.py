"""minimize against a QP: convex risks given by value and subgradient only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import Reference

import oneslack
from oneslack import Status, minimize

TOL = 1e-6


class PiecewiseLinear:
    """risk(w) = sum over blocks of the max of a few planes b_j - <g_j, w>."""

    def __init__(self, rng, d, n_blocks, n_planes, shift=0.0):
        self.index = np.repeat(np.arange(n_blocks), n_planes)
        self.normals = rng.normal(size=(len(self.index), d))
        self.offsets = rng.normal(size=len(self.index)) + shift
        self.n_blocks = n_blocks

    def __call__(self, w):
        values = (self.offsets - self.normals @ w).reshape(self.n_blocks, -1)
        worst = values.argmax(axis=1) + np.arange(self.n_blocks) * values.shape[1]
        return values.max(axis=1).sum(), -self.normals[worst].sum(axis=0)

    def reference(self, C, prior=None, nonnegative=None):
        weights = np.full(self.n_blocks, float(C))
        return Reference.of_cuts(
            self.normals, self.offsets, self.index, weights, prior=prior, nonnegative=nonnegative
        )  # fmt: skip


def check(result, reference, tol=TOL):
    """A true bracket around the reference's optimum, as tight as asked."""
    lower, upper, _ = reference.solve()
    slack = 1e-8 * (1.0 + abs(upper))
    assert result.status is Status.CONVERGED, str(result)
    assert result.dual <= upper + slack
    assert result.primal >= lower - slack
    assert result.primal - result.dual <= tol * max(abs(result.primal), abs(result.dual)) + slack
    assert result.primal == pytest.approx(reference.primal(result.w), rel=1e-10, abs=1e-10)
    assert result.trace.column("dual").max() <= upper + slack
    assert result.trace.column("primal").min() >= lower - slack


sizes = given(
    seed=st.integers(0, 10**6), d=st.integers(1, 6), n_blocks=st.integers(1, 4), n_planes=st.integers(1, 5),
    log_C=st.floats(-2, 2), shift=st.sampled_from([-5.0, 0.0, 5.0]),
)  # fmt: skip


@sizes
def test_any_piecewise_linear_risk(seed, d, n_blocks, n_planes, log_C, shift):
    """Also negative ones: with one plane a block, the risk has no lower bound."""
    risk = PiecewiseLinear(np.random.default_rng(seed), d, n_blocks, n_planes, shift)
    C = 10.0**log_C
    check(minimize(risk, d, C=C, tol=TOL), risk.reference(C))


@sizes
def test_a_prior_and_nonnegative_weights(seed, d, n_blocks, n_planes, log_C, shift):
    rng = np.random.default_rng(seed)
    risk = PiecewiseLinear(rng, d, n_blocks, n_planes, shift)
    C, prior, mask = 10.0**log_C, rng.normal(size=d), rng.random(d) < 0.6
    result = minimize(risk, d, C=C, tol=TOL, w0=prior, nonnegative=mask)
    assert (result.w[mask] >= 0).all()
    check(result, risk.reference(C, prior, mask))


@pytest.mark.parametrize("block", range(10))
def test_nonnegative_weights_on_hundreds_of_problems(block):
    """Truncating w in place instead of keeping v = sum alpha delta ends far above the optimum."""
    for seed in range(30):
        rng = np.random.default_rng([block, seed])
        d = int(rng.integers(1, 8))
        risk = PiecewiseLinear(rng, d, int(rng.integers(1, 4)), int(rng.integers(1, 6)))
        C = 10.0 ** rng.uniform(-1, 2)
        result = minimize(risk, d, C=C, tol=TOL, nonnegative=True)
        assert (result.w >= 0).all()
        check(result, risk.reference(C, nonnegative=np.ones(d, bool)))


def test_mask_indices_and_true_say_the_same():
    rng = np.random.default_rng(3)
    risk = PiecewiseLinear(rng, 4, 2, 4)
    ways = [np.array([True, False, True, False]), [0, 2], np.array([2, 0])]
    results = [minimize(risk, 4, tol=TOL, nonnegative=way) for way in ways]
    for result in results:
        np.testing.assert_array_equal(result.w, results[0].w)
    all_of_them = [
        minimize(risk, 4, tol=TOL, nonnegative=way) for way in (True, [0, 1, 2, 3], np.ones(4, bool))
    ]
    for result in all_of_them:
        np.testing.assert_array_equal(result.w, all_of_them[0].w)
    none = [minimize(risk, 4, tol=TOL, nonnegative=way) for way in (None, False, [], np.zeros(4, bool))]
    for result in none:
        assert result.primal == pytest.approx(none[0].primal, rel=2 * TOL)


def test_scaling_the_risk_is_scaling_C():
    risk = PiecewiseLinear(np.random.default_rng(5), 3, 2, 4)
    one = minimize(risk, 3, C=6.0, tol=TOL)
    other = minimize(lambda w: tuple(3.0 * part for part in risk(w)), 3, C=2.0, tol=TOL)
    assert max(one.dual, other.dual) <= min(one.primal, other.primal) + 1e-9


def test_shifting_prior_and_risk_shifts_w():
    risk, shift = PiecewiseLinear(np.random.default_rng(6), 3, 2, 4), np.array([1.0, -2.0, 0.5])
    plain = minimize(risk, 3, tol=1e-9)
    shifted = minimize(lambda w: risk(w - shift), 3, w0=shift, tol=1e-9)
    np.testing.assert_allclose(shifted.w - shift, plain.w, atol=1e-4)
    assert shifted.primal == pytest.approx(plain.primal, rel=1e-8)


def test_a_smooth_risk():
    """1/2 |w|^2 + C/2 |w - c|^2 has its minimum at C c / (1 + C)."""
    c = np.array([1.0, -3.0, 2.0])
    result = minimize(lambda w: (0.5 * np.sum((w - c) ** 2), w - c), 3, C=2.0, tol=1e-6)
    assert result.status is Status.CONVERGED
    optimum = 0.5 * np.sum((2 / 3 * c) ** 2) + np.sum((c / 3) ** 2)
    assert result.dual <= optimum + 1e-12
    assert optimum <= result.primal <= optimum * (1 + 2e-6)


def test_a_linear_risk_has_its_minimum_far_away():
    g = np.array([1.0, -2.0])
    result = minimize(lambda w: (float(g @ w), g), 2, C=10.0, tol=1e-9)
    np.testing.assert_allclose(result.w, -10 * g, atol=1e-6)
    assert result.primal == pytest.approx(-0.5 * 100 * 5, rel=1e-9)


@pytest.mark.parametrize("floor", [None, 0.0, -3.0])
def test_a_floor_is_a_plane(floor):
    """A floor under the risk gives a bound at once and changes no optimum."""
    risk = lambda w: (float(np.abs(w - 2).sum()), np.sign(w - 2))  # noqa: E731
    result = minimize(risk, 3, C=0.5, floor=floor, tol=TOL)
    assert result.status is Status.CONVERGED
    assert result.dual <= 3 * (0.5 * 0.25 + 0.5 * 1.5) + 1e-9 <= result.primal + 2e-9
    np.testing.assert_allclose(result.w, 0.5, atol=1e-2)
    if floor is not None:
        first = minimize(risk, 3, C=0.5, floor=floor, max_iter=1, tol=0.0)
        assert first.dual >= 0.5 * floor


def test_budgets_and_start():
    risk = PiecewiseLinear(np.random.default_rng(7), 6, 4, 5)
    short = minimize(risk, 6, max_iter=2, tol=0.0)
    assert (short.status, short.n_iter) == (Status.MAX_ITER, 2)
    assert short.dual <= short.primal
    check(minimize(risk, 6, start=short, tol=TOL), risk.reference(1.0))
    check(minimize(risk, 6, start=short.w, tol=TOL), risk.reference(1.0))
    brief = minimize(risk, 6, time_limit=1e-9, tol=0.0)
    assert brief.status is Status.TIME_LIMIT
    stopped = minimize(risk, 6, callbacks=[lambda row: row.iteration == 3], tol=0.0)
    assert (stopped.status, stopped.n_iter) == (Status.STOPPED, 3)


@pytest.mark.parametrize("C", [1.0, 3.0])
def test_a_start_of_another_risk_gives_its_w_alone(C):
    risks = [PiecewiseLinear(np.random.default_rng(seed), 6, 4, 5, shift=5.0 * seed) for seed in (1, 0)]
    again = minimize(risks[1], 6, C=C, start=minimize(risks[0], 6, tol=TOL), tol=TOL)
    check(again, risks[1].reference(C))


def test_ctrl_c_inside_the_risk():
    risk, calls = PiecewiseLinear(np.random.default_rng(8), 6, 4, 5), []

    def interrupted(w):
        calls.append(w)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return risk(w)

    with pytest.raises(KeyboardInterrupt) as stopped:
        minimize(interrupted, 6, tol=0.0)
    result = stopped.value.result
    lower, upper, _ = risk.reference(1.0).solve()
    assert result.status is Status.INTERRUPTED
    assert result.dual <= upper + 1e-9
    assert result.primal >= lower - 1e-9
    assert result.primal == pytest.approx(risk.reference(1.0).primal(result.w), rel=1e-12)


def test_the_risk_cannot_spoil_w():
    """A risk that writes into its argument changes nothing."""
    risk = PiecewiseLinear(np.random.default_rng(9), 3, 2, 4)

    def writes(w):
        answer = risk(w)
        w[:] = np.nan
        return answer

    np.testing.assert_array_equal(minimize(writes, 3, tol=TOL).w, minimize(risk, 3, tol=TOL).w)


@pytest.mark.parametrize(
    ("risk", "sentence"),
    [
        (lambda w: (0.0, np.zeros(3)), r"the subgradient has shape \(3,\), expected n_params = \(2,\)"),
        (
            lambda w: (0.0, np.zeros((1, 2))),
            r"the subgradient has shape \(1, 2\), expected .* \(2,\)",
        ),
        (lambda w: (0.0, 1.0), r"the subgradient has shape \(\), expected n_params = \(2,\)"),
        (lambda w: (np.nan, np.zeros(2)), "the value nan, expected a finite number"),
        (lambda w: (np.inf, np.zeros(2)), "the value inf, expected a finite number"),
        (lambda w: (0.0, np.array([0.0, np.nan])), "the subgradient has nan at feature 1"),
    ],
)
def test_a_bad_risk_is_refused(risk, sentence):
    with pytest.raises(ValueError, match=sentence):
        minimize(risk, 2)


def flat(w):
    return 0.0, np.zeros_like(w)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"C": 0}, "C must be a positive number; got 0"),
        ({"C": np.nan}, "C must be a positive number; got nan"),
        ({"w0": np.zeros(3)}, r"w0 has shape \(3,\), expected \(2,\)"),
        ({"tol": -1.0}, "tol must be >= 0"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"nonnegative": np.array([True, False, True])}, r"nonnegative has shape \(3,\), expected \(2,\)"),
        ({"nonnegative": [0, 2]}, r"a mask, or indices below 2; got \[0, 2\]"),
        ({"nonnegative": [0.5]}, r"a mask, or indices below 2; got \[0.5\]"),
    ],
)
def test_bad_arguments_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        minimize(flat, 2, **arguments)


def test_errors_of_the_risk_come_through():
    def broken(w):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        oneslack.minimize(broken, 2)


def test_a_flat_risk_is_solved_at_once():
    result = minimize(flat, 2, w0=np.array([1.0, -1.0]), nonnegative=[1])
    np.testing.assert_array_equal(result.w, [1.0, 0.0])
    assert result.primal == pytest.approx(0.5)
    assert result.gap <= 1e-3


def test_a_risk_for_weights_that_are_not_negative_meets_no_others():
    def risk(w):
        assert (w >= 0.0).all()
        return 1.0 + w.sum(), np.ones(3)

    result = minimize(risk, 3, nonnegative=True, floor=0.0)
    assert not result.w.any()
    again = minimize(risk, 3, nonnegative=True, floor=0.0, start=result)
    assert again.primal == result.primal == pytest.approx(1.0)

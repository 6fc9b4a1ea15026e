"""`minimize` with an oracle that is not exact: the bounds hold, and what it left open is told."""

import numpy as np
import pytest

import oneslack


def risk(slack):
    """|w_0 - 2|, whose planes are found `slack` too low; that they are is known."""

    def ask(w):
        value, slope = abs(w[0] - 2.0), np.sign(w - 2.0)
        return value - slack, slope, value

    return ask


def test_the_optimum_is_between():
    result = oneslack.minimize(risk(0.01), 1, C=3.0, tol=1e-6)
    assert result.certified
    assert result.status.name == "INFERENCE"
    assert result.dual <= 2.0 <= result.primal  # at w = 2
    assert result.primal - result.dual <= 3.0 * 0.011
    assert result.inference == pytest.approx(0.03, rel=1e-6)


def test_a_bound_below_its_value_is_refused():
    with pytest.raises(ValueError, match="which is not at least its value"):
        oneslack.minimize(risk(-0.01), 1)

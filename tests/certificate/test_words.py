import math

import pytest

from oneslack.certificate.words import above, distance, percent


@pytest.mark.parametrize(
    ("primal", "dual", "share", "words"),
    [
        (1.01, 1.0, 0.01, "at most 1 % above the optimum"),
        (2.0, 1.0, 1.0, "at most 100 % above the optimum"),
        (30.0, 1.0, 29.0, "at most 2,900 % above the optimum"),
        (1.0 + 1e-15, 1.0, 0.0, "at most 0 % above the optimum"),
        (1.0, 1.1, 0.0, "at most 0 % above the optimum"),
        (1.0, 0.0, math.inf, "no lower bound above zero yet"),
        (1.0, -math.inf, math.inf, "no lower bound above zero yet"),
        (0.0, 0.0, 0.0, "at the optimum"),
    ],
)
def test_distance(primal, dual, share, words):
    assert above(primal, dual) == pytest.approx(share)
    assert distance(primal, dual) == words


def test_percent():
    shares = [0.0, 1e-15, 0.001234, 0.5, 12.5, math.inf, math.nan]
    assert [percent(share) for share in shares] == ["0 %", "0 %", "0.123 %", "50 %", "1,250 %", "–", "–"]

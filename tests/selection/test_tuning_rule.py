"""Which candidate is best, and when larger C need not be tried."""

import numpy as np
import pytest

from oneslack.selection.rule import CHANCE, PATIENCE, Turn, best_of, is_above


def answers(n, wrong):
    """(n,) with zeros at the places `wrong`."""
    right = np.ones(n)
    right[list(wrong)] = 0
    return right


def test_a_difference_is_measured_by_its_own_standard_error():
    b = np.zeros(100)
    for count in range(1, 12):
        a = np.zeros(100)
        a[:count] = 1.0
        share = count / 100
        error = np.sqrt(share * (1 - share) / 99)
        assert is_above(a, b) == (share > CHANCE * error)
    assert not is_above(np.ones(1), np.zeros(1))


def test_equal_answers_are_decided_by_the_loss():
    right = np.array([answers(200, range(60)), answers(200, range(10, 20)), answers(200, range(9))])
    losses = np.repeat([[0.1], [0.2], [0.3]], 200, axis=1)
    assert best_of(right, losses) == 1  # the first is clearly behind, the second by one example
    assert best_of(right, losses[::-1]) == 2
    assert best_of(right[1:], np.zeros((2, 200))) == 0  # the smaller C of equals


def test_the_same_examples_are_compared():
    """Twenty examples less are much when they are the same ones, and little among many that differ."""
    n = 1000
    nested = np.array([answers(n, range(120)), answers(n, range(100))])
    assert best_of(nested, np.repeat([[0.0], [1.0]], n, axis=1)) == 1
    crossed = np.array([answers(n, range(120)), answers(n, range(500, 600))])
    assert best_of(crossed, np.repeat([[0.0], [1.0]], n, axis=1)) == 0


@pytest.mark.parametrize("n", [50, 500])
def test_the_turn_is_over_when_the_loss_has_risen_for_long(n):
    rng = np.random.default_rng(0)
    noise = 0.01 * rng.normal(size=n)
    turn, right = Turn(), answers(n, range(10))
    over = [turn.is_over(right, level + k * noise) for k, level in enumerate([3.0, 1.0, 1.0, 2.0, 2.0])]
    assert over == [False, False, False, False, True]
    assert PATIENCE == 2


def test_the_turn_waits_while_scores_rise_or_losses_are_level():
    turn, n = Turn(), 300
    losses = np.linspace(0.0, 1.0, n)
    # As many right answers throughout, and a loss that falls: a class that is never predicted yet.
    assert not any(turn.is_over(answers(n, range(30)), losses - 0.1 * k) for k in range(5))
    # The loss rises, but ever more are right.
    assert not any(turn.is_over(answers(n, range(30 - 10 * k)), losses + k) for k in range(1, 4))
    assert not turn.is_over(answers(n, range(5)), losses + 5)
    assert turn.may_be_over
    assert turn.is_over(answers(n, range(5)), losses + 5)

"""What of many alike cases is for the quick run."""

import itertools
from collections import Counter

import pytest


def few(values, quick):
    """The values for parametrize; those behind the first `quick` are slow."""
    values = list(values)
    return values[:quick] + [pytest.param(value, marks=pytest.mark.slow) for value in values[quick:]]


def covering(cases, strength):
    """Numbers of a few of the cases, {parameter: value}, in which each combination of `strength` parameters
    has all values that it has in any case: greedily, of equals one whose values were taken least so far."""
    held = [set(itertools.combinations(sorted(case.items()), strength)) for case in cases]
    missing, chosen, taken = set().union(*held), set(), Counter()

    def worth(number):
        return len(held[number] & missing), -sum(taken[value] for value in cases[number].items())

    while missing:
        best = max(range(len(cases)), key=worth)
        chosen.add(best)
        missing -= held[best]
        taken.update(cases[best].items())
    return chosen

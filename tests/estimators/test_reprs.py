"""What is printed is short, and `result_` has one type."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from oneslack import KernelSVC, LinearSVC, Result, tune
from oneslack.formats import Sentences


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return LinearSVC(multi_class="ovr", C=0.01, tol=0.1).fit(X / 16, y)


def test_one_against_the_rest_is_one_result(digits):
    result = digits.result_
    assert isinstance(result, Result)
    assert len(result.parts) == 10
    assert result.primal == digits.objective_ >= sum(part.primal for part in result.parts) * (1 - 1e-12)
    assert result.dual == digits.dual_objective_
    assert len(result.w) == sum(len(part.w) for part in result.parts)
    assert result.trace[-1].primal == pytest.approx(result.primal)
    assert str(result).startswith("10 problems, ")
    assert "certified" in result._repr_html_()
    with pytest.raises(AttributeError):
        result.nothing  # noqa: B018


def test_one_problem_has_one_part():
    X, y = load_iris(return_X_y=True)
    for model in (LinearSVC(), KernelSVC(multi_class="crammer_singer")):
        result = model.fit(X, y).result_
        assert result.parts == (result,)


def test_reprs_are_short(digits):
    X, y = load_iris(return_X_y=True)
    found = tune(LinearSVC(), X, y, C=np.geomspace(0.01, 1, 4), cv=3)
    words = Sentences.from_lists(w=[["a", "b"]] * 5000)
    for shown in (digits.result_, digits.result_.parts[0], found, words, words.columns["w"]):
        assert len(repr(shown)) < 600, type(shown)
        assert len(str(shown)) < 600, type(shown)
    assert "best C=" in repr(found)
    assert repr(words) == "<Sentences: 5,000 with 10,000 tokens, columns w>"

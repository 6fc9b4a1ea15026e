"""A StructuralSVM of a user's model in one safe file."""

import numpy as np
import pytest
from pairs_model import Pairs

import oneslack


def test_a_model_of_ones_own_is_saved_by_its_weights(tmp_path):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(2, 4)) for _ in range(8)]
    svm = oneslack.StructuralSVM(Pairs(), C=0.5).fit(X, [tuple((x[:, 0] > 0).astype(int)) for x in X])
    svm.save(tmp_path / "m")
    with pytest.raises(oneslack.OneslackError, match=r"model=Pairs\(\.\.\.\)"):
        oneslack.load(tmp_path / "m")
    again = oneslack.load(tmp_path / "m", model=Pairs())
    assert again.C == 0.5
    assert again.predict(X) == svm.predict(X)


class Multi(oneslack.Multiclass):
    """A model of one's own, though it is built on a known one."""


def test_a_model_that_is_built_on_a_known_one_is_not_taken_for_it(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 3))
    svm = oneslack.StructuralSVM(Multi(3, 2)).fit(X, (X[:, 0] > 0).astype(int))
    svm.save(tmp_path / "m")
    with pytest.raises(oneslack.OneslackError, match=r"model=Multi\(\.\.\.\)"):
        oneslack.load(tmp_path / "m")
    assert isinstance(oneslack.load(tmp_path / "m", model=Multi(3, 2)).model, Multi)

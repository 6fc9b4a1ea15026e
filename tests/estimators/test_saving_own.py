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

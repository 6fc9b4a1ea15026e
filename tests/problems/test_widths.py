"""A model made for another number of features than X has columns is refused: compiled loops do not look."""

import numpy as np
import pytest
import scipy.sparse as sp

import oneslack
from oneslack.formats import ShardWriter, open_shards
from oneslack.models.measures import measure_model

X = np.random.default_rng(0).normal(size=(20, 5))
SIGNS = np.where(X[:, 0] > 0, 1, -1)
MODELS = {
    "binary": (oneslack.Binary, SIGNS),
    "multiclass": (lambda d: oneslack.Multiclass(d, 2), (SIGNS > 0).astype(int)),
    "regression": (oneslack.Regression, X[:, 0]),
    "ranking": (oneslack.Ranking, SIGNS),
    "f1": (lambda d: measure_model("f1", d), SIGNS),
}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("d", [3, 8])
@pytest.mark.parametrize("name", MODELS)
def test_another_width_is_refused(name, d, form):
    make, y = MODELS[name]
    with pytest.raises(ValueError, match=f"X has 5 columns, but .* was made for {d} features"):
        oneslack.Problem(make(d), form(X), y)
    assert oneslack.solve(oneslack.Problem(make(5), form(X), y), tol=1e-2).status.ok


def test_another_width_of_a_folder_is_refused(tmp_path):
    with ShardWriter(tmp_path / "packed", dtype="float64") as writer:
        writer.append(X, SIGNS)
    shards = open_shards(tmp_path / "packed")
    with pytest.raises(ValueError, match="holds 5 features, but Binary was made for 3"):
        oneslack.ShardedProblem(oneslack.Binary(3), shards)

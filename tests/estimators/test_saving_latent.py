"""Latent estimators in model files: all but the code of the model comes back."""

import numpy as np
import pytest
from latent_toys import Halves, Peak

import oneslack
from oneslack import FormatError, LatentStructuralSVM, LatentSVM, OneslackError
from oneslack.formats import load_model, save_model


class Valley(Peak):
    """Another model of as many weights."""


def fitted(kind):
    if kind is LatentSVM:
        X = list(np.random.default_rng(0).normal(size=(30, 4)))
        y = np.array(["no", "yes"])[[int(x.max() > 1.0) for x in X]]
        return LatentSVM(Peak(), C=10.0, n_starts=2, random_state=0).fit(X, y), X
    X = np.random.default_rng(1).uniform(-2, 2, 40).tolist()
    y = [int(abs(x) > 1) for x in X]
    return LatentStructuralSVM(Halves(), n_starts=3, prior=np.ones(8), random_state=0).fit(X, y), X


@pytest.mark.parametrize("kind", [LatentSVM, LatentStructuralSVM])
def test_all_but_the_code_comes_back(kind, tmp_path):
    svm, X = fitted(kind)
    svm.save(tmp_path / "model")
    again = oneslack.load(tmp_path / "model", model=type(svm.model)())
    assert type(again) is kind
    np.testing.assert_array_equal(again.predict(X), svm.predict(X))
    assert again.predict_latent(X) == svm.predict_latent(X)
    assert again.rounds_ == svm.rounds_
    np.testing.assert_array_equal(again.outer_objectives_, svm.outer_objectives_)
    for name in ("objective_", "dual_objective_", "duality_gap_", "n_iter_"):
        assert getattr(again, name) == getattr(svm, name)
    assert not again._is_certified()
    mine, other = (each.get_params(deep=False) for each in (svm, again))
    assert mine.keys() == other.keys()
    for name in mine.keys() - {"model"}:
        np.testing.assert_array_equal(mine[name], other[name])
    again.save(tmp_path / "second")  # a model that was loaded can be saved
    np.testing.assert_array_equal(oneslack.load(tmp_path / "second", model=svm.model).coef_, svm.coef_)


def test_the_model_must_be_given_and_be_the_same(tmp_path):
    path = tmp_path / "model"
    fitted(LatentSVM)[0].save(path)
    with pytest.raises(OneslackError, match=r"the weights of Peak, a model of your own, .*model=Peak\("):
        oneslack.load(path)
    with pytest.raises(OneslackError, match=r"2 weights of Peak, but the model given is Valley with 2"):
        oneslack.load(path, model=Valley())
    longer = Peak()
    longer.n_params = 3
    with pytest.raises(OneslackError, match="2 weights of Peak, but the model given is Peak with 3"):
        oneslack.load(path, model=longer)
    oneslack.LinearSVC().fit(np.eye(2), [0, 1]).save(path)
    with pytest.raises(OneslackError, match="holds all that it needs; drop model=Peak"):
        oneslack.load(path, model=Peak())


DAMAGE = {
    "weights": lambda header, arrays: arrays.update(coef=np.zeros(3)),
    "rounds": lambda header, arrays: header.pop("rounds"),
    "a round": lambda header, arrays: header["rounds"][0].pop("gap"),
    "parameters": lambda header, arrays: header["parameters"].update(Z=1),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_told(damage, tmp_path):
    path = tmp_path / "model"
    fitted(LatentSVM)[0].save(path)
    header, arrays = load_model(path)
    DAMAGE[damage](header, arrays)
    save_model(path, header, arrays)
    with pytest.raises(FormatError, match="the model file"):
        oneslack.load(path, model=Peak())

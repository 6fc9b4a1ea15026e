"""MultiLabelSVC: inputs, dependencies that help, files."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score, hamming_loss

import oneslack
from oneslack import MultiLabelSVC
from oneslack.metrics import label_set_scores


def pictures(n=150, seed=0):
    """Exactly one of three labels, and a fourth that goes with the first."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    X = 0.8 * np.eye(3)[kind] + 0.5 * rng.normal(size=(n, 3))
    Y = np.eye(4, dtype=int)[kind]
    Y[:, 3] = Y[:, 0]
    return X, Y


def test_sets_matrices_and_sparse_matrices_are_the_same():
    X, Y = pictures()
    names = np.array(["a", "b", "c", "d"])
    sets = [set(names[row == 1].tolist()) for row in Y]
    fits = [MultiLabelSVC(tol=1e-4).fit(X, y) for y in (Y, sp.csr_matrix(Y), sets)]
    sparse = MultiLabelSVC(tol=1e-4).fit(sp.csr_array(X), Y)
    for fit in (*fits[1:], sparse):
        assert np.allclose(fit.coef_, fits[0].coef_, atol=0.02)
    assert fits[2].classes_.tolist() == names.tolist()
    assert isinstance(fits[2].predict(X)[0], tuple)
    assert [tuple(names[row == 1]) for row in fits[2].predict_indicators(X)] == fits[2].predict(X)
    assert fits[2].score(X, sets) == pytest.approx(1 - hamming_loss(Y, fits[2].predict_indicators(X)))


def test_dependencies_help():
    X, Y = pictures(400)
    X_test, Y_test = pictures(400, 1)
    scores = {
        name: label_set_scores(Y_test, MultiLabelSVC(dependencies=name).fit(X, Y).predict(X_test))
        for name in ("none", "tree", "full")
    }
    assert scores["full"]["hamming_loss"] < scores["none"]["hamming_loss"]
    assert scores["full"]["example_f1"] > scores["none"]["example_f1"] + 0.03
    assert scores["tree"]["example_f1"] > scores["none"]["example_f1"]


@pytest.mark.parametrize("dependencies", ["none", "tree", "full"])
def test_decisions_agree_with_predictions(dependencies):
    X, Y = pictures()
    fit = MultiLabelSVC(dependencies=dependencies, loss="f1").fit(X, Y)
    assert np.array_equal(fit.decision_function(X) > 0, fit.predict(X) == 1)


@pytest.mark.parametrize("options", [{}, {"dependencies": "none"}, {"kernel": "rbf", "n_basis": 20}])
def test_a_file_keeps_it(options, tmp_path):
    X, Y = pictures()
    fit = MultiLabelSVC(**options).fit(X, [tuple(np.flatnonzero(row)) for row in Y])
    fit.save(tmp_path / "m")
    again = oneslack.load(tmp_path / "m")
    assert again.predict(X) == fit.predict(X)
    assert np.allclose(again.decision_function(X), fit.decision_function(X))
    assert again.objective_ == fit.objective_


def test_measures_are_scikit_learns():
    rng = np.random.default_rng(0)
    Y, Z = rng.integers(0, 2, (2, 30, 5))
    Z[0] = Y[0] = 0
    found = label_set_scores(Y, Z)
    assert found["hamming_loss"] == pytest.approx(hamming_loss(Y, Z))
    assert found["micro_f1"] == pytest.approx(f1_score(Y, Z, average="micro"))
    assert found["macro_f1"] == pytest.approx(f1_score(Y, Z, average="macro"))
    assert found["example_f1"] == pytest.approx(f1_score(Y, Z, average="samples", zero_division=1.0))
    assert found["subset_accuracy"] == pytest.approx(np.mean((Y == Z).all(axis=1)))


def test_labels_that_are_new_are_missed():
    X, Y = pictures()
    fit = MultiLabelSVC().fit(X, [{"a"} if row[0] else set() for row in Y])
    truth, predicted = fit.compared(X[:2], [{"new"}, set()])
    assert truth.shape == (2, 2)
    assert not predicted[:, 1].any()


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array([0, 1]), "a column for each label"),
        (np.array([[0, 2], [1, 0]]), "must hold 0 and 1"),
        (["a", "b"], "example 0: y is 'a', expected a set of labels"),
        ([{"a"}, {1}], "of one type that sorts"),
        ([set(), set()], "no example has a label"),
        ([{"a"}], "X has 2 examples but y has 1"),
    ],
)
def test_bad_labels_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        MultiLabelSVC().fit(np.eye(2), y)


def test_bad_parameters_are_refused():
    with pytest.raises(
        ValueError, match="dependencies='chain' is not known; use one of 'none', 'tree', 'full'"
    ):
        MultiLabelSVC(dependencies="chain").fit(np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match="up to 16 labels, but there are 17; use 'tree', or loss='hamming'"):
        MultiLabelSVC(dependencies="full", loss="f1").fit(np.eye(17), np.eye(17))


def test_pairs_of_many_labels_are_learned_with_a_certificate(tmp_path):
    """20 labels, of which ten go together and ten exclude each other."""
    rng = np.random.default_rng(0)
    on = rng.random((160, 2)) < 0.5
    Y = np.c_[np.repeat(on[:, :1], 10, 1), np.eye(10)[rng.integers(0, 10, 160)]].astype(int)
    X = Y + 1.2 * rng.normal(size=Y.shape)
    svm = MultiLabelSVC(C=0.003, dependencies="full", tol=1e-2).fit(X[:120], Y[:120])
    alone = MultiLabelSVC(C=0.003, dependencies="none").fit(X[:120], Y[:120])
    result = svm.result_
    assert result.certified
    assert result.primal - result.inference - result.dual <= 0.0101 * result.primal
    assert svm.score(X[120:], Y[120:]) > alone.score(X[120:], Y[120:])
    svm.save(tmp_path / "many.model")
    again = oneslack.load(tmp_path / "many.model")
    assert np.array_equal(again.predict(X), svm.predict(X))
    assert np.allclose(again.decision_function(X[:5]), svm.decision_function(X[:5]))

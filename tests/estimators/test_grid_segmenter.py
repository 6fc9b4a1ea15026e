"""GridSegmenter: the same as a GraphTagger with the edges listed; sizes, neighbours, files."""

import numpy as np
import pytest

import oneslack
from oneslack import GraphTagger, GridSegmenter
from oneslack.estimators._shared.grid_input import edges_of


@pytest.fixture(scope="module")
def pictures():
    rng = np.random.default_rng(0)
    Y = []
    for rows, columns in [(6, 8), (9, 5), (7, 7), (5, 10)]:
        y = np.zeros((rows, columns), int)
        top, left = rng.integers(0, rows - 3), rng.integers(0, columns - 3)
        y[top : top + 3, left : left + 3] = 1
        Y.append(y)
    X = [y[:, :, None] + 0.6 * rng.normal(size=(*y.shape, 1)) for y in Y]
    return X, Y


def test_edges_join_neighbours_once():
    for rows, columns, neighbours in [(1, 1, 4), (1, 5, 8), (4, 1, 8), (3, 4, 4), (3, 4, 8), (2, 2, 8)]:
        pairs, _ = edges_of(rows, columns, neighbours)
        near = set()
        for a in range(rows * columns):
            for b in range(a):
                down, right = abs(a // columns - b // columns), abs(a % columns - b % columns)
                if max(down, right) == 1 and (neighbours == 8 or down + right == 1):
                    near.add((b, a))
        assert sorted(tuple(sorted(pair)) for pair in pairs.tolist()) == sorted(near)


def test_it_is_a_graph_tagger_with_listed_edges(pictures):
    X, Y = pictures
    segmenter = GridSegmenter(C=0.5, contrast=False, tol=1e-4).fit(X, Y)
    graphs = [(np.c_[x.reshape(-1, 1), np.ones(x[:, :, 0].size)], edges_of(*x.shape[:2], 4)[0]) for x in X]
    tagger = GraphTagger(C=0.5, attractive=True, tol=1e-4).fit(graphs, [y.ravel() for y in Y])
    assert segmenter.objective_ == pytest.approx(tagger.objective_, rel=2e-4)
    assert segmenter.result_.status.name == "CONVERGED"
    assert (segmenter.coef_[segmenter.model_.blocks["edges"]] >= 0).all()


@pytest.mark.parametrize("options", [{}, {"neighbours": 8}, {"attractive": False, "contrast": False}])
def test_predictions_have_the_shape_of_pictures(pictures, options, tmp_path):
    X, Y = pictures
    segmenter = GridSegmenter(C=1.0, **options).fit(X, Y)
    assert segmenter.result_.certified
    assert segmenter.score(X, Y) > 0.9
    assert [z.shape for z in segmenter.predict(X)] == [y.shape for y in Y]
    segmenter.save(tmp_path / "grid.model")
    again = oneslack.load(tmp_path / "grid.model")
    assert all(map(np.array_equal, again.predict(X), segmenter.predict(X)))
    assert segmenter.predict([]) == []


def test_edges_help_against_noise(pictures):
    X, Y = pictures
    scores = [GridSegmenter(C=C, tol=1e-3).fit(X, Y).score(X, Y) for C in (1.0,)]
    cells = oneslack.LinearSVC(C=1.0).fit(np.concatenate([x.reshape(-1, 1) for x in X]), np.concatenate(
        [y.ravel() for y in Y]))  # fmt: skip
    alone = cells.score(np.concatenate([x.reshape(-1, 1) for x in X]), np.concatenate([y.ravel() for y in Y]))
    assert scores[0] > alone


def test_wrong_pictures_are_named(pictures):
    X, Y = pictures
    for given, labels, sentence in [
        ([], [], "X has no picture"),
        (X, Y[:1], "X has 4 pictures but Y has 1"),
        ([X[0]], [Y[1]], r"picture 0 has \(6, 8\) cells but labels of shape \(9, 5\)"),
        (
            [X[0], np.zeros((2, 2, 3))],
            [Y[0], np.zeros((2, 2))],
            "picture 1 has 3 channels, but picture 0 has 1",
        ),
        ([np.zeros(3)], [np.zeros(3)], r"picture 0 has shape \(3,\)"),
        ([np.full((2, 2), np.nan)], [np.eye(2)], "graph 0: a node has the feature nan"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            GridSegmenter().fit(given, labels)
    with pytest.raises(ValueError, match="neighbours must be 4 or 8"):
        GridSegmenter(neighbours=6).fit(X, Y)
    with pytest.raises(ValueError, match="picture 0 has 2 channels, expected 1 as in fit"):
        GridSegmenter().fit(X, Y).predict([np.zeros((2, 2, 2))])

"""`oneslack train graph` and `train segment`: trained, evaluated, predicted, refused."""

import json

import numpy as np
import pytest

from oneslack.errors import FormatError
from oneslack.formats.graphs import read_graphs
from oneslack.formats.pictures import read_pictures


@pytest.fixture
def graphs(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(8):
        y = rng.permutation(["in", "in", "out"]).tolist()
        nodes = [[float(label == "in") + 0.1 * rng.normal()] for label in y]
        lines.append(json.dumps({"nodes": nodes, "edges": [[0, 1], [1, 2], [2, 0]], "labels": y}))
    path = tmp_path / "graphs.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "pictures"
    place.mkdir()
    for k in range(3):
        y = np.zeros((5, 6), int)
        y[1:4, k : k + 3] = 1
        np.savez(place / f"{k}.npz", x=y[:, :, None] + 0.0, y=y)
    return place


def test_graphs_from_a_file(run, graphs, tmp_path):
    model = tmp_path / "graph.model"
    assert "certified" in run("train", "graph", graphs, "-o", model, "-C", "10").out
    facts = json.loads(run("evaluate", model, graphs, "--json").out)
    assert facts["measures"]["accuracy"] == 1.0
    labels = run("predict", model, graphs).out.splitlines()
    assert [json.loads(line) for line in labels] == read_graphs(graphs).Y
    assert json.loads(run("info", model, "--json").out)["predicts"] == "labels of nodes"


def test_pictures_from_a_folder(run, folder, tmp_path):
    model = tmp_path / "segment.model"
    assert "certified" in run("train", "segment", folder, "-o", model, "-C", "10").out
    facts = json.loads(run("evaluate", model, folder, "--json").out)
    assert facts["measures"]["accuracy"] == 1.0
    lines = run("predict", model, folder).out.splitlines()
    assert np.array_equal(json.loads(lines[1]), read_pictures(folder).Y[1])


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 1: is no JSON"),
        ("[1]", "line 1: is no object"),
        ('{"nodes": [[1], [2, 3]], "edges": []}', '"nodes" must be a list of lists'),
        ('{"nodes": [[1], [2]], "edges": [[0, 2]]}', "edges must be pairs of numbers 0 .. 1"),
        ('{"nodes": [[1]], "edges": [], "labels": []}', '"labels" must be a list of 1'),
        ('{"nodes": [[1], [2]], "edges": [[0, 1]], "edge_features": []}', "has 1 edges but features of 0"),
        ("", "holds no graph"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, sentence):
    (tmp_path / "bad.jsonl").write_text(line + "\n")
    with pytest.raises(FormatError) as error:
        read_graphs(tmp_path / "bad.jsonl")
    assert sentence in str(error.value)


def test_graphs_from_arrays(tmp_path, run, graphs):
    X, Y = read_graphs(graphs)
    parts = {
        "sizes": [[len(x[0]), len(x[1])] for x in X],
        "nodes": np.concatenate([x[0] for x in X]),
        "edges": np.concatenate([x[1] for x in X]),
        "labels": np.concatenate(Y),
    }
    path = tmp_path / "graphs.npz"
    np.savez(path, **parts, edge_features=np.ones((len(parts["edges"]), 1)))
    found = read_graphs(path)
    assert found.Y == Y
    assert all(np.array_equal(a[1], b[1]) and a[2].shape == (3, 1) for a, b in zip(found.X, X, strict=True))
    np.savez(path, **parts)
    assert "certified" in run("train", "graph", path, "-o", tmp_path / "graph.model").out
    for name, array, sentence in (
        ("sizes", [[1, 2]], "nodes has shape .*, but sizes tell of 1 rows"),
        ("sizes", [3, 3], r"sizes must be \(n, 2\) whole numbers"),
        ("edges", parts["edges"] + 1, "graph 0: edges must be pairs of numbers 0 .. 2 of nodes"),
        ("edges", parts["edges"] + 0.5, r"edges must be \(M, 2\) whole numbers"),
    ):
        np.savez(path, **parts | {name: np.array(array)})
        with pytest.raises(FormatError, match=sentence):
            read_graphs(path)
    np.savez(path, nodes=np.ones((2, 1)))
    with pytest.raises(FormatError, match="has no array edges, sizes"):
        read_graphs(path)


def test_images_from_a_folder(tmp_path, run, folder):
    Image = pytest.importorskip("PIL.Image")
    place = tmp_path / "images"
    place.mkdir()
    truth = read_pictures(folder).Y
    for k, y in enumerate(truth):
        colours = np.stack([255 * y, 100 * y, 50 + 0 * y], axis=2).astype(np.uint8)
        Image.fromarray(colours).save(place / f"{k}.png")
        Image.fromarray(y.astype(np.uint8)).save(place / f"{k}_labels.png")
    found = read_pictures(place)
    assert found.names == ["0.png", "1.png", "2.png"]
    assert found.X[0].shape == (5, 6, 3)
    assert found.X[0].max() == 1.0
    assert all(np.array_equal(a, b) for a, b in zip(found.Y, truth, strict=True))
    model = tmp_path / "segment.model"
    assert "certified" in run("train", "segment", place, "-o", model, "-C", "10").out
    Image.fromarray(np.zeros((5, 6, 3), np.uint8)).save(place / "0_labels.png")
    with pytest.raises(FormatError, match=r"0_labels.png: labels must be grey levels .* an image of RGB"):
        read_pictures(place)
    Image.fromarray(np.zeros((5, 5), np.uint8)).save(place / "0_labels.png")
    with pytest.raises(FormatError, match=r"0.png: has \(5, 6\) cells but labels of shape \(5, 5\)"):
        read_pictures(place)
    (place / "0.png").write_bytes(b"nothing")
    with pytest.raises(FormatError, match=r"0.png: is no image that Pillow reads"):
        read_pictures(place)


def test_bad_pictures_are_named(tmp_path):
    with pytest.raises(FormatError, match="holds no picture"):
        read_pictures(tmp_path)
    np.savez(tmp_path / "a.npz", z=np.zeros(2))
    with pytest.raises(FormatError, match="has no array x"):
        read_pictures(tmp_path)
    np.savez(tmp_path / "a.npz", x=np.zeros((2, 2)), y=np.eye(2))
    np.savez(tmp_path / "b.npz", x=np.zeros((2, 2)))
    with pytest.raises(FormatError, match=r"b.npz: has no array y"):
        read_pictures(tmp_path)
    (tmp_path / "b.npz").write_bytes(b"PK nothing")
    with pytest.raises(FormatError, match=r"b.npz: is no .npz file"):
        read_pictures(tmp_path)

"""Graphs and grids: snakes, a round of minimum cuts, and certificates where inference is not exact.

    python benchmarks/graphs.py snakes --data DIR     DIR/snakes/snakes.npz (see its SOURCE.txt)
    python benchmarks/graphs.py snakes --data DIR --backtracks 1000     and toulbar2 where messages leave open
    python benchmarks/graphs.py snakes --data DIR --relaxed             against fractional labels, too
    python benchmarks/graphs.py cuts
    python benchmarks/graphs.py labels

snakes   each cell of a small picture points on along a snake; labels are places along it.  Cells see the
         colours of their 3 x 3 neighbours.  Edges that know only whether they go right or down cannot tell
         where on the snake they are; those that know the colours of both cells can.
cuts     1,000 noisy binary pictures of 100 x 100, edges that attract: one round of exact loss-augmented
         inference, as training asks for it.
labels   pictures of 50 x 50 with 10 labels and pairs of any sign: training, and how much of its certified gap
         is inference.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from oneslack import GraphTagger, GridSegmenter, Problem
from oneslack.estimators._shared.grid_input import edges_of, grids_of
from oneslack.models.graph import GraphModel


def snakes(data, jobs, **options):
    """Both kinds of edges."""
    arrays = np.load(Path(data) / "snakes" / "snakes.npz")
    colours = np.unique(arrays["train_pixels"], axis=0)
    parts = {part: pictures(arrays, part, colours) for part in ("train", "test")}
    for both in (False, True):
        sets = {part: [graph(x, both) for x, _ in found] for part, found in parts.items()}
        Y = {part: [y for _, y in found] for part, found in parts.items()}
        GraphTagger(C=0.1, directed=True, tol=0.5).fit(sets["train"][:2], Y["train"][:2])  # compiles
        clock, cpu = time.perf_counter(), time.process_time()
        tagger = GraphTagger(C=0.1, directed=True, n_jobs=jobs, time_limit=600, **options)
        tagger.fit(sets["train"], Y["train"])
        seconds, cpu = time.perf_counter() - clock, time.process_time() - cpu
        result = tagger.result_
        name = "colours of both cells" if both else "directions alone"
        print(
            f"snakes, {name}: {tagger.score(sets['test'], Y['test']):.4f} of the test cells right; "
            f"{seconds:.1f} s ({cpu:.1f} s of processors), gap {result.gap:.2%} "
            f"(certified: {result.certified}), of it inference {result.inference / result.primal:.2%}; "
            f"{tagger.coef_.size:,} weights; {result.status.name}"
        )


def pictures(arrays, part, colours):
    """[(colours as (rows, columns, 5) of 0 and 1, labels)]."""
    found, at = [], 0
    for rows, columns in arrays[f"{part}_shapes"]:
        cells = slice(at, at := at + rows * columns)
        x = arrays[f"{part}_pixels"][cells].reshape(rows, columns, 1, 3)
        found.append(((x == colours).all(axis=-1).astype(float), arrays[f"{part}_labels"][cells]))
    return found


def graph(x, both):
    """Nodes: the colours around them and a constant; edges: the direction, and perhaps both colours, apart
    for each direction."""
    rows, columns, k = x.shape
    around = np.pad(x, ((1, 1), (1, 1), (0, 0)))
    nodes = [around[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    nodes = np.concatenate([*nodes, np.ones((rows, columns, 1))], axis=2).reshape(rows * columns, -1)
    edges, step = edges_of(rows, columns, 4)
    F = np.zeros((len(edges), 2 + 4 * k * both))
    F[np.arange(len(edges)), step] = 1.0
    if both:
        own = x.reshape(-1, k)
        for side in range(2):
            for way in range(2):
                at = 2 + (2 * way + side) * k
                F[step == way, at : at + k] = own[edges[step == way, side]]
    return nodes, edges, F


def cuts(jobs, n=1000, size=100):
    """A round of exact cuts."""
    rng = np.random.default_rng(0)
    X, Y = blobs(rng, n, size, 2, noise=1.0)
    data = grids_of(X, 4, None, 1)
    model = GraphModel(2, 2, attractive=True)
    problem = Problem(model, data, Y, C=1.0 / n, n_jobs=jobs)
    w = np.array([-1.0, 1.0, 0.5, -0.5, 1.0, 1.0])
    with problem.engine:
        problem.sample(np.arange(2)).mean_cut(w)  # compiles
        for _ in range(3):
            clock, cpu = time.perf_counter(), time.process_time()
            plane = problem.mean_cut(w)
            seconds, cpu = time.perf_counter() - clock, time.process_time() - cpu
            print(
                f"{n:,} pictures of {size} x {size}, two labels: a round of exact cuts in {seconds:.1f} s "
                f"({cpu:.1f} s of processors); bounds are {plane.excess / plane.value(w):.1e} above them"
            )


def blobs(rng, n, size, n_labels, noise):
    """Pictures of smooth regions, (size, size, 1) or a channel a label, and their labels, flat."""
    X, Y = [], []
    for _ in range(n):
        field = rng.normal(size=(n_labels, size, size)).cumsum(axis=1).cumsum(axis=2)
        y = (field - field.mean(axis=(1, 2), keepdims=True)).argmax(axis=0)
        seen = y[:, :, None] - 0.5 if n_labels == 2 else (y[:, :, None] == np.arange(n_labels))
        X.append(seen + noise * rng.normal(size=seen.shape))
        Y.append(y.ravel())
    return X, Y


def labels(jobs, n=20, size=50):
    """Ten labels, pairs of any sign."""
    rng = np.random.default_rng(1)
    _, Y = blobs(rng, n, size, 10, noise=1.0)
    turned = [np.where(np.indices((size, size)).sum(axis=0).ravel() % 2, (y + 5) % 10, y) for y in Y]
    for name, truth in (("regions", Y), ("checkered regions", turned)):
        noise = rng.normal(size=(n, size, size, 10))
        seen = [(y.reshape(size, size, 1) == np.arange(10)) + more for y, more in zip(truth, noise)]
        truth = [y.reshape(size, size) for y in truth]
        half = n // 2
        clock, cpu = time.perf_counter(), time.process_time()
        segmenter = GridSegmenter(C=0.001, contrast=False, attractive=False, n_jobs=jobs, time_limit=120)
        segmenter.fit(seen[:half], truth[:half])
        seconds, cpu = time.perf_counter() - clock, time.process_time() - cpu
        result = segmenter.result_
        print(
            f"{half} pictures of {size} x {size}, ten labels, {name}: gap {result.gap:.2%} (certified: "
            f"{result.certified}), of it inference {result.inference / result.primal:.2%}; {seconds:.1f} s "
            f"({cpu:.1f} s of processors); {segmenter.score(seen[half:], truth[half:]):.3f} of the cells of "
            "others right"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("snakes", "cuts", "labels"))
    parser.add_argument("--data", default="data")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--backtracks", type=int, default=0, help="of toulbar2, with snakes")
    parser.add_argument("--relaxed", action="store_true", help="fractional outputs, with snakes")
    given = parser.parse_args()
    if given.what == "snakes":
        snakes(given.data, given.jobs, backtracks=given.backtracks, relaxed=given.relaxed)
    else:
        {"cuts": cuts, "labels": labels}[given.what](given.jobs)


if __name__ == "__main__":
    main()

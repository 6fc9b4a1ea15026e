"""Draws the pictures of docs/graph.md, multilabel.md, match.md and segments.md, on made-up data.

Needs matplotlib:

    python docs/figures/draw_structures.py
"""

from pathlib import Path

import numpy as np

import oneslack
from oneslack.viz.look import PALETTE
from oneslack.viz.report.graphs import layout

HERE = Path(__file__).parent
INK = "#7f7f7f"


def saved(figure, name):
    """Written with a clear ground and grey ink, which shows on white and on black."""
    figure.savefig(HERE / name, transparent=True, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def grids():
    """A picture, its cells judged alone, together, and the truth."""
    rng = np.random.default_rng(3)
    pictures, truths = [], []
    for _ in range(24):
        field = rng.normal(size=(3, 48, 64)).cumsum(axis=1).cumsum(axis=2)
        y = (field - field.mean(axis=(1, 2), keepdims=True)).argmax(axis=0)
        truths.append(y)
        pictures.append(np.eye(3)[y] + 1.1 * rng.normal(size=(48, 64, 3)))
    alone = oneslack.LinearSVC(C=0.1).fit(np.concatenate(pictures[:20]).reshape(-1, 3), np.ravel(truths[:20]))
    together = oneslack.GridSegmenter(C=0.01, contrast=False).fit(pictures[:20], truths[:20])
    k = 22
    x, y = pictures[k], truths[k]
    guess = {
        "each cell alone": alone.predict(x.reshape(-1, 3)).reshape(y.shape),
        "GridSegmenter": together.predict([x])[0],
    }
    figure, axes = pyplot.subplots(1, 4, figsize=(10.4, 2.5), layout="constrained")
    low, high = np.quantile(x, [0.02, 0.98])
    axes[0].imshow(np.clip((x - low) / (high - low), 0, 1))
    axes[0].set_title("a picture")
    shades = matplotlib.colors.ListedColormap(PALETTE[:3])
    for ax, (name, z) in zip(axes[1:], {**guess, "the truth": y}.items(), strict=True):
        ax.imshow(z, cmap=shades, vmin=0, vmax=2, interpolation="nearest")
        right = "" if z is y else f": {np.mean(z == y):.1%} right"
        ax.set_title(name + right)
    for ax in axes:
        ax.axis("off")
    saved(figure, "grid.svg")


def sets():
    """The tree of labels that was learned, with its weights."""
    rng = np.random.default_rng(0)
    names = ["sea", "beach", "boat", "sky", "city", "night", "field", "wood"]
    scenes = [(0, 1, 3), (0, 2, 3), (4, 5), (4, 3), (6, 3), (6, 7), (7,), (0, 3)]
    kind = rng.integers(0, len(scenes), 800)
    Y = [{names[k] for k in scenes[s]} for s in kind]
    X = np.eye(len(scenes))[kind] + 0.7 * rng.normal(size=(len(kind), len(scenes)))
    svm = oneslack.MultiLabelSVC(C=0.1, dependencies="tree").fit(X, Y)
    places = layout(len(names), svm.pairs_)
    figure, ax = pyplot.subplots(figsize=(6.4, 3.4), layout="constrained")
    for (a, b), weight in zip(svm.pairs_, svm.pair_weights_, strict=True):
        ends = places[[a, b]]
        shade = PALETTE[0] if weight > 0 else PALETTE[1]
        ax.plot(*ends.T, color=shade, linewidth=1 + 3 * abs(weight) / np.abs(svm.pair_weights_).max())
        ax.annotate(f"{weight:+.2f}", ends.mean(axis=0) + np.array([0.0, 0.04]), color=shade, ha="center")
    ax.plot(*places.T, "o", color=INK, markersize=9)
    for name, place in zip(svm.classes_, places, strict=True):
        ax.annotate(
            name, place, color=INK, xytext=(0, 8), textcoords="offset points", ha="center", weight="bold"
        )
    ax.margins(0.12, 0.18)
    ax.axis("off")
    saved(figure, "label_tree.svg")


def matchings():
    """Two views of the same points, matched by features alone and by what was learned."""
    rng = np.random.default_rng(1)
    X, Y = [], []
    for _ in range(40):
        first = rng.random((12, 2))
        order = rng.permutation(12)
        place = first[order] + 0.03 * rng.normal(size=(12, 2))
        noise = rng.normal(size=(2, 12, 4))
        X.append((np.c_[first, noise[0]], np.c_[place, noise[1]]))
        Y.append(np.argsort(order))
    matcher = oneslack.Matcher(C=10.0, nonnegative=True).fit(X[:30], Y[:30])
    first, second = X[35]
    model = oneslack.Matching(first.shape[1])
    alike = model.decode(np.ones(model.n_params), -((first[:, None] - second[None]) ** 2))
    figure, axes = pyplot.subplots(1, 2, figsize=(8.4, 3.1), layout="constrained")
    for ax, name, z in (
        (axes[0], "all features alike", alike),
        (axes[1], "learned", matcher.predict([X[35]])[0]),
    ):
        for a, b in enumerate(z):
            ends = np.array([first[a, :2], second[b, :2] + [1.3, 0.0]])
            right = b == Y[35][a]
            ax.plot(
                *ends.T,
                color=PALETTE[0] if right else PALETTE[1],
                linestyle="-" if right else "--",
                linewidth=1.2,
            )
        ax.plot(*first[:, :2].T, "o", color=INK)
        ax.plot(*(second[:, :2] + [1.3, 0.0]).T, "o", color=INK)
        ax.set_title(f"{name}: {int(np.sum(z == Y[35]))} of 12 right")
        ax.axis("off")
    saved(figure, "matching.svg")


def segments():
    """A sentence with its segments."""
    from oneslack import viz

    words = ["Ada", "Lovelace", "met", "Charles", "Babbage", "in", "London", "at", "the", "Royal", "Society"]
    tags = ["B-name", "I-name", "O", "B-name", "I-name", "O", "B-place", "O", "O", "B-group", "I-group"]
    other = ["In", "Turin", "Luigi", "Menabrea", "wrote", "of", "the", "Analytical", "Engine"]
    theirs = ["O", "B-place", "B-name", "I-name", "O", "O", "O", "B-thing", "I-thing"]
    X = [[{"w": word, "big": str(word[0].isupper())} for word in one] for one in (words, other)]
    segmenter = oneslack.SequenceSegmenter(C=10).fit(X, [tags, theirs])
    figure, ax = pyplot.subplots(figsize=(9.6, 1.2), layout="constrained")
    viz.plot_tags(words, segmenter.predict_tags(X)[0], ax=ax)
    ax.axis("off")
    saved(figure, "segments.svg")


if __name__ == "__main__":
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    pyplot.rcParams.update(
        {"text.color": INK, "axes.titlecolor": INK, "svg.hashsalt": "oneslack", "font.size": 10}
    )
    for draw in (grids, sets, matchings, segments):
        draw()

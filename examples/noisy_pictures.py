"""Pictures with noise: cells alone, and cells that know their neighbours, by exact minimum cuts.

python examples/noisy_pictures.py
"""

import numpy as np

import oneslack


def make_pictures(n, rng):
    """Discs on a dark ground, of different sizes, under noise that is larger than the contrast."""
    X, Y = [], []
    for _ in range(n):
        rows, columns = rng.integers(20, 30, 2)
        i, j = np.indices((rows, columns))
        centre, radius = rng.uniform(8, 16, 2), rng.uniform(4, 7)
        y = np.where((i - centre[0]) ** 2 + (j - centre[1]) ** 2 < radius**2, "disc", "ground")
        X.append((y == "disc")[:, :, None] + 0.8 * rng.normal(size=(rows, columns, 1)))
        Y.append(y)
    return X, Y


def main():
    rng = np.random.default_rng(0)
    (X, Y), (X_new, Y_new) = make_pictures(20, rng), make_pictures(20, rng)
    cells = [np.concatenate([x.reshape(-1, 1) for x in pictures]) for pictures in (X, X_new)]
    labels = [np.concatenate([y.ravel() for y in pictures]) for pictures in (Y, Y_new)]
    alone = oneslack.LinearSVC(C=0.01).fit(cells[0], labels[0])
    print(f"cells alone:     {alone.score(cells[1], labels[1]):.3f} of new cells right")
    segmenter = oneslack.GridSegmenter(C=0.01, neighbours=8).fit(X, Y)
    result = segmenter.result_
    print(f"with neighbours: {segmenter.score(X_new, Y_new):.3f} of new cells right")
    print(f"at most {result.gap:.2%} above the optimum (certified: {result.certified}); inference was exact")
    for shown in (Y_new[0], segmenter.predict(X_new[:1])[0]):
        print("\n".join("".join(".#"[label == "disc"] for label in row) for row in shown), end="\n\n")


if __name__ == "__main__":
    main()

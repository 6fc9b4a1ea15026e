"""Segmentation: shapes in noisy pictures.

A cell of the picture alone is mostly noise. `GridSegmenter` learns how much neighbours agree, and finds the
best picture of labels by a minimum cut, which is exact: the certificate holds for inference, too.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

import oneslack


def pictures(n, size=40, seed=0):
    """Noisy pictures (size, size, 1) and the shapes (size, size) of 0 and 1 below them."""
    rng = np.random.default_rng(seed)
    Y = [(gaussian_filter(rng.normal(size=(size, size)), 4, mode="wrap") > 0).astype(int) for _ in range(n)]
    return [(y + 0.9 * rng.normal(size=y.shape))[:, :, None] for y in Y], Y


def main():
    X, Y = pictures(12)
    X_test, Y_test = pictures(12, seed=1)
    cells = oneslack.LinearSVC().fit(np.reshape(X, (-1, 1)), np.ravel(Y))
    segmenter = oneslack.GridSegmenter(C=0.1).fit(X, Y)
    alone = [cells.predict(x.reshape(-1, 1)).reshape(x.shape[:2]) for x in X_test]
    found = segmenter.predict(X_test)
    told = {
        "alone": np.mean(np.not_equal(alone, Y_test)),
        "together": np.mean(np.not_equal(found, Y_test)),
        "gap": segmenter.duality_gap_,
    }
    print("wrong cells: {alone:.1%} one by one, {together:.1%} together; gap {gap:.1e}".format(**told))

    figure, axes = plt.subplots(1, 4, figsize=(10.0, 2.9), layout="constrained")
    panels = {
        "what is seen": X_test[0][:, :, 0],
        f"cell by cell: {told['alone']:.1%} wrong": alone[0],
        f"GridSegmenter: {told['together']:.1%} wrong": found[0],
        "the truth": Y_test[0],
    }
    for ax, (title, picture) in zip(axes, panels.items()):
        ax.imshow(picture, cmap="cividis", interpolation="nearest")
        ax.set_title(title, fontsize=10)
        ax.set_axis_off()
    return figure, told


if __name__ == "__main__":
    main()[0].savefig("segmentation.png")

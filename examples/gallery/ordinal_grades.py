"""Ordinal grades: how far diabetes went in a year, in five steps.

To take grade 5 for grade 4 is a smaller mistake than to take it for grade 1. `OrdinalSVC` learns one score
for all grades, and cuts it where the absolute error is least. A model of five classes knows no order
between them.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

import oneslack
from oneslack.viz.look import COUNTS, tidy


def grades():
    data = load_diabetes()
    steps = 1 + np.digitize(data.target, np.quantile(data.target, [0.2, 0.4, 0.6, 0.8]))
    return train_test_split(scale(data.data), steps, test_size=0.4, random_state=0, stratify=steps)


def main():
    X, X_test, y, y_test = grades()
    ordinal = oneslack.OrdinalSVC(C=0.1).fit(X, y)
    classes = oneslack.LinearSVC(C=0.1).fit(X, y)
    told = {
        "ordinal": mean_absolute_error(y_test, ordinal.predict(X_test)),
        "classes": mean_absolute_error(y_test, classes.predict(X_test)),
        "gap": ordinal.duality_gap_,
    }
    print(
        "mean error {ordinal:.2f} grades, of five unordered classes {classes:.2f}; gap {gap:.1e}".format(
            **told
        )
    )

    figure, ax = plt.subplots(figsize=(7.0, 3.8), layout="constrained")
    scores = ordinal.rank_scores(X_test)
    height = y_test + np.random.default_rng(0).uniform(-0.25, 0.25, len(y_test))
    points = ax.scatter(scores, height, c=np.abs(ordinal.predict(X_test) - y_test), cmap=COUNTS, s=16)
    edges = [scores.min() - 0.2, *ordinal.thresholds_, scores.max() + 0.2]
    for k, (start, end) in enumerate(pairwise(edges), 1):
        ax.axvline(start if k > 1 else end, color="0.5", linewidth=1)
        ax.text((start + end) / 2, 5.6, f"says {k}", ha="center")
    ax.set(xlabel="score", ylabel="true grade", yticks=range(1, 6), ylim=(0.5, 6))
    figure.colorbar(points, label="grades off", ticks=range(5))
    return tidy(ax).figure, told


if __name__ == "__main__":
    main()[0].savefig("ordinal_grades.png")

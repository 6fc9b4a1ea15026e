"""Kernels: two spirals, which no line parts.

With a kernel the model is a sum of bumps around training examples. The gap is proven as for a linear model,
and the picture shows the regions that come out of it.
"""

import matplotlib.pyplot as plt
import numpy as np

import oneslack
from oneslack import viz


def spirals(n=400, seed=0):
    rng = np.random.default_rng(seed)
    turn, arm = 0.4 + 2.6 * np.sqrt(rng.random(n)), rng.integers(0, 2, n)
    angle = np.pi * (turn + arm)
    X = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.15 * rng.normal(size=(n, 2))
    return X, np.array(["one arm", "the other"])[arm]


def main():
    X, y = spirals()
    X_test, y_test = spirals(seed=1)
    models = {
        "linear": oneslack.LinearSVC().fit(X, y),
        "rbf kernel": oneslack.KernelSVC(C=10, gamma=2).fit(X, y),
    }
    told = {}
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
    for ax, (name, model) in zip(axes, models.items()):
        told[name] = model.score(X_test, y_test)
        print(f"{name}: {told[name]:.1%} of other points right, gap {model.duality_gap_:.1e}")
        viz.plot_regions(model, X, y, ax=ax)
        ax.set_title(f"{name}: {told[name]:.0%} of other points right", loc="left")
    return figure, told


if __name__ == "__main__":
    main()[0].savefig("kernels.png")

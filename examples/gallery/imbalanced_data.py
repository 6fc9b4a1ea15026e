"""Imbalanced data: three positives in a hundred, and F1 is what counts.

A classifier that minimises errors may find next to none of a rare class. Weights for the classes help, but
they ask for another number than F1. `MetricSVC("f1")` is trained for F1 itself, threshold included.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import train_test_split

import oneslack
from oneslack import viz


def rare_and_noisy(n=8000):
    X, y = make_classification(
        n, 30, n_informative=6, n_redundant=4, n_clusters_per_class=1, weights=[0.97], class_sep=0.6,
        random_state=4,
    )  # fmt: skip
    return train_test_split(X, y, random_state=0, stratify=y)


def main():
    X, X_test, y, y_test = rare_and_noisy()
    models = {
        "LinearSVC": oneslack.LinearSVC(),
        'class_weight="balanced"': oneslack.LinearSVC(class_weight="balanced"),
        'MetricSVC("f1")': oneslack.MetricSVC("f1"),
    }
    told = {}
    figure, ax = plt.subplots(figsize=(6.5, 5.0), layout="constrained")
    for name, model in models.items():
        found = model.fit(X, y).predict(X_test)
        scores = precision_recall_fscore_support(y_test, found, average="binary", zero_division=0.0)
        precision, recall, told[name] = scores[:3]
        print(f"{name:24} precision {precision:.2f}, recall {recall:.2f}, F1 {told[name]:.3f}")
        viz.plot_precision_recall(model, X_test, y_test, label=f"{name}: F1 {told[name]:.2f}", ax=ax)
    ax.set_title("Where each puts its threshold", loc="left")
    return figure, told


if __name__ == "__main__":
    main()[0].savefig("imbalanced_data.png")

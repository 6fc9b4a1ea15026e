"""Ranking: items to sort inside queries, learned from grades.

Queries differ: in one all items are good, in another none. A regression learns the level of a query, which
no user sees; `RankSVM` compares items of one query only. NDCG@10 asks how well the best ten places are
filled.
"""

import matplotlib.pyplot as plt
import numpy as np

import oneslack
from oneslack.metrics import ndcg
from oneslack.viz.look import tidy

PLACES = (1, 2, 3, 5, 10, 15)


def queries(n_queries=150, n_items=20, seed=0):
    """Rows, grades 0 to 4, and the query of each row; the level of a query shows in its first feature."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), n_items)
    X = rng.normal(size=(len(groups), 12))
    level = rng.normal(size=n_queries)[groups]
    X[:, 0] = 2 * level - X[:, 1:4].sum(axis=1) + 0.5 * rng.normal(size=len(groups))
    taste = X[:, 1:4].sum(axis=1) + rng.normal(size=len(groups))
    return X, np.digitize(taste + 3 * level, [-3, 0, 3, 6]), groups


def main():
    X, y, groups = queries()
    X_test, y_test, test = queries(seed=1)
    ranker = oneslack.RankSVM(C=0.1).fit(X, y, groups=groups)
    regression = oneslack.LinearSVR(C=0.1).fit(X, y)
    told = {"gap": ranker.duality_gap_, "pairs": ranker.score(X_test, y_test, groups=test)}
    _, ax = plt.subplots(figsize=(6.5, 4.0), layout="constrained")
    for name, model, style in (("RankSVM", ranker, "o-"), ("LinearSVR", regression, "s--")):
        scores = model.predict(X_test)
        values = [ndcg(y_test, scores, groups=test, k=k) for k in PLACES]
        told[name] = values[PLACES.index(10)]
        ax.plot(PLACES, values, style, label=f"{name}: {told[name]:.3f} at 10")
        print(f"{name:10} NDCG@10 {told[name]:.3f}")
    print(f"{told['pairs']:.1%} of pairs in order, gap {told['gap']:.1e}")
    ax.set(xlabel="k, the places that count", ylabel="NDCG@k of new queries", xticks=PLACES)
    ax.legend(frameon=False)
    return tidy(ax).figure, told


if __name__ == "__main__":
    main()[0].savefig("ranking.png")

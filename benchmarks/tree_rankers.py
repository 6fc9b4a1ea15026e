"""RankSVM beside boosted trees: LGBMRanker and XGBRanker with their LambdaMART, quality on test queries.

In each fold that the data come with, RankSVM's C is chosen by NDCG@10 of the validation queries; the trees
stop by it early, with the better of two sizes of their leaves.  Seconds are of the processor, on one thread,
of the fit at the choice; the whole search is told beside it.  Needs lightgbm and xgboost; one that is absent
is left out.

    python benchmarks/tree_rankers.py --data DIR
"""

import argparse
import time
import warnings
from importlib.util import find_spec

import numpy as np
from problems import data_folder
from rank import GRID, SETS, K, fold

import oneslack
from oneslack.metrics import ndcg

ROUNDS = 300
PATIENCE = 30


def sizes(queries):
    """LightGBM's `group`: rows of each query, which stand together."""
    return np.diff(np.flatnonzero(np.append(np.diff(queries, prepend=np.nan) != 0, True)))


def numbers(queries):
    """XGBoost's `qid`, which must not fall."""
    return np.repeat(np.arange(len(sizes(queries))), sizes(queries))


def fit_ours(train, validation, C):
    return oneslack.RankSVM(C, n_jobs=1).fit(train.X, train.y, groups=train.queries)


def fit_lightgbm(train, validation, leaves):
    from lightgbm import LGBMRanker, early_stopping

    model = LGBMRanker(n_estimators=ROUNDS, num_leaves=leaves, n_jobs=1, random_state=0, verbose=-1)
    return model.fit(
        train.X, train.y.astype(int), group=sizes(train.queries),
        eval_set=[(validation.X, validation.y.astype(int))], eval_group=[sizes(validation.queries)],
        eval_at=[K], callbacks=[early_stopping(PATIENCE, verbose=False)],
    )  # fmt: skip


def fit_xgboost(train, validation, leaves):
    from xgboost import XGBRanker

    model = XGBRanker(
        n_estimators=ROUNDS, max_depth=0, max_leaves=leaves, grow_policy="lossguide", learning_rate=0.1,
        objective="rank:ndcg", eval_metric=f"ndcg@{K}", early_stopping_rounds=PATIENCE, n_jobs=1,
        random_state=0,
    )  # fmt: skip
    return model.fit(
        train.X, train.y.astype(int), qid=numbers(train.queries),
        eval_set=[(validation.X, validation.y.astype(int))],
        eval_qid=[numbers(validation.queries)], verbose=False,
    )  # fmt: skip


METHODS = {
    "oneslack": (fit_ours, GRID),
    "lightgbm": (fit_lightgbm, (7, 31)),
    "xgboost": (fit_xgboost, (7, 31)),
}


def measured(method, train, validation, test):
    """(NDCG@10 of the test queries, seconds of the chosen fit, seconds of the search)."""
    fit, grid = METHODS[method]
    best, search = (-np.inf, 0.0, None), 0.0
    for choice in grid:
        start = time.process_time()
        model = fit(train, validation, choice)
        seconds = time.process_time() - start
        search += seconds
        best = max(best, (value(model, validation), seconds, model), key=lambda found: found[0])
    return value(best[2], test), best[1], search


def value(model, part):
    return ndcg(part.y, model.predict(part.X), part.queries, k=K, exponential=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder with the data sets (or ONESLACK_DATA)")
    args = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning)  # LightGBM's new names of eval_set
    methods = [name for name in METHODS if find_spec(name)]
    print("| set | method | NDCG@10 | fold by fold | seconds | the search |\n|---|---|---|---|---|---|")
    for name, read in SETS.items():
        parts = [read(data_folder(args.data), i) for i in range(1, 6)]
        fit_ours(parts[0], None, 0.1)  # compiles
        for method in methods:
            found = np.array([measured(method, *fold(parts, f)) for f in range(5)])
            means, folds = found.mean(axis=0), " ".join(f"{one:.3f}" for one in found[:, 0])
            print(
                f"| {name} | {method} | {means[0]:.4f} | {folds} | {means[1]:.2f} | {means[2]:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

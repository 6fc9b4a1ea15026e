"""Larger than memory: the same certificate with a tenth of the room.

Rows are packed into shards on disk once. `Streaming` reads pieces of them in random order and remembers the
examples that matter, within a budget. Less memory means more reads, not a worse model: each run ends with a
proven gap.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import oneslack
from oneslack import formats


def packed(folder, n=60_000, d=40, seed=0):
    """Shards of n rows with d features, and their size in megabytes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    y = np.sign(X @ rng.normal(size=d) + 2.0 * rng.normal(size=n))
    np.savez(folder / "rows.npz", X=X, y=y)
    formats.pack([folder / "rows.npz"], folder / "shards", shard_size="1MB")
    return formats.open_shards(folder / "shards"), X.nbytes / 1e6


def main():
    models = {}
    with tempfile.TemporaryDirectory() as folder:
        shards, megabytes = packed(Path(folder))
        for budget in ("64MB", "4MB", "1MB"):
            solver = oneslack.Streaming(budget)
            models[budget] = oneslack.LinearSVC(C=0.01, solver=solver, tol=1e-3).fit(shards)
            print(
                f"{megabytes:.0f} MB of rows, {budget} of memory: gap {models[budget].duality_gap_:.4f}, "
                f"objective {models[budget].objective_:.1f}"
            )
    told = {budget: (model.dual_objective_, model.objective_) for budget, model in models.items()}

    figure, ax = plt.subplots(figsize=(7.5, 2.6), layout="constrained")
    for k, (budget, (low, high)) in enumerate(told.items()):
        ax.plot([low, high], [k, k], "|-", markersize=14, linewidth=3, color=f"C{k}")
        ax.text(high, k - 0.2, f"{models[budget].result_.seconds:.1f} s  ", ha="right")
    ax.set(xlabel="between these bounds lies the optimum", ylim=(2.5, -0.5))
    ax.ticklabel_format(axis="x", useOffset=False)
    ax.set_yticks(range(len(told)), [f"within {budget}" for budget in told])
    ax.set_title(f"{megabytes:.0f} MB of rows", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    return figure, told


if __name__ == "__main__":
    main()[0].savefig("larger_than_memory.png")

"""Bursts in a noisy signal: segments with labels, and what a dearer miss buys.

python examples/segments.py

A signal of two channels rests at 0; now and then a burst of one of two kinds lasts a few steps.  Each step
sees itself and its neighbours.
"""

import numpy as np

import oneslack


def signals(n, seed=0, length=40):
    """Matrices (length, 7): channels now, before and after, and a 1; bursts (kind, first, after the last)."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        level, bursts, t = np.zeros((length, 2)), [], int(rng.integers(2, 12))
        while t < length - 6:
            kind, stop = int(rng.integers(2)), t + int(rng.integers(2, 6))
            level[t:stop, kind] = 2.5
            bursts.append(("up" if kind else "down", t, stop))
            t = stop + int(rng.integers(3, 15))
        x = level + rng.normal(size=level.shape)
        padded = np.vstack([np.zeros((1, 2)), x, np.zeros((1, 2))])
        X.append(np.column_stack([x, padded[:-2], padded[2:], np.ones(length)]))
        Y.append(bursts)
    return X, Y


def main(n_train=60, n_test=100):
    X, Y = signals(n_train)
    X_test, Y_test = signals(n_test, seed=1)
    found = {}
    for missed in (1.0, 3.0):
        segmenter = oneslack.SequenceSegmenter(C=1.0, missed=missed).fit(X, Y)
        count = sum(map(len, segmenter.predict(X_test)))
        found[missed] = segmenter.score(X_test, Y_test), count
        print(
            f"missed={missed:g}: {count} bursts told of {sum(map(len, Y_test))}, F1 {found[missed][0]:.3f}, "
            f"relative gap {segmenter.duality_gap_:.1e}"
        )
    return found


if __name__ == "__main__":
    main()

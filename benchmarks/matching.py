"""Points of the CMU house matched: learned weights against all features alike, by the distance of frames.

python benchmarks/matching.py --data FOLDER

Two frames of a film show the same 30 points of a house; the farther apart the frames are, the more it has
turned.  A pair of points has 60 features, minus the squared differences of its shape contexts, as in Caetano
et al. (2009), "Learning graph matching". For each distance the weights are learned from the pairs of frames
of the training list, C is chosen on the validation list, and errors are counted on the test list. "alike"
gives all features the same weight, which is matching by features alone.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import oneslack

CS = (1e-4, 1e-3, 1e-2)


def pairs_of(file, frames, seed=0):
    """(X, Y): two frames each, the points of the second in random order."""
    rng, contexts = np.random.default_rng(seed), file["shape_context"].astype(float)
    # A point's counts as shares, so that a feature is at most 1.
    contexts = contexts / contexts.sum(axis=2, keepdims=True)
    X, Y = [], []
    for a, b in frames:
        order = rng.permutation(contexts.shape[1])
        X.append((100.0 * contexts[a], 100.0 * contexts[b][order]))
        Y.append(np.argsort(order))
    return X, Y


def alike(X):
    """Partners by the sum of all features."""
    model = oneslack.Matching(X[0][0].shape[1])
    return [model.decode(np.ones(model.n_params), -((a[:, None] - b[None]) ** 2)) for a, b in X]


def wrong(Y, Z):
    return 1.0 - np.concatenate([y == z for y, z in zip(Y, Z, strict=True)]).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("ONESLACK_DATA"))
    given = parser.parse_args()
    if given.data is None:
        parser.error("name the folder of the data with --data or ONESLACK_DATA")
    with np.load(os.path.join(given.data, "cmu_house", "cmu_house.npz")) as stored:
        file = dict(stored)
    print("distance  pairs (train/valid/test)  wrong alike  wrong learned       C      gap  seconds CPU")
    totals = []
    for distance in range(0, 100, 10):
        lists = [file[f"pairs{distance:02d}_{part}"] for part in ("train", "validate", "test")]
        (X, Y), (X_valid, Y_valid), (X_test, Y_test) = (
            pairs_of(file, frames, k) for k, frames in enumerate(lists)
        )
        start = time.process_time()
        fits = [oneslack.Matcher(C=C, nonnegative=True, time_limit=60).fit(X, Y) for C in CS]
        best = max(fits, key=lambda fit: fit.score(X_valid, Y_valid))
        seconds = time.process_time() - start
        errors = wrong(Y_test, alike(X_test)), wrong(Y_test, best.predict(X_test))
        totals.append(errors)
        sizes = "/".join(str(len(frames)) for frames in lists)
        print(
            f"{distance:8} {sizes:>25} {errors[0]:12.2%} {errors[1]:14.2%} {best.C:8g} "
            f"{best.duality_gap_:8.0e} {seconds:8.1f}",
            flush=True,
        )
    print("mean over distances: alike {:.2%}, learned {:.2%}".format(*np.mean(totals, axis=0)))


if __name__ == "__main__":
    main()

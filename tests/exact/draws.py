"""Small data by a seed, as unpleasant as floats allow: sizes from 1e-8 to 1e8, constants, repetitions."""

import numpy as np
import scipy.sparse as sp

#: Numbers that decide how a run stops.
TOLERANCES = (0.1, 1e-3, 1e-6, 1e-10)
ROUNDS = (1, 2, 5, 20, 60)


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


def weight_of_risk(rng) -> float:
    """C from 1e-6 to 1e12."""
    return float(10.0 ** rng.uniform(-6, 12) if rng.random() < 0.5 else 10.0 ** rng.integers(-6, 13))


def size(rng) -> float:
    return float(10.0 ** rng.uniform(-8, 8))


def matrix(rng, n, d):
    """(n, d): normal, whole or of signs; of one size, of a size a column, or as it is; perhaps degenerate."""
    kind = rng.integers(4)
    if kind <= 1:
        X = rng.normal(size=(n, d))
    else:
        X = rng.integers(-3, 4, size=(n, d)).astype(float) if kind == 2 else rng.choice([-1.0, 1.0], (n, d))
    way = rng.integers(3)
    if way == 1:
        X = X * size(rng)
    elif way == 2:
        X = X * np.array([size(rng) for _ in range(d)])
    if rng.random() < 0.15:
        X[:, rng.integers(d)] = pick(rng, (1.0, 0.0, 1e8, -1e-8))
    if rng.random() < 0.15:
        X[rng.integers(n)] = 0.0
    if rng.random() < 0.2:
        X[rng.integers(n)] = X[rng.integers(n)]
    if rng.random() < 0.03:
        X[:] = X[0]
    return X


def shape(rng, most=6):
    """(n, d); now and then many more columns than rows."""
    n = int(rng.integers(2, most + 1))
    return n, int(rng.integers(8, 13)) if rng.random() < 0.12 else int(rng.integers(1, 4))


def stored(rng, X):
    """As float64 or float32, dense or sparse; and the numbers that these are."""
    if rng.random() < 0.15:
        X = X.astype(np.float32)
    return (sp.csr_array(X) if rng.random() < 0.2 else X), X.astype(float)


def labels(rng, n, K):
    """(n,) in 0 .. K-1 with each class there, where n allows it."""
    y = rng.permutation(np.append(np.arange(min(K, n)), rng.integers(K, size=max(n - K, 0))))
    return y.astype(int)


def weights(rng, n):
    """(n,) or None; some of them 0, but not all."""
    way = rng.integers(5)
    if way <= 1:
        return None
    s = rng.uniform(0.1, 3.0, size=n) if way == 2 else 10.0 ** rng.uniform(-4, 4, size=n)
    if way == 4:
        s[rng.random(n) < 0.4] = 0.0
        s[rng.integers(n)] = 1.0
    return s


def penalty(rng, d, can_hold=True):
    """prior, scale and nonnegative, mostly none of them."""
    given = {}
    if rng.random() < 0.15:
        given["prior"] = rng.normal(size=d) * pick(rng, (1.0, 1e-6, 1e6))
    if rng.random() < 0.15:
        scale = 10.0 ** rng.uniform(-2, 2, size=d)
        # Of many weights a few bits each: the reference divides by all of them.
        given["scale"] = scale if d <= 3 else 2.0 ** np.round(np.log2(scale)) * rng.choice([1.0, 1.5], d)
    if can_hold and rng.random() < 0.15:
        mask = rng.random(d) < 0.6
        mask[rng.integers(d)] = True
        given["nonnegative"] = mask
    return given


def stopping(rng) -> dict:
    return {"tol": pick(rng, TOLERANCES), "max_iter": pick(rng, ROUNDS)}

"""Made-up data of the papers."""

from __future__ import annotations

import numpy as np


def make_checkers(n=1000, noise=0.02, random_state=None):
    """A 4 x 4 checkerboard on [-2, 2]^2: points uniform on the fields, then moved by Gaussian noise.

    The label is that of the field where a point was before it moved, so that noise makes the classes overlap
    along the lines.  Yu & Joachims (2008) use a million points and noise 0.02, where the best possible error
    is about 2.4 %.

    Parameters
    ----------
    n : number of points
    noise : standard deviation of the movement, in terms of a field's side
    random_state : int, numpy Generator or None

    Returns
    -------
    X : (n, 2)
    y : (n,) of -1 and +1

    Examples
    --------
    >>> from oneslack.datasets import make_checkers
    >>> X, y = make_checkers(100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [-1, 1])
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)
    return X + noise * rng.standard_normal((n, 2)), y

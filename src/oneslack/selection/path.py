"""The regularisation path: one model for each C, each begun where the last one ended."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import Interrupted
from ..memory.several import Results


@dataclass(frozen=True)
class Path(Sequence):
    """Trained models by rising C; each has its certificate.

    models  fitted estimators, one for each C
    """

    models: list

    def __len__(self):
        return len(self.models)

    def __getitem__(self, k):
        return self.models[k]

    def _all(self, name):
        return np.array([getattr(model, name) for model in self.models])

    @property
    def C(self) -> np.ndarray:
        """(m,)"""
        return self._all("C")

    @property
    def coef(self) -> np.ndarray:
        """(m, ...): the weights of the models."""
        return self._all("coef_")

    @property
    def objective(self) -> np.ndarray:
        """(m,): each optimum is at most this, and ..."""
        return self._all("objective_")

    @property
    def dual_objective(self) -> np.ndarray:
        """(m,): ... at least this."""
        return self._all("dual_objective_")

    @property
    def gap(self) -> np.ndarray:
        """(m,): relative duality gaps."""
        return self._all("duality_gap_")

    @property
    def n_iter(self) -> np.ndarray:
        """(m,): steps."""
        return self._all("n_iter_")


def path(estimator: Any, X: Any, y: Any, C: Any = None, **fit: Any) -> Path:
    """Train an estimator for several C, each from where the last one ended.

    Planes under the risk are so for any C, and duals tell who is at a bound: what was learned for one C
    makes the next one cheaper, and every model is certified on its own.

    Parameters
    ----------
    estimator : an estimator with parameters `C` and `warm_start`; it is not changed
    X, y : what its `fit` takes
    C : array-like of positive numbers, default 10 values from 1e-3 to 100
        Trained in rising order.
    **fit : more for `fit`, as sample_weight

    Returns
    -------
    Path
        A sequence of fitted estimators, with arrays C, coef, objective, dual_objective and gap.  Ctrl-C
        raises Interrupted, whose `result` is the Path so far; the last model is as good as it came.

    Examples
    --------
    >>> import oneslack
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = oneslack.path(oneslack.LinearSVC(), X / X.max(axis=0), y, C=[0.1, 1.0, 10.0])
    >>> path.C.tolist(), bool((path.gap <= 1e-3).all())
    ([0.1, 1.0, 10.0], True)
    """
    from sklearn.base import clone

    grid = grid_of(C)
    if "warm_start" not in estimator.get_params(deep=False):
        raise TypeError(f"{type(estimator).__name__} has no warm_start: train it for each C instead")
    trained, last = [], clone(estimator)
    try:
        for value in grid:
            last = continued(last, C=float(value))
            with same_data(last):
                last.fit(X, y, **fit)
            trained.append(last)
    except KeyboardInterrupt as stop:
        trained += [last] if isinstance(stop, Interrupted) else []  # which says that it is fitted
        raise Interrupted(_path_of(trained, estimator)) from stop
    return _path_of(trained, estimator)


def _path_of(models, estimator) -> Path:
    return Path([finished(model, estimator.warm_start) for model in models])


def grid_of(C) -> np.ndarray:
    """(m,) values of C in rising order."""
    if C is None:
        return np.logspace(-3, 2, 10)
    grid = np.unique(np.asarray(C, dtype=float))
    if grid.ndim != 1 or not len(grid) or not (np.isfinite(grid).all() and grid[0] > 0):
        raise ValueError(f"C must be positive numbers to choose from; got {C!r}")
    return grid


def continued(model, **parameters):
    """A copy that begins its next fit where the model's last one ended, with other parameters."""
    model = copy.copy(model)
    return model.set_params(warm_start=True, **parameters)


@contextmanager
def same_data(model):
    """Fits inside are on the data of the last one: whoever says so spares a digest of them all."""
    model._data_key = "the same data"
    try:
        yield
    finally:
        del model._data_key


def finished(model, warm_start=False):
    """A copy without what only the next fit needs."""
    model = copy.copy(model)
    parts = [replace(result, state={}) for result in model.result_.parts]
    model.result_ = parts[0] if len(parts) == 1 else Results(parts)
    model._fitted_on = None
    return model.set_params(warm_start=warm_start)

"""C="auto": the C that cross-validation finds."""

from __future__ import annotations


def fit_with_best_C(estimator, X, y, sample_weight, watch):
    """Choose C by `oneslack.tune` with its defaults, and take over the model that was trained with it."""
    from sklearn.base import clone

    from ...errors import Interrupted
    from ...selection.tuning import tune

    watch.refuse_checkpoint("C='auto' is many trainings")
    if watch.callbacks:
        raise ValueError("C='auto' cannot take callbacks; choose C with oneslack.tune, then fit with it")
    if sample_weight is not None:
        raise ValueError("C='auto' cannot take sample_weight; choose C with oneslack.tune, then fit with it")
    try:
        _take_over(estimator, tune(clone(estimator).set_params(C=1.0), X, y, n_jobs=estimator.n_jobs))
    except Interrupted as stopped:
        if stopped.result is not None and stopped.result.model is not None:
            _take_over(estimator, stopped.result)
        raise
    return estimator


def _take_over(estimator, found):
    of_optimum = ("_radii", "_middle", "_examples", "_intercepts", "_scale_rows")
    learned = {
        name: value for name, value in vars(found.model).items() if name.endswith("_") or name in of_optimum
    }
    vars(estimator).update(learned, _fitted_on=None, C_=found.best_C)

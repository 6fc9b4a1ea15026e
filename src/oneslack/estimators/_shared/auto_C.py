"""C="auto": the C that cross-validation finds."""

from __future__ import annotations


def fit_with_best_C(estimator, X, y, sample_weight, watch, groups=None):
    """Choose C by `oneslack.tune` with its defaults, and take over the model that was trained with it."""
    from sklearn.base import clone

    from ...errors import Interrupted
    from ...selection.tuning import tune

    watch.refuse_checkpoint("C='auto' is many trainings")
    given = {
        "callbacks": watch.callbacks or None,
        "sample_weight": sample_weight,
        "validation": watch.validation,
    }
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"C='auto' cannot take {name}; choose C with oneslack.tune, then fit with it")
    trained = clone(estimator).set_params(C=1.0)
    try:
        _take_over(estimator, tune(trained, X, y, groups=groups, n_jobs=estimator.n_jobs))
    except Interrupted as stopped:
        if stopped.result is not None and stopped.result.model is not None:
            _take_over(estimator, stopped.result)
        raise
    return estimator


def _take_over(estimator, found):
    parameters = found.model.get_params(deep=False)
    learned = {name: value for name, value in vars(found.model).items() if name not in parameters}
    vars(estimator).update(learned, _fitted_on=None, C_=found.best_C)

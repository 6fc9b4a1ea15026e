"""What is tuned: an estimator with a C or a pipeline that ends in one, the rows of its data, its scorer."""

from __future__ import annotations

from difflib import get_close_matches

import numpy as np

from ..metrics import positive_of

#: Scorers of scikit-learn that look for one of two classes, and the measure behind them.
SIDED = ("f1", "precision", "recall", "jaccard", "average_precision")


def core_of(estimator):
    """The estimator itself, or the last step of a pipeline; refused where it has no C."""
    core = getattr(estimator, "steps", [(None, estimator)])[-1][1]
    has = core.get_params(deep=False) if hasattr(core, "get_params") else {}
    if "C" not in has or "tol" not in has or not hasattr(core, "_results"):
        raise ValueError(
            f"tune chooses the C of an estimator of oneslack, or of a pipeline that ends in one; "
            f"{type(core).__name__} is none: use scikit-learn's GridSearchCV"
        )
    return core


def named(estimator, params) -> dict:
    """Parameters as `set_params` takes them: those of a pipeline's last step have its name in front."""
    if not hasattr(estimator, "steps"):
        return params
    last = estimator.steps[-1][0]
    return {name if "__" in name else f"{last}__{name}": value for name, value in params.items()}


def chosen_rows(X, index):
    """Some examples of a matrix, frame, list, or of sentences."""
    from sklearn.utils import _safe_indexing

    return X[index] if hasattr(X, "offsets") else _safe_indexing(X, index)


def scorer_for(estimator, scoring, y, pos_label):
    """A function scorer(model, X, y); measures of one of two classes are told which."""
    from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
    from sklearn.metrics import make_scorer as make

    if scoring in ("phrase_f1", "token_accuracy"):
        from .. import metrics

        measure = getattr(metrics, scoring)
        return lambda model, X, y: measure(y, model.predict(X))
    if scoring not in SIDED:
        if pos_label is not None:
            raise ValueError(f"pos_label is for scoring={', '.join(map(repr, SIDED))}; drop it")
        if isinstance(scoring, str) and scoring not in get_scorer_names():
            alike = get_close_matches(scoring, [*get_scorer_names(), "phrase_f1", "token_accuracy"], 3, 0.4)
            meant = f"; did you mean {' or '.join(map(repr, alike))}?" if alike else ""
            raise ValueError(f"scoring={scoring!r} is no scorer of oneslack or scikit-learn{meant}")
        return check_scoring(estimator, scoring=scoring)
    classes = np.unique(np.asarray(y))
    if len(classes) != 2:
        raise ValueError(
            f"scoring={scoring!r} is of one of two classes, and y has {len(classes)}; use '{scoring}_macro'"
        )
    known = get_scorer(scoring)
    options = {**known._kwargs, "pos_label": classes[positive_of(classes, y, pos_label)]}
    return make(known._score_func, response_method=known._response_method, **options)

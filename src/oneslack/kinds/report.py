"""A report from Python: the page of `oneslack report`, of a fitted estimator and data in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from os import PathLike
from typing import Any

from . import own_outputs
from .registry import Examples, kind_of

#: What the data are called in sentences.
DATA = "the data"


@dataclass(frozen=True)
class InMemory:
    """A fitted estimator where kinds expect a model file."""

    model: Any
    header: dict
    feature_names: Any = None
    pos_label: str | None = None
    path: str = "the model"
    source: Any = None

    @property
    def kind(self):
        return kind_of(self.header["kind"])

    @property
    def n_features(self):
        return getattr(self.model, "n_features_in_", None)


def report(
    model: Any, X: Any = None, y: Any = None, path: str | PathLike[str] = "report.html", *,
    groups: Any = None, feature_names: Any = None, pos_label: Any = None, trained_on: bool = False,
) -> str:  # fmt: skip
    """Write what a fitted model is, how good and how certain, to one page of HTML that needs no network.

    Parameters
    ----------
    model : a fitted estimator of oneslack
        Also a StructuralSVM of a model of your own.
    X, y : as `fit` and `predict` take them, or None
        Examples, best such as the training did not see: how good the model is on them, and its errors.
    path : str or path, default="report.html"
    groups : array-like of shape (n,) or None
        The queries of a RankSVM's examples.
    feature_names : sequence of str or None
        Of the columns of X; those that X has, where it is a frame.
    pos_label : label or None
        Of two classes the one that measures such as F1 look for.
    trained_on : bool, default=False
        Whether these are the examples that the model was trained on: the page then says so.

    Returns
    -------
    path : str

    Examples
    --------
    >>> import oneslack
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = oneslack.LinearSVC().fit(X[::2], y[::2])
    >>> oneslack.report(model, X[1::2], y[1::2], "iris.html")
    'iris.html'
    """
    from .. import __version__
    from ..errors import OneslackError
    from ..formats.atomic import atomic_write
    from ..viz.report import page
    from ..viz.report.looks import looks
    from ..viz.report.training import reproduction

    if (X is None) != (y is None):
        raise OneslackError("a report needs X and y together, or neither; give both.")
    saved = _saved(model, feature_names, pos_label)
    good, wrong = ("", "") if X is None else _sections(saved, X, y, groups)
    title = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    subtitle = type(model).__name__ + (", seen on its training data" if trained_on else "")
    sections = [
        _warned(good) if trained_on else good,
        _certainty(model),
        looks(saved.kind.looks(saved) if saved.kind.takes else own_outputs.looks(model)),
        wrong,
        reproduction([], repr(model), [("oneslack", __version__)]),
    ]
    html = page(title, subtitle, sections, f"Written by oneslack {__version__}.")
    with atomic_write(path, text=True) as file:
        file.write(html)
    return os.fspath(path)


def _saved(model, feature_names, pos_label) -> InMemory:
    from sklearn.utils.validation import check_is_fitted

    from ..errors import OneslackError
    from .registry import KINDS

    name = type(model).__name__
    if name not in KINDS:
        raise OneslackError(f"a report is of an estimator of oneslack, not of {name}; give it one.")
    check_is_fitted(model)
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", None)
    names = None if feature_names is None else [str(each) for each in feature_names]
    return InMemory(model, {"kind": name}, names, None if pos_label is None else str(pos_label))


def _sections(saved, X, y, groups):
    """(HTML of how good it is, HTML of its errors)."""
    kind = saved.kind
    if kind.takes == "rows":
        examples = _table(X, y, groups)
    elif kind.takes == "own":
        examples = Examples(DATA, X, y)
    else:
        sentences = kind.takes == "sentences" and own_outputs.sentences(saved.model, X, y)
        return sentences or own_outputs.sections(saved.model, X, y)
    return kind.sections(saved, examples, kind.measure(saved, examples))


def _table(X, y, groups):
    import numpy as np

    from ..data.rows import as_numpy
    from ..formats.table import Table

    X = X if hasattr(X, "indptr") else np.asarray(as_numpy(X))
    return Table(X, np.asarray(as_numpy(y)), None if groups is None else np.asarray(groups), DATA, "array")


def _certainty(model):
    from ..viz.report.training import certainty

    result = getattr(model, "result_", None)
    return certainty(
        model.objective_, model.dual_objective_, model.duality_gap_, model._is_certified(),
        getattr(model, "trace_", ()), None if result is None else result.status.advice,
    )  # fmt: skip


def _warned(good):
    from ..viz.report.training import on_training_data

    return on_training_data(good)

"""MetricSVC: linear classification trained for a measure of the whole sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .. import metrics
from ..metrics import k_of, positive_of
from ..models.measures import measure_model
from ..models.measures.scale import unit_of_C
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import LinearModel, Task, Watch
from ._shared.given import C_or, anything, check_parameters, encode
from ._shared.scoring import Classifies, products
from ._shared.settled import SettlesClasses
from ._shared.thresholds import cut_for_count


@dataclass(frozen=True)
class MetricTask(Task):
    """A problem for each column of labels.

    build     makes the model
    labels    (rows, n) of -1 and +1
    form      names and numbers that tell this measure from another
    function  the measure, where it is one
    side      -1 where the positive class is the first of two: the scores that are stored are the second's
    """

    build: Callable
    labels: np.ndarray
    n_features: int
    classes: np.ndarray
    multilabel: bool
    form: tuple
    function: Callable | None = None
    side: int = 1

    @property
    def n_problems(self):
        return len(self.labels)

    def models(self):
        for y in self.labels:
            yield self.build(), y, None

    def flat(self, coef, intercept):
        has_bias = self.build().n_params > self.n_features
        return list(self.side * (np.column_stack([coef, intercept]) if has_bias else coef))

    def rows(self, results):
        coef, intercept = super().rows(results)
        return self.side * coef, self.side * intercept

    def identity(self):
        return (*self.form, self.multilabel), [self.labels]


@described
class MetricSVC(SettlesClasses, Classifies, LinearModel):
    """Linear classification that trains for the measure you care about.

    Minimises 1/2 |w|^2 + C n R(w), where R bounds the loss of the whole sample from above: the largest,
    over all ways to label it, of loss - (1/n) sum of y_i (<w, x_i> + b) over the labels that differ from
    the truth (Joachims 2005).  For "error" this is the hinge loss of LinearSVC, so C means the same.

    Parameters
    ----------
    metric : str or callable, default="f1"
        "error", "f1", "fbeta", "prbep" (break-even point of precision and recall), "precision_at_k",
        "recall_at_k", "roc_auc", "average_precision", or a function loss(tp, fp, fn, tn) of counts, given
        as numbers or arrays.
    C : float, "scale" or "auto", default="scale"
        Weight of n R.  "scale" is n times the loss of one missed positive: for this measure what C=1 is for
        LinearSVC, as n / (2 P - 1) for F1 where P of the n examples are positive, 1 for "error"; of several
        labels their geometric mean.  "auto" is chosen by cross-validation over the measure itself.
    k : int or float or None, default=None
        For "precision_at_k" and "recall_at_k": how many examples are predicted positive, or which share.
    beta : float, default=1.0
        For "fbeta": above 1 recall counts more, below 1 precision.
    pos_label : a class, or None, default=None
        Of two classes the one that the measure looks for.  None: 1 where the labels are numbers up to 1, as 0
        and 1 or -1 and 1; of other labels the rarer class, or the second in sorted order of two equals.
    concave : bool, default=False
        For a function: you promise that it is concave in fp for fixed tp, and the search for the worst
        output takes n log n instead of n_positive x n_negative steps.
    fit_intercept : bool, default=True
        Whether to learn the threshold with the weights, where the measure sees one ("error", "f1", "fbeta",
        functions).  The others look at order alone; there the threshold is put where the training
        examples give the number of positives that the measure asks for.
    random_state : int, RandomState or None, default=None
        Seed of solvers that visit examples in random order ("error" only).

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights of the features; more than two classes, and each label of a multi-label y, have a row.
    intercept_ : ndarray of shape (1,) or (K,)
        The model's own threshold, negated.
    classes_ : ndarray of shape (K,)
        The labels, sorted.  The columns of a multi-label y.
    pos_label_ : the positive one of two classes, or None where there are more
        Scores are positive for the second class all the same, as everywhere in scikit-learn.
    C_ : float
        The C that was taken.
    multilabel_ : bool
        Whether y was a matrix of labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> import oneslack
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = oneslack.MetricSVC("f1", C=0.1).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.97)
    True
    """

    _input: ClassVar = {"multi_output": True}
    _checks: ClassVar = {"C": C_or("auto", "scale"), "pos_label": anything}

    def __init__(
        self, metric: Any = "f1", C: float | str = "scale", *, k: int | None = None, beta: float = 1.0,
        pos_label: Any = None, concave: bool = False, tol: float = 1e-3, epsilon: float | None = None,
        solver: Any = "auto", fit_intercept: bool = True, n_jobs: int | None = None, engine: Any = None,
        max_iter: int = 100_000, time_limit: float | None = None, warm_start: bool = False,
        random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        # The k of a measure need not be the number of positives.
        tags.classifier_tags.poor_score = self.metric in ("precision_at_k", "recall_at_k")
        return tags

    @with_callbacks
    def fit(
        self, X: Any, y: Any, *, callbacks: Any = (), checkpoint: Any = None, resume: bool = False,
        validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from examples.

        Parameters
        ----------
        y : array-like of shape (n,), or matrix of 0 and 1 of shape (n, K)
            Labels; more than two are trained one against the rest.  A matrix has a column for each label
            that an example may have.

        Returns
        -------
        self : MetricSVC
        """
        return self._fit(X, y, Watch(callbacks, checkpoint, resume, validation))

    def _encoded(self, X, y, sample_weight):
        multilabel, classes, labels, side = columns_of(y, self.pos_label)
        constant = np.flatnonzero(np.ptp(labels, axis=1) == 0)
        if self.metric == "roc_auc" and len(constant):
            raise ValueError(
                f"label {constant[0]} is the same for all examples, which leaves no pair to rank; "
                "leave out its column"
            )
        name, function = (None, self.metric) if callable(self.metric) else (self.metric, None)
        d = X.shape[1]
        self._model(d)  # refuses what the measure lacks
        self.C_ = self._C_of(labels)
        form = (name, self.k, self.beta, bool(self.concave), bool(self.fit_intercept))
        return MetricTask(lambda: self._model(d), labels, d, classes, multilabel, form, function, side), X

    def _store(self, task, X, coef, intercept):
        super()._store(task, X, coef, intercept)
        self.multilabel_ = task.multilabel
        one_score = not task.multilabel and len(task.classes) == 2
        self.pos_label_ = task.classes[(1 + task.side) // 2] if one_score else None
        if self._sees_order_alone():
            scores = task.side * products(X, coef.T)
            cuts = [self._cut(f, y) for f, y in zip(scores.T, task.labels, strict=True)]
            self.intercept_ = -task.side * np.array(cuts)

    def _C_of(self, labels):
        if self.C != "scale":
            return float(self.C_ if self.C == "auto" else self.C)
        terms = {"k": self.k, "beta": self.beta}
        units = [unit_of_C(self.metric, int(np.sum(y > 0)), len(y), **terms) for y in labels]
        return float(np.exp(np.mean(np.log(units))))

    @property
    def _side(self) -> int:
        """1, or -1 where the positive class is the first of two, whose score is the negative one."""
        return -1 if self.pos_label_ is not None and self.pos_label_ == self.classes_[0] else 1

    def _model(self, n_features):
        return measure_model(
            self.metric, n_features, k=self.k, beta=self.beta, concave=bool(self.concave),
            intercept=bool(self.fit_intercept),
        )  # fmt: skip

    @property
    def _has_free_intercept(self):
        return bool(self.fit_intercept) and not self._sees_order_alone()

    def _sees_order_alone(self):
        return isinstance(self.metric, str) and self.metric not in ("error", "f1", "fbeta")

    def _cut(self, scores, y):
        at_k = self.metric in ("precision_at_k", "recall_at_k")
        return cut_for_count(scores, k_of(self.k, len(y)) if at_k else int(np.sum(y > 0)))

    def _shapes(self):
        rows = len(self.classes_) if self.multilabel_ or len(self.classes_) > 2 else 1
        return {"coef": (rows, self.n_features_in_), "intercept": (rows,)}

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes or labels.

        Returns
        -------
        scores : ndarray of shape (n,) for two classes, (n, K) for more and for labels
        """
        scores = self._scores(X)
        return scores if self.multilabel_ or len(self.coef_) > 1 else scores.ravel()

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row, or its labels.

        Returns
        -------
        y : ndarray of shape (n,), or of 0 and 1 of shape (n, K)
        """
        check_is_fitted(self)
        return (self._scores(X) > 0).astype(int) if self.multilabel_ else super().predict(X)

    def score(self, X: Any, y: Any) -> float:
        """The measure itself on other data, larger is better; the mean over classes or labels.

        Parameters
        ----------
        y : array-like of shape (n,) or (n, K)

        Returns
        -------
        value : float
            For a function 1 - loss, counted from the loss of the truth as in training.
        """
        check_parameters(self)  # the function of a saved model is gone
        scores = self.decision_function(X)
        if self.multilabel_:
            columns = np.asarray(y.toarray() if sp.issparse(y) else y) > 0
            if columns.shape != scores.shape:
                raise ValueError(f"y has shape {columns.shape}, expected {scores.shape}")
        else:
            y = column_or_1d(y)
            if len(y) != len(scores):
                raise ValueError(f"X has {len(scores)} rows but y has {len(y)} labels")
            columns = y[:, None] == (self.classes_ if scores.ndim > 1 else [self.pos_label_])
            scores = self._side * scores
        pairs = zip(columns.T, scores.reshape(columns.shape).T, strict=True)
        return float(np.mean([self._measure(np.where(truth, 1, -1), f) for truth, f in pairs]))

    def _measure(self, y, scores):
        if callable(self.metric):
            return 1.0 - self._model(1).loss_of(y, scores)
        k = self.k if not isinstance(self.k, int | np.integer) else min(self.k, len(y))
        return {
            "error": lambda: float(np.mean((scores > 0) == (y > 0))),
            "f1": lambda: metrics.f_beta(y, scores),
            "fbeta": lambda: metrics.f_beta(y, scores, self.beta),
            "prbep": lambda: metrics.precision_recall_break_even(y, scores),
            "precision_at_k": lambda: metrics.precision_at_k(y, scores, k),
            "recall_at_k": lambda: metrics.recall_at_k(y, scores, k),
            "roc_auc": lambda: metrics.roc_auc(y, scores),
            "average_precision": lambda: metrics.average_precision(y, scores),
        }[self.metric]()


def columns_of(y, pos_label=None):
    """(whether multi-label, classes, labels (rows, n) of -1 and +1, side of the positive one of two)."""
    if sp.issparse(y):
        y = y.toarray()
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] > 1:
        strange = [value for value in np.unique(y).tolist() if value not in (0, 1)]
        if strange:
            raise ValueError(f"a matrix y must hold 0 and 1, one column a label; it holds {strange[0]!r}")
        return True, np.arange(y.shape[1]), np.where(y.T > 0, 1.0, -1.0), 1
    classes, codes = encode(column_or_1d(y, warn=True))
    side, positive = 1, range(len(classes))
    if len(classes) == 2:
        positive = [positive_of(classes, classes[codes], pos_label)]
        side = 2 * positive[0] - 1
    elif pos_label is not None:
        raise ValueError(f"pos_label={pos_label!r} is for two classes, and y has {len(classes)}; drop it")
    return False, classes, np.array([np.where(codes == k, 1.0, -1.0) for k in positive]), side

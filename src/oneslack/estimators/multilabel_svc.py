"""MultiLabelSVC: sets of labels, with or without dependencies between them."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..data.rows import as_rows
from ..metrics import label_set_scores
from ..models.labels import BoundedLabelSets, IndependentLabels, LabelSets, chow_liu_tree
from ..models.labels.dependencies import all_pairs
from ..models.labels.model import LOSSES, MAX_LABELS
from ._shared.auto_C import fit_with_best_C
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Fitted, Watch, problem_of, solved
from ._shared.given import INPUT, C_or_auto, check_parameters, checked_sizes, choice, validated
from ._shared.like_liblinear import with_constant
from .kernel_features import basis_for

DEPENDENCIES = ("none", "tree", "full")
#: What `score` may give, by the loss that was trained for.
SCORES = {"hamming": "label_accuracy", "f1": "example_f1", "subset": "subset_accuracy"}


@described
class MultiLabelSVC(Fitted):
    """Any number of labels for each example: linear scores with a large margin, and pairs that go together.

    A set of labels scores the sum of its labels' scores <w_l, x> + b_l and, with dependencies, a weight for
    each pair of labels that are both in it.  Minimises 1/2 |w|^2 + C sum_i s_i H_i(w), intercepts among the
    weights, to a certified relative duality gap, where H_i is the margin that example i misses: a set should
    score less than the right one by its loss.  The worst set is found exactly, but for "full" with more than
    16 labels, where bounds keep the certificate (`result_.inference` is their part of the gap).

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the sum of the hinges.
        "auto" is what `oneslack.tune` finds; then it is in the attribute `C_`.
    dependencies : {"none", "tree", "full"}, default="tree"
        Which pairs of labels have a weight: none; those of the tree of Chow and Liu, the labels that tell
        most of each other in the training examples; or all, with more than 16 labels for "hamming" only.
    loss : {"hamming", "f1", "subset"}, default="hamming"
        What a wrong set costs: the number of wrong labels; 1 - F1 of the example, 0 where both sets are
        empty; or 1 unless all labels are right.
    solver : {"auto", "dual_cd", "one_slack", "n_slack"} or a solver, default="auto"
        "auto" is "dual_cd" for "none" with "hamming", where one pass over X serves all labels, and
        "one_slack" otherwise.
    fit_intercept : bool, default=True
        Whether labels have an intercept; it is penalised as weights are.

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        The labels, sorted; the numbers of the columns where y was a matrix.
    coef_ : ndarray of shape (L, d)
        The weights of the features for each label.
    intercept_ : ndarray of shape (L,)
    pairs_ : ndarray of shape (E, 2)
        Pairs of places in `classes_` that have a weight.
    pair_weights_ : ndarray of shape (E,)
        What a set gains that holds both.
    label_model_ : LabelSets, BoundedLabelSets or IndependentLabels

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.9, 0.1]])
    >>> Y = [{"sea", "sky"}, {"city"}, {"sea", "sky", "city"}, {"sea", "sky"}]
    >>> svm = oneslack.MultiLabelSVC(C=10.0).fit(X, Y)
    >>> svm.predict(X[:2]), svm.score(X, Y)
    ([('sea', 'sky'), ('city',)], 1.0)
    """

    _saving = "multilabel"
    _checks: ClassVar = {
        "dependencies": choice(DEPENDENCIES), "loss": choice(tuple(LOSSES)), "C": C_or_auto,
    }  # fmt: skip

    def __init__(
        self, C: float | str = 1.0, *, dependencies: Any = "tree", loss: str = "hamming",
        solver: Any = "auto", tol: float = 1e-3, epsilon: float | None = None, fit_intercept: bool = True,
        kernel: Any = None, gamma: float | str = "scale", degree: float = 3, coef0: float = 0.0,
        n_basis: int = 500, n_jobs: int | None = None, engine: Any = None, max_iter: int = 100_000,
        time_limit: float | None = None, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False,
    ) -> Self:  # fmt: skip
        """Learn from examples.

        Parameters
        ----------
        y : matrix of 0 and 1 of shape (n, L), dense or sparse, or list of n sets of labels
            A matrix has a column for each label; sets, tuples or lists hold labels of any one type that
            sorts.

        Returns
        -------
        self : MultiLabelSVC
        """
        check_parameters(self)
        if self.C == "auto":
            return fit_with_best_C(self, X, y, sample_weight, Watch(callbacks, checkpoint, resume))
        X = validated(self, X, order="C", **INPUT)
        classes, Y, as_sets = indicators_of(y)
        sample_weight = checked_sizes(X, sample_weight, y=Y)
        basis = basis_for(self)
        rows = as_rows(X if basis is None else basis.fit_transform(X))
        rows = with_constant(rows) if self.fit_intercept else rows
        model = self._model(rows.shape[1], Y, sample_weight)
        watch = Watch(callbacks, checkpoint, resume)

        def store(results):
            self.classes_, self.as_sets_, self.basis_, self.label_model_ = classes, as_sets, basis, model
            self._set_weights(results[0].w)

        problem = problem_of(self, model, rows, Y, sample_weight=sample_weight)
        return self._solve([partial(solved, problem)], store, (X, y, sample_weight), watch, columns=X)

    def _model(self, n_features, Y, sample_weight):
        L = Y.shape[1]
        is_large = self.dependencies == "full" and L > MAX_LABELS
        if is_large and self.loss != "hamming":
            raise ValueError(
                f"dependencies='full' with loss={self.loss!r} goes through all sets of up to {MAX_LABELS} "
                f"labels, but there are {L}; use 'tree', or loss='hamming'"
            )
        if self.dependencies == "none":
            kind = IndependentLabels if self.loss == "hamming" else LabelSets
            return kind(n_features, L, self.loss)
        edges = all_pairs(L) if self.dependencies == "full" else chow_liu_tree(Y, sample_weight)
        return (BoundedLabelSets if is_large else LabelSets)(n_features, L, self.loss, edges)

    def _set_weights(self, w):
        """Give the weights their names."""
        model = self.label_model_
        W = w[: model.n_features * model.n_labels].reshape(model.n_features, model.n_labels).T
        d = model.n_features - bool(self.fit_intercept)
        self.coef_ = W[:, :d].copy()
        self.intercept_ = W[:, d].copy() if self.fit_intercept else np.zeros(model.n_labels)
        self.pairs_, self.pair_weights_ = model.edges, w[W.size :].copy()

    def _w(self):
        W = np.column_stack([self.coef_, self.intercept_]) if self.fit_intercept else self.coef_
        return np.concatenate([W.T.ravel(), self.pair_weights_])

    def _inputs(self, X):
        check_is_fitted(self)
        X = validated(self, X, reset=False, **INPUT)
        rows = as_rows(X if self.basis_ is None else self.basis_.transform(X))
        return with_constant(rows) if self.fit_intercept else rows

    def decision_function(self, X: Any) -> np.ndarray:
        """By how much the best set with a label beats the best set without it; the label's own score where
        labels do not depend on each other.

        Returns
        -------
        scores : ndarray of shape (n, L)
        """
        return self.label_model_.margins(self._inputs(X), self._w())

    def predict_indicators(self, X: Any) -> np.ndarray:
        """The best sets as a matrix.

        Returns
        -------
        Y : ndarray of 0 and 1 of shape (n, L)
        """
        return self.label_model_.predict_sets(self._inputs(X), self._w()).astype(int)

    def predict(self, X: Any) -> Any:
        """The best set of labels of each row, as they were given to `fit`.

        Returns
        -------
        y : ndarray of 0 and 1 of shape (n, L), or list of n tuples of labels
        """
        Y = self.predict_indicators(X)
        if not self.as_sets_:
            return Y
        labels = self.classes_.tolist()
        return [tuple(labels[a] for a in np.flatnonzero(row)) for row in Y]

    def score(self, X: Any, y: Any) -> float:
        """How good it is by the loss that was trained for: the share of right labels, the mean F1 of the
        examples, or the share of examples whose labels are all right.

        Parameters
        ----------
        y : as for `fit`; labels that are not in `classes_` are missed

        Returns
        -------
        score : float
        """
        scores = label_set_scores(*self.compared(X, y))
        return scores[SCORES[self.loss]]

    def compared(self, X: Any, y: Any) -> Any:
        """(truth, predicted): matrices of 0 and 1 of shape (n, L), or more columns where `y`, sets of labels
        or a matrix as for `fit`, has labels that the model does not know.

        Returns
        -------
        truth, predicted : ndarrays of one shape
        """
        Y_hat = self.predict_indicators(X)
        if not self.as_sets_:
            _, Y, as_sets = indicators_of(y)
            if as_sets or Y.shape != Y_hat.shape:
                raise ValueError(f"y must be a matrix of 0 and 1 of shape {Y_hat.shape}, as it was in fit")
            return Y, Y_hat
        place = {label: a for a, label in enumerate(self.classes_.tolist())}
        for labels in y:
            for label in labels:
                place.setdefault(label, len(place))
        Y = np.zeros((len(y), len(place)), int)
        for i, labels in enumerate(y):
            Y[i, [place[label] for label in labels]] = 1
        if len(Y) != len(Y_hat):
            raise ValueError(f"X has {len(Y_hat)} examples but y has {len(Y)}")
        return Y, np.pad(Y_hat, ((0, 0), (0, Y.shape[1] - Y_hat.shape[1])))


def indicators_of(y):
    """(classes (L,), Y (n, L) of 0 and 1, whether y is a list of sets)."""
    if hasattr(y, "shape") or sp.issparse(y):
        Y = y.toarray() if sp.issparse(y) else np.asarray(y)
        if Y.ndim != 2 or Y.shape[1] == 0:
            raise ValueError(f"a matrix y must have a column for each label; it has shape {Y.shape}")
        strange = Y[~np.isin(Y, (0, 1))]
        if len(strange):
            raise ValueError(f"a matrix y must hold 0 and 1, one column a label; it holds {strange[0]!r}")
        return np.arange(Y.shape[1]), Y.astype(np.uint8), False
    sets = list(y)
    for i, labels in enumerate(sets):
        if isinstance(labels, str) or not hasattr(labels, "__iter__"):
            raise ValueError(
                f"example {i}: y is {labels!r}, expected a set of labels, or a matrix y as a NumPy array"
            )
    try:
        found = sorted({label for labels in sets for label in labels})
    except TypeError:
        raise ValueError("labels must be of one type that sorts: text or whole numbers") from None
    if not found:
        raise ValueError("no example has a label: there is nothing to learn")
    place = {label: a for a, label in enumerate(found)}
    Y = np.zeros((len(sets), len(found)), np.uint8)
    for i, labels in enumerate(sets):
        Y[i, [place[label] for label in labels]] = 1
    return np.array(found), Y, True

"""LinearSVC: linear classification, binary and multi-class, with a certificate."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from ..data.rows import as_rows
from ._shared.auto_C import fit_with_best_C
from ._shared.callbacks import with_callbacks
from ._shared.class_task import ClassTask
from ._shared.linear_model import INPUT, LinearModel
from ._shared.parameters import check_C_or_auto, check_parameters, cost_matrix
from ._shared.quick_checks import checked_input
from ._shared.sharded_tasks import class_task, is_shards, prepare
from ._shared.targets import encode, example_weights


class LinearSVC(ClassifierMixin, LinearModel):
    """Linear support vector classification that says how far it is from the optimum.

    Minimises 1/2 |w|^2 + C sum_i s_i hinge_i to a certified relative duality gap.  Two classes: the
    hinge max(0, 1 - y (<w, x> + b)).  More: Crammer and Singer's max_z (loss(y, z) + score_z) -
    score_y, or one binary problem a class ("ovr").  The intercept b is not penalised: it is a free
    variable of the problem, and the certificate holds for duals that balance exactly.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the sum of the hinges, as in scikit-learn and LIBLINEAR.  "auto" is what `oneslack.tune`
        finds; then it is in the attribute `C_`.
    tol : float, default=1e-3
        Relative duality gap (P - D) / P to stop at: the optimum lies within this share below the objective.
    epsilon : float or None, default=None
        Stop by the cutting-plane papers' rule instead: no constraint is violated by more (mean loss).
    solver : {"auto", "dual_cd", "newton", "one_slack", "streaming"} or a solver, default="auto"
        "auto" chooses by the shape of the data; `result_.reason` says why.
    multi_class : {"crammer_singer", "ovr"}, default="crammer_singer"
        One problem for all classes, or one a class against the rest.
    loss : "hinge" or array-like of shape (K, K), default="hinge"
        A matrix gives the cost of each mistake, cost[true, predicted], rows and columns in the order of
        `classes_`.  More than two classes: the cost is the margin asked for.  Two classes: the hinge of
        an example is multiplied by its cost, as by a weight.
    fit_intercept : bool, default=True
        Whether to learn an intercept.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the examples of a class; "balanced" gives all classes the same sum.
    prior : array-like or None, default=None
        Where the weights are drawn to instead of 0, for example the `coef_` of an earlier model: of shape
        (d,), or of the shape of `coef_`; or by groups, as pairs (columns, value) or a dict from names of
        columns.
    scale : float, array-like or None, default=None
        How strongly: 1/2 sum_k (scale_k (w_k - prior_k))^2 instead of 1/2 |w|^2.  Of the same shapes.
    nonnegative : bool, array-like or None, default=None
        Weights held >= 0: True for all, a mask of the same shapes, or numbers or names of columns.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.  The result is the same for any number.
    engine : {"threads", "ray"}, Ray or None, default=None
        Where to train: this machine's cores, or a Ray cluster (docs/scaling.md); `Ray(...)` says which.
    max_iter : int, default=100_000
        Steps of the solver.
    time_limit : float or None, default=None
        Seconds of training; the best model so far is kept, with its gap.
    warm_start : bool, default=False
        Begin at the last fit.  The very same problem (X, y, weights, C) goes on where it stopped, for
        example with a smaller tol; other data with the same classes and features start from the last
        weights, which helps "newton" and "one_slack" ("dual_cd" then starts anew).  Keeps the solver's
        state in `result_`.
    random_state : int, RandomState or None, default=None
        Seed of the order in which examples are visited; None is 0, so equal fits are equal.
    verbose : int, default=0
        1 prints a line when the gap has closed by a fifth, 2 one for each step.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (K,)
        Zeros without an intercept; with "crammer_singer" they sum to zero.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    objective_, dual_objective_ : float
        Bounds of the optimum from above (at this model) and below; sums over the classes for "ovr".
    duality_gap_ : float
        (objective_ - dual_objective_) / objective_.
    n_iter_ : int
        Steps taken, for "ovr" of the class that took most.
    result_ : Result, or list of K Results for "ovr"
        With the status and the trace of the training.
    n_features_in_ : int
        Number d of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where X has them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import oneslack
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = oneslack.LinearSVC().fit(X, y)
    >>> bool(model.duality_gap_ <= 1e-3)
    True
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _checks: ClassVar = {"C": check_C_or_auto}

    def __init__(
        self,
        C=1.0,
        *,
        tol=1e-3,
        epsilon=None,
        solver="auto",
        multi_class="crammer_singer",
        loss="hinge",
        fit_intercept=True,
        class_weight=None,
        prior=None,
        scale=None,
        nonnegative=None,
        n_jobs=None,
        engine=None,
        max_iter=100_000,
        time_limit=None,
        warm_start=False,
        random_state=None,
        verbose=0,
    ):
        self.C = C
        self.tol = tol
        self.epsilon = epsilon
        self.solver = solver
        self.multi_class = multi_class
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.prior = prior
        self.scale = scale
        self.nonnegative = nonnegative
        self.n_jobs = n_jobs
        self.engine = engine
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Learn from examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or what `oneslack.formats.open_shards` gives
            float32 and float64, C-ordered or CSR, are used as they are.  Shards are read from disk within the
            memory of `solver=oneslack.Streaming("2GB")`; they hold y and sample_weight themselves.
        y : array-like of shape (n,)
            Labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples; 2 counts as often as two equal examples.

        Returns
        -------
        self : LinearSVC
        """
        check_parameters(self)
        if is_shards(X):
            return self._fit_shards(X, y, sample_weight)
        if self.C == "auto":
            return fit_with_best_C(self, X, y, sample_weight)
        X, y = checked_input(self, X, y, order="C", **INPUT)
        X = as_rows(X)  # once, not in each problem of "ovr"
        classes, codes = encode(y)
        weights = example_weights(X, classes, codes, self.class_weight, sample_weight)
        return self._train(self._task(X, classes, codes, weights), X, y, sample_weight)

    def _fit_shards(self, shards, y, sample_weight):
        prepare(self, shards, y, sample_weight)
        task = class_task(
            shards, bool(self.fit_intercept), self.class_weight,
            lambda classes: cost_matrix(self.loss, classes), self.multi_class == "ovr",
        )  # fmt: skip
        return self._train(task, shards, None)

    def partial_fit(self, X, y, classes=None, sample_weight=None, *, memory="100MB"):
        """Learn from one more portion of examples.

        `objective_` and `dual_objective_` are of the problem with the examples of all portions as long as
        `n_forgotten_` is 0.  Later the lower bound still is, as examples are forgotten in a way that never
        raises the objective; `objective_` is then that of what is remembered, and `duality_gap_` the gap of
        that smaller problem: no certificate.  Duals are needed of single examples: for a `solver` without
        them, "dual_cd" or "newton" is chosen as by "auto".

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (K,) or None
            All labels that there will be, at the first call; None for those of the first y.
        sample_weight : array-like of shape (n,) or None
        memory : int or str, default="100MB"
            Bytes of the examples that are remembered from call to call.

        Returns
        -------
        self : LinearSVC
            With `n_seen_` and `n_forgotten_`, numbers of examples (for "ovr" of the class that forgot most).
        """
        check_parameters(self)
        is_first = not hasattr(self, "_kept")
        X, y = validate_data(self, X, y, order="C", reset=is_first, **INPUT)
        known = self._classes_of_portions(y, classes, is_first)
        codes = np.searchsorted(known, y)
        if (codes == len(known)).any() or (known[np.minimum(codes, len(known) - 1)] != y).any():
            raise ValueError("y has a label that is not among the classes of the first call to partial_fit")
        weights = example_weights(X, known, codes, self.class_weight, sample_weight)
        self.classes_ = known
        task = self._task(X, known, codes, weights)
        return self._learn_portion(task, as_rows(X), y, sample_weight, memory)

    def _classes_of_portions(self, y, classes, is_first):
        if self.C == "auto" or isinstance(self.class_weight, str) or self.warm_start:
            raise ValueError("partial_fit knows no C='auto', class_weight='balanced' and warm_start")
        if not is_first:
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError("classes are not those of the first call to partial_fit")
            return self.classes_
        known = encode(y)[0] if classes is None else np.unique(classes)
        if len(known) < 2:
            raise ValueError("partial_fit needs at least two classes; name all of them at the first call")
        return known

    def _folds_of_paths(self, X, y, splits):
        """For `tune`: folds that go up all C on a path each; None where every C must be a fit."""
        from ._shared.quick_folds import folds_for

        return folds_for(self, X, y, splits) if type(self) is LinearSVC else None

    def _task(self, X, classes, codes, weights):
        cost = cost_matrix(self.loss, classes)
        one_vs_rest = self.multi_class == "ovr" and len(classes) > 2
        if one_vs_rest and cost is not None:
            raise ValueError(
                "a cost matrix needs multi_class='crammer_singer' when there are more than two classes"
            )
        return ClassTask(classes, codes, X.shape[1], bool(self.fit_intercept), weights, cost, one_vs_rest)

    def decision_function(self, X):
        """Scores of the classes; the highest wins.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        scores : ndarray of shape (n,) for two classes, (n, K) for more
            For two classes the score of `classes_[1]`: positive where it wins.
        """
        scores = self._scores(X)
        return scores.ravel() if len(self.coef_) == 1 else scores

    def predict(self, X):
        """The class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        y : ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        index = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]

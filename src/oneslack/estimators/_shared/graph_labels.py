"""What estimators share that label the nodes of graphs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.rows import Ragged, Shard, as_rows
from ...models.graph import GraphModel
from ..kernel_features import basis_for
from .fitting import Fitted, problem_of, solved
from .given import check_weights, weights_of_classes
from .graph_input import codes_of, labels_of

#: That the state of the last fit is kept, for a warm start.
KEPT = "graphs"


class GraphLabels(Fitted):
    """What estimators share that label nodes; a subclass says how inputs become packed graphs.

    Parameters
    ----------
    passes : int
        Message passes over an example whose inference is not exact, at most.
    backtracks : int
        Of a search by toulbar2 in each example whose best labels messages leave open, at most; 0: no search.
        Needs the package pytoulbar2 (`pip install oneslack[toulbar2]`).
    relaxed : bool
        Train against fractional labels, too, those of the linear relaxation (Finley & Joachims 2008): no gap
        of inference is left, but the objective, and both its bounds, are those of the relaxation, which are
        larger; and a linear programme is solved for each example and round that messages do not settle.
    kernel : {"rbf", "poly", "linear", "laplacian"}, callable or None
        Score nodes by a kernel of their features instead of linearly: by basis functions, see
        `KernelFeatures`.  The weights of edges stay linear.
    solver : {"auto", "dual_cd", "n_slack", "one_slack"} or a solver
        "auto" is "dual_cd"; with relaxed=True "one_slack".
    tol : float
        Relative duality gap (P - D) / P to stop at; what inference leaves open comes on top.
    warm_start : bool
        Begin at the last fit: the very same problem goes on where it stopped, another one with the same
        labels and features begins with its weights.

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        The labels, sorted.
    coef_ : ndarray of shape (n_params,)
        The weights, in the order of `model_`.
    model_ : GraphModel
        Says which weight is which.
    """

    _saving = "graph"

    def _fit(self, data, Y, sample_weight, given, watch, directed):
        if self.backtracks:
            from ...models.graph.toulbar2 import imported

            imported()  # or says so before anything is learned
        classes, codes = codes_of(Y, data)
        basis = basis_for(self)
        if basis is not None:
            basis.fit(data.X.values)
            data = _through(basis, data)
        model = GraphModel(
            data.X.values.shape[1], len(classes), data.F.shape[1], directed=directed,
            attractive=bool(self.attractive), passes=int(self.passes), backtracks=int(self.backtracks),
            label_losses=self._losses(classes, codes.values),
        )  # fmt: skip
        if sample_weight is not None:
            sample_weight = check_weights(np.asarray(sample_weight, dtype=float))
        options = {"sample_weight": sample_weight}
        if self.attractive:
            options["nonnegative"] = ["edges"]

        def store(results):
            self.classes_, self.model_, self.coef_, self.basis_ = classes, model, results[0].w, basis

        jobs = self._jobs(model, data, codes, watch, options, self._start(model, classes, data))
        return self._solve(jobs, store, given, watch, key=KEPT if self.warm_start else None)

    def _start(self, model, classes, data):
        """What a warm start begins with: the last Result, which knows whether the problem is the same, its
        weights, or nothing."""
        w = getattr(self, "coef_", None) if self.warm_start else None
        if w is None or w.shape != (model.n_params,) or not np.array_equal(self.classes_, classes):
            return None
        is_whole = not self.relaxed and self._fitted_on == KEPT and hasattr(self.result_, "w")
        return self.result_ if is_whole else w

    def _losses(self, classes, codes):
        """(L, L): what a wrong label costs, by the class weights."""
        losses = 1.0 - np.eye(len(classes))
        if self.class_weight is not None:
            known = codes[codes >= 0]
            of_class = weights_of_classes(self.class_weight, classes, known, np.ones(len(known)))
            losses *= np.asarray(of_class)[:, None]
        return losses

    def _jobs(self, model, data, codes, watch, options, start):
        if (codes.values < 0).any():
            from .partial_labels import check_is_here, solve_partly_labelled

            check_is_here(self.engine, watch)
            options |= {"n_jobs": self.n_jobs}
            w = getattr(start, "w", start)
            if self.relaxed:
                raise ValueError("relaxed=True needs the labels of all nodes; some are None")
            yield partial(solve_partly_labelled, model, data, codes, self.C, problem_options=options, start=w)
        elif self.relaxed:
            from ...models.graph.relaxed import RelaxedGraphs

            X, Y = data.graphs(), [codes[i] for i in range(data.n)]
            yield partial(solved, problem_of(self, RelaxedGraphs(model), X, Y, **options), start=start)
        else:
            yield partial(solved, problem_of(self, model, data, codes, **options), start=start)

    # Output.

    def predict_codes(self, X: Any) -> Ragged:
        """The numbers of the labels in `classes_`: one flat array (nodes,) with offsets (graphs + 1,)."""
        parts, data = self._of_graphs(X, "predict_batch")
        return Ragged(np.concatenate([np.empty(0, np.int32), *parts]), data.offsets)

    def predict_gaps(self, X: Any) -> Any:
        """By how much the score of each prediction may at most be below the best one: 0 but for rounding
        where inference is exact.

        Parameters
        ----------
        X : list of inputs, as for `fit`

        Returns
        -------
        gaps : ndarray of shape (n,)
        """
        parts, data = self._of_graphs(X, "predict_bounds")
        Z = np.concatenate([np.empty(0, np.int32), *(labels for labels, _ in parts)])
        uppers = np.concatenate([np.empty(0), *(bounds for _, bounds in parts)])
        filled = replace(data, y=Z, truth=Z)
        nothing = np.full(len(Z), -1, np.int32)
        if not data.n:
            return uppers
        rows = self.model_.delta_rows(filled, Shard(0, data.n), nothing)
        return np.maximum(uppers - rows @ self.coef_, 0.0)

    def _of_graphs(self, X, method):
        """What a method of the model gives for shards of the graphs, found in threads; and these, packed."""
        check_is_fitted(self)
        from ...engines.threads import Threads

        data = self._graphs(X)
        data = self.model_.pack(data if self.basis_ is None else _through(self.basis_, data), None)
        method = getattr(self.model_, method)
        with Threads(self.n_jobs) as engine:
            shards = data.shards if data.n else []
            return engine.map(lambda shard: method(data, shard, self.coef_), shards), data

    @property
    def _width(self) -> int:
        """Features of a node, as they are given."""
        return self.model_.n_features if self.basis_ is None else self.basis_.n_features_in_

    def _graphs(self, X):
        """New inputs as packed graphs, of the sizes that were learned from."""
        raise NotImplementedError

    def score(self, X: Any, Y: Any) -> float:
        """The share of nodes with the right label, of those whose label is known.

        Parameters
        ----------
        X, Y : list of inputs and list of their labels, as for `fit`

        Returns
        -------
        accuracy : float
        """
        predicted = self.predict_codes(X)
        labels, known = labels_of(Y, _Shape(predicted))
        if not len(labels):
            raise ValueError("there is no node to score")
        return float(np.mean(self.classes_[predicted.values[known]] == labels))


def _through(basis, data):
    """The graphs with the features of a basis in place of those of nodes."""
    values = data.X.values
    rows = basis.transform(values) if values.shape[0] else np.empty((0, basis.mapping_.shape[1]))
    return replace(data, X=Ragged(as_rows(rows), data.offsets))


class _Shape:
    """As much of packed graphs as labels are compared with."""

    def __init__(self, X):
        self.X, self.offsets = X, X.offsets

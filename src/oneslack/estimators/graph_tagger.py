"""GraphTagger: a label for every node of a graph."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Ragged, Shard
from ..models.graph import GraphModel
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Fitted, Watch, problem_of, solved
from ._shared.given import check_parameters, check_weights, weights_of_classes
from ._shared.graph_input import codes_of, graphs_of, labels_of


class GraphLabels(Fitted):
    """What estimators share that label nodes; a subclass says how inputs become packed graphs.

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
        classes, codes = codes_of(Y, data)
        model = GraphModel(
            data.X.values.shape[1], len(classes), data.F.shape[1], directed=directed,
            attractive=bool(self.attractive), passes=int(self.passes),
            label_losses=self._losses(classes, codes.values),
        )  # fmt: skip
        if sample_weight is not None:
            sample_weight = check_weights(np.asarray(sample_weight, dtype=float))
        options = {"sample_weight": sample_weight}
        if self.attractive:
            options["nonnegative"] = ["edges"]

        def store(results):
            self.classes_, self.model_, self.coef_ = classes, model, results[0].w

        jobs = self._jobs(model, data, codes, watch, options)
        return self._solve(jobs, store, given, watch)

    def _losses(self, classes, codes):
        """(L, L): what a wrong label costs, by the class weights."""
        losses = 1.0 - np.eye(len(classes))
        if self.class_weight is not None:
            known = codes[codes >= 0]
            of_class = weights_of_classes(self.class_weight, classes, known, np.ones(len(known)))
            losses *= np.asarray(of_class)[:, None]
        return losses

    def _jobs(self, model, data, codes, watch, options):
        if (codes.values < 0).any():
            from ._shared.partial_labels import check_is_here, solve_partly_labelled

            check_is_here(self.engine, watch)
            options |= {"n_jobs": self.n_jobs}
            yield partial(solve_partly_labelled, model, data, codes, self.C, problem_options=options)
        else:
            yield partial(solved, problem_of(self, model, data, codes, **options))

    # Output.

    def predict_codes(self, X) -> Ragged:
        """The numbers of the labels in `classes_`: one flat array (nodes,) with offsets (graphs + 1,)."""
        parts, data = self._of_graphs(X, "predict_batch")
        return Ragged(np.concatenate([np.empty(0, np.int32), *parts]), data.offsets)

    def predict_gaps(self, X):
        """By how much the score of each prediction may at most be below the best one: 0 but for rounding
        where inference is exact.

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
        from ..engines.threads import Threads

        data = self.model_.pack(self._graphs(X), None)
        method = getattr(self.model_, method)
        with Threads(self.n_jobs) as engine:
            shards = data.shards if data.n else []
            return engine.map(lambda shard: method(data, shard, self.coef_), shards), data

    def _graphs(self, X):
        """New inputs as packed graphs, of the sizes that were learned from."""
        raise NotImplementedError

    def score(self, X, Y):
        """The share of nodes with the right label, of those whose label is known.

        Returns
        -------
        accuracy : float
        """
        predicted = self.predict_codes(X)
        labels, known = labels_of(Y, _Shape(predicted))
        if not len(labels):
            raise ValueError("there is no node to score")
        return float(np.mean(self.classes_[predicted.values[known]] == labels))


class _Shape:
    """As much of packed graphs as labels are compared with."""

    def __init__(self, X):
        self.X, self.offsets = X, X.offsets


@described
class GraphTagger(GraphLabels):
    """Labels for the nodes of graphs: a pairwise model with a large margin.

    Minimises 1/2 |w|^2 + C sum_i s_i H_i(w), where H_i is the margin that graph i misses: an output that
    differs from the truth in m nodes should score m less.  Inference is exact on trees, and for two labels
    where edges attract; elsewhere `result_` is certified all the same, by bounds, and `result_.inference`
    tells how much of the gap is due to them (docs/graph.md).

    Parameters
    ----------
    C : float, default=0.1
        Weight of the sum over graphs.
    directed : bool, default=False
        Whether the labels (a, b) and (b, a) at the ends of an edge are different.
    attractive : bool, default=False
        Whether edges may only like their ends to have the same label: one weight >= 0 for each label, and
        inference with two labels is exact.  Edge features must be >= 0.
    class_weight : dict, "balanced" or None, default=None
        Multiplies what nodes of a class cost in the loss.
    passes : int, default=60
        Message passes over a graph whose inference is not exact, at most.
    solver : {"auto", "dual_cd", "n_slack", "one_slack"} or a solver, default="auto"
        "auto" is "dual_cd".
    tol : float, default=1e-2
        Relative duality gap (P - D) / P to stop at; what inference leaves open comes on top.

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> x = np.array([[1.0], [0.8], [-0.2], [0.9]])
    >>> X = [(x, edges), (-x, edges)]
    >>> Y = [["in"] * 4, ["out"] * 4]
    >>> tagger = oneslack.GraphTagger(C=10, attractive=True).fit(X, Y)
    >>> tagger.predict(X[1:]), tagger.result_.certified
    ([['out', 'out', 'out', 'out']], True)
    """

    def __init__(
        self, C=0.1, *, directed=False, attractive=False, class_weight=None, passes=60, solver="auto",
        tol=1e-2, epsilon=None, n_jobs=None, engine=None, max_iter=100_000, time_limit=None,
        random_state=None, verbose=0,
    ):  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(self, X, Y, sample_weight=None, *, callbacks=(), checkpoint=None, resume=False):
        """Learn from labelled graphs.

        Parameters
        ----------
        X : list of graphs
            A graph is (features (n, d), edges (m, 2)) or (features, edges, edge_features (m, k)), with edges
            as pairs of numbers of nodes; or a networkx graph whose nodes, and perhaps edges, have their
            features in the attribute "x".  A constant feature of nodes is an intercept.
        Y : list of lists or arrays of n labels
            Labels of any one type that sorts; None where a label is not known.  Such nodes are filled in with
            good labels as training goes on (`oneslack.latent`); then the certificate is that of the labels
            filled in last, and `result_.certified` is False.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the graphs.

        Returns
        -------
        self : GraphTagger
        """
        check_parameters(self)
        watch = Watch(callbacks, checkpoint, resume)
        data = graphs_of(X)
        return self._fit(data, Y, sample_weight, (X, Y, sample_weight), watch, bool(self.directed))

    def predict(self, X):
        """The labels of each graph's nodes.

        Returns
        -------
        Y : list of lists of labels
        """
        codes = self.predict_codes(X)
        labels = self.classes_[codes.values].tolist()
        return [labels[lo:hi] for lo, hi in zip(codes.offsets[:-1], codes.offsets[1:], strict=True)]

    def _graphs(self, X):
        return graphs_of(X, self.model_.n_features, self.model_.n_edge_features)

"""GraphTagger: a label for every node of a graph."""

from __future__ import annotations

from typing import Any, Self

from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Watch
from ._shared.given import check_parameters
from ._shared.graph_input import graphs_of
from ._shared.graph_labels import GraphLabels


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
        self, C: float | str = 0.1, *, directed: bool = False, attractive: bool = False,
        class_weight: Any = None, passes: int = 60, backtracks: int = 0, relaxed: bool = False,
        kernel: Any = None, gamma: float | str = "scale", degree: float = 3, coef0: float = 0.0,
        n_basis: int = 500, solver: Any = "auto", tol: float = 1e-2, epsilon: float | None = None,
        n_jobs: int | None = None, engine: Any = None, max_iter: int = 100_000,
        time_limit: float | None = None, warm_start: bool = False, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(
        self, X: Any, Y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
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
        watch = Watch(callbacks, checkpoint, resume, validation)
        data = graphs_of(X)
        return self._fit(data, Y, sample_weight, (X, Y, sample_weight), watch, bool(self.directed))

    def predict(self, X: Any) -> list[Any]:
        """The labels of each graph's nodes.

        Returns
        -------
        Y : list of lists of labels
        """
        codes = self.predict_codes(X)
        labels = self.classes_[codes.values].tolist()
        return [labels[lo:hi] for lo, hi in zip(codes.offsets[:-1], codes.offsets[1:], strict=True)]

    def _graphs(self, X):
        return graphs_of(X, self._width, self.model_.n_edge_features)

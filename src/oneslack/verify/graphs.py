"""Labels for the nodes of graphs.

    score(z) = sum_s <W[:, z_s], x_s> + sum_(e = (a, b)) sum_j f_ej V_j[z_a, z_b]
    loss(y, z) = sum_s costs[y_s, z_s]

The best labelling may be out of reach.  But whatever numbers m[e, side, label] are, with theta_s the score
and the loss of node s and T_e the score of edge e,

    loss + score = sum_s (theta_s[z_s] + sum_(e at s) m[e, s, z_s])
                 + sum_e (T_e[z_a, z_b] - m[e, a, z_a] - m[e, b, z_b])                exactly,

so that the largest values of all these terms, added up, bound it from above.  Nobody has to believe whoever
found m, by message passing, a cut or dynamic programming: P is bounded here by these very numbers.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .sums import ROOM, SAFE, adjoint, gamma, product


class Graphs(NamedTuple):
    """Nodes X (N, d) of all graphs, which end at ends (n + 1,), with labels y (N,); edges (M, 2) by numbers
    of nodes, with features F (M, k), which end at edge_ends (n + 1,).

    first    how many weights W has; behind it are those of V, k times as many as `pairs` tells
    pairs    (L, L): where in V_j the weight of two labels is, -1 for none
    costs    (L, L)
    m        (M, 2, L): any numbers
    """

    X: Any
    ends: np.ndarray
    y: np.ndarray
    edges: np.ndarray
    edge_ends: np.ndarray
    F: np.ndarray
    first: int
    pairs: np.ndarray
    costs: np.ndarray
    m: np.ndarray

    @property
    def sizes(self):
        """(n,): labels of an output."""
        return np.diff(self.ends)

    @property
    def reach(self):
        """Numbers of an output go from and to these."""
        return 0, len(self.costs) - 1

    def hinges(self, w, slack=False):
        """(n,) from above of max_z loss + score(z) - score(y); how far off."""
        n, L, (M, k) = len(self.sizes), len(self.costs), self.F.shape
        V = np.where(self.pairs >= 0, w[self.first :].reshape(k, -1)[:, self.pairs], 0.0).reshape(k, -1)
        scores, E = product(self.X, w[: self.first].reshape(-1, L))
        told, sizes = scores + self.costs[self.y], np.abs(scores) + self.costs[self.y]
        for side in (0, 1):
            np.add.at(told, self.edges[:, side], self.m[:, side])
            np.add.at(sizes, self.edges[:, side], np.abs(self.m[:, side]))
        owner, of_edge = (np.repeat(np.arange(n), np.diff(ends)) for ends in (self.ends, self.edge_ends))
        node = told.max(axis=1) - np.take_along_axis(scores, self.y[:, None], 1)[:, 0]
        best = np.bincount(owner, node, n)
        wide = np.bincount(owner, 2.0 * sizes.max(axis=1), n)
        for at in range(0, M, step := 1 + ROOM // L**2):
            some = slice(at, at + step)
            T, (m_a, m_b) = (self.F[some] @ V).reshape(-1, L, L), self.m[some].transpose(1, 0, 2)
            y_a, y_b = self.y[self.edges[some]].T
            edge = (T - m_a[:, :, None] - m_b[:, None, :]).max(axis=(1, 2)) - T[np.arange(len(T)), y_a, y_b]
            best += np.bincount(of_edge[some], edge, n)
            wide += np.bincount(of_edge[some], 2.0 * (np.abs(self.F[some]) @ np.abs(V)).max(axis=1), n)
            wide += np.bincount(of_edge[some], np.abs(self.m[some]).max(axis=2).sum(axis=1), n)
        degree = np.bincount(self.edges.ravel(), minlength=1).max()
        terms = degree + k + 16 + self.sizes.max(initial=0) + np.diff(self.edge_ends).max(initial=0)
        off = 2.0 * np.bincount(owner, E.max(axis=1, initial=0.0), n)
        return best, SAFE * (off + 4.0 * gamma(terms) * wide)

    def _places(self, ends, of):
        """The nodes, or edges, of the examples `of`, and the number of the output of each."""
        T = np.diff(ends)[of]
        first = np.repeat(ends[of] - np.cumsum(T) + T, T)
        return np.arange(T.sum()) + first, np.repeat(np.arange(len(of)), T)

    def losses(self, of, Z):
        """(m,): loss of the outputs."""
        at, cut = self._places(self.ends, of)
        return np.bincount(cut, self.costs[self.y[at], Z], len(of))

    def features(self, of, Z, alpha):
        """(sum alpha (psi(y) - psi(z)), the sizes of its terms, how many)."""
        (at, cut), (e, of_edge) = self._places(self.ends, of), self._places(self.edge_ends, of)
        L, k, size = len(self.costs), self.F.shape[1], int(self.pairs.max()) + 1
        begins = np.cumsum(self.sizes[of]) - self.sizes[of]
        a, b = (self.edges[e] + (begins - self.ends[of])[of_edge][:, None]).T
        v, sizes = np.zeros((2, self.first + k * size))
        for labels, sign in ((self.y[at], 1.0), (Z, -1.0)):
            terms = sp.csr_array((alpha[cut], (at, labels)), shape=(len(self.y), L))
            W, wide = adjoint(self.X, terms)
            v[: self.first] += sign * W.T.ravel()
            sizes[: self.first] += wide.T.ravel()
            place = self.pairs[labels[a], labels[b]]
            has = place >= 0
            for j in range(k):
                given, start = (alpha[of_edge] * self.F[e, j])[has], self.first + j * size
                block = slice(start, start + size)
                v[block] += sign * np.bincount(place[has], given, size)
                sizes[block] += np.bincount(place[has], np.abs(given), size)
        return v, sizes, 2 * len(e) + 2 * len(Z) + len(self.y) + 8

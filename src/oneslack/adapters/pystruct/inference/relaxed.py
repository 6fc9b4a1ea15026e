"""The linear relaxation of inference (Wainwright, Jaakkola & Willsky 2005), and the integer programme.

Both are solved by HiGHS:

max  sum_s <unary_s, mu_s> + sum_e <pairwise_e, mu_e>
sum_a mu_s(a) = 1,  sum_b mu_e(a, b) = mu_s(a),  sum_a mu_e(a, b) = mu_t(b),  mu >= 0     e = (s, t)
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ....errors import OneslackError


def lp_general_graph(unaries, edges, edge_weights):
    """Minimise the relaxation of energies: (mu of nodes (n, L), mu of edges (m, L L), the least energy).

    >>> import numpy as np
    >>> none = np.empty((0, 2), int), np.empty((0, 2, 2))
    >>> nodes, _, energy = lp_general_graph(np.array([[0.0, 1.0]]), *none)
    >>> nodes.tolist(), energy
    ([[1.0, 0.0]], 0.0)
    """
    unaries, edges, edge_weights = (
        np.asarray(unaries, float),
        np.asarray(edges),
        np.asarray(edge_weights, float),
    )
    (n, L), m = unaries.shape, len(edges)
    if edge_weights.shape != (m, L, L):
        raise ValueError(f"edge_weights have shape {edge_weights.shape}, expected ({m}, {L}, {L})")
    solution, least = _solved(unaries, edges, edge_weights)
    return solution[: n * L].reshape(n, L), solution[n * L :].reshape(m, L * L), least


def integer_labels(unary, tables, edges, forbidden=None):
    """The best labels (n,) that are not forbidden (n, L), by branch and bound."""
    n, L = unary.shape
    most = np.ones(unary.size + len(edges) * L * L)
    if forbidden is not None:
        # Bounds, not prices: what cannot be is then left out of the programme.
        most[: n * L][forbidden.ravel()] = 0.0
        ends = forbidden[edges]
        most[n * L :][(ends[:, 0, :, None] | ends[:, 1, None, :]).ravel()] = 0.0
    tables = np.broadcast_to(tables, (len(edges), L, L))
    solution, _ = _solved(-unary, edges, -tables, whole=n * L, most=most)
    return solution[: n * L].reshape(n, L).argmax(axis=1)


def _solved(unaries, edges, edge_weights, whole=0, most=None):
    """(solution, least energy); the first `whole` unknowns are integers, all are at most `most`."""
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp

    cost = np.concatenate([unaries.ravel(), edge_weights.ravel()])
    A, b = _consistency(*unaries.shape, edges)
    if whole:
        found = milp(
            cost, constraints=LinearConstraint(A, b, b), bounds=Bounds(0, most),
            integrality=np.arange(len(cost)) < whole, options={"mip_rel_gap": 0.0},
        )  # fmt: skip
    else:
        found = linprog(cost, A_eq=A, b_eq=b, bounds=(0, None), method="highs")
    if found.x is None:
        raise OneslackError(f"the linear programme of inference was not solved: {found.message}")
    return found.x, float(found.fun)


def _consistency(n, L, edges):
    """Rows: one a node, then 2 L an edge: the sums over either end."""
    m = len(edges)
    ones = sp.kron(sp.eye(n), np.ones((1, L)))
    if m == 0:
        return sp.csr_array(ones), np.ones(n)
    eye, row = sp.eye(L), np.ones((1, L))
    nodes, tables = [], []
    for side, sums in ((0, sp.kron(eye, row)), (1, sp.kron(row, eye))):
        end = sp.csr_array((np.ones(m), (np.arange(m), edges[:, side])), shape=(m, n))
        nodes.append(-sp.kron(end, eye))
        tables.append(sp.kron(sp.eye(m), sums))
    A = sp.block_array([[ones, None], [nodes[0], tables[0]], [nodes[1], tables[1]]])
    return sp.csr_array(A), np.append(np.ones(n), np.zeros(2 * m * L))

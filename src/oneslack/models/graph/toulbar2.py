"""The best labels of a graph by branch and bound of toulbar2, where it is installed.

toulbar2 minimises sums of whole numbers.  Scores become costs below the largest of each table, times a power
of two s, rounded; with n nodes and m edges, all of toulbar2's bounds then hold for the scores themselves
once they are raised by (n + m) / 2s and by what sums of floats lose.  That its search is right is its own
word, as that of any decoder that calls itself exact.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from ...errors import OneslackError

#: Costs sum up to about so many bits, so that doubles hold them.
BITS = 45
UNIT = 2.0**-52

#: toulbar2 keeps what it solves in variables of its own process.
_ONE_AT_A_TIME = Lock()


def imported():
    """The package, or an error with a sentence."""
    try:
        import pytoulbar2
    except ImportError as error:
        raise OneslackError(
            "backtracks asks for a search by toulbar2, which is not installed: pip install pytoulbar2, or "
            "leave backtracks at 0"
        ) from error
    return pytoulbar2


def search(theta, edges, T, backtracks):
    """(z, upper): the best labels that were found, None where there are none, and at least the best score.

    theta (n, L) scores of nodes; edges (m, 2); T (m, L, L) scores of edges; of the search, so many
    backtracks at most.
    """
    n, m = len(theta), len(edges)
    tops, bests = theta.max(axis=1), T.max(axis=(1, 2))
    ranges = (tops - theta.min(axis=1)).sum() + (bests - T.min(axis=(1, 2))).sum()
    if ranges <= 0.0:  # all labels are alike
        return np.zeros(n, np.int32), _raised(tops, bests, 0.0)
    scale = 2.0 ** np.floor(BITS - np.log2(ranges))
    nodes = np.rint(scale * (tops[:, None] - theta)).astype(int)
    tables = np.rint(scale * (bests[:, None, None] - T)).astype(int).reshape(m, -1)
    labels, cost = _minimum(nodes, edges, tables, backtracks)
    return labels, _raised(tops, bests, (n + m) / (2.0 * scale) - cost / scale)


def _raised(tops, bests, rest):
    """At least the sum of all."""
    terms = len(tops) + len(bests) + 4
    size = np.abs(tops).sum() + np.abs(bests).sum() + abs(rest)
    return float(tops.sum() + bests.sum() + rest + UNIT * terms * 2.0 * size)


def _minimum(nodes, edges, tables, backtracks):
    """(labels or None, a cost that none is below)."""
    toulbar2 = imported()
    with _ONE_AT_A_TIME:
        network = toulbar2.CFN(resolution=0, verbose=-1)
        network.Option.backtrackLimit = backtracks
        for s, costs in enumerate(nodes.tolist()):
            network.AddVariable(f"v{s}", range(len(costs)))
            network.AddFunction([s], costs)
        for (a, b), costs in zip(edges.tolist(), tables.tolist(), strict=True):
            network.AddFunction([a, b], costs)
        found = network.Solve()
        least = float(network.GetDDualBound())
    return None if found is None else np.array(found[0], np.int32), np.floor(least)

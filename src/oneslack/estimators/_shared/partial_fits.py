"""Learning from examples that come in portions: what `partial_fit` keeps of those it has seen.

After portions 1 .. t the objective is that of all their examples,

    P_t(w) = 1/2 |w|^2 + C sum_i s_i H_i(w)

Examples that may still move their duals are kept, those with the largest first, and of the others those
nearest to it, as far as the memory goes.  Those forgotten are merged, with their duals, into a few that lie
under them (merging.py).  So the problem of kept, merged and new examples lies under P_t: its lower bound is
one of P_t's optimum, whatever was forgotten.  As long as nothing was forgotten it is P_t itself, and so is
the upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ... import driver
from ...data.bytes import in_bytes
from ...data.row_parts import row_bytes
from ...data.rows import stacked
from ...problems.in_memory import Problem
from ...solvers import DualCD, Newton
from ...solvers.choose import choose_solver
from ...solvers.newton import FIRST_MU, LOOSER
from .fitting import Watch, restated
from .merging import merge
from .weight_terms import linear_terms


@dataclass
class Kept:
    """X (m, d), targets as the model has them, weights, shares of the duals; merged rows come last.

    w, mu      where the solver ended
    n_merged   how many of the rows stand for forgotten examples
    n_seen, n_forgotten   examples so far
    """

    X: object
    y: np.ndarray
    weights: np.ndarray
    shares: np.ndarray
    w: np.ndarray
    mu: float | None = None
    n_merged: int = 0
    n_seen: int = 0
    n_forgotten: int = 0


def learn_portion(estimator, task, X, y, sample_weight, memory, callbacks):
    """`partial_fit` of a linear estimator, for each problem of the task."""
    before = getattr(estimator, "_kept", [None] * task.n_problems)
    terms, room, after = linear_terms(estimator, task), in_bytes(memory) / task.n_problems, []

    def job(k, model, targets, weights, *, keep_state, **options):
        portion = (X, targets, np.ones(len(targets)) if weights is None else weights)
        options |= {"n_jobs": estimator.n_jobs, "terms": terms[k], "rounding": task.rounding}
        result, remembered = learn(before[k], model, estimator.C, portion, room, **options)
        after.append(remembered)
        return result

    def store(results):
        estimator._kept = after
        estimator._store(task, X, *task.rows(results))
        estimator._note_optimum(task, None, results)
        estimator.n_seen_, estimator.n_forgotten_ = after[0].n_seen, max(one.n_forgotten for one in after)

    jobs = (partial(job, k, *problem) for k, problem in enumerate(task.models()))
    return estimator._solve(jobs, store, (X, y, sample_weight), Watch(callbacks), columns=X)


def learn(kept, model, C, portion, memory, *, solver, seed, n_jobs, terms, rounding, **options):
    """(Result, Kept) of what was kept and a new portion (X, y, weights)."""
    X, y, weights = portion
    parts = [(X.astype(np.float64), y, weights)]  # merged rows are bounds only if they are not rounded
    if kept is not None:
        parts.insert(0, (kept.X, kept.y, kept.weights))
    Xs, ys, all_weights = zip(*parts, strict=True)
    problem = Problem(
        model, stacked(Xs), np.concatenate(ys), C, sample_weight=np.concatenate(all_weights), n_jobs=n_jobs,
        **terms,
    )  # fmt: skip
    solver, _ = choose_solver(problem, solver, seed)
    if not isinstance(solver, DualCD | Newton):  # has no duals of single examples
        solver, _ = choose_solver(problem, "auto", seed)
    is_merged = np.zeros(problem.n, bool)
    if kept is not None:
        is_merged[len(kept.y) - kept.n_merged : len(kept.y)] = True
    with problem.engine:
        result = driver.solve(problem, solver, start=_start(problem, solver, kept), **options)
        after = _remember(problem, result, _shares(problem, result, kept), is_merged, memory)
        result = restated(rounding, problem, result, options["tol"])
    after.n_seen = len(y) + (kept.n_seen if kept else 0)
    after.n_forgotten += kept.n_forgotten if kept else 0
    if after.n_forgotten:
        result = replace(result, certified=False)  # the upper bound knows nothing of those forgotten
    return result, after


def _start(problem, solver, kept):
    """Where the last portion ended; new examples have no duals yet."""
    if kept is None:
        return None
    if isinstance(solver, Newton):
        return {"w": kept.w, "mu": LOOSER * kept.mu} if kept.mu else {"w": kept.w}
    shares = _first_shares(problem, kept)
    upper = problem.C * problem.data.weights
    duals = shares * (upper if shares.ndim == 1 else upper[:, None])
    return {"duals": duals, "bias": kept.w[problem.regulariser.free] if problem.regulariser.n_free else 0.0}


def _first_shares(problem, kept):
    """Of the duals before a portion is learned from: new examples have none."""
    shares = np.zeros_like(problem.model.new_scores(problem.data))
    n_old = 0 if kept is None else len(kept.y)
    if n_old:
        shares[:n_old] = kept.shares
    if shares.ndim == 2:
        new = np.arange(n_old, problem.n)
        shares[new, problem.data.y[new]] = 1.0
    return shares


def _shares(problem, result, kept):
    """The duals that the solver ended with, as shares of their bounds."""
    state = result.state
    if "w" not in state and "passes" not in state:  # interrupted in the middle of a step
        return _first_shares(problem, kept)
    if "passes" in state:
        alpha, upper = state["passes"]["alpha"], problem.C * problem.data.weights
        upper = upper if alpha.ndim == 1 else upper[:, None]
        return np.divide(alpha, upper, out=np.zeros_like(alpha), where=upper > 0)
    S = problem.scores(state["w"] if "at" not in state else result.w)
    shares = np.empty_like(S)
    # Passes that have just given way to Newton steps leave w alone: then mu is what those begin with.
    mu = state.get("at", state.get("mu", FIRST_MU * problem.unit))
    problem.scores.map_scores(problem.model.smooth_duals, S, mu, shares)
    return shares


def _remember(problem, result, shares, is_merged, memory) -> Kept:
    """Keep what fits, merge the rest."""
    data = problem.data
    rest = problem.model.rest(data, problem.scores(result.w), shares)
    rest[is_merged] = -1.0  # they are few, and stand for many
    small = np.zeros(problem.n) if shares.ndim == 2 else -np.abs(data.weights * shares)
    room = int(memory / (row_bytes(data.X) + 8.0 * (2 + shares.size / len(shares))))
    stays = np.zeros(problem.n, bool)
    stays[np.lexsort((small, rest))[:room]] = True
    goes = is_merged if stays.all() else ~stays | is_merged
    parts = [(data.X[~goes], data.y[~goes], data.weights[~goes], shares[~goes])]
    n_merged = 0
    if stays.all():
        parts.append((data.X[goes], data.y[goes], data.weights[goes], shares[goes]))
        n_merged = int(goes.sum())
    else:
        merged = merge(problem.model, data.take(goes), shares[goes])
        parts += merged
        n_merged = len(merged)
    X, y, weights, shares = zip(*parts, strict=True)
    return Kept(
        stacked(X), np.concatenate(y), np.concatenate(weights), np.concatenate(shares), result.w,
        result.state.get("mu"), n_merged, n_forgotten=int((~stays & ~is_merged).sum()),
    )  # fmt: skip

"""A search over C of linear classifiers, all folds at once: each climbs the values of C on a path of its own.

Folds run in threads; the search ends early where larger C only fit worse (rule.py).
"""

from __future__ import annotations

import warnings
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass

import numpy as np

from ..errors import Interrupted
from .rule import Turn, best_of


@dataclass(frozen=True)
class Found:
    """What a search has found; rows of candidates that were not tried are NaN.

    scores  (candidates, folds) mean score of held-out examples
    gaps    (candidates,) how far the models may be from their optimum, as shares of it; the largest of a fold
    best    number of the best candidate
    unfinished  (candidates,) whether a training ended before it was as near to its optimum as it should be
    losses  (candidates, folds) mean loss of held-out examples, where it is known
    abandoned  (candidates,) whether a first look was enough to leave it behind, where that may be
    """

    scores: np.ndarray
    gaps: np.ndarray
    best: int
    unfinished: np.ndarray
    losses: np.ndarray | None = None
    abandoned: np.ndarray | None = None


def climb(folds, Cs, pool, stop, on_candidate=None, stops_early=True) -> Found:
    """Train all folds up the values of C, in the threads of a pool, until the event `stop`.

    A fold goes on to the next C while others are at the last one, but where that may have been the last.
    When the search ends is decided by whole rows in their order: the number of threads changes nothing.
    """
    rows = [[None] * len(folds) for _ in Cs]
    try:
        end = _climbed(rows, [fold.judged(Cs, stop) for fold in folds], Cs, pool, on_candidate, stops_early)
    except KeyboardInterrupt as stopped:
        end = next((j for j, row in enumerate(rows) if None in row), len(Cs))
        raise Interrupted(_found(rows[:end], len(Cs)) if end else None) from stopped
    return _found(rows[:end], len(Cs))


def _climbed(rows, paths, Cs, pool, on_candidate, stops_early):
    """Fill the rows; the answer is how many of them count."""
    turn, n_whole, end = Turn(), 0, len(Cs)
    running, ready = {}, [(0, k) for k in range(len(paths))]
    while True:
        ahead = n_whole + (0 if stops_early and turn.may_be_over else 1)
        for j, k in [one for one in ready if one[0] < end and one[0] <= ahead]:
            ready.remove((j, k))
            running[pool.submit(next, paths[k])] = (j, k)
        if not running:
            return end
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            j, k = running.pop(future)
            rows[j][k] = future.result()
            ready.append((j + 1, k))
            if on_candidate:
                on_candidate({"C": float(Cs[j])}, k, rows[j][k][2])
        while n_whole < end and None not in rows[n_whole]:
            right, losses, *_ = _joined(rows[n_whole])
            n_whole += 1
            if turn.is_over(right, losses) and stops_early:
                end = n_whole


def _joined(row):
    """(right, losses, gap, reached) of one candidate over all folds."""
    right, losses, gaps, reached = zip(*row)
    return np.concatenate(right), np.concatenate(losses), max(gaps), all(reached)


def _found(rows, n_candidates):
    right, losses, gaps, reached = zip(*map(_joined, rows))
    scores = np.full((n_candidates, len(rows[0])), np.nan)
    means, all_gaps = scores.copy(), np.full(n_candidates, np.nan)
    unfinished = np.zeros(n_candidates, bool)
    scores[: len(rows)] = [[one[0].mean() for one in row] for row in rows]
    means[: len(rows)] = [[one[1].mean() for one in row] for row in rows]
    all_gaps[: len(rows)], unfinished[: len(rows)] = gaps, np.logical_not(reached)
    return Found(scores, all_gaps, best_of(right, losses), unfinished, means)


def warn_if_unfinished(found, Cs):
    """One ConvergenceWarning, at the caller's line, that names all C whose models cannot be compared."""
    if not found.unfinished.any():
        return
    from sklearn.exceptions import ConvergenceWarning

    from ..errors import users_level

    names = ", ".join(f"{C:g}" for C, is_open in zip(Cs, found.unfinished, strict=True) if is_open)
    largest = found.gaps[found.unfinished].max()
    warnings.warn(
        f"the models for C = {names} stopped at relative gaps of up to {largest:.2g}, too far from their "
        "optimum for their scores to be compared: scale the features, raise max_iter, or leave these C out.",
        ConvergenceWarning,
        stacklevel=users_level(),
    )

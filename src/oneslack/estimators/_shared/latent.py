"""What the estimators with latent values share: parameters, rounds, and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...latent.concave_convex import solve_latent
from .fitting import Fitted
from .given import given_terms


class Latent(Fitted):
    """An estimator that completes latent values and trains, in rounds.

    Parameters
    ----------
    solver : {"dual_cd", "n_slack", "one_slack"} or a solver, default="dual_cd"
        Of the convex problem of a round.  The first two go on from the cuts and duals of the last round.
    tol : float, default=1e-3
        Relative duality gap that each convex problem is solved to.
    max_rounds : int, default=50
        Rounds of completing and training, for each start.
    outer_tol : float, default=1e-3
        A round that lowers the objective by less than this share of it is the last.
    n_starts : int, default=1
        Starts to try; the one that ends with the lowest objective is kept.  The first takes the latent values
        given to `fit`, where there are any; all others complete at random weights.
    annealing : int, default=0
        First rounds that complete each truth at weights with noise, less of it from round to round.  The
        objective may rise in them, and never afterwards.
    prior, scale, nonnegative : as for `Problem`
        Where weights are drawn to, how strongly, and which are held >= 0.
    cache_size : int, default=10
        Cuts that "one_slack" remembers of each example.
    n_jobs : int or None, default=1
        Processes for the decoder; None or -1 for all cores.
    max_iter : int, default=100_000
        Steps of the solver in a round.
    time_limit : float or None, default=None
        Seconds of training, of all rounds and starts; the best model so far is kept.
    random_state : int, RandomState or None, default=None
        Seed of the starts, of annealing, and of the order in which examples are visited.
    verbose : int, default=0
        1 prints a line a round, and lines of its training.

    Attributes
    ----------
    coef_ : ndarray of shape (n_params,)
        The weights w.
    objective_ : float
        The objective at w, with every latent value at its best: an upper bound of the least one.  It is not
        convex, so that no lower bound is known.
    dual_objective_, duality_gap_ : float
        Of the last convex problem, whose latent values of the truths are fixed.
    rounds_ : list of Round
        All rounds of all starts: objective, gap, how many completions changed.
    outer_objectives_, inner_gaps_ : ndarrays
        The same as numbers, one a round.
    result_ : Result
        Of the last convex problem; `certified` is False.
    """

    _saving = "latent"

    def __init__(
        self, model: Any, C: float = 1.0, *, solver: Any = "dual_cd", tol: float = 1e-3, max_rounds: int = 50,
        outer_tol: float = 1e-3, n_starts: int = 1, annealing: Any = 0, prior: Any = None, scale: Any = None,
        nonnegative: Any = None, cache_size: int = 10, n_jobs: int | None = 1, max_iter: int = 100_000,
        time_limit: float | None = None, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    def _stopping_epsilon(self):
        return None

    def _fit(self, completed, X, truths, H, sample_weight, watch, **learned):
        """Rounds on truths, begun with the latent values H where they are given; what was `learned` before is
        stored beside the weights, so that a training that fails leaves nothing."""
        problem_options = {"C": self.C, "sample_weight": sample_weight, **given_terms(self)}
        problem_options |= {"cache_size": self.cache_size, "n_jobs": self.n_jobs}
        found = []

        def job(time_limit=None, keep_state=False, **training):
            path, rounds = solve_latent(
                completed, X, truths, problem_options, training,
                n_starts=self.n_starts, seed=training["seed"], truths=None if H is None else truths,
                max_rounds=self.max_rounds, outer_tol=self.outer_tol, annealing=self.annealing,
                time_limit=time_limit, on_round=[RoundLines()] if self.verbose else [],
            )  # fmt: skip
            found.append((path, rounds))
            return path.result

        def store(results):
            path, self.rounds_ = found[0]
            vars(self).update(learned, coef_=path.w, objective_=float(path.objective))

        return self._solve([job], store, (X, truths, sample_weight), watch)

    @property
    def outer_objectives_(self) -> Any:
        """The objective at the end of each round, over all starts."""
        return np.array([entry.convex for entry in self.rounds_])

    @property
    def inner_gaps_(self) -> Any:
        """The relative duality gap that the convex problem of each round was solved to."""
        return np.array([entry.gap for entry in self.rounds_])


class RoundLines:
    """A printed line a round."""

    def __call__(self, entry):
        print(
            f"start {entry.start}  round {entry.number:3d}  {entry.seconds:8.2f} s  "
            f"objective {entry.convex:.6g}  gap {entry.gap:.2e}  {entry.changed} completions changed",
            flush=True,
        )

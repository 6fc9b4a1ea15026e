"""FrankWolfeSSVM and SubgradientSSVM: one example at a time, by steps on the dual that need no rate."""

from __future__ import annotations

from sklearn.utils import check_random_state

from .base import BaseSSVM

#: Relative duality gap where a learner has no tolerance of its own.
TOL = 1e-3


class FrankWolfeSSVM(BaseSSVM):
    """Steps on the duals of one example after another, by oneslack's `DualCD`.

    Parameters
    ----------
    model, max_iter, C, verbose, n_jobs, show_loss_every, logger
        As for `BaseSSVM`.
    tol : float, default=1e-3
        Duality gap to stop at, in units of mean loss: (P - D) / (C n).
    random_state : int, RandomState or None
        Of the order of the examples.
    batch_mode, line_search, check_dual_every, do_averaging, sample_method
        Not needed: steps have their best length, and remembered cuts take the place of averages.

    Examples
    --------
    >>> import numpy as np
    >>> from oneslack.adapters.pystruct.models import ChainCRF
    >>> X, Y = [np.array([[1.0], [-1.0], [2.0]])] * 2, [np.array([1, 0, 1])] * 2
    >>> FrankWolfeSSVM(ChainCRF(), C=10.0).fit(X, Y).score(X, Y)
    1.0
    """

    def __init__(
        self, model, max_iter=1000, C=1.0, verbose=0, n_jobs=1, show_loss_every=0, logger=None,
        batch_mode=False, line_search=True, check_dual_every=10, tol=0.001, do_averaging=True,
        sample_method="perm", random_state=None,
    ):  # fmt: skip
        if sample_method not in ("perm", "rnd", "seq"):
            raise ValueError(f"sample_method can only be 'perm', 'rnd' or 'seq'; got {sample_method!r}")
        super().__init__(model, max_iter, C, verbose, n_jobs, show_loss_every, logger)
        self.batch_mode, self.line_search, self.check_dual_every = batch_mode, line_search, check_dual_every
        self.tol, self.do_averaging, self.sample_method = tol, do_averaging, sample_method
        self.random_state = random_state

    def fit(self, X, Y, constraints=None, initialize=True):
        """Learn from examples.

        Returns
        -------
        self : FrankWolfeSSVM
        """
        self._initialize(X, Y, initialize)
        seed = check_random_state(0 if self.random_state is None else self.random_state).randint(2**31)
        return self._train(X, Y, ("dual_cd", "one_slack"), epsilon=self.tol, seed=seed)


class SubgradientSSVM(BaseSSVM):
    """What the subgradient method was for, by oneslack's `DualCD`: it needs no learning rate and has a gap.

    Parameters
    ----------
    model, max_iter, C, verbose, n_jobs, show_loss_every, logger
        As for `BaseSSVM`.
    momentum, learning_rate, decay_exponent, decay_t0, averaging, batch_size, shuffle, break_on_no_constraints
        Not needed.

    Attributes
    ----------
    objective_curve_ : list of float
        The best primal after each step, as PyStruct's learner has it.

    Examples
    --------
    >>> import numpy as np
    >>> from oneslack.adapters.pystruct.models import GridCRF
    >>> X, Y = np.array([[[[1.0], [-1.0]]]]), np.array([[[1, 0]]])
    >>> SubgradientSSVM(GridCRF(), C=10.0).fit(X, Y).score(X, Y)
    1.0
    """

    def __init__(
        self, model, max_iter=100, C=1.0, verbose=0, momentum=0.0, learning_rate="auto", n_jobs=1,
        show_loss_every=0, decay_exponent=1, break_on_no_constraints=True, logger=None, batch_size=None,
        decay_t0=10, averaging=None, shuffle=False,
    ):  # fmt: skip
        super().__init__(model, max_iter, C, verbose, n_jobs, show_loss_every, logger)
        self.momentum, self.learning_rate, self.averaging = momentum, learning_rate, averaging
        self.decay_exponent, self.decay_t0 = decay_exponent, decay_t0
        self.break_on_no_constraints, self.batch_size, self.shuffle = (
            break_on_no_constraints,
            batch_size,
            shuffle,
        )

    def fit(self, X, Y, constraints=None, warm_start=False, initialize=True):
        """Learn from examples; warm_start is not needed.

        Returns
        -------
        self : SubgradientSSVM
        """
        self._initialize(X, Y, initialize)
        return self._train(X, Y, ("dual_cd", "one_slack"), tol=TOL)

    def _store(self, result, order, X, Y):
        super()._store(result, order, X, Y)
        self.objective_curve_ = self.primal_objective_curve_

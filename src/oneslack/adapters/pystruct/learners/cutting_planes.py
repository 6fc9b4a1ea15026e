"""OneSlackSSVM and NSlackSSVM: cutting planes."""

from __future__ import annotations

import numpy as np

from .base import BaseSSVM

#: The loosest tolerance of the one-slack form, in mean loss.
LOOSE = 0.01


class OneSlackSSVM(BaseSSVM):
    """The one-slack cutting plane, by oneslack's `OneSlack`.

    Parameters
    ----------
    model, max_iter, C, verbose, n_jobs, show_loss_every, logger
        As for `BaseSSVM`.
    negativity_constraint : list of int or None
        Weights that are held <= 0.
    tol : float, default=1e-3
        No constraint is violated by more (mean loss) at the end: the `epsilon` of the papers.  More than
        0.01 is taken as 0.01, as the last steps are cheap here.
    inference_cache : int, default=0
        Cuts of each example that are remembered and asked first.
    switch_to : str, (str, dict) or None
        The model's `inference_method` from the end of training on; training itself goes by bounds, for which
        all of them are the same.
    check_constraints, break_on_bad, inactive_threshold, inactive_window, cache_tol
        Not needed: bounds tell what inference missed, and planes are dropped by `OneSlack` itself.

    Attributes
    ----------
    cached_constraint_ : list of bool
        Which steps asked remembered cuts only.

    Examples
    --------
    >>> import numpy as np
    >>> from oneslack.adapters.pystruct.models import BinaryClf
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), np.array([1, 1, -1])
    >>> svm = OneSlackSSVM(BinaryClf(), C=10.0).fit(X, y)
    >>> svm.predict(X), svm.result_.certified
    (array([ 1,  1, -1]), True)
    """

    def __init__(
        self, model, max_iter=10000, C=1.0, check_constraints=False, verbose=0, negativity_constraint=None,
        n_jobs=1, break_on_bad=False, show_loss_every=0, tol=1e-3, inference_cache=0, inactive_threshold=1e-5,
        inactive_window=50, logger=None, cache_tol="auto", switch_to=None,
    ):  # fmt: skip
        super().__init__(model, max_iter, C, verbose, n_jobs, show_loss_every, logger)
        self.check_constraints, self.break_on_bad = check_constraints, break_on_bad
        self.negativity_constraint, self.tol, self.inference_cache = (
            negativity_constraint,
            tol,
            inference_cache,
        )
        self.inactive_threshold, self.inactive_window = inactive_threshold, inactive_window
        self.cache_tol, self.switch_to = cache_tol, switch_to

    def fit(self, X, Y, constraints=None, warm_start=False, initialize=True):
        """Learn from examples; `constraints` are not needed, warm_start begins at `w`.

        Returns
        -------
        self : OneSlackSSVM
        """
        self._initialize(X, Y, initialize)
        start = self.w if warm_start else None
        self._train(
            X, Y, ("one_slack",), epsilon=min(self.tol, LOOSE), start=start, cache_size=self.inference_cache
        )
        trace = self.result_.trace
        asked, remembered = (np.diff(trace.column(name), prepend=0) for name in ("oracle_calls", "cached"))
        self.cached_constraint_ = [*((asked == 0) & (remembered > 0)).tolist(), False]
        return _switched(self)


class NSlackSSVM(BaseSSVM):
    """n-slack cutting planes, by oneslack's `NSlack`.

    Parameters
    ----------
    model, max_iter, C, verbose, n_jobs, show_loss_every, logger
        As for `BaseSSVM`.
    negativity_constraint, switch_to, check_constraints, break_on_bad, inactive_threshold, inactive_window
        As for `OneSlackSSVM`.
    tol : float, default=1e-3
        Relative duality gap to stop at.
    batch_size : int, default=100
        Not needed.

    Examples
    --------
    >>> import numpy as np
    >>> from oneslack.adapters.pystruct.models import MultiClassClf
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), np.array([0, 1, 2])
    >>> NSlackSSVM(MultiClassClf(), C=10.0).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self, model, max_iter=100, C=1.0, check_constraints=True, verbose=0, negativity_constraint=None,
        n_jobs=1, break_on_bad=False, show_loss_every=0, batch_size=100, tol=1e-3, inactive_threshold=1e-5,
        inactive_window=50, logger=None, switch_to=None,
    ):  # fmt: skip
        super().__init__(model, max_iter, C, verbose, n_jobs, show_loss_every, logger)
        self.check_constraints, self.break_on_bad = check_constraints, break_on_bad
        self.negativity_constraint, self.batch_size, self.tol = negativity_constraint, batch_size, tol
        self.inactive_threshold, self.inactive_window = inactive_threshold, inactive_window
        self.switch_to = switch_to

    def fit(self, X, Y, constraints=None, warm_start=None, initialize=True):
        """Learn from examples; `constraints` and warm_start are not needed.

        Returns
        -------
        self : NSlackSSVM
        """
        self._initialize(X, Y, initialize)
        if self.batch_size < 1 and self.batch_size != -1:
            raise ValueError(f"batch_size should be at least 1, or -1 for all; got {self.batch_size}")
        self._train(X, Y, ("n_slack", "dual_cd"), tol=self.tol)
        return _switched(self)


def _switched(learner):
    if learner.switch_to is not None:
        learner.model.inference_method_ = learner.model.inference_method
        learner.model.inference_method = learner.switch_to
    return learner

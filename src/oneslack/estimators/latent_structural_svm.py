"""LatentStructuralSVM: any model with latent values beside its outputs."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks.latent import check_members
from ..models.latent import CompletedStructural
from ._shared.callbacks import with_callbacks
from ._shared.latent import Latent
from ._shared.parameters import check_parameters
from ._shared.targets import checked_sizes


class LatentStructuralSVM(Latent):
    """Structural support vector machine with latent values beside the outputs.

    Minimises 1/2 |w|^2 + C sum_i s_i (max_{y,h} [loss(y_i, y) + <w, psi(x_i, y, h)>]
    - max_h <w, psi(x_i, y_i, h)>) by rounds: the latent values of the truths are completed, then the convex
    problem is solved in which they are fixed (Yu & Joachims 2009; Ramanan 2013, A.5).  See docs/latent.md.

    Parameters
    ----------
    model : a latent structural model
        With `n_params`, `joint_feature(x, y, h)`, `loss(y, y_hat)` (or `loss(y, y_hat, h_hat)`),
        `decode(w, x, y=None)`, which gives a pair (output, latent value), and `complete(w, x, y)`, the best
        latent value of the output y.
    C : float, default=1.0
        Weight of the sum of the hinges.
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

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> class Halves:  # a class is two half-lines; which one an x belongs to is latent
    ...     n_params = 8
    ...     def joint_feature(self, x, y, h):
    ...         psi = np.zeros((2, 2, 2))
    ...         psi[y, h] = x, 1.0
    ...         return psi.ravel()
    ...     def loss(self, y, y_hat):
    ...         return float(y != y_hat)
    ...     def decode(self, w, x, y=None):
    ...         scores = w.reshape(4, 2) @ [x, 1.0]
    ...         if y is not None:
    ...             scores[2 * (1 - y) : 2 * (1 - y) + 2] += 1.0
    ...         return divmod(int(scores.argmax()), 2)
    ...     def complete(self, w, x, y):
    ...         return int((w.reshape(2, 2, 2)[y] @ [x, 1.0]).argmax())
    >>> X, Y = [-2.0, -1.8, -0.1, 0.1, 1.9, 2.0], [1, 1, 0, 0, 1, 1]
    >>> svm = oneslack.LatentStructuralSVM(Halves(), C=10.0, n_starts=5).fit(X, Y)
    >>> svm.predict(X)
    [1, 1, 0, 0, 1, 1]
    """

    @with_callbacks
    def fit(self, X, Y, sample_weight=None, H=None):
        """Learn from examples.

        Parameters
        ----------
        X, Y : sequences of n inputs and n outputs, as the model understands them
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples.
        H : sequence of n latent values or None
            Where the first start begins.

        Returns
        -------
        self : LatentStructuralSVM
        """
        check_parameters(self)
        check_members(self.model, CompletedStructural.needs, type(self).__name__)
        sample_weight = checked_sizes(X, sample_weight, Y=Y, H=H)
        completed = CompletedStructural(self.model)
        truths = [completed.truth(y, None if H is None else H[i]) for i, y in enumerate(Y)]
        return self._fit(completed, X, truths, H, sample_weight)

    def predict(self, X):
        """The best output of each input.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        outputs : list
        """
        return [y for y, _ in self.predict_latent(X)]

    def predict_latent(self, X):
        """The best output of each input with its latent value.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        pairs : list of (output, latent value)
        """
        check_is_fitted(self)
        return [self.model.decode(self.coef_, x) for x in X]

    def score(self, X, Y, sample_weight=None):
        """1 - mean loss of the predictions.

        Parameters
        ----------
        X, Y : sequences of inputs and outputs
        sample_weight : array-like of shape (n,) or None

        Returns
        -------
        score : float
        """
        completed = CompletedStructural(self.model)
        losses = [completed.loss((y, None), z) for y, z in zip(Y, self.predict_latent(X), strict=True)]
        return 1.0 - float(np.average(losses, weights=sample_weight))

"""LatentSVM: two classes, with a latent value that no example tells."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..checks.latent import check_members
from ..models.latent import CompletedBinary
from ..problems.per_example import failure
from ._shared.callbacks import with_callbacks
from ._shared.latent import Latent
from ._shared.parameters import check_parameters
from ._shared.targets import checked_sizes


class LatentSVM(ClassifierMixin, Latent):
    """Two classes where a positive example has a latent value that nobody has marked: the place of
    an object, the start of a motif.

    Minimises 1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i max_h <w, phi(x_i, h)>) by rounds: the latent values of
    the positives are completed, then the convex problem is solved in which a positive must score at least 1
    at that value and a negative at most -1 at all (Felzenszwalb et al. 2010; Ramanan 2013, A.4).  See
    docs/latent.md.

    Parameters
    ----------
    model : a latent binary model
        With `n_params`, `feature(x, h)` and `best(w, x)`, the h of the highest <w, feature(x, h)>.
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
    classes_ : ndarray of shape (2,)
        The labels, sorted; the second is the positive one.

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> class Peak:
    ...     n_params = 2
    ...     def feature(self, x, h):
    ...         return np.array([x[h], 1.0])
    ...     def best(self, w, x):
    ...         return int(np.argmax(w[0] * x))
    >>> X = [np.array([0.0, 3.0, 1.0]), np.array([2.5, 0.0, 0.0]), np.array([1.0, 0.5, 0.8]), np.zeros(3)]
    >>> svm = oneslack.LatentSVM(Peak(), C=10.0).fit(X, [1, 1, 0, 0])
    >>> svm.predict(X).tolist(), svm.predict_latent(X)[:2]
    ([1, 1, 0, 0], [1, 0])
    """

    @with_callbacks
    def fit(self, X, y, sample_weight=None, H=None):
        """Learn from examples.

        Parameters
        ----------
        X : sequence of n inputs, as the model understands them
        y : array-like of shape (n,)
            Labels of two kinds; the one that sorts last is the positive one.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples.
        H : sequence of n latent values or None
            Where the first start begins; those of negatives are not looked at.

        Returns
        -------
        self : LatentSVM
        """
        check_parameters(self)
        check_members(self.model, CompletedBinary.needs, type(self).__name__)
        y = np.asarray(y)
        sample_weight = checked_sizes(X, sample_weight, Y=y, H=H)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) != 2:
            raise ValueError(f"y holds {len(classes)} classes, expected 2")
        completed = CompletedBinary(self.model, self._has_sparse_features(X[0]))
        truths = [completed.truth(code, None if H is None else H[i]) for i, code in enumerate(codes)]
        return self._fit(completed, X, truths, H, sample_weight, classes_=classes)

    def _has_sparse_features(self, x):
        try:
            return sp.issparse(self.model.feature(x, self.model.best(np.zeros(self.model.n_params), x)))
        except Exception as error:
            raise failure(0, error) from error

    def predict_latent(self, X):
        """The best latent value of each input.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        values : list
        """
        check_is_fitted(self)
        return [self.model.best(self.coef_, x) for x in X]

    def decision_function(self, X):
        """The score at the best latent value; positive where `classes_[1]` wins.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        scores : ndarray of shape (n,)
        """
        completed = CompletedBinary(self.model)
        values = self.predict_latent(X)
        return np.array([completed.score(self.coef_, x, (h,)) for x, h in zip(X, values, strict=True)])

    def predict(self, X):
        """The class of each input.

        Parameters
        ----------
        X : sequence of inputs

        Returns
        -------
        y : ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]

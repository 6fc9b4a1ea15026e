"""Matcher: partners for the members of one set in another."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..models.matching import Matching
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Fitted, Watch, problem_of, solved
from ._shared.given import check_parameters, checked_sizes, flag, given_terms


@described
class Matcher(Fitted):
    """Matchings between two sets: an assignment whose scores of pairs are learned, with a large margin.

    A matching scores the sum of <w, x[a, b]> over its pairs and, where rows may have no partner, a learned
    number for each of those.  Minimises 1/2 |w|^2 + C sum_i s_i H_i(w) to a certified relative duality gap,
    where H_i is the margin that example i misses: a matching with m wrong partners should score m less than
    the right one.  The worst matching is an assignment, too, so that every bound is exact.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the sum over examples.
    unmatched : bool, default=False
        Whether rows may have no partner, at a price that is learned; otherwise there are at least as many
        columns as rows.
    solver : {"auto", "dual_cd", "n_slack", "one_slack"} or a solver, default="auto"
        "auto" is "n_slack": weights are few beside what a matching takes to find.
    prior : array-like, dict or None, default=None
        Where the weights are drawn to instead of 0: (d,), with unmatched=True (d + 1,), or a dict from
        "features" and "unmatched"; {"unmatched": -2.0} is a price of 2, which `scale` makes as firm as is
        wanted.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        The weights of the features of a pair.
    price_ : float
        What it costs to leave a row without a partner; infinite where it is not allowed.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> first, second = np.array([[0.0, 5.0], [1.0, 2.0]]), np.array([[1.1, 9.0], [0.1, 0.0]])
    >>> matcher = oneslack.Matcher(C=10.0).fit([(first, second)], [[1, 0]])
    >>> matcher.predict([(first, second)])
    [array([1, 0], dtype=int32)]
    """

    _saving = "matcher"
    _checks: ClassVar = {"unmatched": flag}

    def __init__(
        self, C: float | str = 1.0, *, unmatched: bool = False, solver: Any = "auto", tol: float = 1e-3,
        epsilon: float | None = None, prior: Any = None, scale: Any = None, nonnegative: Any = None,
        n_jobs: int | None = None, engine: Any = None, max_iter: int = 100_000,
        time_limit: float | None = None, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(
        self, X: Any, Y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from matched sets.

        Parameters
        ----------
        X : list of n arrays of shape (n1, n2, d), or of pairs of arrays of shape (n1, d) and (n2, d)
            Features of each pair of a row and a column; or of the members of both sets: a pair then has
            minus the squared differences of theirs.  Sizes may differ between examples.
        Y : list of n arrays of shape (n1,)
            The column that each row is matched with, from 0; -1 for none.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the examples.

        Returns
        -------
        self : Matcher
        """
        check_parameters(self)
        sample_weight = checked_sizes(X, sample_weight, Y=Y)
        pairs = pair_features(X)
        model = Matching(pairs[0].shape[2], bool(self.unmatched))
        watch = Watch(callbacks, checkpoint, resume, validation)

        def store(results):
            self.n_features_in_ = model.n_features
            self._set_weights(results[0].w)

        problem = problem_of(self, model, pairs, Y, sample_weight=sample_weight, **given_terms(self))
        training = self._training()
        if training["solver"] == "auto":
            training["solver"] = "n_slack"
        return self._solve([partial(solved, problem)], store, (X, Y, sample_weight), watch, training=training)

    def _set_weights(self, w):
        d = self.n_features_in_
        self.coef_, self.price_ = w[:d].copy(), -float(w[d]) if self.unmatched else np.inf

    def predict(self, X: Any) -> list[Any]:
        """The best partners of the rows of each example.

        Returns
        -------
        Y : list of n arrays of shape (n1,)
            Columns from 0; -1 for rows without a partner.
        """
        check_is_fitted(self)
        from ..engines.threads import Threads

        model = Matching(self.n_features_in_, bool(self.unmatched))
        w = np.append(self.coef_, -self.price_) if self.unmatched else self.coef_
        data = model.pack(pair_features(X), None)
        with Threads(self.n_jobs) as engine:
            parts = engine.map(lambda shard: model.predict_batch(data, shard, w), data.shards)
        return np.split(np.concatenate(parts), data.offsets[1:-1]) if data.n else []

    def score(self, X: Any, Y: Any) -> float:
        """The share of rows with the right partner, or rightly without one.

        Returns
        -------
        accuracy : float
        """
        truth = np.concatenate([np.asarray(y, dtype=int) for y in Y])
        predicted = np.concatenate(self.predict(X))
        if truth.shape != predicted.shape:
            raise ValueError(f"X has {len(predicted)} rows but Y has {len(truth)} partners")
        if not len(truth):
            raise ValueError("there is no row to score")
        return float(np.mean(truth == predicted))


def pair_features(X) -> list[np.ndarray]:
    """(n1, n2, d) of each example, however it is given."""
    found = []
    for i, x in enumerate(X):
        if isinstance(x, tuple | list) and len(x) == 2:
            first, second = (np.asarray(part, dtype=float) for part in x)
            if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
                raise ValueError(
                    f"example {i}: the members of the two sets have shapes {first.shape} and {second.shape}, "
                    "expected (n1, d) and (n2, d)"
                )
            found.append(-((first[:, None] - second[None]) ** 2))
        else:
            found.append(np.asarray(x, dtype=float))
            if found[-1].ndim != 3:
                raise ValueError(f"example {i}: x has shape {found[-1].shape}, expected (rows, columns, d)")
    return found

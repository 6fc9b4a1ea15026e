"""SequenceTagger: a label for every token of a sentence."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import driver
from ..features import DictIndexer, FeatureIndex
from ..formats.sentences import Sentences
from ..models.chain import Chain
from ..problem import Problem
from ..ragged import Ragged
from .callbacks import CallbackSupportMixin, fit_progress, with_callbacks
from .certified import Certified
from .convergence import warn_if_stopped_early
from .parameters import check_parameters, seed_of
from .targets import check_weights


class SequenceTagger(Certified, CallbackSupportMixin, BaseEstimator):
    """Tags for the tokens of sentences: a chain model with a large margin.

    Minimises 1/2 |w|^2 + C sum_i s_i H_i(w) to a certified relative duality gap, where H_i is the margin
    that sentence i misses: an output that differs from the truth in m tokens should score m less.

    Parameters
    ----------
    C : float, default=0.1
        Weight of the sum over sentences.
    templates : str, list of templates or None, default=None
        For text columns (`Sentences`): the name of a set ("chunking", "tagging", "ner") or a text of
        templates, see docs/feature_templates.md.
    min_count : int, default=1
        Feature values that occur less often get no weight.
    hash_bits : int or None, default=None
        Hash features to 2**hash_bits columns instead of keeping an index.
    order : {1, 2}, default=1
        Weights for pairs of neighbouring labels, or for triples too.
    start, end : bool, default=False
        Weights for the first and the last label of a sentence.
    constraints : {"iob", None}, default=None
        "iob": a label I-X is predicted after B-X or I-X only.
    rescaling : {"margin", "slack"}, default="margin"
        How the loss enters.
    solver : {"auto", "dual_cd", "n_slack", "one_slack"} or a solver, default="auto"
        "auto" is "dual_cd".
    tol : float, default=1e-2
        Relative duality gap (P - D) / P to stop at.
    epsilon : float or None, default=None
        Stop by the cutting-plane papers' rule instead.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.  The result is the same for any number.
    max_iter : int, default=100_000
        Steps of the solver.
    time_limit : float or None, default=None
        Seconds of training; the best model so far is kept, with its gap.
    random_state : int, RandomState or None, default=None
        Seed of the order in which sentences are visited.
    verbose : int, default=0
        1 prints a line when the gap has closed by a fifth, 2 one for each step.

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        The labels, sorted.
    coef_ : ndarray of shape (n_params,)
        The weights, in the order of `model_`.
    model_ : Chain
        Says which weight is which.
    objective_, dual_objective_, duality_gap_, n_iter_, result_
        The certificate and the course of the training.

    Examples
    --------
    >>> import oneslack
    >>> X = [[{"w": "the"}, {"w": "cat"}], [{"w": "a"}, {"w": "dog"}, {"w": "barks"}]]
    >>> Y = [["D", "N"], ["D", "N", "V"]]
    >>> tagger = oneslack.SequenceTagger(C=10).fit(X, Y)
    >>> tagger.predict([[{"w": "the"}, {"w": "dog"}, {"w": "barks"}]])
    [['D', 'N', 'V']]
    """

    def __init__(
        self,
        C=0.1,
        *,
        templates=None,
        min_count=1,
        hash_bits=None,
        order=1,
        start=False,
        end=False,
        constraints=None,
        rescaling="margin",
        solver="auto",
        tol=1e-2,
        epsilon=None,
        n_jobs=None,
        max_iter=100_000,
        time_limit=None,
        random_state=None,
        verbose=0,
    ):
        self.C = C
        self.templates = templates
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.order = order
        self.start = start
        self.end = end
        self.constraints = constraints
        self.rescaling = rescaling
        self.solver = solver
        self.tol = tol
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, Y, sample_weight=None):
        """Learn from tagged sentences.

        Parameters
        ----------
        X : list of sentences, or Sentences
            A sentence is a list of tokens, each a dict of features or a list of strings, as CRFsuite's
            wrappers take them; or an array or sparse matrix with a row a token.  `Sentences`, as the
            readers of oneslack.formats give them, need `templates`.
        Y : list of lists of labels, or the name of a column of the Sentences
            Labels of any one type that sorts.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the sentences.

        Returns
        -------
        self : SequenceTagger
        """
        check_parameters(self)
        self._indexer = self._new_indexer(X)
        rows = self._rows(X, learn=True)
        self.classes_, codes = self._codes(X, Y, rows)
        self.model_ = self._chain(rows.values.shape[1])
        if sample_weight is not None:
            sample_weight = check_weights(np.asarray(sample_weight, dtype=float))
        problem = Problem(
            self.model_, rows, Ragged(codes, rows.offsets), self.C, sample_weight=sample_weight,
            rescaling=self.rescaling, cache_size=5, n_jobs=self.n_jobs,
        )  # fmt: skip
        solver = "dual_cd" if isinstance(self.solver, str) and self.solver == "auto" else self.solver
        with fit_progress(self, X, Y, sample_weight) as callbacks, problem.engine:
            result = driver.solve(
                problem, solver, tol=self.tol, epsilon=self.epsilon, max_iter=self.max_iter,
                time_limit=self.time_limit, callbacks=callbacks, seed=seed_of(self.random_state),
            )  # fmt: skip
            self.coef_ = result.w
            self._store_certificate([result], None)
        warn_if_stopped_early(self, None, [result])
        return self

    # Input.

    def _new_indexer(self, X):
        if isinstance(X, Sentences):
            if self.templates is None:
                raise ValueError("Sentences need templates: the name of a set, or a text of templates")
            return FeatureIndex(self.templates, min_count=self.min_count, hash_bits=self.hash_bits)
        if isinstance(X, Ragged) or (len(X) and _is_matrix(X[0])):
            return None
        return DictIndexer(min_count=self.min_count, hash_bits=self.hash_bits)

    def _rows(self, X, learn=False) -> Ragged:
        """The features of all tokens."""
        indexer = self._indexer
        if indexer is None:
            return X if isinstance(X, Ragged) else Ragged.from_list(X)
        if isinstance(indexer, FeatureIndex) != isinstance(X, Sentences):
            raise ValueError("X must be of the same kind as in fit: Sentences, or lists of tokens")
        features = (indexer.fit_transform if learn else indexer.transform)(X)
        return Ragged(features, X.offsets) if isinstance(X, Sentences) else Ragged(*features)

    def _codes(self, X, Y, rows):
        """(classes, codes of all tokens)."""
        if isinstance(Y, str):
            column = _column(X, Y)
            labels, codes = np.array(column.values), column.codes
            order = np.argsort(labels)
            place = np.empty(len(labels), np.int32)
            place[order] = np.arange(len(labels))
            return labels[order], place[codes]
        lengths = np.array([len(labels) for labels in Y])
        if len(lengths) != len(rows):
            raise ValueError(f"X has {len(rows)} sentences but Y has {len(lengths)}")
        wrong = np.flatnonzero(lengths != rows.lengths)
        if len(wrong):
            i = wrong[0]
            raise ValueError(f"sentence {i} has {rows.lengths[i]} tokens but {lengths[i]} labels")
        flat = np.array([label for labels in Y for label in labels])
        classes, codes = np.unique(flat, return_inverse=True)
        return classes, codes.astype(np.int32)

    def _chain(self, n_features):
        allowed = allowed_start = None
        if self.constraints == "iob":
            allowed, allowed_start = iob_rules(self.classes_)
        return Chain(
            n_features, len(self.classes_), order=self.order, start=bool(self.start), end=bool(self.end),
            allowed=allowed, allowed_start=allowed_start,
        )  # fmt: skip

    # Output.

    def predict(self, X):
        """The labels of each sentence.

        Parameters
        ----------
        X : as for fit

        Returns
        -------
        Y : list of lists of labels
        """
        codes = self.predict_codes(X)
        labels = self.classes_[codes.values].tolist()
        return [labels[lo:hi] for lo, hi in zip(codes.offsets[:-1], codes.offsets[1:], strict=True)]

    def predict_codes(self, X) -> Ragged:
        """The numbers of the labels in `classes_`, as one flat array with offsets."""
        check_is_fitted(self)
        from ..engines.threads import Threads

        data = self.model_.pack(self._rows(X), None)
        with Threads(self.n_jobs) as engine:
            parts = engine.map(lambda shard: self.model_.predict_batch(data, shard, self.coef_), data.shards)
        return Ragged(np.concatenate(parts) if parts else np.empty(0, np.int32), data.offsets)

    def predict_topk(self, X, k):
        """The k best label sequences of each sentence, best first, with their scores.

        Parameters
        ----------
        X : as for fit
        k : int

        Returns
        -------
        outputs : list of lists of (labels, score)
        """
        check_is_fitted(self)
        outputs = []
        for x in _sentences(self._rows(X)):
            Z, scores = self.model_.decode_topk(self.coef_, x, k)
            outputs.append(list(zip(self.classes_[Z].tolist(), scores.tolist(), strict=True)))
        return outputs

    def predict_margins(self, X):
        """For each token, by how much its label beats the best sequence with another one: a confidence.

        Parameters
        ----------
        X : as for fit

        Returns
        -------
        margins : list of ndarrays
        """
        check_is_fitted(self)
        return [self.model_.margins(self.coef_, x) for x in _sentences(self._rows(X))]

    def score(self, X, Y):
        """The share of tokens with the right label.

        Parameters
        ----------
        X, Y : as for fit

        Returns
        -------
        accuracy : float
        """
        predicted = self.predict_codes(X)
        if isinstance(Y, str):
            truth = _column(X, Y).strings()
        else:
            truth = np.array([label for labels in Y for label in labels])
        if len(truth) != len(predicted.values):
            raise ValueError(f"X has {len(predicted.values)} tokens but Y has {len(truth)} labels")
        return float(np.mean(self.classes_[predicted.values] == truth))


def iob_rules(labels):
    """(allowed (L, L), allowed_start (L,)): I-X may follow B-X and I-X only, and starts no sentence."""
    names = [str(label) for label in labels]
    inside = np.array([name.startswith("I-") for name in names])
    kinds = np.array([name[2:] if name[:2] in ("B-", "I-") else "" for name in names])
    allowed = ~inside[None, :] | ((kinds[:, None] == kinds[None, :]) & (kinds[:, None] != ""))
    return allowed, ~inside


def _column(X, name):
    if not isinstance(X, Sentences) or name not in X.columns:
        raise ValueError(f"Y={name!r} must be a column of Sentences, or give lists of labels")
    return X.columns[name]


def _is_matrix(x):
    return sp.issparse(x) or (isinstance(x, np.ndarray) and x.ndim == 2)


def _sentences(rows):
    return (rows[i] for i in range(len(rows)))

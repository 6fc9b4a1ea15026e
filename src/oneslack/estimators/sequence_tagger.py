"""SequenceTagger: a label for every token of a sentence."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Ragged
from ..features import DictIndexer, FeatureIndex
from ..models.chain import Chain
from ._shared.auto_C import fit_with_best_C
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Fitted, Watch, problem_of, solved
from ._shared.given import C_or_auto, check_parameters, check_weights, given_terms
from ._shared.tagged_input import (
    MATRICES,
    SENTENCES,
    TOKENS,
    check_column,
    column_of,
    flat_labels,
    is_packed,
    kind_of,
    parts_of,
    rows_of,
    tagged_rows,
    unpacked,
)


@described
class SequenceTagger(Fitted):
    """Tags for the tokens of sentences: a chain model with a large margin.

    Minimises 1/2 |w|^2 + C sum_i s_i H_i(w) to a certified relative duality gap, where H_i is the margin
    that sentence i misses: an output that differs from the truth in m tokens should score m less.

    Parameters
    ----------
    C : float or "auto", default=0.1
        Weight of the sum over sentences.
        "auto" is what `oneslack.tune` finds; then it is in the attribute `C_`.
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
    solver : {"auto", "dual_cd", "n_slack", "one_slack"} or a solver, default="auto"
        "auto" is "dual_cd".
    kernel : {"rbf", "poly", "linear", "laplacian"}, callable or None, default=None
        Score tokens by a kernel instead of linearly, where X holds matrices: by basis functions, see
        `KernelFeatures`.  The certificate is then that of the span of the basis.
    n_basis : int, default=1000
        Tokens of the basis.
    prior : array-like, dict or None, default=None
        Where the weights are drawn to instead of 0: of shape (n_params,), or by groups, as pairs
        (index, value) or a dict: from the name of a feature (all its labels), (feature, label), or one of the
        blocks "features", "pairs", "triples", "start", "end".

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        The labels, sorted.
    coef_ : ndarray of shape (n_params,)
        The weights, in the order of `model_`.
    model_ : Chain
        Says which weight is which.

    Examples
    --------
    >>> import oneslack
    >>> X = [[{"w": "the"}, {"w": "cat"}], [{"w": "a"}, {"w": "dog"}, {"w": "barks"}]]
    >>> Y = [["D", "N"], ["D", "N", "V"]]
    >>> tagger = oneslack.SequenceTagger(C=10).fit(X, Y)
    >>> tagger.predict([[{"w": "the"}, {"w": "dog"}, {"w": "barks"}]])
    [['D', 'N', 'V']]
    """

    _checks: ClassVar = {"C": C_or_auto}
    _saving = "tagger"

    def __init__(
        self, C: float | str = 0.1, *, templates: Any = None, min_count: int = 1,
        hash_bits: int | None = None, order: int = 1, start: bool = False, end: bool = False,
        constraints: Any = None, rescaling: str = "margin", solver: Any = "auto", tol: float = 1e-2,
        epsilon: float | None = None, kernel: Any = None, gamma: float | str = "scale", degree: float = 3,
        coef0: float = 0.0, n_basis: int = 1000, prior: Any = None, scale: Any = None,
        nonnegative: Any = None, n_jobs: int | None = None, engine: Any = None, max_iter: int = 100_000,
        time_limit: float | None = None, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from tagged sentences.

        Parameters
        ----------
        X : list of sentences, or Sentences
            A sentence is a list of tokens, each a dict of features or a list of strings, as CRFsuite's
            wrappers take them; or an array or sparse matrix with a row a token.  `Sentences`, as the
            readers of oneslack.formats give them, need `templates`; so do shards (`open_shards`) of packed
            text, which stay on disk: "auto" is then `Streaming`.
        y : list of lists of labels, or the name of a column of the Sentences
            Labels of any one type that sorts; None where a label is not known.  Such tokens are filled in
            with the best labels as training goes on (`oneslack.latent`); then the certificate is that of the
            labels filled in last, and `result_.certified` is False.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the sentences.

        Returns
        -------
        self : SequenceTagger
        """
        check_parameters(self)
        watch = Watch(callbacks, checkpoint, resume, validation)
        if self.C == "auto":
            return fit_with_best_C(self, X, y, sample_weight, watch)
        X = unpacked(X, self.templates)
        indexer = self._new_indexer(X)
        if sample_weight is not None:
            sample_weight = check_weights(np.asarray(sample_weight, dtype=float))
        training = self._training_on(X)
        with tagged_rows(indexer, X, y) as (rows, classes, codes):
            classes, codes = self._classes(classes, codes)
            model = self._chain(rows, classes, codes)

            def store(results):
                self._indexer, self.classes_, self.model_, self.coef_ = indexer, classes, model, results[0].w

            terms = given_terms(self)
            if terms:
                from ._shared.weight_terms import tagger_terms

                terms = tagger_terms(self, indexer, model, classes)
            terms |= {"rescaling": self.rescaling, "sample_weight": sample_weight}
            jobs = self._jobs(model, rows, Ragged(codes, rows.offsets), watch, terms)
            return self._solve(jobs, store, (X, y, sample_weight), watch, training=training)

    def _training_on(self, X):
        """How `solve` is called; on packed sentences it is Streaming that "auto" means."""
        training = self._training()
        if is_packed(X):
            from ..problems.new import engine_of
            from ..solvers.streaming.reader import Streaming

            if engine_of(self.engine) is not None:
                raise ValueError("packed sentences are learned from on this machine only; drop engine")
            if training["solver"] == "auto":
                training["solver"] = Streaming(seed=training["seed"])
        return training

    def _jobs(self, model, rows, truth, watch, options):
        if (truth.values < 0).any():
            from ._shared.partial_labels import check_is_here, solve_partly_labelled

            check_is_here(self.engine, watch)
            options |= {"n_jobs": self.n_jobs}
            yield partial(solve_partly_labelled, model, rows, truth, self.C, problem_options=options)
        else:
            yield partial(solved, problem_of(self, model, rows, truth, **options))

    # Input.

    def _new_indexer(self, X):
        """What turns tokens into features; None for matrices, which are features already."""
        kind = kind_of(X)
        if kind is None:
            raise ValueError("X has no sentence: there is nothing to learn from")
        if kind == SENTENCES:
            if self.templates is None:
                raise ValueError("Sentences need templates: the name of a set, or a text of templates")
        elif self.templates is not None:
            raise ValueError(
                "templates need words: Sentences, as the readers give them, or lists of words or of (word, "
                f"part of speech, ...), but X holds {kind}"
            )
        if self.kernel is not None and kind != MATRICES:
            raise ValueError(
                f"kernel={self.kernel!r} needs a matrix a sentence, but X holds {kind}; use kernel=None"
            )
        names = {
            "min_count": int(self.min_count),
            "hash_bits": None if self.hash_bits is None else int(self.hash_bits),
        }
        if kind == SENTENCES:
            return FeatureIndex(self.templates, **names)
        if kind == TOKENS:
            return DictIndexer(**names)
        if names != {"min_count": 1, "hash_bits": None}:
            raise ValueError("min_count and hash_bits are for features by name, but X holds matrices")
        if self.kernel is None:
            return None
        from ._shared.kernel_indexer import KernelIndexer
        from .kernel_features import basis_for

        return KernelIndexer(basis_for(self))

    def _classes(self, classes, codes):
        """(labels, codes of all tokens) that are learned."""
        return classes, codes

    def _chain(self, rows, classes, codes):
        allowed = allowed_start = None
        if self.constraints == "iob":
            from ._shared.iob import iob_rules, refuse_broken_phrases

            allowed, allowed_start = iob_rules(classes)
            refuse_broken_phrases(rows.offsets, classes, codes, allowed, allowed_start)
        return Chain(
            rows.values.shape[1], len(classes), order=int(self.order), start=bool(self.start),
            end=bool(self.end), allowed=allowed, allowed_start=allowed_start,
        )  # fmt: skip

    # Output.

    def predict(self, X: Any) -> list[Any]:
        """The labels of each sentence.

        Returns
        -------
        Y : list of lists of labels
        """
        codes = self.predict_codes(X)
        labels = self.classes_[codes.values].tolist()
        return [labels[lo:hi] for lo, hi in zip(codes.offsets[:-1], codes.offsets[1:], strict=True)]

    def predict_single(self, x: Any) -> list[Any]:
        """The labels of one sentence.

        Returns
        -------
        labels : list of labels
        """
        return self.predict([x])[0]

    def predict_codes(self, X: Any) -> Ragged:
        """The numbers of the labels in `classes_`: one flat array (tokens,) with offsets (sentences + 1,)."""
        return self._of_tokens(X, "predict_batch")

    def predict_topk(self, X: Any, k: int) -> list[list[Any]]:
        """The k best label sequences of each sentence, best first, with their scores.

        Returns
        -------
        outputs : list of lists of (labels, score)
        """
        check_is_fitted(self)
        outputs = []
        for part in parts_of(unpacked(X, self.templates)):
            for x in _sentences(self._features(part)):
                Z, scores = self.model_.decode_topk(self.coef_, x, k)
                outputs.append(list(zip(self.classes_[Z].tolist(), scores.tolist(), strict=True)))
        return outputs

    def predict_margins(self, X: Any) -> list[np.ndarray]:
        """For each token, by how much its label beats the best sequence with another one: a confidence.

        Returns
        -------
        margins : list of ndarrays
        """
        margins = self._of_tokens(X, "margins_batch")
        return [margins[i] for i in range(len(margins))]

    def predict_marginals(self, X: Any) -> list[list[dict[Any, float]]]:
        """For each token a share of each label: the softmax of the scores of the best sequences that have it.

        Shares that add up to 1 and order labels as their best sequences are ordered.  They are no
        probabilities: a large margin trains for the best sequence, and the scores have no unit.

        Returns
        -------
        shares : list of lists of dicts {label: share}
        """
        from ._shared.tagger_names import shares

        return shares(self, self._of_tokens(X, "max_marginals_batch"))

    @property
    def state_features_(self) -> Any:
        """{(feature, label): weight}, of those that are not 0; features without names by number."""
        from ._shared.tagger_names import state_features

        return state_features(self)

    @property
    def transition_features_(self) -> Any:
        """{(label, next label): weight}."""
        from ._shared.tagger_names import transition_features

        return transition_features(self)

    def score(self, X: Any, y: Any) -> float:
        """The share of tokens with the right label, of those whose label is known.

        Returns
        -------
        accuracy : float
        """
        check_is_fitted(self)
        X = unpacked(X, self.templates)
        if is_packed(X):
            check_column(X, y)
        right = [self._is_right(part, y) for part in parts_of(X)]
        right = np.concatenate(right) if right else np.empty(0, bool)
        if not len(right):
            raise ValueError("there is no token to score")
        return float(np.mean(right))

    def _is_right(self, X, Y):
        """For each token whose label is known, whether it is predicted."""
        predicted = self.predict_codes(X)
        if isinstance(Y, str):
            truth, known = column_of(X, Y).strings(), slice(None)
        else:
            truth, known = flat_labels(Y, predicted.lengths)
        return self.classes_[predicted.values[known]] == truth

    def _of_tokens(self, X, method) -> Ragged:
        """What a method of the model gives for each token, found in threads."""
        check_is_fitted(self)
        from ..engines.threads import Threads

        X = unpacked(X, self.templates)
        if is_packed(X):
            return Ragged.joined([self._of_tokens(part, method) for part in X.parts()])
        data, method = self.model_.pack(self._features(X), None), getattr(self.model_, method)
        with Threads(self.n_jobs) as engine:
            parts = engine.map(lambda shard: method(data, shard, self.coef_), data.shards)
        return Ragged(np.concatenate(parts) if parts else np.empty(0, np.int32), data.offsets)

    def _features(self, X) -> Ragged:
        """The features of new sentences, which must be of the kind that was learned from."""
        learned = {FeatureIndex: SENTENCES, DictIndexer: TOKENS}.get(type(self._indexer), MATRICES)
        kind = kind_of(X)
        if kind is None:
            return Ragged(np.empty((0, self.model_.n_features)), [0])
        if kind != learned:
            raise ValueError(f"X must be of the same kind as in fit: {learned}, not {kind}")
        return rows_of(self._indexer, X)


def _sentences(rows):
    return (rows[i] for i in range(len(rows)))

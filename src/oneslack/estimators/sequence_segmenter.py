"""SequenceSegmenter: segments with labels in sentences."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from ..metrics import PhraseScore
from ..models.chain import Chain
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.given import check_parameters, choice, number
from ._shared.segment_tags import CODINGS, all_tags, prices, rules, segments_of, tags_of
from ._shared.tagged_input import column_of, is_packed, kind_of, unpacked
from .sequence_tagger import SequenceTagger

_price = number("a number >= 0", lambda price: price >= 0)


@described
class SequenceSegmenter(SequenceTagger):
    """Segments of sentences, each with a label: a chain model whose outputs are whole segments.

    Tokens get tags that tell where a segment begins, goes on and ends; the decoder takes no others than those
    of whole segments, in training as in prediction, so that loss-augmented inference is exact.  Minimises
    1/2 |w|^2 + C sum_i s_i H_i(w) to a certified relative duality gap, where H_i is the margin that sentence
    i misses: an output should score less than the truth by the prices of its wrong tokens.

    Parameters
    ----------
    C : float, default=0.1
        Weight of the sum over sentences.
    coding : {"bilou", "bio"}, default="bilou"
        "bilou": tokens inside have weights of their own for the first, the last, others, and for segments of
        one token; "bio": for the first and for others.
    missed, false_alarm : float, default=1.0
        Prices of a token of a segment that is told to be outside of all, and of one outside that is told to
        be in a segment; another tag of a segment costs half of both.  A dearer miss finds more segments.
    templates : str, list of templates or None, default=None
        For text columns (`Sentences`): the name of a set ("chunking", "tagging", "ner") or a text of
        templates, see docs/feature_templates.md.
    min_count : int, default=1
        Feature values that occur less often get no weight.
    hash_bits : int or None, default=None
        Hash features to 2**hash_bits columns instead of keeping an index.
    order : {1, 2}, default=1
        Weights for pairs of neighbouring tags, or for triples too.
    solver : {"auto", "dual_cd", "n_slack", "one_slack"} or a solver, default="auto"
        "auto" is "dual_cd".
    kernel : {"rbf", "poly", "linear", "laplacian"}, callable or None, default=None
        Score tokens by a kernel instead of linearly, where X holds matrices: by basis functions, see
        `KernelFeatures`.
    n_basis : int, default=1000
        Tokens of the basis.
    prior : array-like, dict or None, default=None
        As for SequenceTagger, by the tags of `classes_`.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The tags.
    labels_ : list of str
        The labels of segments, sorted.
    coef_ : ndarray of shape (n_params,)
        The weights, in the order of `model_`.
    model_ : Chain
        Says which weight is which.

    Examples
    --------
    >>> import oneslack
    >>> X = [[{"w": "see"}, {"w": "New"}, {"w": "York"}], [{"w": "in"}, {"w": "Rome"}]]
    >>> Y = [[("place", 1, 3)], [("place", 1, 2)]]
    >>> segmenter = oneslack.SequenceSegmenter(C=10).fit(X, Y)
    >>> segmenter.predict([[{"w": "in"}, {"w": "New"}, {"w": "York"}]])
    [[('place', 1, 3)]]
    """

    _saving = "segmenter"
    _checks: ClassVar = {
        "coding": choice(tuple(CODINGS)), "missed": _price, "false_alarm": _price,
    }  # fmt: skip
    #: What a SequenceTagger has as parameters.
    start = end = False
    constraints, rescaling = None, "margin"

    def __init__(
        self, C: float | str = 0.1, *, coding: str = "bilou", missed: float = 1.0, false_alarm: float = 1.0,
        templates: Any = None, min_count: int = 1, hash_bits: int | None = None, order: int = 1,
        solver: Any = "auto", tol: float = 1e-2, epsilon: float | None = None, kernel: Any = None,
        gamma: float | str = "scale", degree: float = 3, coef0: float = 0.0, n_basis: int = 1000,
        prior: Any = None, scale: Any = None, nonnegative: Any = None, n_jobs: int | None = None,
        engine: Any = None, max_iter: int = 100_000, time_limit: float | None = None,
        random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @property
    def labels_(self) -> list[str]:
        return sorted(
            {label for _, _, label in (tag.partition("-") for tag in self.classes_.tolist()) if label}
        )

    @with_callbacks
    def fit(
        self, X: Any, Y: Any, sample_weight: Any = None, *, callbacks: Any = (), checkpoint: Any = None,
        resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from sentences with segments.

        Parameters
        ----------
        X : list of sentences, or Sentences
            As for SequenceTagger.
        Y : list of lists of segments (label, first, after the last), or of tags; or the name of a column
            Segments count tokens from 0 and do not overlap.  Tags, one a token, are BIO (also IOB1) or BILOU
            (also BIOES); so is the column of the Sentences.
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the sentences.

        Returns
        -------
        self : SequenceSegmenter
        """
        check_parameters(self)
        X = unpacked(X, self.templates)
        if is_packed(X):
            raise ValueError("packed sentences are for SequenceTagger; read the file itself to find segments")
        tags = tags_given(X, Y, self.coding)
        labels = {tag.partition("-")[2] for sentence in tags for tag in sentence if tag != "O"}
        if not labels:
            raise ValueError("Y has no segment: there is nothing to learn")
        self._tags = all_tags(labels, self.coding)
        watch = {"callbacks": callbacks, "checkpoint": checkpoint, "resume": resume, "validation": validation}
        return super().fit(X, tags, sample_weight, **watch)

    def _classes(self, classes, codes):
        """All tags of the labels, those that no training token has among them."""
        return self._tags, np.searchsorted(self._tags, classes).astype(np.int32)[codes]

    def _chain(self, rows, classes, codes):
        allowed, allowed_start, allowed_end = rules(classes, self.coding)
        return Chain(
            rows.values.shape[1], len(classes), order=int(self.order), allowed=allowed,
            allowed_start=allowed_start, allowed_end=allowed_end,
            label_losses=prices(classes, float(self.missed), float(self.false_alarm)),
        )  # fmt: skip

    def predict(self, X: Any) -> list[Any]:
        """The segments of each sentence.

        Returns
        -------
        Y : list of lists of (label, first, after the last)
        """
        return list(map(segments_of, super().predict(X)))

    def predict_tags(self, X: Any, coding: str = "bio") -> list[list[str]]:
        """The same as tags, one a token.

        Parameters
        ----------
        coding : {"bio", "bilou"}, default="bio"

        Returns
        -------
        Y : list of lists of str
        """
        tags = super().predict(X)
        return tags if coding == self.coding else [
            tags_of(segments_of(one), len(one), coding) for one in tags
        ]  # fmt: skip

    def predict_topk(self, X: Any, k: int) -> list[list[Any]]:
        """The k best outputs of each sentence, best first, with their scores.

        Returns
        -------
        outputs : list of lists of (segments, score)
        """
        found = super().predict_topk(X, k)
        return [[(segments_of(tags), score) for tags, score in outputs] for outputs in found]

    def score(self, X: Any, Y: Any) -> float:
        """F1 of all segments: one is right where its label, its first and its last token are.

        Parameters
        ----------
        Y : as for `fit`: list of lists of segments or of tags, or the name of a column

        Returns
        -------
        f1 : float
        """
        X = unpacked(X, self.templates)
        truth, _ = segments_given(X, Y)
        return segment_score(truth, self.predict(X)).f1


def segment_score(truth, predicted) -> PhraseScore:
    """Counts of segments that are there, that are predicted, and both; two lists of lists of segments."""
    pairs = [({*map(_plain, a)}, {*map(_plain, b)}) for a, b in zip(truth, predicted, strict=True)]
    return PhraseScore(
        *(sum(map(len, sets)) for sets in zip(*((a, b, a & b) for a, b in pairs), strict=True))
    )


def _plain(segment):
    label, first, stop = segment
    return str(label), int(first), int(stop)


def segments_given(X, Y):
    """(segments, lengths) of the sentences, from whatever `fit` takes."""
    if kind_of(X) is None:
        raise ValueError("X has no sentence: there is nothing to learn from")
    offsets = getattr(X, "offsets", None)
    lengths = np.diff(offsets).tolist() if offsets is not None else [_length(x) for x in X]
    if isinstance(Y, str):
        flat = column_of(X, Y).strings().tolist()
        Y = [flat[lo:hi] for lo, hi in pairwise(offsets.tolist())]
    Y = [list(y) for y in Y]
    if len(Y) != len(lengths):
        raise ValueError(f"X has {len(lengths)} sentences but Y has {len(Y)}")
    is_tags = any(isinstance(one, str) for y in Y for one in y)
    return [
        _segments(i, *one) for i, one in enumerate(zip(Y, lengths, strict=True))
    ] if is_tags else Y, lengths


def tags_given(X, Y, coding):
    """The tags of the sentences."""
    segments, lengths = segments_given(X, Y)
    return [_tagged(i, *one, coding) for i, one in enumerate(zip(segments, lengths, strict=True))]


def _length(x):
    return x.shape[0] if hasattr(x, "shape") else len(x)


def _segments(i, tags, length):
    if len(tags) != length:
        raise ValueError(f"sentence {i} has {length} tokens but {len(tags)} tags")
    return _named(i, partial(segments_of, tags))


def _tagged(i, segments, length, coding):
    return _named(i, partial(tags_of, segments, length, coding))


def _named(i, convert):
    """What a conversion gives; its error names the sentence."""
    try:
        return convert()
    except ValueError as error:
        raise ValueError(f"sentence {i}: {error}") from None

"""Measures of tagged sentences: Y and Y_hat hold a sequence of labels for each sentence, as they are."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple


class PhraseScore(NamedTuple):
    """Phrases found: counts, and the shares that follow from them.

    >>> score = PhraseScore(n_true=4, n_predicted=2, n_correct=2)
    >>> score.precision, score.recall
    (1.0, 0.5)
    """

    n_true: int
    n_predicted: int
    n_correct: int

    @property
    def precision(self) -> float:
        """The share of the predicted phrases that is right; of none, 0, or 1 where there are none."""
        return self._share(self.n_predicted)

    @property
    def recall(self) -> float:
        """The share of the true phrases that is found; of none, 1, or 0 where some are predicted."""
        return self._share(self.n_true)

    @property
    def f1(self) -> float:
        """2 n_correct / (n_true + n_predicted)."""
        both = self.n_true + self.n_predicted
        return 2 * self.n_correct / both if both else 1.0

    def _share(self, whole):
        return self.n_correct / whole if whole else float(self.n_true + self.n_predicted == 0)


def phrases(labels) -> list[tuple[str, int, int]]:
    """(type, first, after the last) of each phrase in the IOB labels of one sentence.

    A phrase starts at B, and at I where no phrase of its type is open, as CoNLL's evaluation counts: so
    IOB1 and IOB2 are both understood.  Labels are O, B-type and I-type; plain B and I are of type "".

    >>> phrases(["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-NP"])
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5), ('NP', 5, 6)]
    """
    found, first, kind = [], 0, None
    for t, label in enumerate(labels):
        tag, _, of = str(label).partition("-")
        if tag not in ("O", "B", "I"):
            raise ValueError(f"position {t}: {label!r} is no IOB label; phrases need O, B-type and I-type")
        if kind is not None and (tag != "I" or of != kind):
            found.append((kind, first, t))
            kind = None
        if tag != "O" and kind is None:
            first, kind = t, of
    return found if kind is None else [*found, (kind, first, len(labels))]


def phrase_scores(Y, Y_hat) -> dict[str | None, PhraseScore]:
    """The PhraseScore of each type of phrase, sorted, and under None that of all.

    A phrase is right where its type, its first and its last token are.  Y, Y_hat: a list of labels for each
    of the same sentences.

    >>> scores = phrase_scores([["B-NP", "I-NP", "B-VP"]], [["B-NP", "O", "B-VP"]])
    >>> scores["VP"].f1, scores[None].precision
    (1.0, 0.5)
    """
    true, predicted, correct = Counter(), Counter(), Counter()
    for i, (y, y_hat) in enumerate(_sentences(Y, Y_hat)):
        try:
            ours, theirs = set(phrases(y)), set(phrases(y_hat))
        except ValueError as error:
            raise ValueError(f"sentence {i}, {error}") from None
        true.update(kind for kind, _, _ in ours)
        predicted.update(kind for kind, _, _ in theirs)
        correct.update(kind for kind, _, _ in ours & theirs)
    scores = {
        kind: PhraseScore(true[kind], predicted[kind], correct[kind]) for kind in sorted(true | predicted)
    }
    return scores | {None: PhraseScore(true.total(), predicted.total(), correct.total())}


def phrase_f1(Y, Y_hat) -> float:
    """F1 of all phrases of sentences; `phrase_scores` gives precision, recall and types.

    >>> phrase_f1([["B-NP", "I-NP", "B-VP"]], [["B-NP", "O", "B-VP"]])
    0.5
    """
    return phrase_scores(Y, Y_hat)[None].f1


def phrase_f1_scorer(model, X, Y) -> float:
    """F1 of the phrases that a model predicts: as `scoring=` of scikit-learn's cross_val_score takes it.

    >>> import oneslack
    >>> from oneslack.metrics import phrase_f1_scorer
    >>> X, Y = [[{"Rome": 1.0}, {"is": 1.0}]] * 4, [["B-LOC", "O"]] * 4
    >>> phrase_f1_scorer(oneslack.SequenceTagger(C=1.0).fit(X, Y), X, Y)
    1.0
    """
    return phrase_f1(Y, model.predict(X))


def token_accuracy(Y, Y_hat) -> float:
    """The share of tokens with the right label; Y, Y_hat: a list of labels for each of the same sentences.

    >>> token_accuracy([["D", "N"], ["V"]], [["D", "V"], ["V"]])
    0.6666666666666666
    """
    pairs = [(a, b) for y, y_hat in _sentences(Y, Y_hat) for a, b in zip(y, y_hat, strict=True)]
    return sum(bool(a == b) for a, b in pairs) / len(pairs) if pairs else 1.0


def _sentences(Y, Y_hat):
    """Pairs of sentences, which must be as many and as long."""
    Y, Y_hat = list(Y), list(Y_hat)
    if len(Y) != len(Y_hat):
        raise ValueError(f"Y has {len(Y)} sentences but Y_hat has {len(Y_hat)}")
    for i, (y, y_hat) in enumerate(zip(Y, Y_hat, strict=True)):
        if len(y) != len(y_hat):
            raise ValueError(f"sentence {i} has {len(y)} labels in Y but {len(y_hat)} in Y_hat")
        yield y, y_hat

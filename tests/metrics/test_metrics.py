"""Metrics against scikit-learn where it has them, else against the definition."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from sklearn import metrics as sk

from oneslack import metrics


def cases(seed, count=150):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(2, 40))
        y = np.where(rng.random(n) < rng.choice([0.1, 0.5, 0.9]), 1, -1)
        y[:2] = 1, -1
        scores = rng.normal(size=n)
        yield rng, y, np.round(scores) if rng.random() < 0.5 else scores


def test_binary_metrics_equal_scikit_learn():
    for rng, y, scores in cases(0):
        beta = float(rng.choice([0.5, 1.0, 2.0]))
        predicted = np.where(scores > 0, 1, -1)
        expected = sk.fbeta_score(y, predicted, beta=beta, zero_division=0.0)
        assert metrics.f_beta(y, scores, beta) == pytest.approx(expected)
        assert metrics.average_precision(y, scores) == pytest.approx(sk.average_precision_score(y, scores))
        assert metrics.roc_auc(y, scores) == pytest.approx(sk.roc_auc_score(y, scores))


def test_ndcg_equals_scikit_learn():
    for rng, _, scores in cases(1):
        y = rng.integers(0, 4, size=len(scores))
        y[0] = 1
        k = int(rng.integers(1, len(y) + 1)) if rng.random() < 0.7 else None
        assert metrics.ndcg(y, scores, k=k) == pytest.approx(sk.ndcg_score([y], [scores], k=k))
        exponential = sk.ndcg_score([2.0**y - 1], [scores], k=k)
        assert metrics.ndcg(y, scores, k=k, exponential=True) == pytest.approx(exponential)


def test_top_k_is_the_mean_over_orders_of_ties():
    for rng, y, scores in cases(2, 40):
        k = int(rng.integers(1, len(y) + 1))
        found = []
        for _ in range(300):
            mixed = rng.permutation(len(y))
            first = mixed[np.argsort(-scores[mixed], kind="stable")[:k]]
            found.append(np.sum(y[first] > 0))
        tolerance = 0 if len(np.unique(scores)) == len(y) else 5 * np.std(found) / np.sqrt(300)
        assert metrics.precision_at_k(y, scores, k) * k == pytest.approx(np.mean(found), abs=tolerance + 1e-9)
        positives = np.sum(y > 0)
        assert metrics.recall_at_k(y, scores, k) * positives == pytest.approx(
            metrics.precision_at_k(y, scores, k) * k
        )
        assert metrics.precision_recall_break_even(y, scores) == pytest.approx(
            metrics.precision_at_k(y, scores, int(positives))
        )


def test_k_as_a_share():
    y, scores = np.array([1, -1, 1, -1]), np.array([4.0, 3.0, 2.0, 1.0])
    assert metrics.precision_at_k(y, scores, 0.5) == 0.5
    assert metrics.recall_at_k(y, scores, 0.75) == 1.0
    assert metrics.precision_at_k(y, scores, 0.01) == 1.0  # at least one
    with pytest.raises(ValueError, match="k=5 but there are 4 examples"):
        metrics.precision_at_k(y, scores, 5)


def test_means_over_groups():
    for rng, y, scores in cases(3):
        groups = rng.choice(["a", "b", "c"], size=len(y))
        relevance = np.maximum(y, 0)
        parts = [groups == g for g in np.unique(groups) if np.any(y[groups == g] > 0)]
        expected = np.mean([sk.average_precision_score(y[part], scores[part]) for part in parts])
        assert metrics.mean_average_precision(y, scores, groups) == pytest.approx(expected)
        expected = np.mean([metrics.ndcg(relevance[part], scores[part], k=3) for part in parts])
        assert metrics.ndcg(relevance, scores, groups, k=3) == pytest.approx(expected)


def test_ordered_pairs_equal_the_definition():
    for rng, _, scores in cases(4):
        n = len(scores)
        y = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(0, 4, size=n)
        groups = rng.integers(-2, 3, size=n) if rng.random() < 0.5 else None
        order, pairs = 0.0, 0
        for i, j in combinations(range(n), 2):
            if y[i] != y[j] and (groups is None or groups[i] == groups[j]):
                pairs += 1
                order += 0.5 * (1 + np.sign(y[i] - y[j]) * np.sign(scores[i] - scores[j]))
        expected = order / pairs if pairs else 1.0
        assert metrics.ordered_pairs(y, scores, groups) == pytest.approx(expected)


def test_ordered_pairs_of_many():
    rng = np.random.default_rng(5)
    y, scores = rng.normal(size=1500), rng.normal(size=1500)
    upper = np.triu_indices(1500, 1)
    agree = np.subtract.outer(y, y)[upper] * np.subtract.outer(scores, scores)[upper] > 0
    assert metrics.ordered_pairs(y, scores) == pytest.approx(agree.mean(), abs=1e-12)
    assert metrics.ordered_pairs(y, y) == 1.0
    assert metrics.ordered_pairs(y, -y) == 0.0


def test_where_nothing_can_be_found():
    y, scores = -np.ones(4), np.arange(4.0)
    assert metrics.f_beta(y, -scores) == 1.0
    assert metrics.f_beta(y, scores) == 0.0
    for metric in (
        metrics.average_precision,
        metrics.precision_recall_break_even,
        metrics.roc_auc,
        metrics.mean_average_precision,
        metrics.ordered_pairs,
    ):
        assert metric(y, scores) == 1.0
    assert metrics.recall_at_k(y, scores, 2) == 1.0
    assert metrics.ndcg(np.zeros(4), scores) == 1.0
    with pytest.raises(ValueError, match=r"example 2: y is -1\.0, but a gain"):
        metrics.ndcg([0, 1, -1], [0, 1, 2])


# Phrases of tagged sentences.


def conll_phrases(labels):
    """The rules of CoNLL's evaluation, one pair of neighbours at a time: where a phrase ends and starts."""
    split = [("O", ""), *(label.partition("-")[::2] for label in labels), ("O", "")]
    starts, ends = [], []
    for t, ((tag, kind), (next_tag, next_kind)) in enumerate(pairwise(split)):
        other = kind != next_kind
        if (tag, next_tag) in {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")} or (tag != "O" and other):
            ends.append(t)
        if (tag, next_tag) in {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")} or (next_tag != "O" and other):
            starts.append((next_kind, t))
    return [(kind, first, stop) for (kind, first), stop in zip(starts, ends, strict=True)]


def random_tags(rng, n):
    return [str(label) for label in rng.choice(["O", "B-X", "I-X", "B-Y", "I-Y", "B", "I"], size=n)]


def test_phrases_follow_the_rules_of_conll():
    rng = np.random.default_rng(6)
    for _ in range(500):
        labels = random_tags(rng, int(rng.integers(0, 9)))
        assert metrics.phrases(labels) == conll_phrases(labels)
    assert metrics.phrases(["I-X", "I-X", "B-X", "I-X", "O"]) == [("X", 0, 2), ("X", 2, 4)]  # IOB1
    assert metrics.phrases(["B-A-B", "I-A-B", "I-A"]) == [("A-B", 0, 2), ("A", 2, 3)]
    assert metrics.phrases(np.array(["B-X"])) == [("X", 0, 1)]


def test_phrase_scores_equal_the_definition():
    rng = np.random.default_rng(7)
    lengths = rng.integers(0, 8, size=60)
    Y = [random_tags(rng, n) for n in lengths]
    Y_hat = [
        [a if rng.random() < 0.7 else b for a, b in zip(y, random_tags(rng, len(y)), strict=True)] for y in Y
    ]
    scores = metrics.phrase_scores(Y, Y_hat)
    assert list(scores) == ["", "X", "Y", None]
    for kind, score in scores.items():
        sets = [
            {(i, *p) for i, y in enumerate(sentences) for p in conll_phrases(y) if kind in (None, p[0])}
            for sentences in (Y, Y_hat)
        ]
        n_correct = len(sets[0] & sets[1])
        assert score == (len(sets[0]), len(sets[1]), n_correct)
        assert 0 < n_correct < min(map(len, sets))
        assert score.precision == n_correct / len(sets[1])
        assert score.recall == n_correct / len(sets[0])
        harmonic = 2 * score.precision * score.recall / (score.precision + score.recall)
        assert score.f1 == pytest.approx(harmonic)
    assert metrics.phrase_f1(Y, Y_hat) == scores[None].f1
    expected = sk.accuracy_score([a for y in Y for a in y], [a for y in Y_hat for a in y])
    assert metrics.token_accuracy(Y, Y_hat) == pytest.approx(expected)


def test_a_phrase_ends_with_its_sentence():
    assert metrics.phrase_scores([["B-X"], ["I-X"]], [["B-X"], ["O"]])[None] == (2, 1, 1)


def test_where_there_is_no_phrase():
    none, some = [["O", "O"]], [["O", "B-X"]]
    for Y, Y_hat, expected in [(none, none, (1, 1, 1)), (some, none, (0, 0, 0)), (none, some, (0, 0, 0))]:
        score = metrics.phrase_scores(Y, Y_hat)[None]
        assert (score.precision, score.recall, score.f1) == expected
    assert metrics.phrase_f1([], []) == metrics.token_accuracy([], []) == 1.0


def test_bad_tags_are_named():
    with pytest.raises(ValueError, match="position 1: 'NN' is no IOB label"):
        metrics.phrases(["O", "NN"])
    with pytest.raises(ValueError, match="sentence 1, position 0: 'E-X' is no IOB label"):
        metrics.phrase_f1([["O"], ["O"]], [["O"], ["E-X"]])
    for measure in (metrics.phrase_f1, metrics.token_accuracy):
        with pytest.raises(ValueError, match="sentence 1 has 2 labels in Y but 1 in Y_hat"):
            measure([["O"], ["O", "O"]], [["O"], ["O"]])
        with pytest.raises(ValueError, match="Y has 1 sentences but Y_hat has 2"):
            measure([["O"]], [["O"], ["O"]])

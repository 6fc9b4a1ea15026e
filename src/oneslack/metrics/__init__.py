"""Measures of predictions: of classes and orders, sets of labels, phrases of sentences, brackets of trees."""

from .brackets import BracketScores, bracket_f1, bracket_scores
from .label_sets import label_set_scores
from .phrases import PhraseScore, phrase_f1, phrase_f1_scorer, phrase_scores, phrases, token_accuracy
from .positive import positive_class, positive_of
from .scores import (
    average_precision,
    f_beta,
    k_of,
    mean_average_precision,
    ndcg,
    ordered_pairs,
    precision_at_k,
    precision_recall_break_even,
    recall_at_k,
    roc_auc,
)

__all__ = [
    "BracketScores",
    "PhraseScore",
    "average_precision",
    "bracket_f1",
    "bracket_scores",
    "f_beta",
    "k_of",
    "label_set_scores",
    "mean_average_precision",
    "ndcg",
    "ordered_pairs",
    "phrase_f1",
    "phrase_f1_scorer",
    "phrase_scores",
    "phrases",
    "positive_class",
    "positive_of",
    "precision_at_k",
    "precision_recall_break_even",
    "recall_at_k",
    "roc_auc",
    "token_accuracy",
]

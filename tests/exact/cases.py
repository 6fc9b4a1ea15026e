"""All kinds of trainings: `case(kind, seed)` is one of them."""

import numpy as np

from . import (
    linear_cases,
    loss_cases,
    penalised_cases,
    portion_cases,
    sample_cases,
    smooth_cases,
    structured_cases,
)

KINDS = {
    "two_classes": linear_cases.two_classes_case,
    "many_classes": linear_cases.many_classes_case,
    "one_against_the_rest": linear_cases.one_against_the_rest_case,
    "regression": linear_cases.regression_case,
    "losses": loss_cases.loss_case,
    "logistic": smooth_cases.logistic_case,
    "l1": smooth_cases.l1_case,
    "penalised_intercept": penalised_cases.penalised_intercept_case,
    "portions": portion_cases.portions_case,
    "ranking": linear_cases.ranking_case,
    "ordinal": linear_cases.ordinal_case,
    "constraints": linear_cases.constraints_case,
    "minimize": linear_cases.minimize_case,
    "measure": sample_cases.measure_case,
    "kernel": sample_cases.kernel_case,
    "own_model": structured_cases.own_model_case,
    "chain": structured_cases.chain_case,
    "tagger": structured_cases.tagger_case,
    "grammar": structured_cases.grammar_case,
}


def case(kind, seed):
    return KINDS[kind](np.random.default_rng([seed, *kind.encode()]))

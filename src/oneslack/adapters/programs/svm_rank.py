"""SVM-rank: `svm_rank_learn` and `svm_rank_classify`.

    P = 1/2 |w|^2 + (c / q) sum over the q queries of xi_query
    -l 1    xi counts swapped pairs: the sum of the hinges of the pairs of a query
    -l 2    the same, divided by the number of its pairs

RankSVM has C S (mean of the pairs, pair (i, j) counting s_i s_j), S the sum of the s_i: with
s_i = 1 / sqrt(pairs of its query) the mean over pairs becomes the mean over queries.
"""

from __future__ import annotations

import numpy as np

from .arguments import CLASSIFY, KERNELS, Option, struct_options, weight_of_slack
from .kernel_models import span
from .light_text import linear_model, read_model, write_model
from .running import Clock, Program, pairs_of_queries, read_queries, tell_training, write_lines
from .svm_light import scores_of
from .training import trained

_LOSS = Option(
    "-l",
    int,
    1,
    "loss: 1 swapped pairs, summed; 2 share of a query's pairs",
    only=(1, 2),
    refusal="use 1 or 2.",
)
LEARN = (*struct_options(epsilon=0.001, loss=_LOSS, algorithm=3), *KERNELS)


def learn(got):
    """`svm_rank_learn [options] example_file [model_file]`."""
    train, model = (*got.files, "svm_struct_model")[:2]
    c, clock, table = weight_of_slack(got), Clock(), read_queries(train)
    pairs = pairs_of_queries(table.y, table.qid)
    C, weights = terms(c, got["-l"], pairs, table.qid)
    # Its epsilon is one of xi, so that P - D <= c epsilon; ours is one of R, P - D <= C S epsilon.
    total = len(table.y) if weights is None else weights.sum()
    until = {"epsilon": got.positive("-e") * c / (C * total)}
    here = span(got, table.X) if got["-t"] else None
    result = ranked(here.Z if here else table.X, table.y, table.qid, C, weights=weights, **until)
    tell_training(got["-v"], clock, result.primal, result.dual)
    fields = {"number_of_training_documents": len(pairs)}
    write_model(
        model, here.model(result.w, **fields) if here else linear_model("SVM-light", result.w, **fields)
    )


def ranked(X, y, qid, C, **options):
    """The Result of RankSVM's problem."""
    from ...models import Grouped, Ranking

    targets = Grouped(y, np.unique(qid, return_inverse=True)[1])
    return trained(Ranking(X.shape[1]), X, targets, C, **options)


def terms(c, loss, pairs, qid):
    """(C of RankSVM, sample weights or None) for a C of SVM-rank."""
    _, query = np.unique(qid, return_inverse=True)
    if loss == 1:
        return c * pairs.sum() / (len(query) * len(pairs)), None
    weights = np.divide(1.0, np.sqrt(pairs), out=np.zeros(len(pairs)), where=pairs > 0)[query]
    return c * np.count_nonzero(pairs) / (len(pairs) * weights.sum()), weights


def classify(got):
    """`svm_rank_classify [options] example_file model_file [output_file]`."""
    test, model, output = (*got.files, "svm_predictions")[:3]
    found, table = read_model(model), read_queries(test)
    scores = scores_of(found, table.X)
    write_lines(output, (f"{score:.8f}" for score in scores))
    if got["-v"]:
        from ...metrics import ordered_pairs

        print(f"Fraction of swapped pairs on test set: {1 - ordered_pairs(table.y, scores, table.qid):.4f}")


PROGRAMS = (
    Program("svm_rank_learn", LEARN, ("example_file", "[model_file]"), learn),
    Program("svm_rank_classify", CLASSIFY, ("example_file", "model_file", "[output_file]"), classify),
)

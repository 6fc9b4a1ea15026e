"""SVM-hmm: `svm_hmm_learn` and `svm_hmm_classify`.

    P = 1/2 |w|^2 + (c / n) sum over the n sentences of xi, in wrong tags

In its model file, with K tags and F features, a pair of tags (a, b) has the number b + a K, a triple
(a, b, c) the number c + b K + a K^2, and feature f of tag a the number base + F a + f, where base is one more
than K + K^2 (+ K^3); all count from 1.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...errors import OneslackError
from .arguments import CLASSIFY, LINEAR_ALONE, Option, struct_options, weight_of_slack
from .light_text import linear_model, read_model, write_model
from .running import Clock, Program, tell_losses, tell_training, with_columns, write_lines
from .svm_multiclass import ALGORITHMS
from .training import trained

_LOSS = Option("-l", int, 1, "loss: 1 wrong tags", only=(1,), refusal="the program has no other; use 1.")
_BEAM = Option("--b", int, 0, "width of the beam", unused="the best tags are always found exactly")
LEARN = (
    *struct_options(epsilon=0.1, loss=_LOSS, algorithm=4),
    *LINEAR_ALONE,
    Option("--t", int, 1, "order of transitions: 1 pairs of tags, 2 triples", only=(1, 2),
           refusal="transitions of order 1 and 2 are trained here."),
    Option("--e", int, 0, "order of emissions: 0", only=(0,),
           refusal="emissions of order 0 are trained here; add features of the neighbouring tokens instead."),
    _BEAM,
)  # fmt: skip


def learn(got):
    """`svm_hmm_learn [options] example_file [model_file]`."""
    from ...formats import read_svmhmm

    train, model = (*got.files, "svm_struct_model")[:2]
    c, clock = weight_of_slack(got), Clock()
    rows = read_svmhmm(train, zero_based=False)
    if (rows.tags < 1).any():
        raise OneslackError(
            f"{train}: token {int((rows.tags < 1).argmax()) + 1} has a tag below 1; tags are 1, 2, 3, ..."
        )
    K, n, d, order = int(rows.tags.max()), len(rows.offsets) - 1, rows.X.shape[1], got["--t"]
    from ...models.chain import Chain

    chain = Chain(d, K, order=order)
    X, Y = sentences(rows.X, rows.offsets), sentences(rows.tags - 1, rows.offsets)
    solver = ALGORITHMS[got["-w"]] if "-w" in got.given else "auto"
    result = trained(chain, X, Y, c / n, solver=solver, epsilon=got.positive("-e"))
    tell_training(got["-v"], clock, result.primal, result.dual)
    fields = {"number_of_emission_features": d, "number_of_classes": K, "HMM_order_of_transitions": order,
              "loss_function": 1}  # fmt: skip
    weights = np.zeros(_base(K, order) + (K + 1) * d)
    weights[numbers(d, K, order) - 1] = result.w
    write_model(model, linear_model("SVM-HMM", weights, **fields))


def sentences(rows, offsets):
    """Rows of tokens as a list with an item a sentence."""
    return [rows[start:end] for start, end in pairwise(offsets)]


def _base(K, order):
    return sum(K**k for k in range(1, order + 2)) + 1


def numbers(d, K, order):
    """(n_params,): the number that SVM-hmm gives to each weight of Chain(d, K, order=order)."""
    tags = np.arange(1, K + 1)
    emissions = _base(K, order) + d * tags[None, :] + np.arange(1, d + 1)[:, None]
    blocks = [emissions, tags[None, :] + K * tags[:, None]]
    if order == 2:
        blocks.append(tags[None, None, :] + K * tags[None, :, None] + K**2 * tags[:, None, None])
    return np.concatenate([block.ravel() for block in blocks])


def classify(got):
    """`svm_hmm_classify [options] example_file model_file [output_file]`."""
    from ...formats import read_svmhmm

    test, model, output = (*got.files, "svm_predictions")[:3]
    found = read_model(model)
    if found.family != "SVM-HMM" or found.kernel_type != 0 or found["HMM order of emissions"] != 0:
        raise OneslackError(f"{model}: a linear model of SVM-hmm with emissions of order 0 was expected.")
    K, d, order = (
        int(found[name])
        for name in ("number of classes", "number of emission features", "HMM order of transitions")
    )
    from ...models.chain import Chain

    chain, places = Chain(d, K, order=order), numbers(d, K, order) - 1
    weights = np.zeros(max(len(found.weights), int(places.max()) + 1))
    weights[: len(found.weights)] = found.weights
    rows = read_svmhmm(test, zero_based=False)
    w, X = weights[places], sentences(with_columns(rows.X, d), rows.offsets)
    tags = np.concatenate([chain.decode(w, x) for x in X]) + 1
    write_lines(output, map(str, tags.tolist()))
    if got["-v"]:
        wrong = np.add.reduceat(tags != rows.tags, rows.offsets[:-1])
        tell_losses(wrong)
        print(f"Token accuracy: {np.mean(tags == rows.tags):.2%}")


PROGRAMS = (
    Program("svm_hmm_learn", LEARN, ("example_file", "[model_file]"), learn),
    Program(
        "svm_hmm_classify", (*CLASSIFY, _BEAM), ("example_file", "model_file", "[output_file]"), classify
    ),
)

"""SVM-multiclass: `svm_multiclass_learn` and `svm_multiclass_classify`, Crammer and Singer's problem.

    P = 1/2 |w|^2 + (c / n) sum_i xi_i        a wrong class costs 100

-o 2    xi = max 100 [z != y] + score_z - score_y.  With w = 100 u it is 100^2 (1/2 |u|^2 + c / (100 n) sum of
        hinges of 1): ours at C = c / (100 n)
-o 1    xi = max 100 [z != y] (1 + score_z - score_y): ours at C = 100 c / n
"""

from __future__ import annotations

import numpy as np

from ...errors import OneslackError
from .arguments import CLASSIFY, LINEAR_ALONE, Option, struct_options, weight_of_slack
from .light_text import linear_model, read_model, write_model
from .running import Clock, Program, read_examples, tell_losses, tell_training, with_columns, write_lines
from .training import trained

#: What a wrong class costs.
LOSS = 100.0
_LOSS = Option("-l", int, 0, "loss: 0 a wrong class", unused="any wrong class costs 100, as in the program")
_RESCALING = Option(
    "-o", int, 2, "rescaling: 1 slack, 2 margin", only=(1, 2), refusal="the slack or the margin; use 1 or 2."
)
LEARN = (
    *struct_options(epsilon=0.1, loss=_LOSS, algorithm=4, rescaling=_RESCALING),
    *LINEAR_ALONE,
)
ALGORITHMS = {0: "n_slack", 1: "n_slack", 2: "one_slack", 3: "one_slack", 4: "one_slack", 9: "auto"}


def learn(got):
    """`svm_multiclass_learn [options] example_file [model_file]`."""
    train, model = (*got.files, "svm_struct_model")[:2]
    c, clock, table = weight_of_slack(got), Clock(), read_examples(train)
    codes = class_numbers(train, table.y) - 1
    (n, d), K = table.X.shape, int(codes.max()) + 1
    if K < 2:
        raise OneslackError(f"{train}: all examples are of class 1; at least 2 classes are needed.")
    from ...models import Multiclass

    # -w 4 is its default, and the fastest of its own: asked for or not, the fastest is taken.
    solver = ALGORITHMS[got["-w"]] if "-w" in got.given else "auto"
    scale, epsilon = LOSS if got["-o"] == 2 else 1.0, got.positive("-e") / LOSS
    C = LOSS * c / (scale**2 * n)
    result = trained(Multiclass(d, K), table.X, codes, C, solver=solver, epsilon=epsilon)
    tell_training(got["-v"], clock, scale**2 * result.primal, scale**2 * result.dual)
    weights = scale * result.w.reshape(d, K).T.ravel()
    fields = {"number_of_classes": K, "number_of_base_features": d, "number_of_training_documents": n}
    write_model(model, linear_model("SVM-multiclass", weights, **fields))


def class_numbers(path, y):
    """(n,) whole numbers from 1."""
    wrong = (y != np.round(y)) | (y < 1)
    if wrong.any():
        row = int(wrong.argmax())
        raise OneslackError(f"{path}: example {row + 1} has the class {y[row]:g}; classes are 1, 2, 3, ...")
    return y.astype(np.int64)


def classify(got):
    """`svm_multiclass_classify [options] example_file model_file [output_file]`."""
    test, model, output = (*got.files, "svm_predictions")[:3]
    found, table = read_model(model), read_examples(test)
    if found.family != "SVM-multiclass" or found.kernel_type != 0:
        raise OneslackError(f"{model}: a linear model of SVM-multiclass was expected.")
    K, d = int(found["number of classes"]), int(found["number of base features"])
    W = np.zeros(K * d)
    W[: len(found.weights)] = found.weights[: K * d]
    scores = np.asarray(with_columns(table.X, d) @ W.reshape(K, d).T)
    predicted = scores.argmax(axis=1) + 1
    rows = zip(predicted, scores, strict=True)
    write_lines(output, (" ".join([str(label), *(f"{score:f}" for score in row)]) for label, row in rows))
    if got["-v"]:
        tell_losses(LOSS * (predicted != table.y))


PROGRAMS = (
    Program("svm_multiclass_learn", LEARN, ("example_file", "[model_file]"), learn),
    Program("svm_multiclass_classify", CLASSIFY, ("example_file", "model_file", "[output_file]"), classify),
)

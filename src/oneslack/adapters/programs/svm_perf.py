"""SVM-perf: `svm_perf_learn` and `svm_perf_classify`, with the losses that QuaPy's patch adds.

P = 1/2 |w|^2 + c xi, losses in percent: `adapters.quapy` derives it.  -e counts percent, too.
"""

from __future__ import annotations

import numpy as np

from .arguments import CLASSIFY, KERNELS, Mistake, Option, struct_options, weight_of_slack
from .kernel_models import span
from .light_text import linear_model, read_model, write_model
from .running import Clock, Program, labels_of_two, read_examples, tell_training, write_lines
from .svm_light import scores_of
from .training import trained, with_constant

#: -l, by the names of `adapters.perf_losses` and of measures.
LOSSES = {
    0: "01", 1: "f1", 2: "error", 3: "prbep", 4: "precision_at_k", 5: "recall_at_k", 10: "roc_auc", 12: "kld",
    13: "nkld", 22: "q", 23: "qacc", 24: "qf1", 25: "qgm", 26: "mae", 27: "mrae",
}  # fmt: skip
_NO_SEARCH = "the basis is of examples; no other vectors are searched for"
_NAMES = ", ".join(f"{number} {name}" for number, name in LOSSES.items())
_LOSS = Option("-l", int, 2, f"loss: {_NAMES}", only=tuple(LOSSES), refusal="this loss is not known.")
LEARN = (
    *struct_options(epsilon=0.1, loss=_LOSS, algorithm=9),
    *KERNELS,
    Option("--b", float, 1.0, "value of the feature whose weight is the bias; 0: none"),
    Option("--p", float, 0.0, "k of -l 4 and 5 as a share of the positives; 0: 0.5 and 2"),
    Option("--t", int, 0, "with a kernel: 1: a basis drawn at random, 2: by incomplete Cholesky",
           only=(0, 1, 2), refusal="use 0, 1 or 2."),
    Option("--i", int, 2, "with a kernel and -w 9: 0: all examples, 1, 2, 4: a basis of --k",
           only=(0, 1, 2, 4), refusal="use 0, 1, 2 or 4."),
    Option("--k", int, 500, "size of the basis"),
    Option("--r", int, 0, "restarts of the basis", unused=_NO_SEARCH),
    Option("--s", int, 1, "shrinking", unused="it is chosen by itself"),
    Option("--f", str, "", "file of basis functions", unused="the basis is of training examples"),
)  # fmt: skip
PERF_CLASSIFY = (*CLASSIFY, Option("--d", int, 1, "1: dense vectors", unused="it is chosen by itself"))


def learn(got):
    """`svm_perf_learn [options] example_file [model_file]`."""
    train, model = (*got.files, "svm_struct_model")[:2]
    c, clock, table = weight_of_slack(got), Clock(), read_examples(train)
    y = labels_of_two(table.path, table.y, zero_is_negative=True)
    n, d = table.X.shape
    if got["-v"]:
        print(
            f"Training set properties: {d} features, {n} examples ({(y > 0).sum()} pos / {(y < 0).sum()} neg)"
        )
    here = _kernel(got, table.X)
    X = here.Z if here else with_constant(table.X, got["--b"])
    model_of = _model(got, X.shape[1], int((y > 0).sum()))
    result = trained(model_of, X, y, 100.0 * c / n, solver=_solver(got), epsilon=got.positive("-e") / 100.0)
    tell_training(got["-v"], clock, result.primal, result.dual)
    fields = {"number_of_training_documents": n}
    if here:
        write_model(model, here.model(result.w, **fields))
        return
    bias = got["--b"] * result.w[d] if got["--b"] else 0.0
    write_model(model, linear_model("SVM-light", result.w[:d], -bias, **fields))


def _kernel(got, X):
    """The Span that -t, --t, --i and --k ask for, or None."""
    if not got["-t"]:
        return None
    if got["--b"]:
        raise Mistake("-t with --b: there is no bias with a kernel, here and in SVM-perf; add --b 0.")
    if got["--k"] < 1:
        raise Mistake(f"--k {got['--k']}: it must be above 0.")
    is_sparse = got["--t"] or (got["-w"] == 9 and got["--i"])
    return span(got, X, got["--k"] if is_sparse else None, "random" if got["--t"] == 1 else "pivoted")


def _model(got, n_features, n_positive):
    from ...models.measures import measure_model
    from ..perf_losses import MODELS

    name = LOSSES[got["-l"]]
    if name in MODELS:
        return MODELS[name](n_features=n_features)
    k = None
    if name in ("precision_at_k", "recall_at_k"):
        share = got["--p"] or (0.5 if name == "precision_at_k" else 2.0)
        if share < 0 or ((share > 1) == (name == "precision_at_k") and share != 1):
            raise Mistake(f"--p {share:g}: it is at most 1 with -l 4 and at least 1 with -l 5.")
        k = max(1, int(share * n_positive))
    return measure_model(name, n_features, k=k, beta=1.0, concave=False, intercept=False)


def _solver(got):
    """-w 2, 3 and 4 ask for one-slack; -w 9, and n-slack of one example, leave it to the problem."""
    return "one_slack" if got["-w"] in (2, 3, 4) else "auto"


def classify(got):
    """`svm_perf_classify [options] example_file model_file [output_file]`."""
    from ... import metrics

    test, model, output = (*got.files, "svm_predictions")[:3]
    found, table = read_model(model), read_examples(test)
    scores = scores_of(found, table.X)
    write_lines(output, (f"{score:.8f}" for score in scores))
    if not got["-v"]:
        return
    if (table.y == 0).any():
        print(f"NOTE: {(table.y == 0).sum()} test examples are unlabeled, so performance cannot be computed.")
        return
    y = np.where(table.y > 0, 1, -1)
    hits, predicted, positive = (
        int(((scores > 0) & (y > 0)).sum()),
        int((scores > 0).sum()),
        int((y > 0).sum()),
    )
    measures = {
        "Accuracy": np.mean((scores > 0) == (y > 0)),
        "Precision": hits / predicted if predicted else 0.0,
        "Recall": hits / positive if positive else 0.0,
        "F1": metrics.f_beta(y, scores),
    }
    if 0 < positive < len(y):
        measures |= {
            "PRBEP": metrics.precision_recall_break_even(y, scores),
            "ROCArea": metrics.roc_auc(y, scores),
            "AvgPrec": metrics.average_precision(y, scores),
        }
    for name, value in measures.items():
        print(f"{name:<9}: {100 * value:5.2f}")


PROGRAMS = (
    Program("svm_perf_learn", LEARN, ("example_file", "[model_file]"), learn),
    Program("svm_perf_classify", PERF_CLASSIFY, ("example_file", "model_file", "[output_file]"), classify),
)

"""SVM-light: `svm_learn` and `svm_classify`.

-z c    1/2 |w|^2 + c sum_i j_i hinge_i          -z r    the tube of half width -w
-z p    1/2 |w|^2 + c sum of the hinges of all pairs of a query
-e is the largest violation: P - D <= c n e.  The default of -c is 1 / (mean |x|)^2, in the kernel's space.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...errors import OneslackError
from .arguments import KERNELS, QP, VERBOSITY, Mistake, Option
from .kernel_models import span, words_of
from .light_text import LightModel, kernel_fields, linear_model, read_model, write_model
from .running import (
    Clock,
    Program,
    labels_of_two,
    pairs_of_queries,
    read_examples,
    read_queries,
    tell_training,
    with_columns,
    write_lines,
)
from .training import line_of, trained

#: Values of a kernel in memory at a time.
_BLOCK = 2**22
_TRANSDUCTION = "examples without a label are not learned from here"
_ESTIMATES = "the program's estimates of the error are not computed; use cross-validation"
LEARN = (
    VERBOSITY,
    Option("-z", str, "c", "c: classification, r: regression, p: preference ranking", only=("c", "r", "p"),
           refusal="use c, r or p."),
    Option("-c", float, 0.0, "C, the weight of an error; 0: 1 / (mean |x|)^2"),
    Option("-w", float, 0.1, "half the width of the tube for -z r"),
    Option("-j", float, 1.0, "cost of errors on positive examples"),
    Option("-b", int, 1, "1: with a threshold, 0: without", only=(0, 1), refusal="use 0 or 1."),
    Option("-i", int, 0, "1: remove inconsistent examples", only=(0,),
           refusal="examples are not removed here; look at `oneslack evaluate`."),
    Option("-x", int, 0, "1: leave one out", only=(0,), refusal=f"{_ESTIMATES}."),
    Option("-o", float, 1.0, "rho of the error estimate", unused=_ESTIMATES),
    Option("-k", int, 0, "depth of the error estimate", unused=_ESTIMATES),
    Option("-p", float, -1.0, "share of positives among examples without a label", unused=_TRANSDUCTION),
    Option("-l", str, "", "file for labels found", unused=_TRANSDUCTION),
    Option("-e", float, 0.001, "largest violation: the gap is at most C n e"),
    Option("-f", int, 1, "0: no final check", unused="the certificate is always checked"),
    Option("-y", str, "", "file of dual variables to start from", unused="training starts from 0"),
    *KERNELS,
    *QP,
)  # fmt: skip
CLASSIFY = (
    Option("-v", int, 2, "how much is printed, 0 to 3"),
    Option("-f", int, 1, "1: scores, 0: the format of version 1.0", only=(0, 1), refusal="use 0 or 1."),
)


def learn(got):
    """`svm_learn [options] example_file [model_file]`."""
    train, model = (*got.files, "svm_model")[:2]
    clock, kind = Clock(), got["-z"]
    if got["-c"] < 0:
        raise Mistake(f"-c {got['-c']:g}: it must be above 0.")
    if not got["-w"] >= 0:
        raise Mistake(f"-w {got['-w']:g}: it must be 0 or above.")
    table = (read_queries if kind == "p" else read_examples)(train)
    C = got["-c"] or _default_C(table.X, got)
    fit = {"c": _kernel_classes if got["-t"] else _classes, "r": _numbers, "p": _pairs}[kind]
    primal, dual, text = fit(got, table, C)
    tell_training(got["-v"], clock, primal, dual)
    write_model(model, text)


def _default_C(X, got):
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    if got["-t"] == 1:  # |phi(x) - phi(0)|^2
        s, r, d = got["-s"], got["-r"], got["-d"]
        squares = np.abs((s * squares + r) ** d - r**d)
    elif got["-t"] == 2:
        squares = 2.0 - 2.0 * np.exp(-got["-g"] * squares)
    length = np.sqrt(squares).mean()
    if not length > 0:
        raise OneslackError("all examples are 0, so -c has no default; give one.")
    return 1.0 / length**2


def _classes(got, table, C):
    from ...models import Binary

    y, d = labels_of_two(table.path, table.y), table.X.shape[1]
    costs, model = costs_of(got, y), Binary(d, bool(got["-b"]))
    result = trained(model, table.X, y, C, weights=costs, epsilon=got.positive("-e"))
    return _line(result, table.X, partial(_linear, len(y)))


def _numbers(got, table, C):
    from ...models import Regression

    X, text = _features(got, table)
    model = Regression(X.shape[1], got["-w"], bool(got["-b"]))
    return _line(trained(model, X, table.y, C, epsilon=got.positive("-e")), X, text)


def _pairs(got, table, C):
    from .svm_rank import ranked

    X, text = _features(got, table)
    pairs = pairs_of_queries(table.y, table.qid).sum()
    result = ranked(X, table.y, table.qid, C * pairs / len(table.y), epsilon=got.positive("-e"))
    return _line(result, X, text)


def _features(got, table):
    """(X, text): rows to learn from, and text(weights, intercept), the model file's content."""
    n = len(table.y)
    if got["-t"]:
        here = span(got, table.X)
        return here.Z, partial(here.model, number_of_training_documents=n)
    return table.X, partial(_linear, n)


def costs_of(got, y):
    """(n,) what an error on each example counts, by -j; None where all count alike."""
    return None if got.positive("-j") == 1.0 else np.where(y > 0, got["-j"], 1.0)


def _line(result, X, text):
    """(P, D, the model file's content)."""
    return result.primal, result.dual, text(*line_of(result, X.shape[1]))


def _linear(n, weights, intercept):
    return linear_model("SVM-light", weights, -intercept, number_of_training_documents=n)


def _kernel_classes(got, table, C):
    from scipy.sparse import csr_matrix

    from ... import KernelSVC

    y = labels_of_two(table.path, table.y)
    fitted = KernelSVC(
        C, fit_intercept=bool(got["-b"]), class_weight={-1.0: 1.0, 1.0: got.positive("-j")}, method="exact",
        epsilon=got["-e"], **words_of(got["-t"], got["-d"], got["-g"], got["-s"], got["-r"]),
    ).fit(table.X, y)  # fmt: skip
    fields = kernel_fields(got["-t"], got["-d"], got["-g"], got["-s"], got["-r"])
    fields |= {"number of training documents": len(y)}
    vectors = csr_matrix(fitted.support_vectors_)
    text = LightModel("SVM-light", vectors, fitted.dual_coef_[0], -float(fitted.intercept_[0]), fields)
    return fitted.objective_, fitted.dual_objective_, text


def classify(got):
    """`svm_classify [options] example_file model_file [output_file]`."""
    test, model, output = (*got.files, "svm_predictions")[:3]
    found, table = read_model(model), read_examples(test)
    scores = scores_of(found, table.X)
    if got["-f"]:
        write_lines(output, (f"{score:.8g}" for score in scores))
    else:
        pairs = zip(scores, np.where(scores > 0, "+1", "-1"), np.where(scores > 0, "-1", "+1"), strict=True)
        write_lines(output, (f"{abs(f):.8g}:{ours} {-abs(f):.8g}:{other}" for f, ours, other in pairs))
    if got["-v"] and (np.abs(table.y) == 1).all():
        _tell_accuracy(table.y > 0, scores > 0)


def scores_of(found, X):
    """(n,), of the model of two classes."""
    if found.family != "SVM-light":
        raise OneslackError(f"a model of SVM-light was expected, but it is one of {found.family}.")
    if found.kernel_type == 0:
        return np.asarray(with_columns(X, found.vectors.shape[1]) @ found.weights).ravel() - found.b
    if found.kernel_type not in (1, 2):
        raise OneslackError(f"the model has the kernel {found.kernel_type}; 0, 1 and 2 are known here.")
    from ...kernels.mercer import Kernel

    named = [found[f"kernel parameter -{letter}"] for letter in "dgsr"]
    words = words_of(found.kernel_type, *named)
    width = max(X.shape[1], found.vectors.shape[1])
    kernel = Kernel(words.pop("kernel"), **words)
    A, B = with_columns(X, width), with_columns(found.vectors, width)
    kernel = kernel.fitted(B)
    at, vectors = kernel.inputs(A), kernel.inputs(B)
    rows = max(1, _BLOCK // max(1, len(vectors)))
    parts = [
        kernel.values(at.take(slice(k, k + rows)), vectors) @ found.alpha for k in range(0, len(at), rows)
    ]
    return np.concatenate(parts) - found.b


def _tell_accuracy(truth, predicted):
    right, n, hits = int((truth == predicted).sum()), len(truth), int((truth & predicted).sum())
    print(f"Accuracy on test set: {right / n:.2%} ({right} correct, {n - right} incorrect, {n} total)")
    print(f"Precision/recall on test set: {_share(hits, predicted.sum())}/{_share(hits, truth.sum())}")


def _share(part, whole):
    return f"{part / whole:.2%}" if whole else "nan%"


PROGRAMS = (
    Program("svm_learn", LEARN, ("example_file", "[model_file]"), learn),
    Program("svm_classify", CLASSIFY, ("example_file", "model_file", "[output_file]"), classify),
)

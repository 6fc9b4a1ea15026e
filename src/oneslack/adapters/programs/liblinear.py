"""LIBLINEAR: `train` and `predict`, the solvers 0 to 7 and 11 to 13 of its option -s.

    P = |w|^2 / 2 or |w|_1, + C sum_i loss_i        -B x: with one more column of that value

Each is one loss and one penalty here; which solver trains it is chosen by the data.  -e x is a relative
duality gap of x / 100: the program's own rules look at gradients, and prove nothing.
"""

from __future__ import annotations

import numpy as np

from ...errors import OneslackError
from ...formats.atomic import atomic_write
from .arguments import Mistake, Option
from .liblinear_text import SOLVERS, LinearText, read_model, write_model
from .running import Clock, Program, read_examples, with_columns, write_lines

#: From -s to loss, penalty and the default of -e; the last three are regression.
TYPES = {
    0: ("logistic", "l2", 0.01), 1: ("squared_hinge", "l2", 0.1), 2: ("squared_hinge", "l2", 0.01),
    3: ("hinge", "l2", 0.1), 4: ("crammer_singer", "l2", 0.1), 5: ("squared_hinge", "l1", 0.01),
    6: ("logistic", "l1", 0.01), 7: ("logistic", "l2", 0.1),
    11: ("squared_epsilon_insensitive", "l2", 0.001), 12: ("squared_epsilon_insensitive", "l2", 0.1),
    13: ("epsilon_insensitive", "l2", 0.1),
}  # fmt: skip
REGRESSION = (11, 12, 13)
LEARN = (
    Option("-s", int, 1, "solver: " + ", ".join(f"{s} {SOLVERS[s]}" for s in TYPES), only=tuple(TYPES),
           refusal="one-class models are not trained here; use 0 to 7 or 11 to 13."),
    Option("-c", float, 1.0, "C, the weight of the losses"),
    Option("-p", float, 0.1, "half the width of the tube for -s 11, 12, 13"),
    Option("-n", float, 0.5, "nu of one-class models", unused="there are none here"),
    Option("-e", float, None, "tolerance: the relative duality gap is at most a hundredth of it"),
    Option("-B", float, -1.0, "value of one more column for the bias; below 0: none"),
    Option("-R", bool, False, "do not penalise the bias; with -B 1"),
    Option("-w*", float, {}, "-wLABEL x: weight of the losses of a class"),
    Option("-v", int, 0, "folds of a cross-validation, which writes no model"),
    Option("-C", bool, False, "find C", only=(False,), refusal="use `oneslack tune` instead."),
    Option("-q", bool, False, "print nothing"),
)  # fmt: skip
PREDICT = (
    Option("-b", int, 0, "1: probabilities, of logistic models", only=(0, 1), refusal="use 0 or 1."),
    Option("-q", bool, False, "print nothing"),
)


def learn(got):
    """`train [options] training_set_file [model_file]`."""
    train, *model = got.files
    clock, table = Clock(), read_examples(train, qid="auto")
    got.positive("-c")
    if got["-R"] and got["-B"] != 1:
        raise Mistake("-R needs -B 1: it frees the weight of that column.")
    if got["-v"]:
        return _cross_validate(got, table)
    fitted, text = _fit(got, table.X, table.y)
    if not got["-q"]:
        for result in fitted.result_.parts:
            print(
                f"Objective value = {result.primal:.6f}, at most {result.primal - result.dual:.2e} too high"
            )
        print(f"Runtime in cpu-seconds: {clock.seconds():.2f}")
    write_model(*(model or [f"{train}.model"]), text)


def _fit(got, X, y):
    s, d = got["-s"], X.shape[1]
    loss, penalty, default = TYPES[s]
    has_bias, free = got["-B"] >= 0, got["-R"]
    if has_bias and not free:
        from ..quapy import with_constant

        X = with_constant(X, got["-B"])
    options = {"C": got["-c"], "loss": loss, "fit_intercept": free, "tol": (got["-e"] or default) / 100.0}
    if s in REGRESSION:
        fitted = _regression(X, y, options | {"epsilon": got["-p"]})
        labels, W, b = None, fitted.coef_[None, :], np.array([fitted.intercept_])
    else:
        weights = {float(label): weight for label, weight in got["-w*"].items()}
        fitted, labels, W, b = _classes(X, y, options | {"penalty": penalty}, weights)
    if has_bias:
        last = b if free else (W[:, d] if got["-B"] else np.zeros(len(W)))
        W = np.column_stack([W[:, :d], last])
    return fitted, LinearText(SOLVERS[s], labels, d, got["-B"], W)


def _regression(X, y, options):
    from ... import LinearSVR

    return LinearSVR(**options).fit(X, y)


def _classes(X, y, options, weights):
    """(fitted, labels in LIBLINEAR's order, W with a row a class or one for two classes, intercepts)."""
    from ... import LinearSVC

    classes, first = np.unique(y, return_index=True)
    if len(classes) < 2:
        raise OneslackError(f"all examples are of class {classes[0]:g}; at least 2 classes are needed.")
    unknown = [label for label in weights if label not in classes]
    if unknown:
        raise Mistake(f"-w{unknown[0]:g}: no example is of that class.")
    all_at_once = options["loss"] == "crammer_singer"
    options["multi_class"] = "crammer_singer" if all_at_once else "ovr"
    if all_at_once:
        options["loss"] = "hinge"
        if len(classes) == 2:  # w_1 = -w_2 = u / 2: half of |u|^2 / 2 + 2 C sum of hinges
            options["C"] *= 2.0
    fitted = LinearSVC(class_weight=weights or None, **options).fit(X, y)
    order = np.argsort(first)
    if sorted(classes.tolist()) == [-1.0, 1.0]:
        order = np.array([1, 0])
    labels, W, b = classes[order], fitted.coef_, fitted.intercept_
    if len(classes) == 2:
        sign = 1.0 if order[0] == 1 else -1.0
        W, b = sign * W, sign * b
        if all_at_once:
            W, b = np.vstack([W, -W]) / 2.0, np.concatenate([b, -b]) / 2.0
        return fitted, labels, W, b
    return fitted, labels, W[order], b[order]


def _cross_validate(got, table):
    from sklearn.model_selection import KFold

    predicted = np.empty(len(table.y))
    if not 2 <= got["-v"] <= len(table.y):
        raise Mistake(f"-v {got['-v']}: 2 to {len(table.y)} folds are possible.")
    for train, test in KFold(got["-v"], shuffle=True, random_state=0).split(table.y):
        predicted[test] = _fit(got, table.X[train], table.y[train])[1].predict(table.X[test])
    if got["-s"] in REGRESSION:
        error, correlation = _errors(table.y, predicted)
        print(f"Cross Validation Mean squared error = {error:g}")
        print(f"Cross Validation Squared correlation coefficient = {correlation:g}")
    else:
        print(f"Cross Validation Accuracy = {100 * np.mean(predicted == table.y):g}%")


def _errors(y, predicted):
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.mean((y - predicted) ** 2), np.corrcoef(y, predicted)[0, 1] ** 2


def predict(got):
    """`predict [options] test_file model_file output_file`."""
    test, model, output = got.files
    text, table = read_model(model), read_examples(test, qid="auto")
    X = with_columns(table.X, text.n_features)
    predicted = text.predict(X)
    if got["-b"]:
        if "LR" not in text.solver:
            raise Mistake(f"-b 1: {text.solver} has no probabilities; train with -s 0, 6 or 7.")
        _write_probabilities(output, text, X, predicted)
    else:
        write_lines(output, (f"{label:.17g}" for label in predicted))
    if got["-q"]:
        return
    if text.labels is None:
        error, correlation = _errors(table.y, predicted)
        print(f"Mean squared error = {error:g} (regression)")
        print(f"Squared correlation coefficient = {correlation:g} (regression)")
    else:
        right, n = int((predicted == table.y).sum()), len(predicted)
        print(f"Accuracy = {100 * right / n:g}% ({right}/{n})")


def _write_probabilities(output, text, X, predicted):
    with atomic_write(output, text=True) as file:
        file.write(f"labels {' '.join(f'{label:g}' for label in text.labels)}\n")
        for label, row in zip(predicted, text.probabilities(X), strict=True):
            file.write(" ".join([f"{label:g}", *(f"{p:g}" for p in row)]) + "\n")


PROGRAMS = (
    Program("train", LEARN, ("training_set_file", "[model_file]"), learn),
    Program("predict", PREDICT, ("test_file", "model_file", "output_file"), predict),
)

"""LIBLINEAR: `train` and `predict`, the solvers 0 to 7 and 11 to 13 of its option -s.

    P = |w|^2 / 2 or |w|_1, + C sum_i loss_i        -B x: with one more column of that value

Each is one loss and one penalty here; which solver trains it is chosen by the data.  -e x is a relative
duality gap of x / 100: the program's own rules look at gradients, and prove nothing.
"""

from __future__ import annotations

import numpy as np

from ...errors import OneslackError
from .arguments import Mistake, Option
from .liblinear_text import SOLVERS, LinearText, read_model, write_model
from .running import Clock, Program, output_file, read_examples, with_columns, write_lines
from .training import line_of, trained, with_constant

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
    clock, table = Clock(), read_examples(train)
    got.positive("-c")
    if got["-R"] and got["-B"] != 1:
        raise Mistake("-R needs -B 1: it frees the weight of that column.")
    if got["-v"]:
        return _cross_validate(got, table)
    results, text = _fit(got, table.X, table.y)
    if not got["-q"]:
        for result in results:
            print(
                f"Objective value = {result.primal:.6f}, at most {result.primal - result.dual:.2e} too high"
            )
        print(f"Runtime in cpu-seconds: {clock.seconds():.2f}")
    write_model(*(model or [f"{train}.model"]), text)


def _fit(got, X, y):
    """(results, the model file's content)."""
    s, d = got["-s"], X.shape[1]
    loss, penalty, default = TYPES[s]
    has_bias, free = got["-B"] >= 0, got["-R"]
    if has_bias and not free:
        X = with_constant(X, got["-B"])
    until = {"tol": (got["-e"] or default) / 100.0}
    if s in REGRESSION:
        results, labels, W, b = _regression(X, y, got, free, loss, until)
    elif loss == "crammer_singer":
        results, labels, W, b = _all_classes(X, y, got, free, until)
    else:
        results, labels, W, b = _classes(X, y, got, free, loss, until | {"l1": penalty == "l1"})
    if has_bias:
        last = b if free else (W[:, d] if got["-B"] else np.zeros(len(W)))
        W = np.column_stack([W[:, :d], last])
    return results, LinearText(SOLVERS[s], labels, d, got["-B"], W)


def _regression(X, y, got, free, loss, until):
    from ...losses import SquaredTube
    from ...models import Linear, Regression

    d, width = X.shape[1], got["-p"]
    is_tube = loss == "epsilon_insensitive"
    model = Regression(d, width, free) if is_tube else Linear(d, SquaredTube(width), free)
    results = [trained(model, X, y, got["-c"], **until)]
    return results, None, *_rows(results, d)


def _classes(X, y, got, free, loss, until):
    """(results, labels in LIBLINEAR's order, W with a row a class or one for two classes, intercepts)."""
    from ...losses import loss_of
    from ...models import Binary, Linear

    labels, weights = _labels(y), _weights(y, got)
    d = X.shape[1]
    model = Binary(d, free) if loss == "hinge" else Linear(d, loss_of(loss, None), free)
    results = [
        trained(model, X, np.where(y == label, 1.0, -1.0), got["-c"], weights=weights, **until)
        for label in (labels[:1] if len(labels) == 2 else labels)
    ]
    return results, labels, *_rows(results, d)


def _all_classes(X, y, got, free, until):
    """The same, of Crammer and Singer's problem."""
    from ...models import Binary, Multiclass

    labels, weights = _labels(y), _weights(y, got)
    (d, K), C = (X.shape[1], len(labels)), got["-c"]
    if K == 2:  # w_1 = -w_2 = u / 2: half of |u|^2 / 2 + 2 C sum of hinges
        signs = np.where(y == labels[0], 1.0, -1.0)
        results = [trained(Binary(d, free), X, signs, 2.0 * C, weights=weights, **until)]
        W, b = _rows(results, d)
        return results, labels, np.vstack([W, -W]) / 2.0, np.concatenate([b, -b]) / 2.0
    codes = (y[:, None] == labels).argmax(axis=1)
    results = [trained(Multiclass(d, K, free), X, codes, C, weights=weights, **until)]
    W = results[0].w.reshape(-1, K)
    return results, labels, W[:d].T, W[d] - W[d].mean() if free else np.zeros(K)


def _rows(results, d):
    """(W, intercepts), a row a result."""
    lines = [line_of(result, d) for result in results]
    return np.array([w for w, _ in lines]), np.array([b for _, b in lines])


def _labels(y):
    """The classes as LIBLINEAR orders them: as they come in the file, but +1 before -1."""
    classes, first = np.unique(y, return_index=True)
    if len(classes) < 2:
        raise OneslackError(f"all examples are of class {classes[0]:g}; at least 2 classes are needed.")
    return np.array([1.0, -1.0]) if classes.tolist() == [-1.0, 1.0] else classes[np.argsort(first)]


def _weights(y, got):
    """(n,) what the losses of each example count, by -w; None without."""
    if not got["-w*"]:
        return None
    weights = np.ones(len(y))
    for label, weight in got["-w*"].items():
        of_class = y == float(label)
        if not of_class.any():
            raise Mistake(f"-w{label}: no example is of that class.")
        weights[of_class] = weight
    return weights


def _cross_validate(got, table):
    predicted = np.empty(len(table.y))
    if not 2 <= got["-v"] <= len(table.y):
        raise Mistake(f"-v {got['-v']}: 2 to {len(table.y)} folds are possible.")
    for test in np.array_split(np.random.default_rng(0).permutation(len(table.y)), got["-v"]):
        train = np.setdiff1d(np.arange(len(table.y)), test)
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
    text, table = read_model(model), read_examples(test)
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
    with output_file(output) as file:
        file.write(f"labels {' '.join(f'{label:g}' for label in text.labels)}\n")
        for label, row in zip(predicted, text.probabilities(X), strict=True):
            file.write(" ".join([f"{label:g}", *(f"{p:g}" for p in row)]) + "\n")


PROGRAMS = (
    Program("train", LEARN, ("training_set_file", "[model_file]"), learn),
    Program("predict", PREDICT, ("test_file", "model_file", "output_file"), predict),
)

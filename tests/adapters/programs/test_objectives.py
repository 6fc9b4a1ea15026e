"""The objective of each program, computed by its definition from the model file it wrote."""

import itertools

import numpy as np
import pytest
from adapters.programs.old_files import bounds, points

from oneslack.adapters.programs.light_text import read_model
from oneslack.adapters.programs.svm_hmm import numbers
from oneslack.formats import write_svmlight

TIGHT = 1e-6


def agrees(out, P, slack):
    """The printed bounds hold P, and are no further apart than the program's epsilon allows."""
    primal, dual = bounds(out)
    assert primal == pytest.approx(P, rel=1e-6, abs=2e-5)
    assert dual <= P + 2e-5
    assert primal - dual <= slack * (1 + 1e-9) + 2e-5


def hinge(t):
    return np.maximum(0.0, 1.0 - t)


@pytest.mark.parametrize("options", ["", "-b 0", "-j 3", "-c 0.1"])
def test_svm_light_classification(two_classes, run, options):
    X, y = two_classes[0][:40], two_classes[1][:40]
    out = run(f"svm_learn {options} -e {TIGHT} train model")
    model = read_model("model")
    C = 0.1 if "-c" in options else 1.0 / np.linalg.norm(X, axis=1).mean() ** 2
    costs = np.where(y > 0, 3.0 if "-j" in options else 1.0, 1.0)
    w = model.weights
    P = 0.5 * w @ w + C * (costs * hinge(y * (X @ w - model.b))).sum()
    agrees(out, P, C * costs.sum() * TIGHT)
    assert ("-b" in options) == (model.b == 0)


def test_svm_light_regression(two_classes, run):
    X, y = two_classes[0][:40], two_classes[1][:40]
    out = run("svm_learn -z r -w 0.2 -c 0.5 train model")
    model = read_model("model")
    w = model.weights
    P = 0.5 * w @ w + 0.5 * np.maximum(0, np.abs(y - X @ w + model.b) - 0.2).sum()
    agrees(out, P, 1e-3 * P)


def test_svm_light_kernels_agree_with_their_definition(two_classes, run):
    (X, y) = two_classes
    run("svm_learn -t 1 -d 2 -s 0.5 -r 1 -c 1 train model")
    run("svm_classify test model out")
    model = read_model("model")
    K = (0.5 * X[40:] @ model.vectors.toarray().T + 1) ** 2
    assert np.loadtxt("out") == pytest.approx(K @ model.alpha - model.b, rel=1e-6)
    run("svm_learn -t 2 -g 0.7 -c 1 train model")
    run("svm_classify test model out")
    model = read_model("model")
    squares = ((X[40:, None] - model.vectors.toarray()[None]) ** 2).sum(axis=2)
    assert np.loadtxt("out") == pytest.approx(np.exp(-0.7 * squares) @ model.alpha - model.b, rel=1e-6)
    assert np.mean((np.loadtxt("out") > 0) == (y[40:] > 0)) > 0.6


def norm(model, K):
    """1/2 |w|^2 of an expansion over the rows of a kernel matrix (k, k)."""
    return 0.5 * model.alpha @ K @ model.alpha


def rbf(A, B):
    return np.exp(-0.7 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def test_svm_light_regression_with_a_kernel(two_classes, run):
    X, y = two_classes[0][:40], two_classes[1][:40]
    out = run(f"svm_learn -z r -t 2 -g 0.7 -w 0.2 -c 0.5 -e {TIGHT} train model")
    model = read_model("model")
    B = model.vectors.toarray()
    P = (
        norm(model, rbf(B, B))
        + 0.5 * np.maximum(0, np.abs(y - rbf(X, B) @ model.alpha + model.b) - 0.2).sum()
    )
    agrees(out, P, 0.5 * 40 * TIGHT)


@pytest.mark.parametrize("program", ["svm_learn -z p -c 0.1", "svm_rank_learn -c 0.5"])
def test_preferences_with_a_kernel(folder, run, program):
    X, y, qid = ranked()
    write_svmlight("train", X, y, qid)
    out = run(f"{program} -t 1 -d 2 -s 0.5 -r 1 -e {TIGHT} train model")
    model = read_model("model")
    B = model.vectors.toarray()
    f = (0.5 * X @ B.T + 1) ** 2 @ model.alpha
    hinges = sum(sum(one) for one in pair_hinges(f[:, None], y, qid, np.ones(1)))
    agrees(out, norm(model, (0.5 * B @ B.T + 1) ** 2) + 0.1 * hinges, 0.5)
    run("svm_classify train model out")
    assert np.loadtxt("out") == pytest.approx(f, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("options", "size"), [("-w 9 --k 12", 12), ("--t 2 --i 0 --k 12", 12), ("-w 3", 40)])
def test_svm_perf_with_a_kernel(two_classes, run, options, size):
    X, y = two_classes[0][:40], two_classes[1][:40]
    out = run(f"svm_perf_learn -c 0.5 -t 2 -g 0.7 --b 0 {options} -e {TIGHT} train model")
    model = read_model("model")
    B = model.vectors.toarray()
    assert len(B) == size
    P = norm(model, rbf(B, B)) + 0.5 * 100 * hinge(y * (rbf(X, B) @ model.alpha)).mean()
    agrees(out, P, 0.5 * TIGHT)


def ranked(seed=3):
    X, _ = points(30, 4, seed)
    rng = np.random.default_rng(seed)
    y, qid = rng.integers(0, 3, 30), np.repeat([2, 5, 7, 9, 11], [8, 7, 6, 7, 2])
    y[-2:] = 1  # a query without a pair
    return X, y, qid


def pair_hinges(X, y, qid, w):
    """The hinges of each query's pairs."""
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        yield [hinge((X[i] - X[j]) @ w) for i, j in itertools.product(rows, rows) if y[i] > y[j]]


@pytest.mark.parametrize("loss", [1, 2])
def test_svm_rank(folder, run, loss):
    X, y, qid = ranked()
    write_svmlight("train", X, y, qid)
    out = run(f"svm_rank_learn -c 2 -l {loss} -e {TIGHT} train model")
    w = read_model("model").weights
    queries = list(pair_hinges(X, y, qid, w))
    losses = [sum(one) if loss == 1 else np.mean(one or [0.0]) for one in queries]
    agrees(out, 0.5 * w @ w + 2 / len(queries) * sum(losses), 2 * TIGHT)
    run("svm_rank_classify train model out")
    assert np.loadtxt("out") == pytest.approx(X @ w, abs=1e-7)


def test_svm_light_preferences(folder, run):
    X, y, qid = ranked()
    write_svmlight("train", X, y, qid)
    out = run(f"svm_learn -z p -c 0.3 -e {TIGHT} train model")
    w = read_model("model").weights
    hinges = sum(sum(one) for one in pair_hinges(X, y, qid, w))
    agrees(out, 0.5 * w @ w + 0.3 * hinges, 0.3 * 30 * TIGHT * 30)


@pytest.mark.parametrize("bias", [1.0, 0.0, 3.0])
def test_svm_perf_error_rate(two_classes, run, bias):
    X, y = two_classes[0][:40], two_classes[1][:40]
    out = run(f"svm_perf_learn -c 0.5 --b {bias} -e {TIGHT} train model")
    model = read_model("model")
    w, v = model.weights, -model.b / bias if bias else 0.0
    P = 0.5 * (w @ w + v**2) + 0.5 * 100 * hinge(y * (X @ w - model.b)).mean()
    agrees(out, P, 0.5 * TIGHT)


def perf_losses(number, y, z):
    """SVM-perf's own losses of a labelling: 0 is not in percent; None: it is not searched."""
    hits, claimed, true = np.sum((z > 0) & (y > 0)), np.sum(z > 0), np.sum(y > 0)
    if number == 0:
        return float((z != y).any())
    if number == 1:
        return 100 * (1 - 2 * hits / (claimed + true))
    return 100 * (1 - hits / true) if claimed == true else None


@pytest.mark.parametrize("number", [0, 1, 3])
def test_svm_perf_by_all_labellings(folder, run, number):
    X, y = points(9, 3, seed=5)
    y = 2 * y - 1
    write_svmlight("train", X, y)
    out = run(f"svm_perf_learn -c 0.2 -l {number} --b 0 -e {TIGHT} train model")
    w = read_model("model").weights
    f, n, worst = X @ w, len(y), 0.0
    for z in itertools.product([-1, 1], repeat=n):
        loss = perf_losses(number, y, np.array(z))
        if loss is not None:
            worst = max(worst, loss - 100 / n * np.sum((y * f)[z != y]))
    agrees(out, 0.5 * w @ w + 0.2 * worst, 0.2 * TIGHT)


def test_svm_perf_roc_area_is_in_percent(two_classes, run):
    X, y = two_classes[0][:40], two_classes[1][:40]
    out = run(f"svm_perf_learn -c 0.2 -l 10 --b 0 -e {TIGHT} train model")
    w = read_model("model").weights
    pairs = hinge((X[y > 0] @ w)[:, None] - X[y < 0] @ w)
    agrees(out, 0.5 * w @ w + 0.2 * 100 * pairs.mean(), 0.2 * TIGHT)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("algorithm", ["", "-w 4", "-w 0", "-o 1"])
def test_svm_multiclass(folder, run, n_classes, algorithm):
    X, y = points(50, 6, n_classes=n_classes)
    y[y == 1] = n_classes - 1  # a class that has no example
    write_svmlight("train", X, y + 1)
    out = run(f"svm_multiclass_learn -c 5 {algorithm} -e {TIGHT} train model")
    w = read_model("model").weights
    W = np.zeros(n_classes * 6)
    W[: len(w)] = w
    scores = X @ W.reshape(n_classes, 6).T
    wrong = 100.0 * (np.arange(n_classes) != y[:, None])
    margins = scores - scores[np.arange(50), y][:, None]
    slacks = (wrong * (1 + margins) if algorithm == "-o 1" else wrong + margins).max(axis=1)
    agrees(out, 0.5 * w @ w + 5 * slacks.mean(), 5 * TIGHT)
    run("svm_multiclass_classify train model out")
    written = np.loadtxt("out")
    assert written[:, 0].tolist() == (scores.argmax(axis=1) + 1).tolist()
    assert written[:, 1:] == pytest.approx(scores, abs=1e-6)


@pytest.mark.parametrize("order", [1, 2])
def test_svm_hmm_by_all_taggings(folder, run, order):
    X, tags = points(24, 4, n_classes=3)
    lengths = [5, 1, 4, 2, 5, 3, 4]
    write_svmlight("train", X, tags + 1, np.repeat(np.arange(1, 8), lengths))
    out = run(f"svm_hmm_learn -c 3 --t {order} -e {TIGHT} train model")
    model = read_model("model")
    w = np.zeros(int(numbers(4, 3, order).max()) + 1)
    w[1 : len(model.weights) + 1] = model.weights  # numbers count from 1
    base = {1: 3 + 9 + 1, 2: 3 + 9 + 27 + 1}[order]

    def score(x, z):
        z = [tag + 1 for tag in z]
        total = sum(w[base + 4 * tag + 1 : base + 4 * tag + 5] @ row for tag, row in zip(z, x, strict=True))
        total += sum(w[b + 3 * a] for a, b in itertools.pairwise(z))
        if order == 2:
            total += sum(w[c + 3 * b + 9 * a] for a, b, c in zip(z, z[1:], z[2:], strict=False))
        return total

    slack, best, start = 0.0, [], 0
    for length in lengths:
        x, y = X[start : start + length], tuple(tags[start : start + length])
        scores = {z: score(x, z) for z in itertools.product(range(3), repeat=length)}
        loss = {z: sum(a != b for a, b in zip(y, z, strict=True)) for z in scores}
        slack += max(loss[z] + scores[z] for z in scores) - scores[y]
        best += max(scores, key=scores.get)
        start += length
    agrees(out, 0.5 * model.weights @ model.weights + 3 / 7 * slack, 3 * TIGHT)
    run("svm_hmm_classify train model out")
    assert np.loadtxt("out").tolist() == [tag + 1 for tag in best]

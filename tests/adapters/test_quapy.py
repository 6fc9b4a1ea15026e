"""Quantification: losses, worst outputs and optima against their definitions; QuaPy where it is installed."""

import importlib.util
import inspect
import math
import pickle
import re
import sys
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from oneslack.adapters import perf_losses
from oneslack.adapters import quapy as adapter
from oneslack.adapters.quapy import SVMperf
from oneslack.models.measures import ContingencyLoss, quantification
from oneslack.models.measures.prevalence import PrevalenceLoss
from oneslack.models.measures.q_measure import QMeasure
from oneslack.problems.in_memory import Problem

ROOT = Path(__file__).parents[2]


# The losses in percent, as SVM-perf counts them, table by table.


def divergence(tp, fp, fn, tn):
    n = tp + fp + fn + tn
    p, p_hat = (tp + fn + 0.5) / (n + 1), (tp + fp + 0.5) / (n + 1)
    return p * math.log(p / p_hat) + (1 - p) * math.log((1 - p) / (1 - p_hat))


def relative_error(tp, fp, fn, tn):
    n = tp + fp + fn + tn
    smooth = [((tp + fn + 0.5) / (n + 1), (tp + fp + 0.5) / (n + 1))]
    smooth.append((1 - smooth[0][0], 1 - smooth[0][1]))
    return sum(abs(p - p_hat) / p for p, p_hat in smooth) / 2


def q_with(performance):
    def loss(tp, fp, fn, tn):
        q, r = 1 - abs(fp - fn) / max(tp + fn, fp + tn), performance(tp, fp, fn, tn)
        return 1 - 2 / (1 / q + 1 / r) if q > 0 and r > 0 else 1.0

    return loss


def f1(tp, fp, fn, tn):
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


DEFINITIONS = {
    "01": lambda tp, fp, fn, tn: (fp + fn > 0) / 100,
    "error": lambda tp, fp, fn, tn: (fp + fn) / (tp + fp + fn + tn),
    "f1": lambda *table: 1 - f1(*table),
    "kld": lambda *table: divergence(*table) / 100,
    "nkld": lambda *table: math.tanh(divergence(*table) / 2),
    "q": q_with(lambda tp, fp, fn, tn: tp / (tp + fn)),
    "qacc": q_with(lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn)),
    "qf1": q_with(f1),
    "qgm": q_with(lambda tp, fp, fn, tn: math.sqrt(tp / (tp + fn) * tn / (fp + tn))),
    "mae": lambda tp, fp, fn, tn: abs(fp - fn) / (tp + fp + fn + tn),
    "mrae": relative_error,
}
FUNCTIONS = {
    "01": perf_losses.any_error,
    "kld": perf_losses.kl_divergence,
    "nkld": quantification.normalised_kl_divergence,
    "q": quantification.q_loss,
    "qacc": quantification.q_accuracy_loss,
    "qf1": quantification.q_f1_loss,
    "qgm": quantification.q_gmean_loss,
    "mae": quantification.absolute_error,
    "mrae": quantification.relative_absolute_error,
}
OF_COUNT = ("kld", "nkld", "mae", "mrae")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_losses_follow_their_definition(name):
    P, N = 4, 3
    tables = [(tp, fp, P - tp, N - fp) for tp in range(P + 1) for fp in range(N + 1)]
    expected = [DEFINITIONS[name](*table) for table in tables]
    got = FUNCTIONS[name](*np.array(tables, dtype=float).T)
    np.testing.assert_allclose(got, expected, atol=1e-14)
    assert [float(FUNCTIONS[name](*table)) for table in tables] == pytest.approx(expected, abs=1e-14)
    assert float(FUNCTIONS[name](P, 0, 0, N)) == 0.0


def test_no_positives():
    for name, function in FUNCTIONS.items():
        assert np.isfinite(function(0, 1, 0, 4)), name
    assert quantification.q_loss(0, 1, 0, 4) == 1.0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_which_losses_are_concave_in_fp(name):
    """Only `any_error`; and those that the derivation calls convex are."""
    curvatures = []
    for P, N in ((7, 12), (12, 7)):
        fp = np.arange(N + 1.0)
        for tp in range(P + 1):
            curvatures.append(np.diff(FUNCTIONS[name](float(tp) + 0 * fp, fp, P - tp + 0 * fp, N - fp), 2))
    curvatures = np.concatenate(curvatures)
    assert (curvatures.max() > 1e-9) == (name != "01")
    if name in ("q", "qacc", "qgm", "mae", "mrae", "kld"):
        assert curvatures.min() > -1e-12


# Worst outputs.

MODELS = {
    "q": QMeasure(1),
    **{name: PrevalenceLoss(1, FUNCTIONS[name]) for name in OF_COUNT},
    **{f"{name}-mistakes": PrevalenceLoss(1, FUNCTIONS[name], mistakes_only=True) for name in OF_COUNT},
}


@cache
def labellings(n):
    return np.array(list(product((-1.0, 1.0), repeat=n)))


def losses_of(name, y, outputs):
    """loss - loss of the truth of each output."""
    y, outputs = y > 0, outputs > 0
    P, N = int(y.sum()), int((~y).sum())
    of_table = cache(lambda tp, fp: float(FUNCTIONS[name](tp, fp, P - tp, N - fp)))
    tables = zip((outputs & y).sum(axis=1), (outputs & ~y).sum(axis=1))
    return np.array([of_table(int(tp), int(fp)) for tp, fp in tables]) - of_table(P, 0)


def cut_of(model, y, S):
    data = model.pack(np.zeros((len(y), 1)), y)
    c = np.full(len(y), np.nan)
    return model.cut(data, None, S, c), c, data


def cases(seed, sizes, count):
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(*sizes))
        y = np.where(rng.random(n) < rng.choice([0.05, 0.3, 0.5, 0.9]), 1.0, -1.0)
        S = rng.choice([-0.5, 0.0, 0.5, 2.0]) * y + rng.normal(size=n) * rng.choice([0.1, 1.0, 5.0])
        yield y, np.round(S, 1) if k % 2 else S


@pytest.mark.parametrize("name", MODELS)
def test_worst_output_equals_enumeration(name):
    loss_name, mistakes_only = name.partition("-")[::2]
    for y, S in cases(0, (1, 9), 150):
        outputs = labellings(len(y))
        losses = losses_of(loss_name, y, outputs)
        values = len(y) * losses - (y * (outputs != y)) @ S
        if mistakes_only:
            values = values[(losses > 0) | (outputs == y).all(axis=1)]
        loss, c, _ = cut_of(MODELS[name], y, S)
        assert loss - c @ S == pytest.approx(values.max(), abs=1e-9)
        assert np.all((c == 0) | (c == y))
        shown = losses_of(loss_name, y, np.where(c != 0, -y, y)[None])[0]
        assert loss == pytest.approx(len(y) * shown, abs=1e-9)


@pytest.mark.parametrize("name", ["q", *OF_COUNT])
def test_worst_output_equals_the_table(name):
    for y, S in cases(1, (100, 400), 25):
        loss, c, _ = cut_of(MODELS[name], y, S)
        other, d, _ = cut_of(ContingencyLoss(1, FUNCTIONS[name]), y, S)
        assert loss - c @ S == pytest.approx(other - d @ S, rel=1e-9, abs=1e-8)


def test_worst_q_wherever_it_lies():
    """Classes shifted by themselves, so that the worst table has few or many of each."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        y = np.repeat([1.0, -1.0], rng.integers(2, 60, size=2))
        shift = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], size=2)
        S = np.where(y > 0, *shift) + rng.choice([0.1, 1.0, 5.0]) * rng.normal(size=len(y))
        loss, c, _ = cut_of(QMeasure(1), y, S)
        other, d, _ = cut_of(ContingencyLoss(1, quantification.q_loss), y, S)
        assert loss - c @ S == pytest.approx(other - d @ S, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("mistakes_only", [False, True])
def test_any_function_of_the_count(mistakes_only):
    """Losses that are convex in the count never part equal scores; others do."""
    rng = np.random.default_rng(6)
    for y, S in cases(7, (1, 9), 150):
        table = rng.normal(size=len(y) + 1)
        table -= table[int(np.sum(y > 0))]
        model = PrevalenceLoss(1, lambda tp, fp, fn, tn, t=table: t[np.int64(tp + fp)], False, mistakes_only)
        outputs = labellings(len(y))
        losses = table[(outputs > 0).sum(axis=1)]
        counted = (losses > 0) | (outputs == y).all(axis=1) | (not mistakes_only)
        values = len(y) * losses - (y * (outputs != y)) @ np.round(S)
        loss, c, _ = cut_of(model, y, np.round(S))
        assert loss - c @ np.round(S) == pytest.approx(values[counted].max(), abs=1e-9)
        assert loss == pytest.approx(len(y) * table[int(np.sum(np.where(c != 0, -y, y) > 0))])


def test_q_of_one_class():
    S = np.array([0.5, -1.0, 2.0])
    loss, c, _ = cut_of(QMeasure(1), -np.ones(3), S)
    assert (loss, list(c)) == (0.0, [-1.0, 0.0, -1.0])
    assert QMeasure(1).loss_of(-np.ones(3), S) == 0.0
    loss, c, _ = cut_of(QMeasure(1), np.ones(3), S)  # with N = 0 the loss is 1 - a / 3
    assert (loss, list(c)) == (pytest.approx(2.0), [1.0, 1.0, 0.0])


@pytest.mark.parametrize("name", MODELS)
def test_risk_bounds_the_loss_and_its_slope_is_one(name):
    model, rng = MODELS[name], np.random.default_rng(2)
    for y, S in cases(3, (3, 80), 60):
        _, _, data = cut_of(model, y, S)
        n, dS, h = len(y), rng.normal(size=len(y)), 1e-7
        assert model.risk(data, None, S) >= n * model.loss_of(y, S) - 1e-9 * n
        left, here, right = (model.risk(data, None, S + t * dS) for t in (-h, 0.0, h))
        slope = model.cut_along(data, None, S, dS, 0.0, np.empty(n))[2]
        assert (here - left) / h - 1e-5 * n <= slope <= (right - here) / h + 1e-5 * n


def test_leaving_out_what_costs_nothing_makes_the_risk_smaller():
    y, S = np.array([1.0, -1.0]), np.array([-3.0, 3.0])  # the wrong one, but one, by a margin
    (loss, c, _), (other, d, _) = (cut_of(MODELS[name], y, S) for name in ("mae", "mae-mistakes"))
    assert loss - c @ S == pytest.approx(6.0)
    assert other - d @ S == pytest.approx(4.0)


def test_a_loss_that_sees_more_than_the_count_is_refused():
    model = PrevalenceLoss(1, quantification.q_loss)
    with pytest.raises(
        ValueError, match=r"the loss of 1 predicted positives depends on how many .*\(0 or 1\)"
    ):
        model.pack(np.zeros((4, 1)), [1, 1, -1, -1])


# The estimator, in SVM-perf's units.


def sample(seed=0, n=9, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.7 * rng.normal(size=n) > 0.4).astype(int)
    y[:2] = 0, 1
    return X, y


def svm_perf(loss, X, y, C, bias=1.0):
    """SVM-perf's problem from its definition: losses in percent, psi = sum_i y'_i x_i 50 / n, a constant
    feature; all outputs with a loss, and the truth."""
    n, signs, outputs = len(y), np.where(y == 1, 1.0, -1.0), labellings(len(y))
    P, N = int(np.sum(y == 1)), int(np.sum(y == 0))
    tp, fp = ((outputs > 0) & (y == 1)).sum(axis=1), ((outputs > 0) & (y == 0)).sum(axis=1)
    percent = np.array([100 * DEFINITIONS[loss](a, b, P - a, N - b) for a, b in zip(tp, fp)])
    counts = (percent > 1e-12) | (outputs == signs).all(axis=1)
    extended = np.column_stack([X, np.full(n, bias)])
    deltas = ((signs - outputs) @ extended * 50 / n)[counts]
    return Reference.of_cuts(deltas, percent[counts], np.zeros(len(deltas), int), np.array([C]))


@pytest.mark.parametrize("loss", SVMperf.valid_losses)
@pytest.mark.parametrize(("C", "seed"), [(0.01, 0), (1.0, 0), (1.0, 15)])
def test_optimum_is_that_of_svm_perf(loss, C, seed):
    X, y = sample(seed)  # in sample 15 outputs without a loss would change the optimum
    reference = svm_perf(loss, X, y, C)
    lower, upper, _ = reference.solve()
    model = SVMperf(loss=loss, C=C, tol=1e-6).fit(X, y)
    assert model.dual_objective_ <= upper + 1e-6 * upper
    assert model.objective_ >= lower - 1e-6 * upper
    assert model.duality_gap_ <= 1e-6
    w = np.append(model.coef_[0], model.intercept_)
    assert reference.primal(w) == pytest.approx(model.objective_, rel=1e-7, abs=1e-12)


def test_bias():
    X, y = sample(1)
    wide = SVMperf(loss="q", C=0.1, bias=10.0, tol=1e-6).fit(X, y)
    w = np.append(wide.coef_[0], wide.intercept_ / 10.0)
    assert svm_perf("q", X, y, 0.1, bias=10.0).primal(w) == pytest.approx(wide.objective_, rel=1e-7)
    none = SVMperf(loss="q", C=0.1, bias=0).fit(X, y)
    assert list(none.intercept_) == [0.0]
    np.testing.assert_allclose(none.decision_function(X), X @ none.coef_[0])


def test_kld_in_nats_is_kld_in_percent_with_more_C():
    X, y = sample(2, n=60)
    small = SVMperf(loss="kld", C=0.01, tol=1e-9).fit(X, y)
    extended = np.column_stack([X, np.ones(60)])
    model = PrevalenceLoss(3, quantification.kl_divergence, mistakes_only=True)
    problem = Problem(model, extended, 2 * y - 1, 100 * 0.01 * 100 / 60)
    w = 100 * np.append(small.coef_[0], small.intercept_)
    assert problem.primal(w) == pytest.approx(100**2 * small.objective_)


CHECKS = [
    pair
    for loss in ("error", "q", "mae")
    for pair in estimator_checks_generator(SVMperf(loss=loss, C=1.0), mark="skip")
]


@pytest.mark.parametrize(
    ("model", "check"), CHECKS, ids=lambda value: getattr(value, "loss", None) or value.func.__name__
)
def test_conformance(model, check):
    check(model)


@pytest.mark.parametrize("as_matrix", [sp.csr_array, sp.csr_matrix, sp.coo_array, np.float32, list])
def test_inputs(as_matrix):
    X, y = sample(3, n=40)
    plain = SVMperf(loss="mae", C=1.0).fit(X, y)
    other = SVMperf(loss="mae", C=1.0).fit(as_matrix(X), np.where(y == 1, "yes", "no"))
    assert list(other.classes_) == ["no", "yes"]
    np.testing.assert_allclose(other.decision_function(as_matrix(X)), plain.decision_function(X), atol=1e-4)
    assert list(other.predict(as_matrix(X))) == list(np.where(plain.predict(X) == 1, "yes", "no"))


def test_copies():
    X, y = sample(4, n=40)
    model = SVMperf("anywhere", 0.5, True, "q", None, tol=1e-4)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.decision_function(X, y), model.decision_function(X))


def test_verbose_logs_the_result(caplog):
    X, y = sample()
    with caplog.at_level("INFO"):
        SVMperf(loss="mae").fit(X, y)
        assert caplog.text == ""
        SVMperf(loss="mae", verbose=True).fit(X, y)
    assert "loss mae" in caplog.text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"loss": "hinge"}, "loss='hinge' is not known; use one of 01, error, f1"),
        ({"C": 0}, "C must be a positive number; got 0"),
        ({"C": "1"}, "C must be a positive number; got '1'"),
        ({"C": np.inf}, "C must be a positive number; got inf"),
        ({"bias": -1.0}, "bias must be a number >= 0; got -1.0"),
    ],
)
def test_what_is_refused(options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        SVMperf(**options).fit(*sample())


def test_three_classes_are_refused():
    X, _ = sample()
    with pytest.raises(ValueError, match=r"y has 3.*OneVsAllAggregative"):
        SVMperf().fit(X, np.arange(9) % 3)


# In QuaPy's place.


@pytest.fixture
def imitation(monkeypatch):
    """Modules that refer to their SVMperf as QuaPy's do; without `quapy`, whatever is installed."""
    theirs = type("SVMperf", (), {})
    modules = {}
    for name in ("quapy", "quapy.classification", "quapy.classification.svmperf", "quapy.method",
                 "quapy.method.aggregative", "quapy.bystander"):  # fmt: skip
        modules[name] = ModuleType(name)
        modules[name].__path__ = []
        monkeypatch.setitem(sys.modules, name, modules[name])
    for name in ("quapy.classification.svmperf", "quapy.method.aggregative"):
        modules[name].SVMperf = theirs
    modules["quapy.bystander"].SVMperf = int
    yield modules, theirs
    adapter.uninstall()


def test_install_and_uninstall(imitation):
    modules, theirs = imitation
    places = [modules["quapy.classification.svmperf"], modules["quapy.method.aggregative"]]
    adapter.install()
    adapter.install()
    assert [module.SVMperf for module in places] == [SVMperf, SVMperf]
    assert modules["quapy.bystander"].SVMperf is int
    adapter.uninstall()
    assert [module.SVMperf for module in places] == [theirs, theirs]
    adapter.uninstall()
    with adapter.install():
        assert places[1].SVMperf is SVMperf
    assert [module.SVMperf for module in places] == [theirs, theirs]


def test_install_without_quapy(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "quapy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "quapy", None)
    with pytest.raises(ImportError, match=r"QuaPy is not installed; pip install 'oneslack\[quapy\]'"):
        adapter.install()


# With QuaPy itself.


@pytest.fixture
def quapy():
    yield pytest.importorskip("quapy")
    adapter.uninstall()


@pytest.fixture
def digits(quapy):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    data = quapy.data.LabelledCollection(X[:800] / 16, (y[:800] >= 7).astype(int))
    return data.split_stratified(0.5, random_state=0)


@pytest.mark.slow
def test_same_parameters_and_losses_as_quapy(quapy):
    theirs = quapy.classification.svmperf.SVMperf
    assert set(theirs.valid_losses) <= set(SVMperf.valid_losses)
    given, ours = inspect.signature(theirs).parameters, inspect.signature(SVMperf).parameters
    assert list(ours)[: len(given)] == list(given)
    assert all(ours[name].default == p.default for name, p in given.items() if name != "svmperf_base")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("constructor", "loss"),
    [
        ("newSVMQ", "q"),
        ("newSVMKLD", "kld"),
        ("newSVMNKLD", "nkld"),
        ("newSVMAE", "mae"),
        ("newSVMRAE", "mrae"),
        ("newELM", "01"),
    ],
)
def test_constructors_of_quapy(quapy, digits, constructor, loss):
    train, test = digits
    with adapter.install():
        quantifier = getattr(quapy.method.aggregative, constructor)(C=0.1)
    assert type(quantifier.classifier) is SVMperf
    assert (quantifier.classifier.loss, quantifier.classifier.C) == (loss, 0.1)
    quantifier.fit(*train.Xy)
    prevalences = quantifier.predict(test.X)
    alone = SVMperf(loss=loss, C=0.1).fit(*train.Xy)
    share = np.mean(alone.predict(test.X) == 1)
    np.testing.assert_allclose(prevalences, [1 - share, share])


@pytest.mark.slow
@pytest.mark.parametrize("loss", [loss for loss in SVMperf.valid_losses if loss != "01"])
def test_quantifiers_come_near_the_prevalence(quapy, digits, loss):
    train, test = digits
    quantifier = quapy.method.aggregative.CC(SVMperf(loss=loss, C=1.0)).fit(*train.Xy)
    assert quantifier.predict(test.X)[1] == pytest.approx(test.prevalence()[1], abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search_of_quapy(quapy, digits, n_jobs):
    train, test = digits
    with adapter.install():
        quantifier = quapy.method.aggregative.newSVMQ()
    search = quapy.model_selection.GridSearchQ(
        quantifier,
        {"classifier__C": [1e-6, 1.0], "classifier__loss": ["q", "mae"]},
        quapy.protocol.APP(test, sample_size=50, n_prevalences=5, repeats=2, random_state=0),
        error="mae",
        refit=False,
        n_jobs=n_jobs,
    ).fit(*train.Xy)
    assert search.best_params_["classifier__C"] == 1.0
    assert search.best_score_ < 0.2


@pytest.mark.slow
def test_more_classes_one_against_all(quapy):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    quantifier = quapy.method.aggregative.OneVsAllAggregative(
        quapy.method.aggregative.CC(SVMperf(loss="mae", C=1.0)), parallel_backend="loky"
    )
    prevalences = clone(quantifier).fit(X, y).predict(X)
    np.testing.assert_allclose(prevalences, np.full(3, 1 / 3), atol=0.15)


@pytest.mark.slow
def test_example(quapy, capsys):
    spec = importlib.util.spec_from_file_location("quantify_example", ROOT / "examples" / "quantify.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    errors = example.main(n_train=300)
    assert all(error < 0.25 for error in errors.values())
    assert "mae" in capsys.readouterr().out


@pytest.mark.slow
def test_page_runs_with_quapy(quapy, tmp_path, monkeypatch):
    """Its blocks marked `py` need QuaPy; tests/docs/test_docs.py runs those marked `python`."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "quantify.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|py)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    namespace = {"__name__": "page"}
    for code in blocks:
        exec(compile(code, "<page>", "exec"), namespace)

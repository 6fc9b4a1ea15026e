"""check_certificate passes what is true of every estimator, on degenerate data too, and catches forgeries."""

import ast
import copy
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from exact.cases import case
from exact.linear import exact
from grids import few
from sklearn.exceptions import ConvergenceWarning

import oneslack
from oneslack import CertificateError, OneslackError, Status, check_certificate
from oneslack.checks.definitions.estimators import recomputed
from oneslack.checks.definitions.structured import ChainExamples, ModelExamples

FOLDER = Path(oneslack.__file__).parent


# Definitions: those of the exact reference, in other words.


@pytest.mark.parametrize("seed", few(range(8), 1))
@pytest.mark.parametrize(
    "kind",
    ["two_classes", "many_classes", "one_against_the_rest", "regression", "ranking", "ordinal", "measure",
     "own_model", "chain", "tagger", "penalised_intercept"],
)  # fmt: skip
def test_objectives_are_those_of_the_reference(kind, seed):
    one = case(kind, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        trained = one.run()
    given = one.given
    y = given["Y"] if "Y" in given else given["y"]
    known = recomputed(trained, given["X"], y, given.get("sample_weight"), given.get("groups"))
    claims = one.claims(trained)
    assert len(known.objectives) == len(claims)
    for objective, claim in zip(known.objectives, claims, strict=True):
        value = objective.exactly().value()
        assert value == claim.problem.definition(exact(claim.w))
        assert float(value) == pytest.approx(objective.value(), rel=1e-6, abs=1e-300)


def test_paths_are_as_good_as_listed_outputs():
    rng = np.random.default_rng(0)
    forms = [
        {},
        {"order": 2, "start": True, "end": True},
        {"allowed": [[1, 0], [1, 1]], "allowed_end": [0, 1]},
    ]
    for form in forms:
        model = oneslack.Chain(2, 2, **form)
        X = [rng.normal(size=(length, 2)) for length in (1, 2, 3, 5)]
        Y = [list(model.outputs(x))[-1] for x in X]
        paths, listed = ChainExamples(model, X, Y), ModelExamples(model, X, Y, False)
        for _ in range(5):
            w = rng.normal(size=model.n_params)
            for i in range(len(X)):
                (hinge, delta), (best, _) = paths.worst(w, i), listed.worst(w, i)
                assert hinge == pytest.approx(best)
                assert model.loss(Y[i], Y[i]) <= hinge + 1e-12
                assert paths.best_score(w, i) == pytest.approx(listed.best_score(w, i))
                assert delta.shape == w.shape


def test_nothing_comes_from_the_solvers_or_the_compiled_loops():
    definitions = list((FOLDER / "checks/definitions").glob("*.py"))
    assert definitions
    for path in [FOLDER / "checks/certificate.py", *definitions]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
                parts = {part for name in names for part in name.split(".")}
                assert not parts & {"solvers", "_jit", "driver", "in_memory"}, f"{path.name} imports {names}"


# What is true passes: every estimator and solver, on data that invite trouble.


def _plain(seed=0, n=12, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0).astype(int)


def _data(name):
    """(X, y of two classes, sample_weight)."""
    X, y = _plain()
    y[:3] = 0, 1, 1
    weights = None
    if name == "one_example_a_class":
        X, y = X[:2], np.array([0, 1])
    elif name == "constant_column":
        X[:, 1] = 7.0
    elif name == "zero_rows":
        X[::3] = 0.0
    elif name == "identical_rows":
        X[1:6] = X[0]
    elif name == "wide":
        X = np.random.default_rng(1).normal(size=(len(y), 60))
    elif name == "weights_of_0":
        weights = np.where(np.arange(len(y)) % 4 == 3, 0.0, 1.5)
    elif name in ("tiny", "huge"):
        X = X * (1e-8 if name == "tiny" else 1e8)
    return X, y, weights


DATA = ("plain", "one_example_a_class", "constant_column", "zero_rows", "identical_rows", "wide",
        "weights_of_0", "tiny", "huge")  # fmt: skip
SOLVERS = ("auto", "dual_cd", "newton", "one_slack", "streaming")


def three(y):
    """Three classes where there are examples enough."""
    return y if len(y) < 3 else np.where(np.arange(len(y)) % 3 == 2, 2, y)


def fitted(estimator, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(*data, **{name: value for name, value in more.items() if value is not None})


def check(estimator, X, y, sample_weight=None, **groups):
    model = fitted(estimator, X, y, sample_weight=sample_weight, **groups)
    report = check_certificate(model, X, y, sample_weight, **groups)
    assert report.estimator in str(report)
    return report


FEW = {"max_iter": 60, "n_jobs": 1}


@pytest.mark.grid(1)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("solver", SOLVERS)
def test_linear_classes(data, solver):
    X, y, s = _data(data)
    check(oneslack.LinearSVC(solver=solver, **FEW), X, y, s)
    check(oneslack.LinearSVC(solver=solver, fit_intercept=False, **FEW), sp.csr_array(X), three(y), s)
    check(oneslack.LinearSVC(solver=solver, multi_class="ovr", **FEW), X, three(y), s)


@pytest.mark.grid(1)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("solver", SOLVERS)
def test_regression(data, solver):
    X, y, s = _data(data)
    check(oneslack.LinearSVR(solver=solver, epsilon=0.1, **FEW), X, 3.0 * y + X[:, 0], s)


@pytest.mark.parametrize("data", DATA)
def test_ranks_and_measures(data):
    X, y, s = _data(data)
    groups = np.arange(len(y)) // 6
    check(oneslack.RankSVM(**FEW), X, y, s, groups=groups)
    check(oneslack.OrdinalSVC(**FEW), X, three(y), s)
    for metric in ("error", "f1", "prbep", "precision_at_k", "recall_at_k", "roc_auc", "average_precision"):
        model = oneslack.MetricSVC(metric, k=1 if metric.endswith("k") else None, **FEW)
        check_certificate(fitted(model, X, y), X, y)


@pytest.mark.grid(1)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_kernels(data, kernel):
    X, y, s = _data(data)
    X = X @ X.T if kernel == "precomputed" else X
    check(oneslack.KernelSVC(kernel=kernel, **FEW), X, y, s)
    check(oneslack.KernelSVC(kernel=kernel, fit_intercept=True, **FEW), X, y, s)
    check(oneslack.KernelSVC(kernel=kernel, **FEW), X, three(y), s)


@pytest.mark.grid(1)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("solver", ["auto", "one_slack", "n_slack", "dual_cd"])
def test_structures(data, solver):
    X, y, s = _data(data)
    form = {"solver": solver, **FEW}
    check(oneslack.StructuralSVM(oneslack.Multiclass(X.shape[1], 2), **form), X, y.tolist(), s)
    sentences, labels = [X[:1], X[1:]], [y[:1].tolist(), y[1:].tolist()]
    s = None if s is None else [1.0, 0.0]
    check(oneslack.StructuralSVM(oneslack.Chain(X.shape[1], 2), **form), sentences, labels, s)
    check(oneslack.SequenceTagger(**form), sentences, labels, s)


@pytest.mark.grid(1)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
def test_l1_penalties(data, loss, intercept):
    X, y, s = _data(data)
    form = {"fit_intercept": intercept != "none", "penalize_intercept": intercept == "penalised"}
    form |= {"penalty": "l1", "loss": loss, "intercept_scaling": 7.7, **FEW}
    check(oneslack.LinearSVC(**form), X, y, s)
    report = check(oneslack.LinearSVC(multi_class="ovr", **form), sp.csr_array(X), three(y), s)
    assert report.exact == (loss == "squared_hinge")  # logarithms are not rational


def test_priors_scales_and_signs():
    X, y, _ = _data("plain")
    terms = {"prior": [1.0, -1.0, 0.5], "scale": [0.5, 2.0, 3.0], "nonnegative": [0, 2]}
    check(oneslack.LinearSVC(**terms, **FEW), X, y)
    check(oneslack.LinearSVR(**terms, **FEW), X, X[:, 1])
    check(oneslack.LinearSVC(penalty="l1", loss="squared_hinge", **(terms | {"prior": None}), **FEW), X, y)
    check(oneslack.StructuralSVM(oneslack.Binary(3), **terms, **FEW), X, (2 * y - 1).tolist())


def test_more_forms():
    X, y, _ = _data("plain")
    labels = np.column_stack([y, 1 - y, np.arange(len(y)) % 2])
    check_certificate(fitted(oneslack.MetricSVC("f1", **FEW), X, labels), X, labels)
    own = oneslack.MetricSVC(lambda tp, fp, fn, tn: (fp + 5 * fn) / 8, **FEW)
    check_certificate(fitted(own, X, y), X, y)
    cost = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 4.0], [1.0, 1.0, 0.0]])
    check(oneslack.LinearSVC(loss=cost, class_weight={0: 2.0, 1: 1.0, 2: 0.5}, **FEW), X, three(y))
    check(oneslack.RankSVM(kernel="rbf", n_basis=5, **FEW), X, y)
    trees = ["(S (N stars) (V shine))", "(S (N stars) (V (V see) (N eyes)))"]
    for frequencies in (False, True, "prior"):
        parser = oneslack.GrammarParser(min_count=1, frequencies=frequencies, **FEW).fit(trees)
        check_certificate(parser, trees)


def test_a_large_problem_is_compared_in_floats():
    X, y = _plain(n=3000, d=10)
    report = check(oneslack.LinearSVC(**FEW), X, y)
    assert not report.exact
    assert "in floats" in str(report)


def test_an_estimate_is_not_compared_as_a_bound():
    X, y = _plain(n=40)
    report = check(oneslack.KernelSVC(method="basis", n_basis=5, **FEW), X, y)
    assert not report.certified
    assert "estimate" in str(report)


# What is forged is caught, and the sentence has both numbers.


@pytest.fixture(scope="module")
def rough():
    """Far from the optimum, so that there is room for a lie."""
    X, y = _plain(n=40)
    return fitted(oneslack.LinearSVC(C=10.0, solver="one_slack", max_iter=4), X, y), X, y


def forged(model, **changes):
    model = copy.deepcopy(model)
    for name, value in changes.items():
        setattr(model, name, value)
    return model


def with_bounds(model, objective=None, dual=None):
    """Objective and bound changed everywhere, with the gap that follows from them."""
    objective = model.objective_ if objective is None else objective
    dual = model.dual_objective_ if dual is None else dual
    result = replace(model.result_, primal=objective, dual=dual)
    gap = max(objective - dual, 0.0) / objective
    return forged(model, objective_=objective, dual_objective_=dual, duality_gap_=gap, result_=result)


def least(model):
    """What the objective of a model is off by, where that is to be found: the logistic one is of floats."""
    return 1e-6 if model.loss == "logistic" else 1e-9


ZOO = {
    "coef changed": (lambda m: forged(m, coef_=m.coef_ * 1.01), "P at the weights is"),
    "intercept changed": (lambda m: forged(m, intercept_=m.intercept_ + 0.1), "P at the weights is"),
    "objective lowered": (lambda m: with_bounds(m, objective=m.objective_ * (1 - least(m))), "more by"),
    "objective raised": (lambda m: with_bounds(m, objective=m.objective_ * 1.01), "not of these weights"),
    "dual raised": (lambda m: with_bounds(m, dual=m.objective_ * 0.999), "there are weights with P"),
    "dual above": (lambda m: with_bounds(m, dual=m.objective_ * 1.001), "above objective_"),
    "gap changed": (lambda m: forged(m, duality_gap_=m.duality_gap_ / 2), "duality_gap_ is"),
    "gap hidden": (
        lambda m: forged(m, result_=replace(m.result_, status=Status.CONVERGED)), "CONVERGED at a gap"
    ),
    "sums": (lambda m: forged(m, result_=replace(m.result_, dual=m.result_.dual / 2)), "add up to"),
    "not finite": (lambda m: forged(m, dual_objective_=float("nan")), "no bounds"),
    "another C": (lambda m: forged(m, C=9.9), "P at the weights is"),
    "predictions": (lambda m: forged(m, predict=lambda X: m.classes_[[1] * len(X)]), "the prediction of"),
}  # fmt: skip


@pytest.mark.parametrize("name", ZOO)
def test_forged_estimators_are_caught(rough, name):
    model, X, y = rough
    forge, sentence = ZOO[name]
    with pytest.raises(CertificateError, match=sentence):
        check_certificate(forge(model), X, y)


@pytest.fixture(scope="module", params=["squared_hinge", "logistic"])
def rough_l1(request):
    """A true one, moved away from the optimum with what it says of itself."""
    X, y = _plain(n=40)
    model = fitted(oneslack.LinearSVC(C=10.0, penalty="l1", loss=request.param), X, y)
    model = forged(model, coef_=1.3 * model.coef_, result_=replace(model.result_, status=Status.MAX_ITER))
    w, b = model.coef_[0], model.intercept_[0]
    margins = (2 * y - 1) * (X @ w + b)
    losses = np.logaddexp(0, -margins) if request.param == "logistic" else np.maximum(0, 1 - margins) ** 2
    return with_bounds(model, objective=float(np.abs(w).sum() + 10.0 * losses.sum()) * (1 + 1e-12)), X, y


def test_a_rough_l1_penalty_is_a_true_one(rough_l1):
    model, X, y = rough_l1
    assert model.duality_gap_ > 0.01
    report = check_certificate(model, X, y)
    assert report.lowest == pytest.approx(model.dual_objective_, rel=1e-3)


@pytest.mark.parametrize("name", ZOO)
def test_forged_l1_penalties_are_caught(rough_l1, name):
    model, X, y = rough_l1
    forge, sentence = ZOO[name]
    with pytest.raises(CertificateError, match=sentence):
        check_certificate(forge(model), X, y)


def test_a_squared_penalty_is_not_an_l1_penalty(rough_l1):
    model, X, y = rough_l1
    with pytest.raises(CertificateError, match="P at the weights"):
        check_certificate(forged(model, penalty="l2"), X, y)


def test_swapped_classes_are_caught(rough):
    model, X, y = rough
    with pytest.raises(OneslackError, match="classes_ is"):
        check_certificate(forged(model, classes_=model.classes_[::-1]), X, y)
    with pytest.raises(CertificateError, match="P at the weights"):
        check_certificate(model, X, 1 - y)


def test_the_first_zoo_animal_is_a_true_one(rough):
    model, X, y = rough
    assert model.duality_gap_ > 0.01
    report = check_certificate(with_bounds(model, objective=float(np.nextafter(model.objective_, 1e9))), X, y)
    assert report.exact


@pytest.mark.parametrize(
    ("estimator", "change"),
    [
        (oneslack.LinearSVR(), {"intercept_": 7.0}),
        (oneslack.RankSVM(), {"C": 2.0}),
        (oneslack.OrdinalSVC(), {"coef_": np.zeros(3)}),
        (oneslack.MetricSVC("f1"), {"metric": "error"}),
        (oneslack.KernelSVC(), {"dual_coef_": np.zeros((1, 40))}),
    ],
)
def test_other_estimators_are_caught_too(estimator, change):
    X, y = _plain(n=40)
    model = fitted(estimator, X, y)
    if "dual_coef_" in change:
        change = {"dual_coef_": 0.9 * model.dual_coef_}
    with pytest.raises(CertificateError):
        check_certificate(forged(model, **change), X, y)


def test_structured_estimators_are_caught_too():
    X, y, _ = _data("plain")
    sentences, labels = [X[:5], X[5:]], [y[:5].tolist(), y[5:].tolist()]
    tagger = fitted(oneslack.SequenceTagger(n_jobs=1), sentences, labels)
    with pytest.raises(CertificateError, match="P at the weights"):
        check_certificate(forged(tagger, coef_=1.1 * tagger.coef_), sentences, labels)
    with pytest.raises(CertificateError, match="P at the weights"):
        check_certificate(tagger, sentences, [labels[0], labels[1][::-1]])
    wrong = forged(tagger, predict=lambda X: [[1] * len(x) for x in X])
    with pytest.raises(CertificateError, match="the prediction of example"):
        check_certificate(wrong, sentences, labels)


# What cannot be compared is refused by a sentence.


def test_refusals(rough):
    model, X, y = rough
    with pytest.raises(OneslackError, match="LinearSVR is not fitted"):
        check_certificate(oneslack.LinearSVR(), X, y)
    with pytest.raises(OneslackError, match="knows no definition for"):
        check_certificate(_Unknown(), X, y)
    with pytest.raises(OneslackError, match="before `reduce`"):
        check_certificate(forged(model, reduction_error_=0.1), X, y)
    with pytest.raises(OneslackError, match="forgotten"):
        check_certificate(forged(model, n_forgotten_=3), X, y)
    sentences, labels = [X[:3], X[3:6]], [["a", None, "b"], ["a", "b", "a"]]
    tagger = fitted(oneslack.SequenceTagger(n_jobs=1), sentences, labels)
    with pytest.raises(OneslackError, match="sentence 0 has a label that is not known"):
        check_certificate(tagger, sentences, labels)


class _Unknown:
    """An estimator of somebody else."""

    objective_, dual_objective_, duality_gap_ = 1.0, 0.5, 0.5

    def _is_certified(self):
        return True

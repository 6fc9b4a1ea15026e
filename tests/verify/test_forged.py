"""A proof that is forged is rejected, each by a sentence, though its fingerprint and checksum fit."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from verify.forgers import (
    POLYNOMIAL,
    any_weights,
    claim,
    fewer_sequences,
    negated,
    of_array,
    of_data,
    of_dual,
    of_header,
    of_largest,
    other_C,
    other_centre,
    other_labels,
    parameter,
    sentences,
    set_at,
    smaller_ball,
    smaller_gap,
    smaller_objective,
    support_twice,
    with_array,
)

import oneslack
from oneslack.formats import load_model, save_model
from oneslack.formats.model_file import fingerprint

X, y = make_classification(120, 6, n_informative=4, flip_y=0.1, random_state=0)
X3, y3 = make_classification(120, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=1)
XR, YR = make_regression(120, 6, noise=20.0, random_state=0)
TOKENS = [[[f"w={(3 * i + t) % 7}"] for t in range(1 + i % 5)] for i in range(40)]
TAGS = [["ABC"[(int(token[0][2:]) + (t > 0) + (i % 4 == 0)) % 3] for t, token in enumerate(s)]
        for i, s in enumerate(TOKENS)]  # fmt: skip
SEGMENTS = [["O" if tag == "C" else f"B-{tag}" for tag in tags] for tags in TAGS]
RNG = np.random.default_rng(0)
EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
GRAPHS = [(RNG.normal(size=(4, 2)), EDGES) for _ in range(20)]
NODES = [RNG.integers(0, 3, 4) for _ in GRAPHS]
PICTURES = [RNG.normal(size=(3, 4, 1)) for _ in range(6)]
CELLS = [(x[:, :, 0] + RNG.normal(size=(3, 4)) > 0).astype(int) for x in PICTURES]
PAIRS = [RNG.normal(size=(3, 4, 2)) for _ in range(20)]
PARTNERS = [RNG.permutation(4)[:3] for _ in PAIRS]
TREES = [
    "(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))))",
    "(S (NP (N dogs)) (VP (V sleep)))",
    "(S (NP (D the) (N cat)) (VP (V saw) (NP (NP (D a) (N dog)) (PP (P in) (NP (D the) (N park))))))",
    "(S (NP (N cats)) (VP (VP (V sleep)) (PP (P in) (NP (N parks)))))",
]

MODELS = {
    "two": (lambda: oneslack.LinearSVC(C=0.5, tol=1e-4), X, y),
    "classes": (lambda: oneslack.LinearSVC(C=0.5, tol=1e-4), X3, y3),
    "ovr": (lambda: oneslack.LinearSVC(C=0.5, multi_class="ovr", loss="logistic"), X3, y3),
    "regress": (lambda: oneslack.LinearSVR(C=0.5, epsilon=1.0, tol=1e-4), XR, YR),
    "held": (lambda: oneslack.LinearSVC(prior=np.full(6, 0.1), nonnegative=[0, 1]), X, y),
    "plain": (lambda: oneslack.LinearSVC(C=0.5, tol=1e-4, fit_intercept=False), X, y),
    "l1": (lambda: oneslack.LinearSVC(C=0.5, penalty="l1", loss="squared_hinge"), X, y),
    "sampled": (lambda: oneslack.KernelSVC(C=0.5, method="linear", n_basis=20), X, y),
    "rank": (lambda: oneslack.RankSVM(C=0.5, tol=1e-4), X, y),
    "f1": (lambda: oneslack.MetricSVC("f1", C=0.5, tol=1e-4), X, y),
    "kernel": (lambda: oneslack.KernelSVC(C=0.5, method="exact", tol=1e-4), X, y),
    "tag": (lambda: oneslack.SequenceTagger(C=0.3, tol=1e-4), TOKENS, TAGS),
    "planes": (lambda: oneslack.SequenceTagger(C=0.3, tol=1e-4, solver="one_slack"), TOKENS, TAGS),
    "slack": (lambda: oneslack.SequenceTagger(C=0.3, tol=1e-4, rescaling="slack"), TOKENS, TAGS),
    "segments": (lambda: oneslack.SequenceSegmenter(C=0.3, tol=1e-4), TOKENS, SEGMENTS),
    "graph": (lambda: oneslack.GraphTagger(C=0.3, tol=1e-4), GRAPHS, NODES),
    "grid": (lambda: oneslack.GridSegmenter(C=0.3), PICTURES, CELLS),
    "match": (lambda: oneslack.Matcher(C=0.3), PAIRS, PARTNERS),
    "parse": (lambda: oneslack.GrammarParser(C=0.3, min_count=1, tol=1e-4), TREES, None),
    "spans": (
        lambda: oneslack.GrammarParser(C=0.3, min_count=1, tol=1e-4, solver="one_slack", span_features=True),
        TREES, None,
    ),
}  # fmt: skip


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """{name: (header, arrays)} of models that carry their proof."""
    folder, found = tmp_path_factory.mktemp("proofs"), {}
    for name, (make, A, b) in MODELS.items():
        path = folder / name
        make().fit(A, b).save(path, proof=True)
        found[name] = load_model(path)
    return found


def checked(tmp_path, header, arrays, A, b, **more):
    path = tmp_path / "model"
    if isinstance(header.get("proof"), dict) and header["proof"].get("fingerprint") != "kept":
        header["proof"]["fingerprint"] = fingerprint(arrays)
    save_model(path, header, arrays)
    return oneslack.check_proof(path, A, b, **more)


def copied(saved, name):
    import copy

    header, arrays = saved[name]
    return copy.deepcopy(header), {key: array.copy() for key, array in arrays.items()}


@pytest.mark.parametrize("name", MODELS)
def test_what_was_written_is_proven(saved, tmp_path, name):
    header, arrays = copied(saved, name)
    report = checked(tmp_path, header, arrays, *MODELS[name][1:])
    certificate = header["certificate"]
    if header["proof"]["partial"]:
        assert report.primal <= certificate["primal"] * (1 + 1e-6)
        assert "not proven" in str(report)
        return
    loose = 1e-8 if name == "spans" else 1e-9  # many weights a span: its rounding is bounded by the largest
    assert report.gap <= certificate["relative_gap"] * (1 + 1e-6) + loose
    assert report.primal <= certificate["primal"] * (1 + loose)
    assert report.dual >= certificate["dual"] * (1 - 1e-9)
    assert 100 < report.lines <= 400
    assert "proven: at most" in str(report)


FORGERIES = {
    "two": [
        of_dual("a dual outside its box", of_largest(lambda value: 1.001 * value)),
        of_dual("a dual of the wrong sign", of_largest(lambda value: -value)),
        of_dual("sums that do not balance", of_largest(lambda value: 0.5 * value)),
        of_dual("NaN", set_at(3, np.nan)),
        of_dual("infinity", set_at(3, np.inf)),
        of_array("a truncated array", "proof.0.duals", lambda array: array[:-1]),
        of_array("a wrong dtype", "proof.0.duals", lambda array: array.astype(np.float32)),
        of_array("a wrong shape", "proof.0.duals", lambda array: array[:, None]),
        of_array("no duals", "proof.0.duals", lambda array: np.zeros_like(array)),
        of_array("duals in another order", "proof.0.duals", lambda array: array[::-1].copy()),
        of_array("other weights", "coef", lambda array: 1.01 * array),
        of_array("other intercepts", "intercept", lambda array: array + 0.01),
        of_header("a claim of a smaller gap", smaller_gap),
        of_header("a claim of a smaller objective", claim(0, lambda value: 0.999999 * value)),
        of_header("a claim of NaN", claim(1, lambda value: float("nan"))),
        of_header("a claim of text", claim(1, lambda value: "0")),
        of_header("no claims", lambda header: header["proof"].__setitem__("claims", [])),
        of_header("two claims", lambda header: header["proof"]["claims"].append([1.0, 0.5])),
        of_header("another version", lambda header: header["proof"].__setitem__("version", 2)),
        of_header("a larger C", other_C(1.0001)),
        of_header("a smaller C", other_C(0.9999)),
        of_header("two values of C", lambda header: header["proof"].__setitem__("C", 0.6)),
        of_header("another loss", parameter("loss", "squared_hinge")),
        of_header("no intercept", parameter("fit_intercept", False)),
        of_header("no lower bound", lambda header: header["proof"].update(partial=True)),
        of_header("another C of the training", lambda header: header["certificate"].update(C=5.0)),
        of_header("a smaller ball around the weights", smaller_ball),
        of_header("two balls", lambda header: header["certificate"].update(radius=[0.1, 0.1])),
        of_array("a narrower intercept", "optimum.below", lambda array: 0.5 * array),
        of_array("an intercept around another row", "optimum.centre", lambda array: array + 1.0),
        ("another centre of the ball", other_centre),
        ("other scales of the ball", with_array("optimum.scale", lambda: np.full((1, 6), 9.0))),
        ("a prior beside that of the parameters", with_array("proof.prior", lambda: np.zeros((1, 6)))),
        of_header("other weights of classes", parameter("class_weight", {"pairs": [[0, 1.1], [1, 1.0]]})),
        of_data("other labels", other_labels),
        of_data("swapped classes", lambda A, b: (A, 1 - b)),
        of_data("another order of rows", lambda A, b: (A[::-1], b[::-1])),
        of_data("other data", lambda A, b: (A + 1e-3 * np.sin(A), b)),
        of_data("fewer rows", lambda A, b: (A[:-1], b[:-1])),
        of_data("another column", lambda A, b: (A[:, [1, 0, 2, 3, 4, 5]], b)),
    ],
    "classes": [
        of_dual("a negative dual", negated),
        of_dual("a dual outside its box", of_largest(lambda value: 3.0 * value)),
        of_array("a swapped class", "proof.0.classes", lambda array: (array + 1) % 3),
        of_array("a class that is none", "proof.0.classes", lambda array: array + 3),
        of_array("ends that fall", "proof.0.ends", lambda array: array[::-1].copy()),
        of_array("ends that are floats", "proof.0.ends", lambda array: array.astype(float)),
        of_data("other labels", other_labels),
    ],
    "ovr": [
        of_array("the duals of another problem", "proof.1.duals", lambda array: array[::-1].copy()),
        of_dual("a dual outside its box", of_largest(lambda value: 2.0 * value), "proof.2.duals"),
        of_header("another loss", parameter("loss", "hinge")),
    ],
    "regress": [
        of_dual("a dual outside its box", of_largest(lambda value: 1.1 * value)),
        of_header("another tube", parameter("epsilon", 0.9)),
        of_header("another loss", parameter("loss", "huber")),
        of_data("other targets", lambda A, b: (A, b + 0.1 * np.sin(b))),
    ],
    "held": [
        of_array("a negative weight", "coef", lambda array: array - 1.0),
        of_array("another prior", "parameter.prior", lambda array: array + 0.5),
    ],
    "plain": [
        of_array("an intercept that is no part of it", "intercept", lambda array: array + 5.0),
        ("a secret prior, by which any weights are best", any_weights),
    ],
    "l1": [
        ("a scale below 0", with_array("proof.scale", lambda: -np.ones((1, 6)))),
        ("a prior under L1", with_array("parameter.prior", lambda: np.ones(6))),
    ],
    "sampled": [
        of_header("a smaller objective", smaller_objective),
        of_header("a kernel that is not definite", lambda header: header["kernel"].update(POLYNOMIAL)),
    ],
    "rank": [
        of_data("targets that are all the same", lambda A, b: (A, np.zeros(len(b)))),
        of_array("weights that sum to more", "proof.0.weights", lambda array: 1.01 * array),
        of_array("a negative weight", "proof.0.weights", lambda array: array - 0.5),
        of_array("other points", "proof.0.points", lambda array: array[:, ::-1].copy()),
        of_array("NaN", "proof.0.points", lambda array: array * np.nan),
        of_data("other targets", other_labels),
    ],
    "f1": [
        of_array("other labellings", "proof.0.labels", lambda array: 255 - array),
        of_array("truncated labellings", "proof.0.labels", lambda array: array[:, :-1].copy()),
        of_array("labellings that are floats", "proof.0.labels", lambda array: array.astype(float)),
        of_header("another metric", lambda header: header["parameters"].update(metric="fbeta", beta=2.0)),
    ],
    "kernel": [
        of_array("other support vectors", "vectors", lambda array: array[::-1].copy()),
        of_array("an intercept that is no part of it", "intercept", lambda array: array + 5.0),
        ("a support vector twice", support_twice),
        of_array("a centre far away", "centre", lambda array: array + 1e12),
        of_header("a smaller ball", lambda header: header["certificate"].update(radius=[1e-9])),
        of_dual("a dual outside its box", of_largest(lambda value: 1.001 * value)),
        of_header("another kernel", lambda header: header["kernel"].__setitem__("gamma", 0.1)),
        of_array("other coefficients", "dual_coef", lambda array: 1.01 * array),
    ],
    "segments": [
        of_dual("a negative dual", negated),
        of_array("other prices", "model.label_losses", lambda array: 0.5 * array),
        of_header("other prices of the parameters", parameter("missed", 0.5)),
    ],
    "tag": [
        of_array("other losses", "model.label_losses", lambda array: 0.9 * array),
        ("labels that may not follow", fewer_sequences),
        of_dual("a negative dual", negated),
        of_dual("a dual outside its box", of_largest(lambda value: value + 1.0)),
        of_array("a label that is none", "proof.0.outputs", lambda array: array + 3),
        of_array("other outputs", "proof.0.outputs", lambda array: (array + 1) % 3),
        of_array("a truncated output", "proof.0.outputs", lambda array: array[:-1]),
        of_array("other examples", "proof.0.examples", lambda array: array + 40),
        of_data("a label changed", sentences(lambda labels: ["A" if labels[0] != "A" else "B", *labels[1:]])),
    ],
    "planes": [
        of_dual("a negative dual", negated),
        of_dual("a dual outside its box", of_largest(lambda value: value + 1.0)),
        of_array("other outputs", "proof.0.outputs", lambda array: (array + 1) % 3),
        of_header("slack rescaling", parameter("rescaling", "slack")),
    ],
    "slack": [
        of_dual("a dual outside its box", of_largest(lambda value: value + 1.0)),
        of_array("other outputs", "proof.0.outputs", lambda array: (array + 1) % 3),
        of_header("margin rescaling", parameter("rescaling", "margin")),
    ],
    "spans": [
        of_dual("a dual outside its box", of_largest(lambda value: value + 1.0)),
        of_array("outputs that are no trees", "proof.0.outputs", lambda array: np.zeros_like(array)),
        of_array("other weights", "coef", lambda array: 1.01 * array),
        of_data("trees in another order", lambda A, b: (A[::-1], b)),
    ],
    "graph": [
        of_dual("a negative dual", negated),
        of_dual("a dual outside its box", of_largest(lambda value: value + 1.0)),
        of_array("a label that is none", "proof.0.outputs", lambda array: array + 3),
        of_array("other outputs", "proof.0.outputs", lambda array: (array + 1) % 3),
        of_array("cheaper errors", "model.label_losses", lambda array: 0.5 * array),
        of_array("other weights", "coef.value", lambda array: 9.0 * array),
        of_header("other edges", parameter("directed", True)),
        of_data("a label changed", lambda A, b: (A, [(b[0] + 1) % 3, *b[1:]])),
    ],
    "grid": [
        of_header("other contrasts", lambda header: header.update(contrast_scale=9.0)),
        of_array("a weight that is held", "coef.value", lambda array: -9.0 * array),
        of_data("pictures in another order", lambda A, b: (A[::-1], b)),
    ],
    "match": [
        of_dual("a dual outside its box", of_largest(lambda value: value + 1.0)),
        of_array("a column twice", "proof.0.outputs", lambda array: np.zeros_like(array)),
        of_array("a column that is none", "proof.0.outputs", lambda array: array - 2),
        of_array("other weights", "coef", lambda array: 9.0 * array),
        of_data("other partners", lambda A, b: (A, [b[1], b[0], *b[2:]])),
    ],
    "parse": [
        of_array("sentences left out", "outside", lambda array: np.array([1, 3])),
        of_header("other prices", lambda header: header["model"].update(missing=0.5)),
        of_header("slack rescaling", parameter("rescaling", "slack")),
        of_dual("a negative dual", negated),
        of_array("outputs that are no trees", "proof.0.outputs", lambda array: np.zeros_like(array)),
        of_array("another split", "proof.0.outputs", lambda array: np.where(array == 1, 2, array)),
        of_array("a truncated tree", "proof.0.outputs", lambda array: array[:-3]),
        of_data("trees in another order", lambda A, b: (A[::-1], b)),
    ],
}  # fmt: skip
CASES = [(name, *forgery) for name, forgeries in FORGERIES.items() for forgery in forgeries]


@pytest.mark.parametrize(("name", "what", "forge"), CASES, ids=[f"{name}-{what}" for name, what, _ in CASES])
def test_forged_proofs_are_rejected(saved, tmp_path, name, what, forge):
    header, arrays = copied(saved, name)
    header, arrays, A, b = forge(header, arrays, *MODELS[name][1:])
    with pytest.raises(oneslack.OneslackError) as caught:
        checked(tmp_path, header, arrays, A, b)
    text = str(caught.value)
    assert str(tmp_path) in text
    assert len(text.splitlines()) == 1


def test_there_are_many_forgeries():
    assert len(CASES) >= 100


@pytest.mark.parametrize("name", ["two", "kernel", "tag", "parse"])
def test_a_weight_changed_in_its_12th_digit_is_found(saved, tmp_path, name):
    header, arrays = copied(saved, name)
    given = [key for key, array in arrays.items() if array.dtype == float and not key.startswith("proof.")]
    key = min(given, key=lambda key: "coef" not in key)
    arrays[key].flat[np.argmax(np.abs(arrays[key]))] *= 1.0 + 1e-12
    path = tmp_path / "model"
    save_model(path, header, arrays)
    with pytest.raises(oneslack.ProofError, match="fingerprint"):
        oneslack.check_proof(path, *MODELS[name][1:])


def test_a_model_without_a_proof_says_so(tmp_path):
    path = tmp_path / "model"
    oneslack.LinearSVC().fit(X, y).save(path)
    with pytest.raises(oneslack.OneslackError, match="carries no proof; save it with proof=True"):
        oneslack.check_proof(path, X, y)

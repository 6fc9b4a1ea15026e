"""Labels known in part: every round lowers what is minimised, by enumeration; the last one is solved."""

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference
from sklearn.exceptions import ConvergenceWarning

import oneslack
from oneslack import Chain, SequenceTagger, StructuralSVM
from oneslack.data.rows import Ragged
from oneslack.estimators._shared import partial_labels
from oneslack.latent import concave_convex
from oneslack.models.chain.runs import known_runs

TAGS = ["O", "B-X", "I-X"]


def data(n=24, seed=0, unknown=0.5, longest=4, noise=0.2):
    """(matrices, labels, the same labels with None for some): features are not always telling."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for T in rng.integers(1, longest + 1, size=n):
        y = []
        for _ in range(T):
            y.append(int(rng.integers(0, 3 if y and y[-1] else 2)))
        shown = np.where(rng.random(T) < noise, rng.integers(0, 3, size=T), y)
        X.append(np.hstack([np.eye(3)[shown], rng.normal(size=(T, 1))]))
        Y.append([TAGS[label] for label in y])
    partial = [[label if rng.random() > unknown else None for label in y] for y in Y]
    return X, Y, partial


X, Y, PARTIAL = data()
SETTINGS = {
    "plain": {},
    "second order": {"order": 2},
    "ends": {"start": True, "end": True},
    "iob": {"constraints": "iob"},
    "slack": {"rescaling": "slack"},
    "cutting planes": {"solver": "one_slack"},
    "n slacks": {"solver": "n_slack"},
    "all": {"order": 2, "start": True, "end": True, "constraints": "iob", "rescaling": "slack"},
}


def codes_of(tagger, Y):
    place = {label: k for k, label in enumerate(tagger.classes_)}
    return [np.array([place.get(label, -1) for label in y]) for y in Y]


def enumerated(tagger, w, x, y):
    """Of one sentence: the scores of all outputs, their losses, and which agree with what is known."""
    model = tagger.model_
    outputs = list(model.outputs(x))
    scores = np.array([(model.joint_feature(x, z) @ w).item() for z in outputs])
    losses = np.array([float(np.sum((y >= 0) & (z != y))) for z in outputs])
    agree = np.array([bool(np.all((y < 0) | (z == y))) for z in outputs])
    return outputs, scores, losses, agree


def latent_objective(tagger, w, X=X, Y=PARTIAL, sample_weight=None):
    """L(w), by its definition."""
    total = 0.0
    s = np.ones(len(X)) if sample_weight is None else sample_weight
    for s_i, x, y in zip(s, X, codes_of(tagger, Y), strict=True):
        _, scores, losses, agree = enumerated(tagger, w, x, y)
        hinges = []
        for lead in scores[agree]:
            missed = losses - (lead - scores)
            if tagger.rescaling == "slack":
                missed = losses * (1 - (lead - scores))
            hinges.append(max(missed.max(), 0.0))
        total += s_i * min(hinges)
    return 0.5 * w @ w + tagger.C * total


def fitted(X=X, Y=PARTIAL, sample_weight=None, **settings):
    return SequenceTagger(**({"C": 0.5, "tol": 1e-6, "n_jobs": 1} | settings)).fit(X, Y, sample_weight)


@pytest.fixture
def rounds(monkeypatch):
    """The (problem, start, result) of each round, as they come."""
    found, real = [], concave_convex.driver.solve

    def solve(problem, **options):
        result = real(problem, **options)
        if isinstance(problem.model, concave_convex.Filled):
            found.append((problem, options["start"]["w"], result))
        return result

    monkeypatch.setattr(concave_convex.driver, "solve", solve)
    return found


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_no_round_raises_the_objective(settings, rounds, monkeypatch):
    """From weights so bad that they fill in other labels than the last ones."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(
        partial_labels, "_first_weights", lambda model, *_: (rng.normal(size=model.n_params), False)
    )
    tagger = fitted(**settings)
    assert len(rounds) >= 2  # else nothing is tested
    values = [latent_objective(tagger, w) for _, w, _ in rounds]
    for (problem, w, _), value in zip(rounds, values, strict=True):
        assert problem.primal(w) == pytest.approx(value, rel=1e-9)  # P touches L where it begins
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(values))
    last = latent_objective(tagger, tagger.coef_)
    assert last <= values[-1] * (1 + 1e-9)
    assert last < values[0]
    assert last <= tagger.objective_ * (1 + 1e-9)
    assert not tagger.result_.certified
    assert f"in {len(rounds)} rounds" in tagger.result_.reason


@pytest.mark.parametrize("settings", [{}, {"rescaling": "slack"}, {"constraints": "iob", "end": True}])
def test_the_last_problem_is_solved(settings, rounds):
    """Beside a QP over all outputs, with psi at the completion and the loss of what is known."""
    tagger = fitted(**settings)
    truth = Ragged(rounds[-1][0].data.truth, rounds[-1][0].data.offsets)
    deltas, offsets, index = [], [], []
    for i, (x, y) in enumerate(zip(X, codes_of(tagger, PARTIAL), strict=True)):
        assert np.all((y < 0) | (truth[i] == y))
        at_truth = tagger.model_.joint_feature(x, truth[i])
        outputs, _, losses, _ = enumerated(tagger, tagger.coef_, x, y)
        for z, loss in zip(outputs, losses, strict=True):
            delta = (at_truth - tagger.model_.joint_feature(x, z)).toarray()[0]
            deltas.append(delta * loss if tagger.rescaling == "slack" else delta)
            offsets.append(loss)
            index.append(i)
    reference = Reference.of_cuts(
        np.array(deltas), np.array(offsets), np.array(index), np.full(len(X), tagger.C)
    )
    lower, upper, _ = reference.solve()
    assert tagger.objective_ == pytest.approx(reference.primal(tagger.coef_), rel=1e-9)
    assert tagger.objective_ >= lower * (1 - 1e-8)
    assert tagger.dual_objective_ <= upper * (1 + 1e-8)
    assert tagger.duality_gap_ <= 1e-6


def test_it_learns_more_than_from_whole_sentences_alone():
    train, truth, partial = data(400, seed=3, unknown=0.6, longest=8)
    test, Y_test, _ = data(200, seed=4, longest=8)
    whole = [i for i, y in enumerate(partial) if None not in y]
    settings = {"C": 0.5, "tol": 1e-3}
    some = SequenceTagger(**settings).fit([train[i] for i in whole], [partial[i] for i in whole])
    every = SequenceTagger(**settings).fit(train, partial)
    best = SequenceTagger(**settings).fit(train, truth)
    assert every.score(test, Y_test) >= some.score(test, Y_test)
    assert every.score(test, Y_test) >= best.score(test, Y_test) - 0.03


def test_structural_svm_takes_the_same_labels_as_numbers():
    tagger = fitted(order=2)
    chain = Chain(4, 3, order=2)
    codes = codes_of(tagger, PARTIAL)
    svm = StructuralSVM(chain, C=0.5, tol=1e-6, n_jobs=1).fit(X, codes)
    np.testing.assert_array_equal(svm.coef_, tagger.coef_)
    assert not svm.result_.certified
    again = StructuralSVM(chain, C=0.5, tol=1e-6, n_jobs=1, warm_start=True)
    again.coef_ = svm.coef_
    again.fit(X, codes)
    assert latent_objective(tagger, again.coef_) <= latent_objective(tagger, svm.coef_) * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["dicts", "sparse", "weights"])
def test_other_inputs_and_weights(kind):
    if kind == "dicts":
        tokens = [[dict(zip("abcd", t, strict=True)) for t in x.tolist()] for x in X]
        np.testing.assert_allclose(fitted(tokens).coef_, fitted().coef_, atol=1e-5)  # each within tol=1e-6
    elif kind == "sparse":
        np.testing.assert_allclose(fitted([sp.csr_array(x) for x in X]).coef_, fitted().coef_, atol=1e-5)
    else:
        weights = np.arange(1.0, len(X) + 1) % 3
        tagger = fitted(sample_weight=weights)
        assert tagger.objective_ >= latent_objective(tagger, tagger.coef_, sample_weight=weights) * (1 - 1e-9)


def test_labels_of_numbers_and_saving(tmp_path):
    numbers = [[None if label is None else TAGS.index(label) for label in y] for y in PARTIAL]
    tagger = fitted(Y=numbers)
    assert tagger.classes_.tolist() == [0, 1, 2]
    tagger.save(tmp_path / "m")
    assert oneslack.load(tmp_path / "m").predict(X) == tagger.predict(X)


def test_runs_of_known_labels():
    model = Chain(1, 2)
    Y = [[0, 1, -1, 1], [-1, -1], [1], [0, 0], [], [-1, 1]]
    X = [np.arange(10.0 * i, 10 * i + len(y))[:, None] for i, y in enumerate(Y)]
    runs, labels, weights = known_runs(model.pack(X, Y, np.arange(6.0)))
    assert [runs[i].ravel().tolist() for i in range(len(runs))] == [[0, 1], [3], [20], [30, 31], [51]]
    assert [labels[i].tolist() for i in range(len(runs))] == [[0, 1], [1], [1], [0, 0], [1]]
    assert weights.tolist() == [0, 0, 2, 3, 5]


def test_unknown_labels_are_not_scored():
    tagger = fitted()
    right = [
        (a, b)
        for y, y_hat in zip(PARTIAL, tagger.predict(X), strict=True)
        for a, b in zip(y, y_hat, strict=True)
        if a is not None
    ]
    assert tagger.score(X, PARTIAL) == pytest.approx(np.mean([a == b for a, b in right]))


def test_completions_keep_the_rules_and_a_broken_phrase_is_refused():
    tagger = fitted(constraints="iob")
    for y in tagger.predict(X):
        assert all(b != "I-X" or a != "O" for a, b in zip(["O", *y], y))
    bad = [list(y) for y in PARTIAL]
    bad[3] = ["I-X", *([None] * (len(bad[3]) - 1))]
    with pytest.raises(ValueError, match="sentence 3, position 0: 'I-X' continues no phrase"):
        fitted(Y=bad, constraints="iob")
    # B-X or I-X must come before I-X: an unknown label may be either.
    i = next(i for i, y in enumerate(Y) if len(y) >= 2)
    fine = [list(y) for y in PARTIAL]
    fine[i] = [None, "I-X", *([None] * (len(fine[i]) - 2))]
    fitted(Y=fine, constraints="iob")


def test_ctrl_c_and_time_end_it():
    calls = []

    def stop(row):
        calls.append(row)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return False

    tagger = SequenceTagger(tol=1e-9, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(X, PARTIAL, callbacks=[stop])
    assert len(calls) == 3  # one more step, for a bound
    assert tagger.objective_ >= latent_objective(tagger, tagger.coef_) * (1 - 1e-9)
    with pytest.warns(ConvergenceWarning, match="time ran out"):
        late = fitted(tol=1e-9, time_limit=1e-6)
    assert late.n_iter_ == 1


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[None] * len(y) for y in Y], "no token has a label"),
        ([[1 if label is None else label for label in y] for y in PARTIAL], "text or numbers, all of one"),
        ([[np.nan if label is None else 1.0 for label in y] for y in PARTIAL], "use None where it is not"),
    ],
)
def test_refusals(labels, message):
    with pytest.raises(ValueError, match=message):
        fitted(Y=labels)


def test_every_way_to_fill_in_costs_at_least_as_much():
    """At the end, by trying all completions of all sentences one by one."""
    tagger = fitted()
    w, used = tagger.coef_, 0.5 * tagger.coef_ @ tagger.coef_
    for x, y in zip(X, codes_of(tagger, PARTIAL), strict=True):
        _, scores, losses, agree = enumerated(tagger, w, x, y)
        free = int((y < 0).sum())
        assert agree.sum() == len(list(product(range(3), repeat=free)))
        used += tagger.C * max(0.0, (losses + scores).max() - scores[agree].max())
    assert used == pytest.approx(latent_objective(tagger, w), rel=1e-9)

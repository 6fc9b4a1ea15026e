"""SequenceTagger: the optimum, whatever the input looks like; decoders against brute force; every refusal."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference
from sklearn import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate

import oneslack
from oneslack import Chain, FormatError, OneslackError, Problem, SequenceTagger, brute_force
from oneslack.checks.brute import all_cuts, score_of
from oneslack.data.rows import Ragged
from oneslack.features import parse_templates
from oneslack.formats import load_model, save_model
from oneslack.formats.sentences import Sentences
from oneslack.metrics import token_accuracy

TAGS = ["O", "B-X", "I-X"]
WORDS = {"O": ["und", "is", "the"], "B-X": ["Bo", "Ma", "is"], "I-X": ["Bo", "der", "Uz"]}


def text(n=30, seed=0, longest=4):
    """(words, labels) of short sentences whose phrases are well formed; words are not always telling."""
    rng = np.random.default_rng(seed)
    words, labels = [], []
    for T in rng.integers(1, longest + 1, size=n):
        tags = []
        for _ in range(T):
            open_phrase = bool(tags) and tags[-1] != "O"
            tags.append(str(rng.choice(TAGS if open_phrase else TAGS[:2])))
        words.append([str(rng.choice(WORDS[str(rng.choice([tag, tag, tag, "O"]))])) for tag in tags])
        labels.append(tags)
    return words, labels


WORDS_OF, Y = text()
TEMPLATES = "w[0]\nsuffix(w[0], 1)"


def as_dicts(words):
    return [[{"w": word, "end": word[-1]} for word in sentence] for sentence in words]


def as_strings(words):
    return [[[f"end={word[-1]}", f"w={word}"] for word in sentence] for sentence in words]


def as_matrices(words, known=WORDS_OF):
    """A column for each name, in the order of the names."""
    names = sorted({name for sentence in as_strings(known) for token in sentence for name in token})
    return [
        sp.csr_array([[float(name in token) for name in names] for token in sentence])
        for sentence in as_strings(words)
    ]


def as_dense(words):
    return [x.toarray() for x in as_matrices(words)]


def as_ragged(words):
    return Ragged.from_list(as_matrices(words))


def as_sentences(words, labels=None):
    return Sentences.from_lists(w=words, **({} if labels is None else {"tag": labels}))


INPUTS = {
    "dicts": (as_dicts, {}),
    "strings": (as_strings, {}),
    "matrices": (as_matrices, {}),
    "dense": (as_dense, {}),
    "ragged": (as_ragged, {}),
    "sentences": (as_sentences, {"templates": TEMPLATES}),
    "templates": (as_sentences, {"templates": parse_templates(TEMPLATES)}),
    "hashed dicts": (as_dicts, {"hash_bits": 6}),
    "hashed sentences": (as_sentences, {"templates": TEMPLATES, "hash_bits": 6}),
}
SETTINGS = {
    "plain": {},
    "second order": {"order": 2},
    "start and end": {"start": True, "end": True},
    "iob": {"constraints": "iob"},
    "slack": {"rescaling": "slack"},
    "all": {"order": 2, "start": True, "end": True, "constraints": "iob", "rescaling": "slack"},
}
SOLVERS = ["auto", "dual_cd", "n_slack", "one_slack"]
X = as_dicts(WORDS_OF)


def fitted(X=X, Y=Y, sample_weight=None, **settings):
    return SequenceTagger(**({"C": 0.5, "tol": 1e-6} | settings)).fit(X, Y, sample_weight=sample_weight)


def codes(tagger, Y):
    return [np.searchsorted(tagger.classes_, labels) for labels in Y]


# The optimum.


def reference_of(tagger, X, Y):
    """The whole problem, every output of every sentence, as one QP; X holds matrices."""
    cuts = all_cuts(tagger.model_, X, codes(tagger, Y))
    deltas = cuts.deltas.toarray()
    if tagger.rescaling == "slack":
        deltas = deltas * cuts.losses[:, None]
    return Reference.of_cuts(deltas, cuts.losses, cuts.index, np.full(len(Y), tagger.C))


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_certificate_holds(settings):
    matrices = as_matrices(WORDS_OF)
    tagger = fitted(matrices, **settings)
    reference = reference_of(tagger, matrices, Y)
    lower, upper, _ = reference.solve()
    assert tagger.duality_gap_ <= tagger.tol
    assert tagger.objective_ == pytest.approx(reference.primal(tagger.coef_), rel=1e-9)
    assert tagger.objective_ >= lower * (1 - 1e-8)
    assert tagger.dual_objective_ <= upper * (1 + 1e-8)
    problem = Problem(tagger.model_, matrices, codes(tagger, Y), tagger.C, rescaling=tagger.rescaling)
    assert tagger.objective_ == pytest.approx(problem.primal(tagger.coef_), rel=1e-9)
    assert tagger.result_.certified


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_all_solvers_reach_one_optimum(rescaling):
    taggers = [fitted(solver=solver, rescaling=rescaling) for solver in SOLVERS]
    taggers.append(fitted(solver=oneslack.NSlack(batch=7), rescaling=rescaling))
    assert max(t.dual_objective_ for t in taggers) <= min(t.objective_ for t in taggers) * (1 + 1e-9)
    assert all(t.duality_gap_ <= 1e-6 for t in taggers)
    # P is strongly convex: |w - w*|^2 <= 2 (P(w) - P*).
    for tagger in taggers:
        radius = 2 * np.sqrt(2 * 1e-6 * tagger.objective_)
        assert np.linalg.norm(tagger.coef_ - taggers[0].coef_) <= radius


def test_inputs_that_mean_the_same_give_the_same_weights():
    taggers = {
        name: fitted(make(WORDS_OF), **settings)
        for name, (make, settings) in INPUTS.items()
        if "hashed" not in name
    }
    for name in ("strings", "matrices", "ragged"):
        assert np.array_equal(taggers[name].coef_, taggers["dicts"].coef_)
    radius = 2 * np.sqrt(2 * 1e-6 * taggers["dicts"].objective_)
    assert np.linalg.norm(taggers["dense"].coef_ - taggers["dicts"].coef_) <= radius
    assert np.array_equal(taggers["templates"].coef_, taggers["sentences"].coef_)
    # Templates order their columns by template, so only the optimum can be compared.
    duals = [tagger.dual_objective_ for tagger in taggers.values()]
    primals = [tagger.objective_ for tagger in taggers.values()]
    assert max(duals) <= min(primals) * (1 + 1e-9)
    assert len({tagger.coef_.shape for tagger in taggers.values()}) == 1


def test_labels_from_a_column():
    sentences = as_sentences(WORDS_OF, Y)
    by_name, by_list = (fitted(sentences, labels, templates=TEMPLATES) for labels in ("tag", Y))
    assert np.array_equal(by_name.coef_, by_list.coef_)
    assert np.array_equal(by_name.classes_, by_list.classes_)
    assert by_name.score(sentences, "tag") == by_list.score(sentences, Y)


@pytest.mark.parametrize("labels", [[7, -2, 3], [0.5, 1.5, 2.5], ["é", "a", "Z"], [np.int64(1), 2, 3]])
def test_labels_of_any_type(labels):
    renamed = [[labels[TAGS.index(tag)] for tag in sentence] for sentence in Y]
    tagger, plain = fitted(Y=renamed), fitted()
    assert tagger.classes_.tolist() == sorted(labels)
    back = [[TAGS[labels.index(label)] for label in sentence] for sentence in tagger.predict(X)]
    assert tagger.objective_ == pytest.approx(plain.objective_, rel=2e-6)
    # But for labels that the optimum does not tell apart: both models are within tol of it.
    for mine, theirs, margins in zip(back, plain.predict(X), plain.predict_margins(X), strict=True):
        assert all(a == b or margin < 1e-4 for a, b, margin in zip(mine, theirs, margins, strict=True))


def test_weights_count_as_repetition():
    counts = np.random.default_rng(1).integers(0, 3, size=len(X))
    counts[0] = 3
    weighted = fitted(sample_weight=counts)
    again = [i for i, count in enumerate(counts) for _ in range(count)]
    # The features of sentences that weigh nothing stay, but get no weight.
    matrices = as_matrices(WORDS_OF)
    repeated = fitted([matrices[i] for i in again], [Y[i] for i in again])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-6)
    radius = 2 * np.sqrt(2 * 1e-6 * repeated.objective_)
    assert np.linalg.norm(weighted.coef_ - repeated.coef_) <= radius < 0.1 * np.linalg.norm(repeated.coef_)


@pytest.mark.parametrize("solver", SOLVERS[1:])
def test_threads_give_the_same_bits(solver, monkeypatch):
    monkeypatch.setattr("oneslack.data.rows.SHARD_SIZE", 500)
    words, labels = text(200, seed=3)
    settings = {"solver": solver, "tol": 1e-3, "C": 0.05}
    one, two = (fitted(as_dicts(words), labels, n_jobs=jobs, **settings) for jobs in (1, 2))
    assert len(one.model_.pack(one._features(as_dicts(words)), None).shards) > 1
    assert np.array_equal(one.coef_, two.coef_)
    assert one.objective_ == two.objective_
    assert one.n_iter_ == two.n_iter_
    assert one.predict(as_dicts(words)) == two.predict(as_dicts(words))


# Predictions.


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_predictions_are_the_best_of_all(settings):
    matrices = as_matrices(text(15, seed=5)[0])
    tagger = fitted(as_matrices(WORDS_OF), **settings)
    lists, margins = tagger.predict_topk(matrices, 3), tagger.predict_margins(matrices)
    for x, z, best, margin in zip(
        matrices, codes(tagger, tagger.predict(matrices)), lists, margins, strict=True
    ):
        expected, score = brute_force(tagger.model_, tagger.coef_, x)
        assert score_of(tagger.model_, tagger.coef_, x, z) == pytest.approx(score, abs=1e-9)
        outputs = list(tagger.model_.outputs(x))
        scores = np.array([score_of(tagger.model_, tagger.coef_, x, out) for out in outputs])
        found = [score for _, score in best]
        np.testing.assert_allclose(found, np.sort(scores)[::-1][:3], atol=1e-9)
        if len(scores) == 1 or found[0] > found[1] + 1e-6:
            assert np.array_equal(z, expected)
            for t in range(len(z)):
                others = scores[[out[t] != z[t] for out in outputs]]
                assert margin[t] == pytest.approx(score - max(others, default=-np.inf), abs=1e-9)


def broken(Y):
    """How many labels I-X follow neither B-X nor I-X."""
    return sum(
        tag.startswith("I-") and before not in (f"B{tag[1:]}", tag)
        for labels in Y
        for before, tag in pairwise(["O", *labels])
    )


@pytest.mark.parametrize("order", [1, 2])
def test_iob_labels_are_well_formed(order):
    new = as_dicts(text(200, seed=6, longest=7)[0])
    # The training labels are well formed, but that alone does not make predictions so.
    assert broken(fitted(order=order, C=0.02).predict(new)) > 0
    tagger = fitted(order=order, C=0.02, constraints="iob")
    assert broken(tagger.predict(new)) == 0
    assert any(tag == "I-X" for labels in tagger.predict(new) for tag in labels)


def test_iob_labels_without_types():
    plain = [[tag[0] for tag in labels] for labels in Y]
    tagger = fitted(Y=plain, C=0.02, constraints="iob")
    predicted = tagger.predict(as_dicts(text(200, seed=6, longest=7)[0]))
    assert broken([[{"O": "O", "B": "B-X", "I": "I-X"}[tag] for tag in labels] for labels in predicted]) == 0


def test_training_labels_must_keep_the_rules():
    with pytest.raises(ValueError, match=r"sentence 1, position 1: 'I-X' continues no phrase.*\(IOB2\)"):
        fitted([X[0], [{"a": 1}, {"a": 1}]], [Y[0], ["O", "I-X"]], constraints="iob")
    with pytest.raises(ValueError, match="sentence 0, position 0: 'I-X' continues no phrase"):
        fitted([[{"a": 1}]], [["I-X"]], constraints="iob")


def test_unknown_features_and_empty_sentences():
    tagger = fitted()
    known = tagger.predict([[{"w": "Bo", "end": "o"}, {"w": "Uz", "end": "z"}]])
    new = [{"w": "Bo", "end": "o", "news": 1}, {"w": "Uz", "end": "z", "x": "y"}]
    assert tagger.predict([new, [], [{"never": True}]])[:2] == [*known, []]
    assert len(tagger.predict([[{"never": True}]])[0]) == 1
    assert tagger.predict([]) == []
    assert tagger.predict_topk([[]], 2)[0][0][0] == []
    by_matrix = fitted(as_matrices(WORDS_OF))
    assert by_matrix.predict([]) == []
    templates = fitted(as_sentences(WORDS_OF), templates=TEMPLATES)
    assert len(templates.predict(as_sentences([["niemals", "Bo"]]))[0]) == 2


def test_rare_features_get_no_weight():
    often = fitted(min_count=5)
    assert 0 < often.model_.n_features < fitted().model_.n_features
    counts = np.sum([x.sum(axis=0) for x in as_matrices(WORDS_OF)], axis=0)
    kept = [x[:, np.flatnonzero(counts >= 5)] for x in as_matrices(WORDS_OF)]
    assert np.array_equal(often.coef_, fitted(kept).coef_)


def test_score_is_the_share_of_tokens():
    words, labels = text(40, seed=8)
    tagger = fitted()
    assert tagger.score(as_dicts(words), labels) == token_accuracy(labels, tagger.predict(as_dicts(words)))
    assert 0.4 < tagger.score(as_dicts(words), labels) < 1.0


def test_one_label_is_no_trouble(tmp_path):
    tagger = fitted([[{"a": 1}, {"b": 1}]], [["N", "N"]])
    tagger.save(tmp_path / "one")
    assert tagger.predict([[{"b": 1}]]) == oneslack.load(tmp_path / "one").predict([[{"b": 1}]]) == [["N"]]


# Interrupted training.


def stop_at(step):
    def callback(row):
        if row.iteration == step:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("solver", SOLVERS[1:])
@pytest.mark.parametrize("step", [1, 2])
def test_ctrl_c_keeps_a_model_with_its_gap(solver, step):
    tagger = SequenceTagger(C=0.5, tol=1e-9, solver=solver)
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(X, Y, callbacks=[stop_at(step)])
    assert tagger.n_iter_ == step
    assert 1e-9 < tagger.duality_gap_ <= 1.0
    matrices = as_matrices(WORDS_OF)
    assert tagger.objective_ == pytest.approx(
        Problem(tagger.model_, matrices, codes(tagger, Y), 0.5).primal(tagger.coef_), rel=1e-9
    )
    assert tagger.dual_objective_ <= fitted().objective_ <= tagger.objective_ * (1 + 1e-9)
    assert len(tagger.predict(X)) == len(X)


def test_a_time_limit_keeps_a_model_with_its_gap():
    with pytest.warns(ConvergenceWarning, match="time"):
        tagger = fitted(tol=1e-12, time_limit=1e-6)
    assert tagger.result_.status.name == "TIME_LIMIT"
    assert 0.0 < tagger.duality_gap_ <= 1.0
    assert len(tagger.predict(X)) == len(X)


# scikit-learn.


def test_cross_validation_of_lists_of_lists():
    words, labels = text(30, seed=9)
    found = cross_validate(SequenceTagger(C=1.0), as_dicts(words), labels, cv=3, return_estimator=True)
    folds = np.array_split(np.arange(30), 3)
    for fold, tagger, score in zip(folds, found["estimator"], found["test_score"], strict=True):
        left_out = [as_dicts(words)[i] for i in fold]
        assert score == token_accuracy([labels[i] for i in fold], tagger.predict(left_out))


def test_grid_search():
    grid = {"C": [0.01, 1.0], "order": np.array([1, 2]), "min_count": np.array([1, 2])}
    search = GridSearchCV(SequenceTagger(), grid, cv=2, error_score="raise").fit(X, Y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert len(search.predict(X)) == len(X)


def test_clones_and_pickles(tmp_path):
    tagger = SequenceTagger(C=0.5, order=2, constraints="iob", templates=TEMPLATES)
    assert clone(tagger).get_params() == tagger.get_params()
    tagger.fit(as_sentences(WORDS_OF), Y)
    assert not hasattr(clone(tagger), "coef_")
    again = pickle.loads(pickle.dumps(tagger))
    assert again.predict(as_sentences(WORDS_OF)) == tagger.predict(as_sentences(WORDS_OF))
    assert np.array_equal(again.coef_, tagger.coef_)
    # A second fit is the first one once more.
    coef = tagger.coef_
    assert np.array_equal(tagger.fit(as_sentences(WORDS_OF), Y).coef_, coef)


# Refusals.


BAD = {
    "a label too few": (X, [*Y[:-1], Y[-1][:-1]], {}, "sentence 29 has . tokens but . labels"),
    "a sentence too few": (X, Y[:-1], {}, "X has 30 sentences but Y has 29"),
    "no sentence": ([], [], {}, "X has no sentence"),
    "no token": ([[]], [[]], {}, "X has no token"),
    "Sentences without templates": (as_sentences(WORDS_OF), Y, {}, "Sentences need templates"),
    "templates without Sentences": (
        X, Y, {"templates": "w[0]"}, "templates need words: Sentences.* but X holds lists of tokens",
    ),
    "rare columns": (as_matrices(WORDS_OF), Y, {"min_count": 2}, "min_count and hash_bits are for"),
    "no such column": (as_sentences(WORDS_OF), "pos", {"templates": "w[0]"}, "Y='pos' must be a column"),
    "a column of lists": (X, "tag", {}, "Y='tag' must be a column of Sentences, or give lists"),
    "labels flat": ([X[0][:1]], ["N"], {}, "sentence 0: its labels are 'N', expected a list"),
    "labels mixed": ([X[0][:1], X[0][:1]], [["N"], [1]], {}, "labels are of type int and str"),
    "labels missing": ([X[0][:1]], [[None]], {}, "no token has a label"),
    "labels nan": ([X[0][:1]], [[np.nan]], {}, "a label is not a number"),
    "sentence is text": (["Stop"], [["V"]], {}, "sentence 0 is a str; expected a list of tokens"),
    "token is text": ([["Stop"]], [["V"]], {}, "sentence 0, token 0: expected a dict or a list of strings"),
    "feature is None": ([[{"a": None}]], [["V"]], {}, "the feature 'a' is None"),
    "other width": ([np.ones((1, 2)), np.ones((1, 3))], [[0], [1]], {}, r"sentence 1: x has shape \(1, 3\)"),
    "other type": ([np.ones((1, 2)), [{"a": 1}]], [[0], [1]], {}, "sentence 1: x has type list"),
    "nan": ([np.ones((1, 2)), np.array([[1, np.nan]])], [[0], [1]], {}, "sentence 1: x holds numbers"),
    "sparse inf": (
        [sp.csr_array([[0.0, 1.0]]), sp.csr_array([[0.0, np.inf]])], [[0], [1]], {}, "sentence 1: x holds",
    ),
    "bad template": (as_sentences(WORDS_OF), Y, {"templates": "w[0"}, "line 1, column 4: expected ']'"),
    "order": (X, Y, {"order": 3}, "order must be 1 or 2; got 3"),
    "constraints": (X, Y, {"constraints": "bio"}, "constraints='bio' is not known"),
    "rescaling": (X, Y, {"rescaling": "both"}, "rescaling='both' is not known"),
    "solver": (X, Y, {"solver": "magic"}, "solver='magic' is not known"),
}  # fmt: skip


@pytest.mark.parametrize(("x", "y", "settings", "words"), BAD.values(), ids=BAD)
def test_bad_input_gets_its_sentence(x, y, settings, words):
    tagger = SequenceTagger(**settings)
    with pytest.raises(ValueError, match=words):
        tagger.fit(x, y)
    with pytest.raises(NotFittedError):
        tagger.predict(X)


def test_bad_weights_get_their_sentence():
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\), expected \(30,\)"):
        fitted(sample_weight=[1, 1, 1])
    with pytest.raises(ValueError, match=r"sample_weight must be >= 0; example 2 has -1\.0"):
        fitted(sample_weight=[1, 1, -1] + [1] * 27)
    with pytest.raises(ValueError, match="all sample weights are zero"):
        fitted(sample_weight=np.zeros(30))


def test_a_refused_fit_leaves_the_model():
    tagger = fitted()
    expected = tagger.predict(X)
    with pytest.raises(ValueError, match="labels"):
        tagger.fit(as_matrices(WORDS_OF), [*Y[:-1], []])
    assert tagger.predict(X) == expected


KINDS = {"dicts": "lists of tokens", "matrices": "matrices", "sentences": "Sentences"}


@pytest.mark.parametrize("learned", KINDS)
@pytest.mark.parametrize("given", KINDS)
def test_another_kind_of_input_is_refused(learned, given):
    make, settings = INPUTS[learned]
    tagger = fitted(make(WORDS_OF), **settings)
    new = INPUTS[given][0](WORDS_OF)
    if given == learned:
        assert len(tagger.predict(new)) == len(WORDS_OF)
        return
    for method in (tagger.predict, tagger.predict_margins, lambda X: tagger.score(X, Y)):
        with pytest.raises(ValueError, match=f"as in fit: {KINDS[learned]}, not {KINDS[given]}"):
            method(new)


def test_other_sizes_are_refused():
    tagger = fitted(as_matrices(WORDS_OF))
    with pytest.raises(ValueError, match=r"tokens have shape \(2,\), expected \(\d+,\) features"):
        tagger.predict([np.ones((1, 2))])
    with pytest.raises(ValueError, match="sentence 0 has 2 tokens but 1 labels"):
        fitted().score([[{"a": 1}, {"b": 1}]], [["O"]])
    with pytest.raises(ValueError, match="there is no token to score"):
        fitted().score([], [])


# Files.


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tagger.model"


@pytest.mark.parametrize(("make", "settings"), INPUTS.values(), ids=INPUTS)
@pytest.mark.parametrize("more", [{}, SETTINGS["all"]], ids=["plain", "all"])
def test_files_give_back_the_tagger(path, make, settings, more):
    tagger = fitted(make(WORDS_OF), tol=1e-3, random_state=np.int64(1), **settings, **more)
    tagger.save(path)
    again = oneslack.load(path)
    assert type(again) is SequenceTagger
    given = {**tagger.get_params(), "random_state": 1}
    if not isinstance(given["templates"], str | None):
        given["templates"] = "\n".join(map(str, given["templates"]))
    assert again.get_params() == given
    for name in ("coef_", "classes_"):
        assert np.array_equal(getattr(again, name), getattr(tagger, name))
        assert getattr(again, name).dtype == getattr(tagger, name).dtype
    for name in ("objective_", "dual_objective_", "duality_gap_", "n_iter_"):
        assert getattr(again, name) == getattr(tagger, name)
    new = make(text(20, seed=11)[0])
    assert again.predict(new) == tagger.predict(new)
    assert again.predict_topk(new, 2) == tagger.predict_topk(new, 2)
    again.save(path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == path.read_bytes()
    assert np.array_equal(again.fit(make(WORDS_OF), Y).coef_, tagger.coef_)


@pytest.mark.parametrize("labels", [[7, -2, 3], [0.5, 1.5, 2.5], ["größer", "小", ""]])
def test_labels_of_any_type_are_kept(path, labels):
    tagger = fitted(Y=[[labels[TAGS.index(tag)] for tag in sentence] for sentence in Y], tol=1e-2)
    tagger.save(path)
    assert oneslack.load(path).predict(X) == tagger.predict(X)


def test_only_weights_that_count_are_stored(path):
    fitted(hash_bits=16).save(path)
    arrays = load_model(path)[1]
    assert len(arrays["coef.index"]) == len(arrays["coef.value"]) < 100
    assert arrays["coef.index"].dtype == np.int32
    assert arrays["coef.value"].all()
    assert path.stat().st_size < 10_000


def test_saving_needs_a_fit(path):
    with pytest.raises(NotFittedError):
        SequenceTagger().save(path)
    assert not path.exists()


def header_with(**values):
    return lambda header, arrays: header.update(values)


def model_with(**values):
    return lambda header, arrays: header["model"]["fields"].update(values)


def features_with(**values):
    return lambda header, arrays: header["features"].update(values)


def without_array(name):
    return lambda header, arrays: arrays.pop(name)


def array(name, value):
    return lambda header, arrays: arrays.update({name: value})


DAMAGE = {
    "no model": (lambda header, arrays: header.pop("model"), "lacks 'model'"),
    "another model": (header_with(model={"name": "Grammar", "fields": {}}), "model 'Grammar' is not known"),
    "no chain": (
        header_with(model={"name": "Binary", "fields": {"n_features": 3, "intercept": 0}}), "has a Chain",
    ),
    "model is text": (header_with(model="Chain"), "damaged"),
    "no features": (lambda header, arrays: header.pop("features"), "lacks 'features'"),
    "other features": (features_with(**{"from": "pictures"}), "features from 'pictures' is not known"),
    "fewer features": (model_with(n_features=1), "features, expected 1"),
    "features are text": (model_with(n_features="9"), "n_features is '9', expected a whole number"),
    "min_count": (features_with(min_count=0), "min_count must be"),
    "order": (model_with(order=3), "order must be 1 or 2"),
    "fewer labels": (model_with(n_labels=2), "(2, 2)"),
    "no order": (lambda header, arrays: header["model"]["fields"].pop("order"), "lacks 'order'"),
    "no losses": (without_array("model.label_losses"), "lacks 'model.label_losses'"),
    "no weights": (without_array("coef.value"), "lacks 'coef.value'"),
    "a weight too few": (array("coef.value", np.zeros(1)), "weights have shape (1,)"),
    "weights of other numbers": (array("coef.index", np.zeros(3, np.int32)), "damaged"),
    "no text": (without_array("features.text"), "lacks 'features.text'"),
    "other text": (array("features.text", np.zeros(3, np.uint8)), "do not fit their text"),
    "other classes": (
        header_with(classes={"type": "text", "dtype": "<U1", "values": ["a"]}), "labels have shape (1,)",
    ),
    "other kind": (header_with(kind="StructuralSVM"), "damaged"),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "words"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_files_are_refused(path, damage, words):
    fitted(tol=1e-2).save(path)
    header, arrays = load_model(path)
    damage(header, arrays)
    save_model(path, header, arrays)
    with pytest.raises(FormatError) as caught:
        oneslack.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numbers_of_weights_are_checked(path):
    fitted(tol=1e-2).save(path)
    header, arrays = load_model(path)
    index = arrays["coef.index"]
    for wrong, words in (
        (index[::-1], "not increasing"),
        (index + 1000, "coef.index must hold whole numbers from 0 to"),
        (index - 9, "coef.index must hold whole numbers from 0 to"),
    ):
        save_model(path, header, arrays | {"coef.index": np.ascontiguousarray(wrong)})
        with pytest.raises(FormatError, match=words):
            oneslack.load(path)


def test_labels_that_cannot_be_saved_are_named(path):
    tagger = fitted(tol=1e-2)
    tagger.classes_ = np.array([b"a", b"b", b"c"])
    with pytest.raises(OneslackError, match="class labels of type bytes"):
        tagger.save(path)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_model_is_the_chain_that_was_asked_for(settings):
    tagger = fitted(tol=1e-2, **settings)
    model = tagger.model_
    assert isinstance(model, Chain)
    for name, default in (("order", 1), ("start", False), ("end", False)):
        assert getattr(model, name) == settings.get(name, default)
    assert (model.allowed is not None) == ("constraints" in settings)
    assert tagger.coef_.shape == (model.n_params,)

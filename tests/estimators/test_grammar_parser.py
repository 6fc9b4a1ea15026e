"""GrammarParser: the optimum against a full QP, parses against brute force, input, saving, every refusal."""

import pickle
import warnings

import numpy as np
import pytest
from reference import Reference
from sklearn import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import oneslack
from oneslack import FormatError, GrammarParser, Tree, check_model
from oneslack.checks.brute import all_cuts, brute_force, score_of
from oneslack.formats import load_model, save_model
from oneslack.metrics.brackets import bracket_scores
from oneslack.models.grammar import GrammarModel

#: Ambiguous on purpose: a PP goes to the verb or to the noun, by its preposition; "see" is two kinds of word.
TEXTS = [
    "(S (NP (PRP I)) (VP (VBP see) (NP (NP (NNS stars)) (PP (OF of) (NP (NNS gold))))))",
    "(S (NP (PRP I)) (VP (VBP see) (NP (NNS stars)) (PP (IN with) (NP (NNS eyes)))))",
    "(S (NP (PRP we)) (VP (VBP see) (NP (NNS eyes)) (PP (IN with) (NP (NNS stars)))))",
    "(S (NP (NNS stars)) (VP (VBP see) (NP (NP (NNS eyes)) (PP (OF of) (NP (NNS gold))))))",
    "(S (NP (PRP we)) (VP (VBP see) (NP (NNS gold)) (PP (IN with) (NP (NNS eyes)))))",
    "(S (NP (NNS see)) (VP (VBP see)))",
    "(S (VP (VBP see)))",
]
TREES = [Tree.parse(text) for text in TEXTS]
WORDS = [tree.words() for tree in TREES]
TAGGED = [tree.tagged() for tree in TREES]


def parser(**options):
    return GrammarParser(**{"C": 1.0, "min_count": 1, "tol": 1e-4, "n_jobs": 1} | options)


def reference_of(model, cuts):
    """The QP of a fitted parser over all trees of all sentences."""
    prior = np.zeros(model.model_.n_params)
    prior[-1] = model.frequencies == "prior"
    weights = np.full(len(TREES), model.C)
    return Reference.of_cuts(cuts.deltas.toarray(), cuts.losses, cuts.index, weights, prior)


@pytest.fixture(scope="module")
def fitted():
    return parser().fit(TREES)


# The optimum.


@pytest.mark.parametrize("frequencies", [False, True, "prior"])
@pytest.mark.parametrize("loss", ["brackets", "zero_one"])
@pytest.mark.parametrize("solver", ["auto", "one_slack", "n_slack"])
def test_the_certificate_holds_the_optimum(loss, solver, frequencies):
    """Against a QP over all trees of all sentences."""
    missing = 1.5 if frequencies == "prior" and loss == "brackets" else 1.0
    model = parser(loss=loss, solver=solver, C=0.1, frequencies=frequencies, missing=missing).fit(TREES)
    ids = [model.grammar_.word_ids(words) for words in WORDS]
    outputs = [model.grammar_.encode(tree) for tree in TREES]
    cuts = all_cuts(model.model_, ids, outputs)
    reference = reference_of(model, cuts)
    lower, upper, _ = reference.solve()
    assert lower < (1 - 1e-3) * reference.primal(reference.prior)  # that alone would prove nothing
    assert model.duality_gap_ <= 1e-4
    assert model.objective_ == pytest.approx(reference.primal(model.coef_), rel=1e-6)
    assert model.dual_objective_ <= upper * (1 + 1e-6)
    assert model.objective_ >= lower * (1 - 1e-6)
    assert model.result_.certified


def test_zero_one_with_rescaled_slacks_is_the_same_problem():
    """Where every loss is 1, both ways of rescaling are one."""
    a, b = (parser(loss="zero_one", rescaling=way).fit(TREES) for way in ("margin", "slack"))
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-3)


def test_sample_weights_are_repetitions():
    twice = parser(C=0.1).fit([*TREES, TREES[0]])
    weighted = parser(C=0.1).fit(TREES, sample_weight=[2, 1, 1, 1, 1, 1, 1])
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-3)
    np.testing.assert_array_equal(weighted.grammar_.counts, twice.grammar_.counts)


def test_words_at_the_edges_of_spans_decide():
    """Rules cannot tell where a PP goes, as both kinds are PP."""
    assert parser().fit(TREES).score(TREES) < 1.0
    model = parser(span_features=True).fit(TREES * 2)  # a feature needs to be seen twice
    assert model.predict(WORDS) == TREES
    assert model.score(TREES) == model.score(WORDS, TREES) == 1.0


def test_ancestors_decide():
    """Tags tell the prepositions apart, and phrases that know their parents tell this to the phrase above."""
    assert parser(vertical=2).fit(TREES).score(TREES) == 1.0


def test_log_probabilities_are_a_feature():
    """At the weight 1 alone, trees score their log-probability."""
    model = parser().fit(TREES)
    w, inner = np.zeros_like(model.coef_), model.model_
    w[-1] = 1.0
    frequencies = model.grammar_.frequency_weights()
    plain = GrammarModel(model.grammar_)
    for words, tree in zip(WORDS, TREES, strict=True):
        ids, y = model.grammar_.word_ids(words), model.grammar_.encode(tree)
        expected = score_of(plain, frequencies, ids, y)
        assert score_of(inner, w, ids, y) == pytest.approx(expected)
        assert brute_force(inner, w, ids)[1] == pytest.approx(brute_force(plain, frequencies, ids)[1])
    np.testing.assert_allclose(inner.plain_weights(w), frequencies)


def test_with_a_small_C_it_is_the_probabilistic_grammar():
    """Weights stay at the prior, by which trees score their log-probability."""
    model = parser(C=1e-9, frequencies="prior").fit(TREES)
    np.testing.assert_allclose(
        model.model_.plain_weights(model.coef_), model.grammar_.frequency_weights(), atol=1e-6
    )
    assert np.abs(parser(C=1e-9).fit(TREES).coef_).max() < 1e-6


@pytest.mark.parametrize("span_features", [False, True])
def test_the_model_keeps_its_contract(span_features):
    model = parser(span_features=span_features).fit(TREES * 2)
    ids = [model.grammar_.word_ids(words) for words in WORDS]
    report = check_model(model.model_, ids, [model.grammar_.encode(tree) for tree in TREES])
    assert report.exact


# Parses.


@pytest.mark.parametrize("options", [{}, {"vertical": 2, "horizontal": None, "binarise": "left"}])
@pytest.mark.parametrize("span_features", [False, True])
def test_parses_are_the_best_of_all_trees(options, span_features):
    model = parser(C=0.01, span_features=span_features, **options).fit(TREES)
    inner = model.model_
    for words, tree in zip(WORDS, model.predict(WORDS), strict=True):
        ids = model.grammar_.word_ids(words)
        best = brute_force(inner, model.coef_, ids)[1]
        assert score_of(inner, model.coef_, ids, model.grammar_.encode(tree)) == pytest.approx(best)


def test_the_best_trees_in_order(fitted):
    words, inner = ["I", "see", "stars", "with", "eyes", "of", "gold"], fitted.model_
    ids = fitted.grammar_.word_ids(words)
    scores = sorted((score_of(inner, fitted.coef_, ids, z) for z in inner.outputs(ids)), reverse=True)
    assert len(scores) > 2
    found = fitted.predict_topk([words], k=len(scores) + 5)[0]
    np.testing.assert_allclose([score for _, score in found], scores)
    assert len({str(tree) for tree, _ in found}) == len(found)
    assert found[0][0] == fitted.predict([words])[0]
    assert [len(trees) for trees in fitted.predict_topk(WORDS, k=1)] == [1] * len(WORDS)


def test_sentences_outside_the_grammar_get_a_flat_tree(fitted):
    strange = [["I", "I"], WORDS[0], [("I", "PRP"), ("see", "FOO")]]
    trees, flat = fitted.parse(strange)
    assert flat.tolist() == [True, False, True]
    assert [str(tree) for tree in (trees[0], trees[2])] == ["(S (PRP I) (PRP I))", "(S (PRP I) (FOO see))"]
    assert fitted.predict(strange) == trees
    assert [len(best) for best in fitted.predict_topk(strange, 2)] == [0, 2, 0]


def test_no_sentence(fitted):
    assert fitted.predict([]) == []
    assert fitted.predict_topk([], 2) == []


def test_tags_that_are_given_are_kept():
    trees = [Tree.parse("(S (A x) (B x))"), Tree.parse("(S (B x) (A x))"), Tree.parse("(S (B x) (B x))")]
    model = parser().fit(trees)
    for tags in ("AB", "BA", "BB"):
        pairs = [("x", tag) for tag in tags]
        assert model.predict([pairs])[0].tags() == list(tags)
    assert model.predict([[("unheard", "A"), "x"]])[0].tags() == ["A", "B"]
    assert model.score([tree.tagged() for tree in trees], trees) == 1.0


# Input.


@pytest.mark.parametrize("X", [TEXTS, tuple(TREES), iter(TREES)], ids=["texts", "tuple", "iterator"])
def test_any_way_to_give_trees(fitted, X):
    assert parser().fit(X).objective_ == fitted.objective_


class ListTree(list):
    """As NLTK's trees are: lists with a label()."""

    def __init__(self, tree):
        super().__init__(child if isinstance(child, str) else ListTree(child) for child in tree.children)
        self._label = tree.label

    def label(self):
        return self._label


def test_trees_as_nltk_has_them(fitted):
    assert parser().fit([ListTree(tree) for tree in TREES]).objective_ == fitted.objective_


def test_sentences_and_trees(fitted):
    assert parser().fit(WORDS, TREES).objective_ == fitted.objective_


def test_tagged_sentences_need_no_choice_of_tags():
    model = parser(C=0.1).fit(TAGGED, TREES)
    assert model.objective_ <= parser(C=0.1).fit(TREES).objective_ * (1 + 1e-3)
    assert [tree.tags() for tree in model.predict(TAGGED)] == [tree.tags() for tree in TREES]
    assert model.outside_.tolist() == []


def test_trees_with_other_tags_are_left_out_and_said():
    wrong = [list(sentence) for sentence in TAGGED]
    wrong[1][0] = ("I", "NN")
    message = r"1 of 7 trees .*sentence 1, position 0: 'I' is tagged 'NN', but 'PRP'"
    with pytest.warns(UserWarning, match=message):
        model = parser().fit(wrong, TREES, sample_weight=np.ones(7))
    assert model.outside_.tolist() == [1]
    with pytest.raises(ValueError, match="no tree can be made from the tags that are given"):
        parser().fit([[("x", "A")]], [Tree.parse("(S (B x))")])


@pytest.mark.parametrize(
    ("X", "Y", "error", "message"),
    [
        ([], None, ValueError, "no tree to learn from"),
        ([3], None, TypeError, "tree 0 is a int; expected an oneslack.Tree"),
        (["(S (NN a)"], None, ValueError, "tree 0: the text, line 1: the tree that begins here lacks 1"),
        (["(S a (NN b))"], None, ValueError, "every word needs a tag of its own; 'S' holds 'a'"),
        (["a b"], ["(S (NN a))"], TypeError, "sentence 0 is one string; expected a list of words"),
        ([TREES[0]], [TREES[0]], TypeError, "sentence 0 is a Tree; give its words()"),
        ([[]], ["(S (NN a))"], ValueError, "sentence 0 has no word"),
        ([["a", 3]], ["(S (NN a))"], TypeError, "sentence 0, position 1: 3 is no word"),
        ([["a"], ["b"]], ["(S (NN a))"], ValueError, "X has 2 sentences but Y has 1 trees"),
        ([["a", "b"]], ["(S (NN a))"], ValueError, "sentence 0 has 2 words but its tree has 1"),
        ([["b"]], ["(S (NN a))"], ValueError, "sentence 0 has 'b' at position 0 but its tree has 'a'"),
    ],
)
def test_bad_input_gets_a_sentence(X, Y, error, message):
    with pytest.raises(error, match=message):
        parser().fit(X, Y)


@pytest.mark.parametrize("weights", [[1, 1], [-1, 1, 1, 1, 1, 1, 1], [0] * 7])
def test_bad_weights(weights):
    with pytest.raises(ValueError, match=r"sample_weight|sample weights"):
        parser().fit(TREES, sample_weight=weights)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"loss": "hinge"}, ValueError, "loss='hinge' is not known; use one of 'brackets', 'zero_one'"),
        ({"loss": 1}, TypeError, "loss=1 is not known"),
        ({"binarise": "up"}, ValueError, "binarise='up' is not known; use one of 'right', 'left'"),
        ({"horizontal": -1}, ValueError, "horizontal must be None for all, or an integer >= 0; got -1"),
        ({"horizontal": 1.5}, TypeError, "horizontal must be"),
        ({"vertical": 0}, ValueError, "vertical must be an integer >= 1; got 0"),
        ({"chain_length": True}, TypeError, "chain_length must be an integer >= 1; got True"),
        ({"span_features": 1}, TypeError, "span_features must be True or False; got 1"),
        ({"frequencies": None}, TypeError, "frequencies must be True, False or 'prior'; got None"),
        ({"frequencies": "no"}, ValueError, "frequencies must be True, False or 'prior'; got 'no'"),
        ({"missing": 2.5}, ValueError, "missing must be a number from 0 to 2; got 2.5"),
        ({"missing": "few"}, TypeError, "missing must be a number from 0 to 2; got 'few'"),
        ({"missing": 1.5, "loss": "zero_one"}, ValueError, "missing=1.5 needs loss='brackets'; with"),
        ({"min_count": 0}, ValueError, "min_count must be"),
        ({"C": -1}, ValueError, "C must be a positive number"),
        ({"rescaling": "slack"}, ValueError, "slack rescaling has no exact decoder for the bracket loss"),
    ],
)
def test_bad_parameters(options, error, message):
    with pytest.raises(error, match=message):
        parser(**options).fit(TREES)


def test_not_fitted():
    for method in ("predict", "parse", "score"):
        with pytest.raises(NotFittedError):
            getattr(parser(), method)([TREES[0]] if method == "score" else WORDS)


def test_stopping_early_is_said():
    with pytest.warns(ConvergenceWarning, match="GrammarParser stopped at a relative duality gap"):
        parser(max_iter=1, solver="one_slack").fit(TREES)


def test_the_solver_that_parses_least_is_chosen(fitted):
    assert fitted.result_.solver == "n_slack"
    assert "sentences in doubt are parsed" in fitted.result_.reason
    asked = parser(solver="one_slack").fit(TREES).result_
    assert (asked.solver, asked.reason) == ("one_slack", "asked for")


@pytest.mark.parametrize("is_known", [False, True])
def test_an_interrupted_training_keeps_the_best_model(is_known):
    """Before anything is known of P, and after."""

    def interrupt(row):
        if row.iteration > 2 and np.isfinite(row.primal) == is_known:
            raise KeyboardInterrupt

    model = parser(tol=1e-9, C=100.0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TREES, callbacks=[interrupt])
    assert model.result_.status.name == "INTERRUPTED"
    assert np.isfinite(model.duality_gap_)
    cuts = all_cuts(
        model.model_, [model.grammar_.word_ids(x) for x in WORDS], [model.grammar_.encode(t) for t in TREES]
    )
    reference = reference_of(model, cuts)
    assert model.objective_ == pytest.approx(reference.primal(model.coef_), rel=1e-6)
    assert [tree.words() for tree in model.predict(WORDS)] == WORDS


def test_clones_and_parameters():
    model = parser(vertical=2, span_features=True)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("span_features", [False, True])
def test_any_number_of_threads_gives_the_same(span_features):
    a, b = (parser(n_jobs=n, span_features=span_features).fit(TREES * 20) for n in (1, 2))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.predict(WORDS) == b.predict(WORDS)


# Files.


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"span_features": True, "horizontal": None, "vertical": 2},
        {"loss": "zero_one", "frequencies": False},
        {"missing": 1.5, "frequencies": "prior"},
    ],
)
def test_a_saved_parser_is_the_same(tmp_path, options):
    model = parser(**options).fit(TREES)
    model.save(tmp_path / "parser")
    again = oneslack.load(tmp_path / "parser")
    assert isinstance(again, GrammarParser)
    assert again.get_params() == model.get_params()
    assert again.objective_ == model.objective_
    assert again.duality_gap_ == model.duality_gap_
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.predict(WORDS) == model.predict(WORDS)
    assert again.predict_topk(WORDS, 3) == model.predict_topk(WORDS, 3)
    assert again.parse([["I", "I"]]).flat.all()
    assert [again.grammar_.encode(tree).tolist() for tree in TREES] == [
        model.grammar_.encode(tree).tolist() for tree in TREES
    ]
    assert again.model_.missing == model.model_.missing
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "parser").read_bytes()


def test_a_pickled_parser_is_the_same(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(WORDS) == fitted.predict(WORDS)


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("grammar.binary_left", lambda a: a + 1000),
        ("grammar.unary_child", lambda a: a - 1000),
        ("grammar.chain_rules", lambda a: a + 1000),
        ("grammar.lexical_ptr", lambda a: a[:-1]),
        ("grammar.binary_parent", lambda a: a[:-1]),
        ("grammar.counts", lambda a: a[1:]),
        ("grammar.lexical_tag", lambda a: a.astype(float)),
        ("coef", lambda a: a[1:]),
    ],
)
def test_damaged_files_are_refused(tmp_path, fitted, name, spoil):
    fitted.save(tmp_path / "parser")
    header, arrays = load_model(tmp_path / "parser")
    arrays[name] = spoil(arrays[name])
    save_model(tmp_path / "bad", header, arrays)
    with pytest.raises(FormatError, match="the model file is damaged"):
        oneslack.load(tmp_path / "bad")


def test_scores_agree_with_the_brackets(fitted):
    guess = fitted.predict([words[::-1] for words in WORDS])
    truth = [Tree("S", [Tree("NN", [word]) for word in words[::-1]]) for words in WORDS]
    expected = bracket_scores(truth, guess).f1
    assert 0 < expected < 1
    assert fitted.score([tree.words() for tree in truth], truth) == expected


def test_no_warning_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parser().fit(TREES).predict(WORDS)

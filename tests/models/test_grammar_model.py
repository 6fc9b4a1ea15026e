"""The grammar model as solvers see it: blocks, conformance, certificates, refusals."""

import itertools
import re

import numpy as np
import pytest
from random_grammar import random_grammar, random_sentence
from reference import Reference

from oneslack import NSlack, OneSlack, Problem, Tree, check_model, solve
from oneslack.checks.brute import all_cuts
from oneslack.data.rows import Ragged, Shard
from oneslack.models.grammar import GrammarModel, SpanFeatures
from oneslack.models.grammar.listing import all_trees
from oneslack.models.grammar.reading import read_grammar_and_trees

LOSSES = ["brackets", "tilted", "zero_one"]


def sentences(seed, n=8, longest=4, most=60):
    """(grammar, X, Y): short sentences with a random tree of theirs as the right one."""
    rng = np.random.default_rng(seed)
    grammar = random_grammar(seed, n_rules=24)
    X, Y = [], []
    for _ in range(500):
        x = random_sentence(grammar, rng, longest)
        trees = all_trees(grammar, x)
        if 0 < len(trees) <= most:
            X.append(x)
            Y.append(trees[rng.integers(len(trees))])
        if len(X) == n:
            return grammar, X, Y
    raise AssertionError("this grammar has too few trees")


def model_of(grammar, X, Y, loss="brackets", spans=False):
    """With all kinds of features, or with rules alone; the loss may be "tilted", see _TiltedLoss."""
    found = SpanFeatures.read(grammar, X, Y, min_count=1) if spans else None
    if loss == "tilted":
        return GrammarModel(grammar, "brackets", found, frequencies=spans, missing=1.25)
    return GrammarModel(grammar, loss, found, frequencies=spans)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("spans", [False, True])
def test_it_keeps_its_promises(loss, spans):
    grammar, X, Y = sentences(3)
    report = check_model(model_of(grammar, X, Y, loss, spans), X, Y, n_weights=10)
    assert report.enumerated
    assert report.exact


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("spans", [False, True])
def test_blocks_say_what_sentences_say(loss, spans):
    grammar, X, Y = sentences(5, n=12)
    model, rng = model_of(grammar, X, Y, loss, spans), np.random.default_rng(0)
    data, w = model.pack(X, Y), rng.normal(size=model.n_params)
    for shard in (Shard(0, 12), Shard(3, 8), Shard(11, 12)):
        Z, losses, leads = model.worst_batch(data, shard, w)
        best = model.predict_batch(data, shard, w)
        ends = data.offsets[shard.lo : shard.hi + 1] - data.offsets[shard.lo]
        rows = []
        for k, i in enumerate(range(shard.lo, shard.hi)):
            z = Z[ends[k] : ends[k + 1]]
            assert np.array_equal(z, model.decode(w, X[i], Y[i]))
            assert np.array_equal(best[ends[k] : ends[k + 1]], model.decode(w, X[i]))
            rows.append((model.joint_feature(X[i], Y[i]) - model.joint_feature(X[i], z)).toarray().ravel())
            assert losses[k] == model.loss(Y[i], z)
        rows = np.array(rows)
        assert leads == pytest.approx(rows @ w, abs=1e-12)
        factors = rng.integers(0, 3, len(rows)).astype(float)
        found = model.delta_rows(data, shard, Z, factors)
        assert found.has_sorted_indices
        assert (found.data != 0).all()
        assert found.toarray() == pytest.approx(factors[:, None] * rows, abs=1e-12)
        expected = factors @ rows
        assert model.delta_sum(data, shard, Z, factors) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", ["dual_cd", "n_slack", "one_slack"])
def test_training_reaches_the_optimum(loss, solver):
    grammar, X, Y = sentences(7, n=6, most=30)
    model = model_of(grammar, X, Y, loss, spans=True)
    cuts = all_cuts(model, X, Y)
    reference = Reference.of_cuts(cuts.deltas.toarray(), cuts.losses, cuts.index, np.full(len(X), 0.5))
    lower, upper, _ = reference.solve()
    result = solve(Problem(model, X, Y, 0.5, cache_size=3), solver, tol=1e-6)
    assert result.dual <= upper + 1e-9
    assert lower <= result.primal + 1e-9
    assert result.primal == pytest.approx(reference.primal(result.w), rel=1e-9)
    assert result.primal - result.dual <= 1e-6 * result.primal


def test_log_frequencies_are_those_of_the_grammar():
    """The last feature is log p of the tree; its weight can be shared out over the rules."""
    grammar, X, Y = sentences(5, n=12)
    model, plain = model_of(grammar, X, Y, spans=True), model_of(grammar, X, Y)
    only = np.append(np.zeros(model.n_params - 1), 1.0)
    assert np.array_equal(model.frequency_prior(), only)
    assert np.array_equal(plain.frequency_prior(), grammar.frequency_weights())
    w = np.random.default_rng(0).normal(size=model.n_params)
    for x, y in zip(X, Y, strict=True):
        expected = plain.joint_feature(x, y) @ grammar.frequency_weights()
        assert model.joint_feature(x, y) @ only == pytest.approx(expected)
        z = plain.decode(grammar.frequency_weights(), x)
        assert model.joint_feature(x, model.decode(only, x)) @ only == pytest.approx(
            plain.joint_feature(x, z) @ grammar.frequency_weights()
        )
        shared = GrammarModel(grammar, "brackets", model.span_features)
        value = shared.joint_feature(x, y) @ model.plain_weights(w)
        assert value == pytest.approx(model.joint_feature(x, y) @ w)


@pytest.mark.parametrize("missing", [0.0, 0.5, 1.0, 1.75, 2.0])
def test_missing_brackets_and_those_too_many_by_hand(missing):
    trees = [Tree.parse(text) for text in ("(S (A (x a)) (B (x b)))", "(S (A (A (x a))) (x b))")]
    grammar, (y, z) = read_grammar_and_trees(trees, min_count=1)
    model = GrammarModel(grammar, missing=missing)
    # z lacks B and has one A too many.
    assert model.loss(y, z) == pytest.approx(missing + (2.0 - missing))
    trees = [Tree.parse(text) for text in ("(S (A (x a)) (B (x b)))", "(S (x a) (B (x b)))")]
    grammar, (y, z) = read_grammar_and_trees(trees, min_count=1)
    model = GrammarModel(grammar, missing=missing)
    assert model.loss(y, z) == pytest.approx(missing)
    assert model.loss(z, y) == pytest.approx(2.0 - missing)
    assert model.loss(y, y) == 0.0


@pytest.mark.parametrize("missing", [0.5, 1.75])
def test_dear_missing_brackets_are_a_bonus_for_each_bracket(missing):
    """The same as the plain loss where weights are drawn to -b instead of 0, with b added in the end: b is
    missing - 1 for rules that make a bracket."""
    grammar, X, Y = sentences(7, n=6, most=30)
    parents = np.concatenate([grammar.binary_parent, grammar.unary_parent, grammar.lexical_tag])
    b = (missing - 1.0) * (grammar.label_of[parents] >= 0)
    tilted = solve(Problem(GrammarModel(grammar, missing=missing), X, Y, 0.5), tol=1e-8)
    plain = solve(Problem(GrammarModel(grammar), X, Y, 0.5, prior=-b), tol=1e-8)
    assert tilted.primal == pytest.approx(plain.primal, rel=1e-7)
    assert tilted.w == pytest.approx(plain.w + b, abs=1e-2)
    assert np.abs(b).max() > 0.2


def test_slack_rescaling_of_the_zero_one_loss_is_the_same():
    grammar, X, Y = sentences(7, n=6)
    model = model_of(grammar, X, Y, "zero_one")
    values = [solve(Problem(model, X, Y, 0.5, rescaling=r), tol=1e-6).primal for r in ("margin", "slack")]
    assert values[0] == pytest.approx(values[1], rel=3e-6)


def test_slack_rescaling_of_brackets_is_refused():
    grammar, X, Y = sentences(3, n=1)
    with pytest.raises(ValueError, match="slack rescaling has no exact decoder for the bracket loss"):
        GrammarModel(grammar).decode_slack(np.zeros(grammar.n_rules), X[0], Y[0])


def test_threads_change_nothing():
    grammar, X, Y = sentences(5, n=12)
    X, Y = X * 12, Y * 12
    model = model_of(grammar, X, Y)
    assert len(model.pack(X, Y).shards) > 1
    one, two = (solve(Problem(model, X, Y, 0.1, n_jobs=k), NSlack(), tol=1e-3) for k in (1, 2))
    assert np.array_equal(one.w, two.w)


def test_the_cache_saves_questions():
    grammar, X, Y = sentences(5, n=12)
    model = model_of(grammar, X, Y)
    calls = {}
    for name, solver in (("cache", OneSlack(cache_size=10)), ("none", OneSlack())):
        problem = Problem(model, X, Y, 1.0)
        solve(problem, solver, tol=1e-3)
        calls[name] = problem.work.oracle_calls
    assert calls["cache"] < calls["none"]


def test_shards_are_of_equal_work():
    grammar, X, _ = sentences(5, n=12)
    data = GrammarModel(grammar).pack(X * 20, None)
    for lo, hi in ((0, data.n), (7, 113), (5, 6)):
        shards = data.split(lo, hi)
        assert [shards[0].lo, shards[-1].hi] == [lo, hi]
        assert all(a.hi == b.lo for a, b in itertools.pairwise(shards))
    m = data.words.lengths.astype(float)
    work = [(m[s.lo : s.hi] ** 3 + 600.0 * m[s.lo : s.hi]).sum() for s in data.shards]
    assert len(work) > 8
    assert max(work) <= 1.5 * np.mean(work)


def test_some_sentences():
    grammar, X, Y = sentences(5, n=12)
    model = model_of(grammar, X, Y)
    data, index = model.pack(X, Y, np.arange(12.0)), np.array([7, 2, 2, 11])
    part = data.take(index)
    again = model.pack([X[i] for i in index], [Y[i] for i in index])
    assert np.array_equal(part.trees, again.trees)
    assert np.array_equal(part.offsets, again.offsets)
    assert np.array_equal(part.words.values, again.words.values)
    assert np.array_equal(part.weights, index)


def test_packing_by_hand_is_the_same():
    grammar, X, Y = sentences(5, n=4)
    model = model_of(grammar, X, Y)
    one, two = model.pack(X, Y), model.pack(Ragged.from_list(X), Ragged.from_list(Y))
    assert np.array_equal(one.trees, two.trees)
    assert np.array_equal(one.words.values, two.words.values)


def broken(y, place, value):
    y = y.copy()
    y[place] = value
    return y


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: ([x, x[:0]], [y, y]), "sentence 1 has no word"),
        (lambda x, y: ([x], [y, y]), "X has 1 sentences but Y has 2 trees"),
        (lambda x, y: ([x, x], [y, y[:-3]]), "sentence 1 has 3 words: its tree needs 15 numbers, it has 12"),
        (lambda x, y: ([np.add(x, [1000, 0])], [y]), "sentence 0: word classes are 0 .. 2"),
        (lambda x, y: ([x[:, :1]], [y]), "expected (words, 2) of Grammar.word_ids"),
        (lambda x, y: ([x, x], [y, broken(y, 0, 999)]), "sentence 1: y is no tree of the grammar"),
        (lambda x, y: ([x], [broken(y, 1, 3)]), "sentence 0: y is no tree of the grammar"),
        (lambda x, y: ([x], [broken(y, 2, -1)]), "sentence 0: y is no tree of the grammar"),
        (lambda x, y: ([x], [broken(y, 2, 999)]), "sentence 0: y is no tree of the grammar"),
    ],
)
def test_bad_sentences_are_refused(change, message):
    grammar, X, Y = sentences(5, n=30)
    x, y = next((x, y) for x, y in zip(X, Y, strict=True) if len(x) == 3)
    X, Y = change(x, y)
    with pytest.raises(ValueError, match=re.escape(message)):
        GrammarModel(grammar).pack(X, Y)


def test_bad_arguments_are_refused():
    grammar, X, Y = sentences(3, n=2)
    model = GrammarModel(grammar)
    w = np.zeros(model.n_params)
    with pytest.raises(ValueError, match="loss must be one of brackets, zero_one; got 'f1'"):
        GrammarModel(grammar, "f1")
    for missing in (-0.1, 2.1, np.nan):
        with pytest.raises(ValueError, match="missing must be a number from 0 to 2; got"):
            GrammarModel(grammar, missing=missing)
    with pytest.raises(ValueError, match=r"missing=1.5 needs loss='brackets'; with 'zero_one' all wrong"):
        GrammarModel(grammar, "zero_one", missing=1.5)
    with pytest.raises(ValueError, match="w has shape"):
        model.decode(w[1:], X[0])
    with pytest.raises(ValueError, match="not finite"):
        model.decode(w + np.nan, X[0])
    with pytest.raises(ValueError, match="k must be at least 1"):
        model.decode_topk(w, X[0], 0)
    with pytest.raises(ValueError, match="packed without trees"):
        model.worst_batch(model.pack(X, None), Shard(0, 2), w)
    with pytest.raises(ValueError, match="Z has shape"):
        model.delta_sum(model.pack(X, Y), Shard(0, 2), Y[0], np.ones(2))
    with pytest.raises(ValueError, match=r"sample_weight has shape .*, expected \(2,\)"):
        model.pack(X, Y, np.ones(3))

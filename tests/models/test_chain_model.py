"""Chains: every decoder against all sequences, scored by the definition; blocks against single sentences."""

import os
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference

from oneslack import OneSlack, Problem, brute_force, check_model, solve
from oneslack.checks.brute import all_cuts
from oneslack.data.rows import MAX_SHARDS, Ragged, Shard
from oneslack.models.chain import Chain

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
CASES = 500 if COMPILED else 25
CLOSE = {"rtol": 0, "atol": 1e-9}


def close(value):
    return pytest.approx(value, rel=0, abs=1e-9)


# The definition, written without the model's own tables.


def scores_of(model, w, x, Z):
    """(M,) of <w, psi(x, z)> for the rows z of Z (M, T)."""
    L, T = model.n_labels, Z.shape[1]
    x = x.toarray() if sp.issparse(x) else np.asarray(x, float)
    parts = np.split(w, np.cumsum([x.shape[1] * L, L * L, L**3 * (model.order == 2), L * model.start]))
    W, pair, triple, start, end = parts
    total = np.zeros(len(Z))
    if T == 0:
        return total
    E, pair = x @ W.reshape(x.shape[1], L), pair.reshape(L, L)
    for t in range(T):
        total += E[t, Z[:, t]]
        if t > 0:
            total += pair[Z[:, t - 1], Z[:, t]]
        if t > 1 and model.order == 2:
            total += triple.reshape(L, L, L)[Z[:, t - 2], Z[:, t - 1], Z[:, t]]
    if model.start:
        total += start[Z[:, 0]]
    if model.end:
        total += end[Z[:, -1]]
    return total


def losses_of(model, y, Z):
    known = np.flatnonzero(y >= 0)
    return model.label_losses[y[known][None, :], Z[:, known]].sum(axis=1)


@cache
def every_sequence(L, T):
    return np.array(list(product(range(L), repeat=T)), int).reshape(L**T, T)


def sequences(model, T):
    """(M, T): all that are allowed."""
    Z = every_sequence(model.n_labels, int(T))
    keep = np.ones(len(Z), bool)
    if T:
        for allowed, column in ((model.allowed_start, Z[:, 0]), (model.allowed_end, Z[:, -1])):
            keep &= True if allowed is None else allowed[column]
    for t in range(1, T):
        keep &= True if model.allowed is None else model.allowed[Z[:, t - 1], Z[:, t]]
    return Z[keep]


@dataclass
class Case:
    """A random sentence under a random model, with all its sequences and their scores."""

    model: Chain
    w: np.ndarray
    x: object
    y: np.ndarray
    Z: np.ndarray
    scores: np.ndarray


def matrix(rng, T, d, kind, dtype=None):
    x = rng.normal(size=(T, d)) * (rng.random((T, d)) < 0.7)
    x = x.astype(dtype or rng.choice([np.float32, np.float64]))
    return sp.csr_array(x) if kind == "csr" else x


def draw_model(rng, order, d=None):
    L = int(rng.integers(1, 6))
    some = lambda *shape: rng.random(shape) < 0.7 if rng.random() < 0.4 else None  # noqa: E731
    losses = None
    if rng.random() < 0.4:
        losses = rng.integers(0, 4, (L, L)) * (1.0 - np.eye(L))
    return Chain(
        int(rng.integers(0, 4)) if d is None else d,
        L,
        order=order,
        start=bool(rng.integers(2)),
        end=bool(rng.integers(2)),
        allowed=some(L, L),
        allowed_start=some(L),
        allowed_end=some(L),
        label_losses=losses,
    )


def cases(order, kind, seed=0, count=CASES):
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        model = draw_model(rng, order)
        T = int(rng.integers(0, 6 if model.n_labels < 4 else 4))
        Z = sequences(model, T)
        if not len(Z):
            continue
        w = rng.normal(size=model.n_params) * rng.choice([0.3, 3.0])
        if rng.random() < 0.2:
            w = np.round(w)  # ties
        x = matrix(rng, T, model.n_features, kind)
        made += 1
        yield Case(model, w, x, Z[rng.integers(len(Z))], Z, scores_of(model, w, x, Z)), rng


def found(case, z):
    """Where in case.Z an answer is; it must be there."""
    place = np.flatnonzero((z == case.Z).all(axis=1))
    assert len(place) == 1, f"{z} is no allowed sequence"
    return place[0]


CHAINS = pytest.mark.parametrize(
    ("order", "kind"),
    [
        (1, "dense"),
        (2, "csr"),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in [(1, "csr"), (2, "dense")]),
    ],
)


@CHAINS
def test_joint_feature_is_the_definition(order, kind):
    for case, _ in cases(order, kind, 1, CASES // 4):
        psi = case.model.joint_feature(case.x, case.y)
        assert psi.shape == (1, case.model.n_params)
        assert (np.diff(psi.indices) > 0).all()
        assert float(np.sum(psi @ case.w)) == close(case.scores[found(case, case.y)])
        assert case.model.loss(case.y, case.Z[0]) == losses_of(case.model, case.y, case.Z[:1])[0]


@CHAINS
def test_best_and_worst_outputs(order, kind):
    for case, rng in cases(order, kind, 2):
        model, w, x, y = case.model, case.w, case.x, case.y.copy()
        z = model.decode(w, x)
        assert z.dtype == np.int32
        assert case.scores[found(case, z)] == close(case.scores.max())
        y[rng.random(len(y)) < rng.choice([0.0, 0.3])] = -1
        offers = case.scores + losses_of(model, y, case.Z)
        assert offers[found(case, model.decode(w, x, y))] == close(offers.max())


@CHAINS
def test_completions(order, kind):
    for case, rng in cases(order, kind, 3):
        y = np.where(rng.random(len(case.y)) < 0.5, case.y, -1)
        agree = ((y == case.Z) | (y < 0)).all(axis=1)
        z = found(case, case.model.complete(case.w, case.x, y))
        assert agree[z]
        assert case.scores[z] == close(case.scores[agree].max())
        everything = case.model.complete(case.w, case.x, case.y)
        np.testing.assert_array_equal(everything, case.y)


@CHAINS
def test_slack_rescaling(order, kind):
    for case, _ in cases(order, kind, 4):
        leads = case.scores[found(case, case.y)] - case.scores
        products = losses_of(case.model, case.y, case.Z) * (1.0 - leads)
        z = case.model.decode_slack(case.w, case.x, case.y)
        assert products[found(case, z)] == close(products.max())
        wrong = losses_of(case.model, case.y, case.Z) > 0
        if (products[wrong] < -1e-9).all():
            np.testing.assert_array_equal(z, case.y)  # nothing offends, the truth itself is the answer


@CHAINS
def test_the_k_best(order, kind):
    for case, rng in cases(order, kind, 5, CASES // 2):
        k = int(rng.choice([1, 2, 3, 10, 1000]))
        Z, scores = case.model.decode_topk(case.w, case.x, k)
        expected = np.sort(case.scores)[::-1][:k]
        np.testing.assert_allclose(scores, expected, **CLOSE)
        places = [found(case, z) for z in Z]
        assert len(set(places)) == len(places)
        np.testing.assert_allclose(case.scores[places], expected, **CLOSE)


@CHAINS
def test_margins(order, kind):
    for case, _ in cases(order, kind, 6):
        L, T = case.model.n_labels, len(case.y)
        marginals = np.full((T, L), -np.inf)
        for t, c in product(range(T), range(L)):
            marginals[t, c] = np.max(case.scores, where=case.Z[:, t] == c, initial=-np.inf)
        np.testing.assert_allclose(case.model.max_marginals(case.w, case.x), marginals, **CLOSE)
        z = case.model.decode(case.w, case.x)
        with_z = marginals[np.arange(T), z]
        marginals[np.arange(T), z] = -np.inf
        np.testing.assert_allclose(
            case.model.margins(case.w, case.x), with_z - marginals.max(axis=1), **CLOSE
        )


# Blocks.


def draw_block(rng, order, kind, n=12):
    """(model, w, X, Y): sentences of one model, some of them empty."""
    while True:
        model = draw_model(rng, order, d=int(rng.integers(1, 6)))
        X, Y, dtype = [], [], rng.choice([np.float32, np.float64])
        for T in rng.integers(0, 5, n):
            Z = sequences(model, T)
            if len(Z):
                X.append(matrix(rng, T, model.n_features, kind, dtype))
                Y.append(Z[rng.integers(len(Z))])
        if len(X) > 3 and sum(map(len, Y)):
            return model, rng.normal(size=model.n_params), X, Y


@pytest.mark.parametrize(
    ("order", "kind", "dtype"),
    [
        (1, "dense", float),
        (1, "csr", float),
        (2, "dense", float),
        (2, "csr", float),
        pytest.param(1, "csr", np.float32, marks=pytest.mark.slow),
    ],
)
def test_blocks_say_what_sentences_say(order, kind, dtype):
    rng = np.random.default_rng(7)
    for _ in range(40 if COMPILED else 2):
        model, w, X, Y = draw_block(rng, order, kind)
        w = w.astype(dtype)
        data = model.pack(X, Y)
        lo = int(rng.integers(0, len(X)))
        shard = Shard(lo, int(rng.integers(lo, len(X) + 1)))
        index = range(shard.lo, shard.hi)
        single = {
            "predict_batch": lambda i: model.decode(w, X[i]),  # noqa: B023
            "complete_batch": lambda i: Y[i],  # noqa: B023
            "margins_batch": lambda i: model.margins(w, X[i]),  # noqa: B023
        }
        for name, one in single.items():
            together = getattr(model, name)(data, shard, w)
            np.testing.assert_array_equal(together, np.concatenate([[], *map(one, index)]))
        unlabelled = model.predict_batch(model.pack(X, None), shard, w)
        np.testing.assert_array_equal(unlabelled, model.predict_batch(data, shard, w))
        for rescaling, decode in (("margin", model.decode), ("slack", model.decode_slack)):
            worst = model.worst_batch(data, shard, w, rescaling)[0]
            one = [decode(w, X[i], Y[i]) for i in index]
            np.testing.assert_array_equal(worst, np.concatenate([[], *one]))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_deltas_are_differences_of_joint_features(order, kind):
    rng = np.random.default_rng(8)
    for _ in range(60 if COMPILED else 8):
        model, w, X, Y = draw_block(rng, order, kind)
        data = model.pack(X, Y)
        lo = int(rng.integers(0, len(X)))
        shard = Shard(lo, int(rng.integers(lo, len(X) + 1)))
        for rescaling in ("margin", "slack"):
            Z, losses, leads = model.worst_batch(data, shard, w, rescaling)
            outputs = Ragged(Z, data.offsets[shard.lo : shard.hi + 1] - data.offsets[shard.lo])
            expected = [model.loss(Y[lo + j], outputs[j]) for j in range(len(outputs))]
            np.testing.assert_allclose(losses, expected, **CLOSE)
            np.testing.assert_allclose(leads, model.delta_rows(data, shard, Z) @ w, **CLOSE)
        labels = Ragged(data.y, data.offsets)[shard.lo : shard.hi]
        other = rng.integers(0, model.n_labels, len(labels.values))
        Z = Ragged(np.where(rng.random(len(other)) < 0.5, labels.values, other), labels.offsets)
        deltas = np.zeros((len(Z), model.n_params))
        for j in range(len(Z)):
            x, y = X[lo + j], Y[lo + j]
            delta = (model.joint_feature(x, y) - model.joint_feature(x, Z[j])).toarray().ravel()
            deltas[j] = delta
        rows = model.delta_rows(data, shard, Z.values)
        assert rows.has_canonical_format
        assert (rows.data != 0).all()
        np.testing.assert_allclose(rows.toarray(), deltas, **CLOSE)
        c = rng.normal(size=len(Z))
        c[: len(c) // 3] = 0.0
        rows = model.delta_rows(data, shard, Z.values, c)
        np.testing.assert_allclose(rows.toarray(), c[:, None] * deltas, **CLOSE)
        assert not np.diff(rows.indptr)[c == 0].any()
        np.testing.assert_allclose(model.delta_sum(data, shard, Z.values, c), c @ deltas, **CLOSE)


def test_partly_labelled_blocks():
    """psi is taken at the completion, the loss only where labels are known."""
    rng = np.random.default_rng(9)
    for _ in range(60 if COMPILED else 3):
        model, w, X, Y = draw_block(rng, 1, "csr")
        partial = [np.where(rng.random(len(y)) < 0.6, y, -1) for y in Y]
        partial[0] = np.full(len(Y[0]), -1)
        if not any((y < 0).any() for y in partial):
            continue
        data, shard = model.pack(X, partial), Shard(0, len(X))
        with pytest.raises(ValueError, match=r"sentence \d+ has tokens without a label: complete them first"):
            model.worst_batch(data, shard, w)
        labels = model.complete_batch(data, shard, w)
        completed = data.completed(labels)
        truth = Ragged(labels, data.offsets)
        for rescaling in ("margin", "slack"):
            Z, losses, leads = model.worst_batch(completed, shard, w, rescaling)
            Z = Ragged(Z, data.offsets)
            for i, x in enumerate(X):
                np.testing.assert_array_equal(truth[i], model.complete(w, x, partial[i]))
                every = sequences(model, len(Y[i]))
                lead = scores_of(model, w, x, truth[i][None])[0] - scores_of(model, w, x, every)
                loss = losses_of(model, partial[i], every)
                values = loss - lead if rescaling == "margin" else loss * (1.0 - lead)
                found = loss, lead = losses[i], leads[i]
                assert loss == losses_of(model, partial[i], Z[i][None])[0]
                value = loss - lead if rescaling == "margin" else found[0] * (1.0 - found[1])
                assert value == close(values.max())
        np.testing.assert_allclose(leads, model.delta_rows(completed, shard, Z.values) @ w, **CLOSE)


def test_real_label_losses():
    rng = np.random.default_rng(10)
    for _ in range(200 if COMPILED else 5):
        L, T = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        model = Chain(2, L, label_losses=rng.random((L, L)) * (1 - np.eye(L)))
        w, x, y = rng.normal(size=model.n_params), rng.normal(size=(T, 2)), rng.integers(0, L, T)
        z = model.decode(w, x, y)
        offer = scores_of(model, w, x, z[None])[0] + model.loss(y, z)
        assert offer == close(brute_force(model, w, x, y)[1])
    with pytest.raises(ValueError, match="slack rescaling needs label_losses that are whole numbers"):
        model.decode_slack(w, x, y)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "options", [{}, {"start": True, "end": True}, {"allowed": [[1, 1, 0], [0, 1, 1], [1, 1, 1]]}]
)
def test_it_keeps_its_promises(order, options):
    rng = np.random.default_rng(11)
    model = Chain(3, 3, order=order, **options)
    Y = [[0], [0, 1], [1, 1, 2], [2, 0, 0, 1]]
    X = [sp.csr_array(rng.normal(size=(len(y), 3))) for y in Y]
    report = check_model(model, X, [np.array(y) for y in Y], n_weights=8)
    assert report.enumerated


def test_long_sentences_and_many_labels():
    """More labels than one padded block, more weights than a cache: against a plain Viterbi."""
    rng = np.random.default_rng(12)
    d, L = (4000, 45) if COMPILED else (40, 6)
    model = Chain(d, L, start=True)
    for T in (1, 2, 60 if COMPILED else 5):
        x = sp.random_array((T, d), density=10 / d, format="csr", rng=rng)
        w, y = rng.normal(size=model.n_params), rng.integers(0, L, T)
        E = x @ w[: d * L].reshape(d, L) + (np.arange(L) != y[:, None])
        pair = w[d * L : -L].reshape(L, L)
        best = w[-L:] + E[0]
        for t in range(1, T):
            best = (best[:, None] + pair).max(axis=0) + E[t]
        z = model.decode(w, x, y)
        assert scores_of(model, w, x, z[None])[0] + (z != y).sum() == close(best.max())


def test_training_reaches_the_optimum():
    rng = np.random.default_rng(13)
    model = Chain(3, 2, start=True)
    Y = [rng.integers(0, 2, T) for T in (1, 2, 3, 4, 2, 3)]
    X = [rng.normal(size=(len(y), 3)) for y in Y]
    cuts = all_cuts(model, X, Y)
    reference = Reference.of_cuts(cuts.deltas.toarray(), cuts.losses, cuts.index, np.full(len(X), 2.0))
    lower, upper, _ = reference.solve()
    result = solve(Problem(model, X, Y, C=2.0), OneSlack(), tol=1e-6)
    assert result.dual <= upper + 1e-6
    assert result.primal >= lower - 1e-6
    assert result.primal == pytest.approx(upper, rel=1e-5)


def test_shards_have_about_as_many_tokens():
    rng = np.random.default_rng(14)
    lengths = np.append(rng.integers(1, 40, 3000), [2000, 1])
    offsets = np.append(0, np.cumsum(lengths))
    X = Ragged(sp.random_array((offsets[-1], 50), density=0.1, format="csr", rng=rng), offsets)
    model = Chain(50, 5)
    data = model.pack(X, Ragged(rng.integers(0, 5, offsets[-1]), offsets))
    assert len(data.shards) == MAX_SHARDS
    assert [shard.lo for shard in data.shards] == [0, *(shard.hi for shard in data.shards[:-1])]
    assert data.shards[-1].hi == data.n == len(lengths)
    tokens = [data.tokens(shard).stop - data.tokens(shard).start for shard in data.shards]
    assert max(tokens) <= offsets[-1] / MAX_SHARDS + lengths.max()
    w = rng.normal(size=model.n_params)
    parts = [model.worst_batch(data, shard, w)[0] for shard in data.shards]
    np.testing.assert_array_equal(np.concatenate(parts), model.worst_batch(data, Shard(0, data.n), w)[0])
    assert model.pack(X[:3], None).shards == [Shard(0, 3)]
    assert model.pack([], []).shards == [Shard(0, 0)]


def test_some_sentences():
    rng = np.random.default_rng(15)
    model, w, X, Y = draw_block(rng, 1, "csr")
    data = model.pack(X, Y, weights=np.arange(len(X)) + 1.0)
    index = rng.permutation(len(X))[:3]
    part = data.take(index)
    np.testing.assert_array_equal(part.weights, index + 1.0)
    expected = [model.decode(w, X[i], Y[i]) for i in index]
    np.testing.assert_array_equal(model.worst_batch(part, Shard(0, 3), w)[0], np.concatenate(expected))
    assert data.take(data.weights > 2).n == len(X) - 2


# Bad input.


def test_what_is_not_allowed_is_refused():
    model = Chain(
        1, 3, allowed=[[1, 1, 0], [0, 1, 1], [0, 0, 1]], allowed_start=[1, 1, 0], allowed_end=[1, 0, 1]
    )
    X = [np.zeros((2, 1)), np.zeros((4, 1))]
    with pytest.raises(ValueError, match="sentence 1, position 2: label 0 may not follow label 1"):
        model.pack(X, [[0, 0], [0, 1, 0, 0]])
    with pytest.raises(ValueError, match="sentence 1, position 0: label 2 may not start a sentence"):
        model.pack(X, [[0, 0], [2, 2, 2, 2]])
    with pytest.raises(ValueError, match="sentence 0, position 1: label 1 may not end a sentence"):
        model.pack(X, [[0, 1], [1, 2, 2, 2]])
    with pytest.raises(ValueError, match="sentence 1: no sequence of 4 labels is allowed"):
        model.pack(X, [[-1, -1], [1, -1, -1, 0]])
    never = Chain(1, 2, allowed=[[0, 1], [0, 0]])
    w = np.zeros(never.n_params)
    for decoder in (never.decode, never.margins, lambda w, x: never.decode_topk(w, x, 2)):
        with pytest.raises(ValueError, match="sentence 0: no sequence of 3 labels is allowed"):
            decoder(w, np.zeros((3, 1)))
    assert list(never.decode(w, np.zeros((2, 1)))) == [0, 1]


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([np.zeros((2, 3))], [[0, 1]], r"sentence 0: x has shape \(2, 3\), expected \(tokens, 2\)"),
        ([np.zeros((2, 2)), np.zeros(2)], [[0], [1]], r"sentence 1: x has shape \(2,\)"),
        ([np.zeros((2, 2))] * 2, [[0, 1]], "X has 2 sentences but Y has 1"),
        ([np.zeros((2, 2))] * 2, [[0, 1], [1]], "sentence 1 has 2 tokens but 1 labels"),
        ([np.zeros((2, 2))] * 2, [[0, 1], [1, 3]], r"sentence 1, position 1: y is 3, expected 0 \.\. 2"),
        ([np.zeros((2, 2))] * 2, [[0, 1], [-2, 1]], "sentence 1, position 0: y is -2"),
        ([np.zeros((2, 2))], [[0.5, 1]], "sentence 0, position 0: y is 0.5"),
        ([np.zeros((2, 2))], [["B", "I"]], "labels must be whole numbers"),
        (Ragged(np.zeros((2, 3)), [0, 2]), [[0, 1]], r"tokens have shape \(3,\), expected \(2,\) features"),
    ],
)
def test_bad_sentences_are_refused(X, Y, message):
    with pytest.raises(ValueError, match=message):
        Chain(2, 3).pack(X, Y)


def test_bad_arguments_are_refused():
    for message, options in {
        "order must be 1 or 2; got 3": {"order": 3},
        r"allowed must have shape \(2, 2\); got \(2,\)": {"allowed": [True, False]},
        r"allowed_start must have shape \(2,\)": {"allowed_start": [True]},
        r"label_losses must be \(2, 2\), >= 0, with a diagonal of 0": {"label_losses": [[0, -1], [1, 0]]},
    }.items():
        with pytest.raises(ValueError, match=message):
            Chain(1, 2, **options)
    model, x, y = Chain(1, 2), np.ones((2, 1)), np.array([0, 1])
    w, data = np.zeros(model.n_params), model.pack([x], [y])
    with pytest.raises(ValueError, match=r"w has shape \(3,\), expected \(6,\)"):
        model.decode(np.zeros(3), x)
    with pytest.raises(ValueError, match="not finite"):
        model.decode(w * np.nan, x)
    with pytest.raises(ValueError, match="k must be at least 1"):
        model.decode_topk(w, x, 0)
    with pytest.raises(ValueError, match='rescaling is "margin" or "slack"; got \'both\''):
        model.worst_batch(data, Shard(0, 1), w, "both")
    with pytest.raises(ValueError, match=r"Z has shape \(1,\), expected \(2,\)"):
        model.delta_rows(data, Shard(0, 1), [0])
    with pytest.raises(ValueError, match="complete them first"):
        model.joint_feature(x, [0, -1])
    with pytest.raises(ValueError, match="y has 2 labels but y_hat has 1"):
        model.loss(y, y[:1])
    with pytest.raises(ValueError, match=r"sample_weight has shape .*, expected \(1,\)"):
        model.pack([x], [y], weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="sentence 0, position 1: a completion keeps the labels"):
        data.completed([0, 0])
    with pytest.raises(ValueError, match="too many to list"):
        list(model.outputs(np.zeros((30, 1))))


# Ragged.


@pytest.mark.parametrize("kind", ["flat", "dense", "csr"])
def test_ragged(kind):
    rng = np.random.default_rng(16)
    lengths = [3, 0, 1, 4]
    items = [rng.integers(1, 9, n if kind == "flat" else (n, 2)) for n in lengths]
    given = [sp.coo_array(item) for item in items] if kind == "csr" else items
    ragged = Ragged.from_list(given)
    dense = lambda values: values.toarray() if sp.issparse(values) else values  # noqa: E731
    assert len(ragged) == 4
    assert list(ragged.lengths) == lengths
    for i, item in enumerate(items):
        np.testing.assert_array_equal(dense(ragged[i]), item)
        np.testing.assert_array_equal(dense(ragged[i - 4]), item)
    for part, index in ((ragged[1:3], [1, 2]), (ragged[::-2], [3, 1]), (ragged.take([3, 3, 0]), [3, 3, 0])):
        assert len(part) == len(index)
        for one, i in zip(part, index, strict=True):
            np.testing.assert_array_equal(dense(one), items[i])
    assert len(ragged[3:1]) == 0
    with pytest.raises(IndexError, match="sequence 4 of 4"):
        ragged[4]


def test_bad_offsets_are_refused():
    with pytest.raises(ValueError, match="the last offset is 3, but there are 4 rows"):
        Ragged(np.zeros(4), [0, 3])
    for offsets in ([1, 4], [0, 3, 2, 4], []):
        with pytest.raises(ValueError, match="offsets must start with 0 and never fall"):
            Ragged(np.zeros(4), offsets)

"""Feature dicts and lists against plain Python that goes feature by feature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneslack.errors import OneslackError
from oneslack.features import DictIndexer
from oneslack.features.hashing import hash_text

names = st.sampled_from(["a", "b", "a=x", "b:c", "é"])
plain = st.one_of(st.sampled_from(["x", "y", ""]), st.booleans(), st.integers(-2, 2), st.floats(-2, 2))
nested = st.recursive(
    st.one_of(plain, st.lists(names, max_size=3), st.sets(names, max_size=3)),
    lambda inner: st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


def text_of(tokens):
    return st.lists(st.lists(tokens, max_size=4), max_size=4)


flat_texts = text_of(st.one_of(st.dictionaries(names, plain, max_size=4), st.lists(names, max_size=4)))
nested_texts = text_of(st.one_of(st.dictionaries(names, nested, max_size=4), st.tuples(names, names)))


def slow_pairs(token):
    """(name, weight) of each feature of a token."""
    if not isinstance(token, dict):
        return [(name, 1.0) for name in token]
    pairs = []
    for name, value in token.items():
        if isinstance(value, str):
            pairs.append((f"{name}={value}", 1.0))
        elif isinstance(value, dict | list | tuple | set):
            pairs += [(f"{name}:{inner}", weight) for inner, weight in slow_pairs(value)]
        else:
            pairs.append((name, float(value)))
    return pairs


def slow_rows(sentences):
    return [slow_pairs(token) for sentence in sentences for token in sentence]


def dense(rows, columns):
    X = np.zeros((len(rows), len(columns)))
    for t, row in enumerate(rows):
        for name, weight in row:
            if name in columns:
                X[t, columns.index(name)] += weight
    return X


@settings(max_examples=150)
@given(st.one_of(flat_texts, nested_texts), flat_texts, st.integers(1, 2))
def test_the_matrix_is_what_plain_python_builds(train, test, min_count):
    indexer = DictIndexer(min_count=min_count)
    X, offsets = indexer.fit_transform(train)
    occurring = [name for row in slow_rows(train) for name, weight in row if weight]
    columns = sorted({name for name in occurring if occurring.count(name) >= min_count})
    assert indexer.feature_names() == columns
    assert indexer.n_features == len(columns)
    np.testing.assert_allclose(X.toarray(), dense(slow_rows(train), columns), atol=1e-12)
    assert offsets.tolist() == np.cumsum([0, *map(len, train)]).tolist()
    assert X.copy().has_canonical_format
    again = DictIndexer.from_arrays(*indexer.to_arrays())
    for either in (indexer, again, DictIndexer(min_count=min_count).fit(train)):
        Y, offsets = either.transform(test)
        np.testing.assert_allclose(Y.toarray(), dense(slow_rows(test), columns), atol=1e-12)
        assert offsets.tolist() == np.cumsum([0, *map(len, test)]).tolist()
    assert [indexer.column(name) for name in columns] == list(range(len(columns)))
    assert indexer.column("nobody") is None


@given(nested_texts)
def test_hashing_is_the_index_with_other_columns(text):
    X, _ = DictIndexer(hash_bits=3).transform(text)
    expected = np.zeros((len(slow_rows(text)), 8))
    for t, row in enumerate(slow_rows(text)):
        for name, weight in row:
            expected[t, hash_text(name) >> 61] += weight
    np.testing.assert_allclose(X.toarray(), expected, atol=1e-12)
    Y, _ = DictIndexer.from_arrays(*DictIndexer(hash_bits=3).fit(text).to_arrays()).fit_transform(text)
    assert (X != Y).nnz == 0


def test_what_weighs_nothing_is_not_stored():
    indexer = DictIndexer()
    X, _ = indexer.fit_transform([[{"a": True, "b": 0}, {"a": False, "b": 0.0}]])
    assert indexer.feature_names() == ["a"]
    assert X.nnz == 1


def test_numbers_of_numpy_are_numbers():
    token = {"a": np.float32(0.5), "b": np.int64(2), "c": np.True_, "d": np.str_("x")}
    X, _ = DictIndexer(dtype=np.float32).fit_transform([[token], (token,)])
    assert X.dtype == np.float32
    assert X.toarray().tolist() == [[0.5, 2, 1, 1]] * 2


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (["a b"], "sentence 0 is a str; expected a list of tokens"),
        ([[{}], {"a": 1}], "sentence 1 is a dict; expected a list of tokens"),
        ([[], [{}, "word"]], "sentence 1, token 1: expected a dict or a list of strings"),
        ([[None]], "sentence 0, token 0: expected a dict"),
        ([[["a"]], [], [["b"], ["a", 3]]], "sentence 2, token 1: 3 is not the name of a feature"),
        ([[{"a": 1}], [{3: 1}]], r"sentence 1, token 0: \(3, 1\) is not the name of a feature"),
        ([[{"a": None}]], "sentence 0, token 0: the feature 'a' is None; use text, True, False or a finite"),
        ([[{"a": 1.0}, {"a": float("nan")}]], "sentence 0, token 1: the feature 'a' is nan"),
        ([[{"a": 1.0}, {"b": {"a": float("inf")}}]], "sentence 0, token 1: the feature 'b:a' is inf"),
        ([[{"a": 1j}]], "the feature 'a' is 1j"),
    ],
)
def test_bad_features_are_refused(sentences, message):
    with pytest.raises(OneslackError, match=message):
        DictIndexer().fit_transform(sentences)


def test_wrong_use_is_refused():
    with pytest.raises(OneslackError, match="no columns yet; call fit_transform"):
        DictIndexer().transform([])
    with pytest.raises(OneslackError, match="no names; build the DictIndexer without hash_bits"):
        DictIndexer(hash_bits=4).feature_names()
    with pytest.raises(OneslackError, match="min_count needs an index"):
        DictIndexer(min_count=2, hash_bits=4)
    with pytest.raises(OneslackError, match="min_count must be"):
        DictIndexer(min_count=True)
    with pytest.raises(OneslackError, match="hash_bits must be"):
        DictIndexer(hash_bits=40)

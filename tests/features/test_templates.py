"""Templates against plain Python that builds a string for every feature of every token."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneslack.errors import FormatError, OneslackError
from oneslack.features import FeatureIndex, Outside, joint_keys, parse_templates, read_templates, template_set
from oneslack.features.hashing import hash_text, mix
from oneslack.features.joint_keys import find_ranks, ranks_of
from oneslack.features.template_sets import SETS
from oneslack.formats import load_model, save_model
from oneslack.formats.sentences import Sentences


class Slow:
    """A sentence as the reference sees it: w(-1) is the word before token t, BOS or EOS outside."""

    def __init__(self, words, tags, t):
        self.columns, self.t = {"w": words, "pos": tags}, t

    def __call__(self, column, offset, function=lambda text: text):
        if self.t + offset < 0:
            return "BOS"
        if self.t + offset >= len(self.columns[column]):
            return "EOS"
        return function(self.columns[column][self.t + offset])


def both(*values):
    return None if None in values else " & ".join(values)


def shape(text):
    return "".join("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in text)


def squeezed(text):
    return "".join(c for i, c in enumerate(text) if i == 0 or c != text[i - 1])


def flag(test):
    return lambda text: "yes" if test(text) else None


#: Every form of the language, and the strings it means at a token: {template: value or None}.
FORMS = {
    "bias": lambda at: {"bias": None},
    "w[0]": lambda at: {"w[0]": at("w", 0)},
    "w[-2..1]  # a window": lambda at: {f"w[{k}]": at("w", k) for k in (-2, -1, 0, 1)},
    "w[+2] & pos[0]": lambda at: {"w[2] & pos[0]": both(at("w", 2), at("pos", 0))},
    "pos[-1..0] & w[0..1]": lambda at: {
        f"pos[{j}] & w[{k}]": both(at("pos", j), at("w", k)) for j in (-1, 0) for k in (0, 1)
    },
    "w[-1]&w[0]&w[1]&pos[0]": lambda at: {
        "w[-1] & w[0] & w[1] & pos[0]": both(at("w", -1), at("w", 0), at("w", 1), at("pos", 0))
    },
    "ngram(pos[-1..1], 2..3)": lambda at: {
        "pos[-1] & pos[0]": both(at("pos", -1), at("pos", 0)),
        "pos[0] & pos[1]": both(at("pos", 0), at("pos", 1)),
        "pos[-1] & pos[0] & pos[1]": both(at("pos", -1), at("pos", 0), at("pos", 1)),
    },
    "ngram(lower(w[0..1]), 2) & pos[9]": lambda at: {
        "lower(w[0]) & lower(w[1]) & pos[9]": both(at("w", 0, str.lower), at("w", 1, str.lower), at("pos", 9))
    },
    "lower(w[0])": lambda at: {"lower(w[0])": at("w", 0, str.lower)},
    "shape(w[1])": lambda at: {"shape(w[1])": at("w", 1, shape)},
    "squeeze(w[0])": lambda at: {"squeeze(w[0])": at("w", 0, squeezed)},
    "squeeze(shape(w[0]))": lambda at: {"squeeze(shape(w[0]))": at("w", 0, lambda x: squeezed(shape(x)))},
    "prefix(w[0], 1..3)": lambda at: {
        f"prefix(w[0], {n})": at("w", 0, lambda x, n=n: x[:n] if len(x) >= n else None) for n in (1, 2, 3)
    },
    "suffix(lower(w[-1..0]), 2)": lambda at: {
        f"suffix(lower(w[{k}]), 2)": at("w", k, lambda x: x.lower()[-2:] if len(x.lower()) > 1 else None)
        for k in (-1, 0)
    },
    "digit(w[0])": lambda at: {"digit(w[0])": at("w", 0, flag(lambda x: any(c.isdigit() for c in x)))},
    "hyphen(w[0])": lambda at: {"hyphen(w[0])": at("w", 0, flag(lambda x: x.count("-") > 0))},
    "capital(w[-1])": lambda at: {"capital(w[-1])": at("w", -1, flag(lambda x: x != "" and x[0].isupper()))},
    "caps(w[0])": lambda at: {"caps(w[0])": at("w", 0, flag(str.isupper))},
    "punct(w[0])": lambda at: {"punct(w[0])": at("w", 0, flag(lambda x: not any(map(str.isalnum, x))))},
    "capital(w[0]) & prefix(w[1], 2)": lambda at: {
        "capital(w[0]) & prefix(w[1], 2)": both(
            at("w", 0, flag(lambda x: x != "" and x[0].isupper())),
            at("w", 1, lambda x: x[:2] if len(x) >= 2 else None),
        )
    },
}


def slow_rows(forms, sentences):
    """For each token the set of its feature names."""
    rows = []
    for sentence in sentences:
        columns = list(map(list, zip(*sentence, strict=True))) or [[], []]
        for t in range(len(sentence)):
            values = {}
            for form in forms:
                values |= FORMS[form](Slow(*columns, t))
            rows.append(
                {"bias" if k == "bias" else f"{k}={v}" for k, v in values.items() if v or k == "bias"}
            )
    return rows


def packed(sentences):
    words = [[word for word, _ in sentence] for sentence in sentences]
    return Sentences.from_lists(w=words, pos=[[tag for _, tag in sentence] for sentence in sentences])


def named_rows(X, names):
    """For each row of a matrix of ones the set of its names."""
    assert X.has_canonical_format
    assert X.copy().has_canonical_format  # found again, not only claimed
    assert (X.data == 1).all()
    return [{names[c] for c in X.indices[a:b]} for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]


tokens = st.tuples(st.text("aBb7-.", min_size=1, max_size=4), st.sampled_from(["N", "V", "yes"]))
texts = st.lists(st.lists(tokens, max_size=6), max_size=5)
some_forms = st.lists(st.sampled_from(list(FORMS)), min_size=1, max_size=6, unique=True)


@pytest.fixture(params=["dense and sorted", "levels"])
def limit(request, monkeypatch):
    """Also with keys that overflow at once, so that every conjunction goes through ranks."""
    if request.param == "levels":
        monkeypatch.setattr(joint_keys, "LIMIT", 1)
        monkeypatch.setattr(joint_keys, "_is_dense", lambda key, size: False)


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25)
@given(train=texts, test=texts)
def test_each_form_is_what_plain_python_builds(form, train, test):
    check_against_plain_python([form], train, test, 1)


@pytest.mark.usefixtures("limit")
@settings(max_examples=120)
@given(forms=some_forms, train=texts, test=texts, min_count=st.integers(1, 3))
def test_forms_together_and_rare_values(forms, train, test, min_count):
    forms = [form for form in forms if form != "w[0]" or "w[-2..1]  # a window" not in forms]
    check_against_plain_python(forms, train, test, min_count)


def check_against_plain_python(forms, train, test, min_count):
    index = FeatureIndex("\n".join(forms), min_count=min_count)
    X = index.fit_transform(packed(train))
    rows = slow_rows(forms, train)
    counts = {}
    for row in rows:
        for name in row:
            counts[name] = counts.get(name, 0) + 1
    kept = {name for name, count in counts.items() if count >= min_count}
    names = index.feature_names()
    # A word that is spelled BOS would have the name of the edge; there is none in these texts.
    assert sorted(names) == sorted(kept)
    assert X.shape == (len(rows), len(kept)) == (len(rows), index.n_features)
    assert named_rows(X, names) == [row & kept for row in rows]
    assert (index.transform(packed(train)) != X).nnz == 0
    assert named_rows(index.transform(packed(test)), names) == [row & kept for row in slow_rows(forms, test)]
    check_round_trip(index, packed(test))
    for column, (template, values) in enumerate(index.features()):
        assert index.column(template, values) == column


def check_round_trip(index, sentences):
    header, arrays = index.to_arrays()
    again = FeatureIndex.from_arrays(json.loads(json.dumps(header)), arrays)
    assert again.feature_names() == index.feature_names()
    X, Y = index.transform(sentences), again.transform(sentences)
    assert X.shape == Y.shape
    assert X.indices.tolist() == Y.indices.tolist()
    assert X.indptr.tolist() == Y.indptr.tolist()


def test_an_index_in_a_model_file(tmp_path):
    text = packed([[("Ça", "N"), ("va", "V"), ("\ud800", "N")], [("va", "V")]])
    index = FeatureIndex("w[-1..1]\nw[0] & pos[1]\nprefix(w[0], 1)", dtype=np.float32)
    X = index.fit_transform(text)
    save_model(tmp_path / "index", *index.to_arrays())
    again = FeatureIndex.from_arrays(*load_model(tmp_path / "index"))
    assert again.transform(text).toarray().tolist() == X.toarray().tolist()
    assert again.transform(text).dtype == np.float32


def test_damaged_arrays_are_refused():
    index = FeatureIndex("w[0] & pos[0]").fit(packed([[("a", "N"), ("b", "V")]]))
    header, arrays = index.to_arrays()
    for name in arrays:
        with pytest.raises(KeyError, match=name):
            FeatureIndex.from_arrays(header, {k: v for k, v in arrays.items() if k != name})
    for keys in ([3, 2], [-1, 2], [1, 10**6], [[1, 2]], [1.0, 2.0]):
        with pytest.raises(ValueError, match=r"features\.keys\.0"):
            FeatureIndex.from_arrays(header, arrays | {"features.keys.0.0": np.array(keys)})
    with pytest.raises(ValueError, match="the ends of the strings"):
        FeatureIndex.from_arrays(header, arrays | {"features.stops.0": np.array([2, 1])})


def test_values_outside_are_not_the_words_that_are_spelled_so():
    text = packed([[("BOS", "N"), ("EOS", "N")]])
    index = FeatureIndex("w[-1]\nw[1]")
    assert index.fit_transform(text).toarray().tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]
    assert index.column("w[-1]", [Outside.BOS]) == 0
    assert index.column("w[-1]", ["BOS"]) == 1
    assert index.column("w[-1]", ["EOS"]) is None
    assert index.column("w[1]", [Outside.EOS]) == 2


def test_rare_strings_are_forgotten():
    words = [(f"rare{i}", "N") for i in range(50)] + [("often", "V")] * 3
    index = FeatureIndex("w[0]\nw[-1] & w[0]\nlower(w[0]) & pos[0]", min_count=2)
    X = index.fit_transform(packed([words]))
    assert index.feature_names() == [
        "w[0]=often",
        "w[-1] & w[0]=often & often",
        "lower(w[0]) & pos[0]=often & V",
    ]
    assert X.sum(axis=0).tolist() == [[3, 2, 3]]
    _, arrays = index.to_arrays()
    assert sum(array.nbytes for array in arrays.values()) < 100


def test_many_parts_need_more_than_63_bits():
    rng = np.random.default_rng(0)
    words = [(str(word), "N") for word in rng.integers(0, 3000, 6000)]
    text = packed([words[:3000] + words[:3000], words[3000:]])
    index = FeatureIndex("ngram(w[-3..3], 7)")
    X = index.fit_transform(text)
    assert len(index.to_arrays()[1]) == 4  # the strings and their ends, a level, and the keys
    windows = [
        tuple(text.columns["w"].values[c] for c in text.columns["w"].codes[t - 3 : t + 4]) for t in (9, 99)
    ]
    template = index.templates[0]
    assert [index.column(template, window) for window in windows] == X.indices[[9, 99]].tolist()
    assert (index.transform(text) != X).nnz == 0


@settings(max_examples=60)
@given(st.lists(st.integers(-1, 40), max_size=30), st.integers(1, 3))
def test_ranks_with_a_table_and_by_sorting_are_the_same(keys, min_count):
    keys = np.array(keys, np.int64)
    dense, sparse = ranks_of(keys, 41, min_count), ranks_of(keys, 10**9, min_count)
    expected = sorted(k for k in set(keys.tolist()) if k >= 0 and keys.tolist().count(k) >= min_count)
    for found, ranks in (dense, sparse):
        assert found.tolist() == expected
        assert ranks.tolist() == [expected.index(k) if k in expected else -1 for k in keys.tolist()]
    for size in (41, 10**9):
        assert find_ranks(dense[0], keys, size).tolist() == dense[1].tolist()


def slow_hash(template, values, bits):
    """The column of a template and strings, with Python's own integers."""
    hashed = hash_text(template)
    for value in values:
        hashed = int(mix(np.array([hashed], np.uint64), np.array([hash_text(value)], np.uint64))[0])
    return hashed >> (64 - bits)


@pytest.mark.parametrize("bits", [1, 3, 20])
def test_hashing_keeps_nothing_and_adds_what_collides(bits):
    text = packed([[("a", "N"), ("b", "V"), ("a", "N")], [], [("ab", "N")]])
    index = FeatureIndex("w[0]\nw[0] & pos[0]\nprefix(w[0], 2)", hash_bits=bits)
    X = index.transform(text)
    expected = np.zeros((4, 2**bits))
    for row, (word, tag) in enumerate([("a", "N"), ("b", "V"), ("a", "N"), ("ab", "N")]):
        expected[row, slow_hash("w[0]", [word], bits)] += 1
        expected[row, slow_hash("w[0] & pos[0]", [word, tag], bits)] += 1
        if len(word) == 2:
            expected[row, slow_hash("prefix(w[0], 2)", [word], bits)] += 1
    assert np.array_equal(X.toarray(), expected)
    assert X.has_canonical_format
    assert X.copy().has_canonical_format
    again = FeatureIndex.from_arrays(*index.to_arrays())
    assert (again.fit_transform(text) != X).nnz == 0
    with pytest.raises(OneslackError, match="no names; build the FeatureIndex without hash_bits"):
        index.feature_names()


def test_hashing_spreads_values_and_tells_edges_apart():
    words = [[(str(i), "N")] for i in range(3000)]
    X = FeatureIndex("w[0]", hash_bits=24).transform(packed(words))
    assert len(set(X.indices.tolist())) > 2990
    X = FeatureIndex("chunking", hash_bits=24).transform(packed(words[:20]))
    assert X.nnz == 20 * 19
    assert X.copy().has_canonical_format
    X = FeatureIndex("w[-1]\nw[1]\nw[-1] & w[1]", hash_bits=24).transform(packed([[("BOS", "N")] * 2]))
    assert X.nnz == len(set(X.indices.tolist())) == 6


def test_hashes_are_the_same_in_every_process():
    assert hash_text("oneslack") == 16401834127092045651
    assert mix(np.array([1], np.uint64), np.array([2], np.uint64)).tolist() == [10905525725756348110]


def test_the_chunking_set_is_the_usual_one():
    words = {f"w[{k}]" for k in range(-2, 3)} | {"w[-1] & w[0]", "w[0] & w[1]"}
    tags = {f"pos[{k}]" for k in range(-2, 3)}
    tags |= {f"pos[{k}] & pos[{k + 1}]" for k in range(-2, 2)}
    tags |= {f"pos[{k}] & pos[{k + 1}] & pos[{k + 2}]" for k in range(-2, 1)}
    assert {str(template) for template in template_set("chunking")} == words | tags
    assert len(template_set("chunking")) == 19


@pytest.mark.parametrize("name", SETS)
def test_sets_work_and_are_read_back_from_their_text(name):
    templates = template_set(name)
    assert parse_templates("\n".join(map(str, templates))) == templates
    X = FeatureIndex(name).fit_transform(packed([[("Mr.", "N"), ("X-5", "N"), ("ran", "V")]]))
    assert X.shape[0] == 3
    assert X.nnz > 30


BAD_TEMPLATES = {
    "w": "column 2: expected '[' after 'w'; w[0] is that of the token itself.",
    "w[": "column 3: expected a number, found the end of the line.",
    "w[0": "column 4: expected ']', found the end of the line.",
    "w[x]": "column 3: expected a number, found 'x'.",
    "w[0..]": "column 6: expected a number after '..', found ']'.",
    "w[2..-2]": "column 3: the range 2..-2 is empty; write the smaller number first.",
    "w[0] w[1]": "column 6: expected '&' or the end of the line, found 'w'.",
    "w[0] &": "column 7: expected a column or a function, found the end of the line; write templates such as",
    "  & w[0]": "column 3: expected a column or a function, found '&'; write templates such as",
    "w[0] | w[1]": "column 6: cannot read '|'; write templates such as w[-1], suffix(w[0], 1..3),",
    "w[12345]": "column 3: cannot read '12345]'",
    "uper(w[0])": "column 1: there is no function 'uper'; choose from lower, shape,",
    "lower(w[0]": "column 11: expected ')', found the end of the line.",
    "lower(w)": "column 8: expected '[' after 'w'",
    "lower(w[0], 2)": "column 1: lower takes 0 numbers, found 1; write lower(w[0]).",
    "w[0] & prefix(w[0])": "column 8: prefix takes 1 numbers, found 0; write prefix(w[0], 3).",
    "prefix(w[0], 0)": "column 14: found 0, expected 1 or more.",
    "ngram(w[0..1], 3)": "column 1: ngram takes a window and a length that fits in it",
    "ngram(prefix(w[0], 1..2), 2)": "column 1: ngram takes a window",
    "ngram(w[0..1])": "column 14: expected ',' and a length, found ')'.",
    "bias & w[0]": "column 1: bias is the same for every token; give it a line of its own.",
    "w[0..1] & w[1..2]": "column 1: w[1] & w[1] has a part twice; drop one, or write out the ranges.",
    "pos[0]": "column 1: pos[0] stands already in line 2; drop one of them.",
    "w[-1] & pos[0]": "column 1: w[-1] & pos[0] stands already in line 3; drop one of them.",
}


@pytest.mark.parametrize("line", BAD_TEMPLATES)
def test_bad_templates_are_refused_with_line_and_column(tmp_path, line):
    text = f"# first\npos[-1..1]\npos[0] & w[-1]\n\n{line}\n"
    with pytest.raises(OneslackError) as caught:
        parse_templates(text)
    assert str(caught.value).startswith(f"templates, line 5, {BAD_TEMPLATES[line]}")
    path = tmp_path / "bad.templates"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_templates(path)
    assert str(caught.value).startswith(f"{path}, line 5, {BAD_TEMPLATES[line]}")


@given(st.text("w[0]lower(),.&#- 3bias", max_size=30))
def test_any_text_is_read_or_refused_by_a_sentence(text):
    try:
        templates = parse_templates(text)
    except OneslackError as error:
        assert str(error).startswith("templates, line 1, column ")  # noqa: PT017
    else:
        assert parse_templates("\n".join(map(str, templates))) == templates


def test_templates_from_files(tmp_path):
    path = tmp_path / "my.templates"
    path.write_bytes("\ufeff# mine\r\nw[0]  # the word\r\n\r\nmotÉ[1]".encode())
    assert list(map(str, read_templates(path))) == ["w[0]", "motÉ[1]"]
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match=r"my\.templates, line 1: .* is not utf-8"):
        read_templates(path)
    path.write_text("# nothing")
    with pytest.raises(FormatError, match=r"my\.templates, line 1, column 1: there is no template"):
        read_templates(path)


def test_wrong_use_is_refused():
    text = packed([[("a", "N")]])
    with pytest.raises(OneslackError, match="no columns yet; call fit_transform"):
        FeatureIndex("w[0]").transform(text)
    with pytest.raises(OneslackError, match="use the column 'chunk', but the sentences have w, pos; name"):
        FeatureIndex("chunk[0]").fit(text)
    with pytest.raises(OneslackError, match="there is no template set 'parsing'; choose from chunking"):
        template_set("parsing")
    for options in ({"min_count": 0}, {"min_count": 1.5}, {"hash_bits": 0}, {"hash_bits": 31}):
        with pytest.raises(OneslackError, match="must be"):
            FeatureIndex("w[0]", **options)
    with pytest.raises(OneslackError, match="min_count needs an index"):
        FeatureIndex("w[0]", min_count=2, hash_bits=5)
    index = FeatureIndex("w[0]").fit(text)
    with pytest.raises(OneslackError, match=r"w\[1\] is none of the templates; they are w\[0\]"):
        index.column("w[1]", ["a"])
    with pytest.raises(OneslackError, match="has 1 parts, got 2 values"):
        index.column("w[0]", ["a", "b"])

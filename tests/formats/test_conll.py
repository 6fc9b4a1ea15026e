"""The readers of tagged text against a reader that goes line by line, and against a zoo of bad files."""

import bz2
import contextlib
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneslack.errors import FormatError, OneslackError
from oneslack.formats import conll
from oneslack.formats.conll import read_conll
from oneslack.formats.conllu import CONLLU, read_conllu
from oneslack.formats.sentences import Sentences
from oneslack.formats.svmhmm import read_svmhmm

# Blanks of Unicode and signs that other parts of the format use are letters here.
words = st.text(st.sampled_from("aB7é#-.&\u00a0\u3000\u2028\x85\x1c"), min_size=1, max_size=4)
sentence_lists = st.lists(
    st.lists(st.tuples(words, words, words), min_size=1, max_size=5), min_size=1, max_size=5
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("conll")


def write(folder, content, name="data.txt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def as_lists(sentences):
    return [sentences.sentence(i) for i in range(len(sentences))]


def check_shape(sentences):
    """What holds for all Sentences: codes in range, distinct values, offsets that increase."""
    assert sentences.offsets[0] == 0
    assert (np.diff(sentences.offsets) > 0).all()
    for column in sentences.columns.values():
        assert column.codes.shape == (sentences.n_tokens,)
        assert len(set(column.values)) == len(column.values)
        assert set(column.codes.tolist()) == set(range(len(column.values)))


@settings(max_examples=150)
@given(st.data())
def test_any_columns_of_words_are_read(folder, data):
    expected = data.draw(sentence_lists)
    tabs = data.draw(st.booleans())
    newline = data.draw(st.sampled_from(["\n", "\r\n"]))
    blanks = st.just("\t") if tabs else st.sampled_from([" ", "  ", " \t"])
    ends = st.sampled_from(["", " ", "\t", "\t \t", f"{newline}\t{newline}", f"-DOCSTART- -X-{newline}"])
    text = ""
    for sentence in expected:
        rows = [data.draw(blanks).join(token) + ("" if tabs else data.draw(blanks)) for token in sentence]
        text += newline.join([*rows, data.draw(ends), ""])
    text = text.rstrip(" \t\r\n") if data.draw(st.booleans()) else text
    block = data.draw(st.sampled_from([1, 7, 30, 1 << 22]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conll, "BLOCK", block)
        found = read_conll(write(folder, text), ["a", "b", "c"], separator="tab" if tabs else "blank")
    assert as_lists(found) == expected
    check_shape(found)


def test_columns_are_named_by_position_without_names(folder):
    sentences = read_conll(write(folder, "He PRP B-NP\nsat VBD B-VP\n\n\n\nSo RB O"))
    assert list(sentences.columns) == ["col0", "col1", "col2"]
    assert sentences.columns["col0"].strings().tolist() == ["He", "sat", "So"]
    assert sentences.offsets.tolist() == [0, 2, 3]
    assert (len(sentences), sentences.n_tokens) == (2, 3)


def test_columns_can_be_chosen(folder):
    path = write(folder, "He PRP B-NP\nsat VBD B-VP\n")
    assert read_conll(path, ["w", None, "tag"]).sentence(0) == [("He", "B-NP"), ("sat", "B-VP")]
    assert read_conll(path, {"tag": -1, "w": 0}).sentence(0) == [("B-NP", "He"), ("B-VP", "sat")]


def test_the_separator_is_found_in_the_first_token(folder):
    path = write(folder, "-DOCSTART- x\n \nNew York\tB\nHe\tO\n")
    assert read_conll(path).sentence(0) == [("New York", "B"), ("He", "O")]
    with pytest.raises(FormatError, match=r"line 4: expected 3 columns, .*found 2, cutting at blanks"):
        read_conll(path, separator="blank")
    assert read_conll(write(folder, "He O\t\n")).sentence(0) == [("He", "O")]


def test_a_field_between_tabs_may_be_empty(folder):
    assert read_conll(write(folder, "a\tb\n\tO\n\t\n \t\nc\t\n")).sentence(0) == [("a", "b"), ("", "O")]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_marks_and_last_lines(folder, pack):
    path = write(folder, pack("\ufeffHe\tO\r\n\r\nça\tO".encode()))
    assert as_lists(read_conll(path)) == [[("He", "O")], [("ça", "O")]]


def test_a_document_start_ends_a_sentence_and_is_left_out(folder):
    text = "-DOCSTART- -X- O O\n\nEU NNP B\n-DOCSTART-\n-DOC- NN O\n-DOCSTART- -X-\n"
    assert as_lists(read_conll(write(folder, text))) == [[("EU", "NNP", "B")], [("-DOC-", "NN", "O")]]


def test_a_hash_is_a_word_outside_of_conllu(folder):
    assert read_conll(write(folder, "# O\n#5 O\n")).sentence(0) == [("#", "O"), ("#5", "O")]


def test_other_encodings(folder):
    path = write(folder, "a O\nEspaña LOC\n".encode("latin-1"))
    assert read_conll(path, encoding="latin-1").sentence(0)[1] == ("España", "LOC")
    with pytest.raises(FormatError, match=r"data\.txt, line 2: .*is not utf-8; convert"):
        read_conll(path)


CONLLU_TEXT = """\
# sent_id = 1
# text = won't go - 3.5
1-2\twon't\t_\t_\t_\t_\t_\t_\t_\t_
1\two\twill\tAUX\tMD\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\tPolarity=Neg\t3\tadvmod\t_\t_
2.1\tnothing\t_\tX\t_\t_\t_\t_\t_\t_
3\tgo far\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
# in the middle
4\t-\t-\tPUNCT\t:\t_\t3\tpunct\t_\t_

# sent_id = 2

1\t#\t#\tSYM\t#\t_\t0\troot\t_\t_
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [1, 50, 1 << 22])
def test_conllu_gives_the_words(folder, monkeypatch, newline, block):
    monkeypatch.setattr(conll, "BLOCK", block)
    path = write(folder, CONLLU_TEXT.replace("\n", newline), "a.conllu")
    sentences = read_conllu(path)
    first = [("wo", "AUX"), ("n't", "PART"), ("go far", "VERB"), ("-", "PUNCT")]
    assert as_lists(sentences) == [first, [("#", "SYM")]]
    check_shape(sentences)
    ids = read_conllu(path, {"number": "id", "head": "head"}).columns
    assert ids["number"].strings().tolist() == ["1", "2", "3", "4", "1"]
    assert ids["head"].strings().tolist() == ["3", "3", "0", "3", "0"]
    assert list(read_conllu(path, CONLLU).columns) == list(CONLLU)


def test_conllu_with_missing_columns_is_refused(folder):
    path = write(folder, CONLLU_TEXT + "2\ta\tb\n")
    with pytest.raises(FormatError, match=r"line 14: expected 10 columns, as CoNLL-U has, found 3"):
        read_conllu(path)
    with pytest.raises(OneslackError, match="no column 'pos'; choose from id, form"):
        read_conllu(path, ["form", "pos"])
    with pytest.raises(OneslackError, match="columns is empty"):
        read_conllu(path, [])


@pytest.mark.parametrize("block", [1, 9, 1 << 22])
@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("a b c\nd e\n", 2, 2),
        ("a b c\n\nd e f\nd e f g", 4, 4),
        ("\r\n\r\na b c\r\nd\r\n", 4, 1),
        ("-DOCSTART- x\n\na b c\n-DOC x\n", 4, 2),
    ],
)
def test_wrong_numbers_of_columns_are_refused(folder, monkeypatch, block, text, line, found):
    monkeypatch.setattr(conll, "BLOCK", block)
    path = write(folder, text, "bad.txt")
    with pytest.raises(FormatError) as caught:
        read_conll(path)
    sentence = f"{path}, line {line}: expected 3 columns, as the first token has, found {found}, cutting at "
    assert str(caught.value) == f"{sentence}blanks; mend the line."


@pytest.mark.parametrize(("content", "line"), [("", 1), ("\n\n", 2), ("-DOCSTART- O\n", 1)])
def test_files_without_tokens_are_refused(folder, content, line):
    with pytest.raises(FormatError, match=rf"empty, line {line}: the file ends without any token"):
        read_conll(write(folder, content, "empty"))


def test_columns_that_contradict_the_file_are_refused(folder):
    path = write(folder, "\na b c\n")
    with pytest.raises(FormatError, match=r"line 2: expected 2 columns \(w, pos\), found 3; give 3 names"):
        read_conll(path, ["w", "pos"])
    with pytest.raises(FormatError, match="names that differ"):
        read_conll(path, ["w", "w", "pos"])
    with pytest.raises(
        FormatError, match="3 columns, but columns asks for 'tag' at 3; give positions from 0 to 2"
    ):
        read_conll(path, {"w": 0, "tag": 3})
    with pytest.raises(OneslackError, match="separator must be"):
        read_conll(path, separator=",")


@given(st.binary(max_size=60), st.text("ab# \n\t\r-.1", max_size=60))
def test_any_bytes_are_read_or_refused_by_a_sentence(folder, junk, nearly):
    for content in (junk, nearly.encode()):
        for read in (read_conll, read_conllu, read_svmhmm):
            with contextlib.suppress(FormatError):
                read(write(folder, content, "fuzz"))


def test_sentences_from_lists():
    sentences = Sentences.from_lists(w=[["a", "b"], [], ("a",)], pos=[["X", "X"], [], ["Y"]])
    assert as_lists(sentences) == [[("a", "X"), ("b", "X")], [], [("a", "Y")]]
    assert sentences.offsets.tolist() == [0, 2, 2, 3]
    assert sentences.columns["w"].values == ["a", "b"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "at least one column"),
        ({"w": ["a b"]}, "sentence 0 of column 'w' is one string"),
        ({"w": [["a"]], "pos": []}, "'w' has 1 sentences, but 'pos' has 0"),
        ({"w": [["a"], ["b"]], "pos": [["X"], []]}, "sentence 1 has 1 tokens in column 'w', but 0 in 'pos'"),
        ({"w": [["a", 1]]}, "column 'w' holds 1; expected strings"),
    ],
)
def test_lists_that_do_not_fit_are_refused(columns, message):
    with pytest.raises(OneslackError, match=message):
        Sentences.from_lists(**columns)


def test_svmhmm(folder):
    text = "# chunks\n1 qid:1 1:1 3:0.5 # He\n2 qid:1 2:1 # sat\n\n3 qid:7 3:2\n2 qid:2 1:1"
    rows = read_svmhmm(write(folder, gzip.compress(text.encode())))
    assert rows.X.toarray().tolist() == [[1, 0, 0.5], [0, 1, 0], [0, 0, 2], [1, 0, 0]]
    assert rows.tags.tolist() == [1, 2, 3, 2]
    assert rows.tags.dtype == np.int64
    assert rows.offsets.tolist() == [0, 2, 3, 4]
    assert read_svmhmm(write(folder, text), n_features=9, dtype=np.float32).X.shape == (4, 9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:1 1:1\n\n2 qid:2 1:1\n1 qid:1 2:1\n", r"line 4: qid:1 comes back after another sentence"),
        ("1 qid:1 1:1\n# x\n1.5 qid:1 2:1\n", r"line 3: the tag 1\.5 is not a whole number"),
        ("1e300 qid:1 1:1\n", r"line 1: the tag 1e\+300 is not a whole number"),
        ("1 qid:1 1:1\n1 1:1\n", "line 2: no qid"),
        ("NN qid:1 1:1\n", "line 1: the label 'NN' is not a number"),
    ],
)
def test_svmhmm_refuses(folder, text, message):
    with pytest.raises(FormatError, match=rf"bad\.dat, {message}"):
        read_svmhmm(write(folder, text, "bad.dat"))

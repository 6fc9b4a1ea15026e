"""The svmlight reader against scikit-learn's, against float(), and against a zoo of bad files."""

import bz2
import contextlib
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array
from sklearn.datasets import load_svmlight_file

from oneslack.errors import FormatError, OneslackError
from oneslack.formats import lines, read_data, read_svmlight, write_svmlight

digits = st.text("0123456789", min_size=1, max_size=22)
exponents = st.one_of(st.just(""), st.integers(-40, 40).map("e{:+d}".format), st.just("E5"))
decimals = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    digits,
    st.one_of(st.just(""), st.just("."), digits.map(".{}".format)),
    exponents,
)
doubles = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(decimals, doubles.map(repr), st.integers(-9, 9).map(str))
blanks = st.sampled_from([" ", "  ", "\t", " \t "])


@st.composite
def svmlight_lines(draw, first_index=1):
    """Valid lines as text, with the decorations that real files have."""
    pieces = [draw(numbers)]
    for index in sorted(draw(st.sets(st.integers(first_index, 40), max_size=8))):
        pieces += [draw(blanks), f"{index}:{draw(numbers)}"]
    tail = draw(st.sampled_from(["", " ", "\r", " # note 3:4", "\n", "\n# a line 5:x", "\n \t"]))
    return "".join(pieces) + tail


def write(folder, content, name="data.svm"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("svmlight")


def assert_equals_sklearn(path, **options):
    X, y = load_svmlight_file(str(path), **options)
    table = read_svmlight(path, **options)
    assert table.X.shape == X.shape
    assert table.X.dtype == X.dtype
    np.testing.assert_array_equal(table.X.indptr, X.indptr)
    np.testing.assert_array_equal(table.X.indices, X.indices)
    assert table.X.data.tobytes() == X.data.tobytes()
    assert table.y.astype(float).tobytes() == y.tobytes()  # int64 where float64 could not tell them apart


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.one_of(svmlight_lines(1), svmlight_lines(0)), min_size=1, max_size=8),
    st.booleans(),
    st.sampled_from([np.float64, np.float32]),
)
def test_same_matrix_as_sklearn(folder, rows, last_newline, dtype):
    path = write(folder, "\n".join(rows) + "\n" * last_newline)
    with np.errstate(over="ignore"):  # doubles beyond float32 become infinite, as in scikit-learn
        assert_equals_sklearn(path, dtype=dtype, n_features=50)


@settings(max_examples=300, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=20))
def test_numbers_are_rounded_as_python_does(folder, texts):
    pairs = " ".join(f"{k}:{text}" for k, text in enumerate(texts))
    table = read_svmlight(write(folder, f"{texts[0]} {pairs}"))
    expected = np.array([float(text) for text in texts])
    assert table.X.data.tobytes() == expected.tobytes()
    assert table.y.astype(float).tobytes() == expected[:1].tobytes()


@pytest.mark.parametrize("n_digits", [15, 16, 17, 18, 19, 20])
def test_many_random_decimals_are_exact(folder, n_digits):
    rng = np.random.default_rng(n_digits)
    mantissas = rng.integers(1, 10, (300, n_digits)).astype("U1")
    texts = [f"{''.join(m)}e{e}" for m, e in zip(mantissas, rng.integers(-26, 4, 300), strict=True)]
    pairs = " ".join(f"{k}:{text}" for k, text in enumerate(texts))
    table = read_svmlight(write(folder, f"1 {pairs}"))
    assert table.X.data.tolist() == [float(text) for text in texts]


def test_ties_between_two_doubles_are_exact(folder):
    """2^53 + 1 and its relatives lie in the middle of two doubles."""
    texts = [f"{m * 10**k}e-{k}" for m in range(2**53 - 3, 2**53 + 9) for k in (0, 1, 2)]
    pairs = " ".join(f"{k}:{text}" for k, text in enumerate(texts))
    table = read_svmlight(write(folder, f"1 {pairs}"))
    assert table.X.data.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize("read", [read_svmlight, read_data])
@pytest.mark.parametrize("large", [2**53, -(2**53) - 1, 10**17])
def test_long_whole_labels_stay_apart(tmp_path, read, large):
    labels = [large, large + 1, 3, large]
    text = "".join(f" {label}{end}" for label, end in zip(labels, (" 1:1\n", "# no entry\n", "\n\n", "")))
    assert read(write(tmp_path, text)).y.tolist() == labels


def test_labels_that_no_number_can_tell_apart_are_named(tmp_path):
    path = write(tmp_path, f"0.5 1:1\n{10**20} 1:1\n{10**20} 1:1\n\n{10**20 + 1} 1:1\n")
    with pytest.raises(FormatError) as caught:
        read_svmlight(path)
    told = f"the label {10**20 + 1} cannot be told from {10**20}; give the labels at most 18 digits."
    assert str(caught.value) == f"{path}, line 5: {told}"


@pytest.mark.parametrize("target", ["1e300", str(10**20), "9007199254740993.5"])
def test_large_targets_are_numbers(tmp_path, target):
    assert read_data(write(tmp_path, f"{target} 1:1\n0.5 1:2\n")).y.tolist() == [float(target), 0.5]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_what_is_written_reads_back_bit_for_bit(folder, seed, with_qid):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 12, 2))
    X = csr_matrix(random_array(shape, density=0.4, rng=rng))
    X.data *= 10.0 ** rng.integers(-300, 300, X.nnz)
    y = rng.standard_normal(shape[0])
    qid = rng.integers(-5, 10**12, shape[0]) if with_qid else None
    path = folder / "written.svm"
    write_svmlight(path, X, y, qid)
    table = read_svmlight(path, n_features=shape[1], zero_based=False, qid="auto")
    assert table.X.data.tobytes() == X.data.tobytes()
    np.testing.assert_array_equal(table.X.toarray(), X.toarray())
    assert table.y.tobytes() == y.tobytes()
    assert (table.qid is None) if qid is None else (table.qid.tolist() == qid.tolist())


def test_dense_and_integer_data_are_written_short(tmp_path):
    path = tmp_path / "dense.svm"
    write_svmlight(path, np.array([[0.0, 2.0], [0.5, 0.0]], np.float32), np.array([1, -1]))
    assert path.read_text() == "1 2:2\n-1 1:0.5\n"


@pytest.mark.parametrize(
    ("y", "X"),
    [
        (["a", "b"], np.eye(2)),
        ([1.0], np.eye(2)),
        ([1.0, np.nan], np.eye(2)),
        ([1, 2], np.full((2, 2), np.inf)),
    ],
)
def test_unwritable_data_leave_no_file(tmp_path, y, X):
    with pytest.raises(OneslackError, match=r"out\.svm"):
        write_svmlight(tmp_path / "out.svm", X, y)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("block", [1, 7, 64])
def test_any_cut_into_blocks_gives_the_same(folder, monkeypatch, block):
    rows = [f"{k} qid:{k // 3} {k + 1}:0.5 {k + 9}:1e-30" for k in range(30)]
    path = write(folder, "\ufeff" + "\n".join(rows))
    whole = read_svmlight(path, qid=True)
    monkeypatch.setattr(lines, "BLOCK", block)
    monkeypatch.setattr(lines, "CACHED", block)
    cut = read_svmlight(path, qid=True)
    assert (whole.X != cut.X).nnz == 0
    assert whole.y.tolist() == cut.y.tolist() == list(range(30))
    assert whole.qid.tolist() == cut.qid.tolist() == [k // 3 for k in range(30)]


def test_more_hard_numbers_than_are_noted_at_once(folder):
    values = [f"{k}.5e-200" for k in range(3000)]
    text = f"1 {' '.join(f'{k}:{v}' for k, v in enumerate(values))}\n2e-99 0:1e-99\n"
    table = read_svmlight(write(folder, text * 2))
    assert table.X[0].data.tolist() == table.X[2].data.tolist() == [float(v) for v in values]
    assert table.y.tolist() == [1, 2e-99, 1, 2e-99]


def test_indices_out_of_order_are_sorted(folder):
    X = read_svmlight(write(folder, "1 5:5 2:2 9:9\n0\n2 9:1 2:3\n")).X
    assert X.indices.tolist() == [1, 4, 8, 1, 8]
    assert X.data.tolist() == [2, 5, 9, 3, 1]
    assert X.has_canonical_format


def test_zero_based(folder):
    one, zero = write(folder, "1 1:7 3:1", "one"), write(folder, "1 0:7 3:1", "zero")
    assert read_svmlight(one).X.indices.tolist() == [0, 2]
    assert read_svmlight(zero).X.indices.tolist() == [0, 3]
    assert read_svmlight(one, zero_based=True).X.indices.tolist() == [1, 3]
    assert read_svmlight(one, zero_based=False, n_features=9).X.shape == (1, 9)


def test_query_numbers(folder):
    path = write(folder, "1 qid:7 1:1\n2 qid:-3 1:1 # x\n")
    assert read_svmlight(path).qid is None
    assert read_svmlight(path, qid=True).qid.tolist() == [7, -3]
    assert read_data(path).qid.tolist() == [7, -3]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["a9a", "data.svm.bz2"])
def test_packed_files_are_known_by_content(folder, pack, name):
    table = read_data(write(folder, pack(b"-1 3:1 # x\n1 2:0.5\n"), name))
    assert table.kind == "svmlight"
    assert table.X.toarray().tolist() == [[0, 0, 1], [0, 0.5, 0]]
    assert table.y.tolist() == [-1, 1]
    assert table.y.dtype == np.int64


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_cut_short_or_damaged_are_refused(folder, pack):
    packed = pack(b"-1 3:1\n1 2:0.5\n" * 100)
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0x55
    for content in (packed[:-3], packed[: len(packed) // 2], bytes(damaged)):
        with pytest.raises(FormatError, match=r"packed\.svm.*(damaged|cut short)"):
            read_svmlight(write(folder, content, "packed.svm"))


BAD_LINES = {
    "1,3 5:1": "several labels",
    "3:1 4:1": "no label before",
    "spam 3:1": "CSV",
    "nan 3:1": "not finite",
    "-inf 3:1": "not finite",
    "1e999 3:1": "not finite",
    "1.2.3 3:1": "not a number",
    "0x10 3:1": "not a number",
    "1_0 3:1": "not a number",
    ". 3:1": "not a number",
    "1e 3:1": "not a number",
    "- 3:1": "not a number",
    "1 3:nan": "not finite",
    "1 3:+Infinity": "not finite",
    "1 3:1e400": "not finite",
    "1 3:abc": "not a number",
    "1 3:1_0": "not a number",
    "1 3:1.5.2": "not a number",
    "1 3:1e+": "not a number",
    "1 3:2:1": "not a number",
    "1 3:": "no value",
    "1 3: 4": "no value",
    "1 3": "no colon",
    "1 2": "no colon",
    "1 -3:1": "negative",
    "1 :5": "not an integer",
    "1 a:5": "not an integer",
    "1 1.5:5": "not an integer",
    "1 2147483647:1": "too large",
    "1 99999999999999999999999:1": "too large",
    "1 qid:x 3:1": "query number",
    "1 qid: 3:1": "query number",
    "1 qid:3.5 3:1": "query number",
    "1 qid:99999999999999999999 3:1": "query number",
    "1 quid:3 3:1": "query number",
    "1 q": "query number",
    "1 qid:1 qid:2 3:1": "out of place",
    "1 3:1 qid:2": "out of place",
    "1 3:1 3:2": "twice",
    "1 5:1 3:1 5:2": "twice",
    "\x00\x01\x02": "binary",
    "\x0b": "binary",
}


@pytest.mark.parametrize("line", BAD_LINES)
@pytest.mark.parametrize("ending", ["\n", "", "\n1 3:1\n"])
def test_bad_lines_are_refused_with_file_and_line(folder, line, ending):
    path = write(folder, f"# first\n1 3:1\n\n{line}{ending}", "bad.svm")
    with pytest.raises(FormatError) as caught:
        read_svmlight(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line 4: ")
    assert BAD_LINES[line] in message
    assert "\n" not in message


def test_bytes_that_are_no_text_are_refused(folder):
    junk = np.random.default_rng(0).integers(128, 256, 5000, dtype=np.uint8).tobytes()
    with pytest.raises(FormatError, match=r"junk, line 1: .*binary"):
        read_svmlight(write(folder, junk, "junk"))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.text("0123456789:.e+-q# \n\tid,", max_size=60))
def test_any_bytes_are_read_or_refused_by_a_sentence(folder, junk, nearly):
    for content in (junk, nearly.encode()):
        with contextlib.suppress(FormatError):
            read_svmlight(write(folder, content, "fuzz.svm"))


@pytest.mark.parametrize(("content", "line"), [("", 1), ("\n\n", 3), ("# a\n# b", 2)])
def test_files_without_examples_are_refused(folder, content, line):
    with pytest.raises(FormatError, match=rf"empty\.svm, line {line}: .*without any example"):
        read_svmlight(write(folder, content, "empty.svm"))


def test_options_that_contradict_the_file_are_refused(folder):
    path = write(folder, "1 qid:1 3:1\n\n2 7:1 0:1\n")
    with pytest.raises(FormatError, match=r"line 3: index 7 .*n_features=5; use 8"):
        read_svmlight(path, n_features=5)
    with pytest.raises(FormatError, match="line 3: index 0"):
        read_svmlight(path, zero_based=False)
    with pytest.raises(FormatError, match="line 3: no qid"):
        read_svmlight(path, qid=True)
    for options in ({"zero_based": "yes"}, {"qid": "yes"}, {"dtype": np.int64}):
        with pytest.raises(OneslackError, match="must be one of"):
            read_svmlight(path, **options)


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(FormatError, match=r"nothing\.svm: there is no such file"):
        read_svmlight(tmp_path / "nothing.svm")
    with pytest.raises(FormatError, match="is a folder"):
        read_svmlight(tmp_path)

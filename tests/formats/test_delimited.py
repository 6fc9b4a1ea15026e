"""CSV and TSV: what is read, what is refused, and that both ways of reading agree."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneslack.errors import FormatError
from oneslack.formats import delimited, read_csv, read_data


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_header_names_and_text_labels(write):
    table = read_csv(write("a,b,kind\n1,2.5,cat\n3,-4e1,dög\n"))
    assert table.X.tolist() == [[1, 2.5], [3, -40]]
    assert table.y.tolist() == ["cat", "dög"]
    assert table.feature_names == ["a", "b"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "-2"], np.array([1, -2])),
        (["1.5", "2"], np.array([1.5, 2.0])),
        (["1", "x"], np.array(["1", "x"])),
        (["nan", "1"], np.array(["nan", "1"])),
    ],
)
def test_labels_keep_their_type(write, labels, expected):
    y = read_csv(write("".join(f"0.5,{label}\n" for label in labels))).y
    assert y.dtype.kind == expected.dtype.kind
    assert y.tolist() == expected.tolist()


def test_whole_numbers_become_integers_behind_the_common_door(write):
    assert read_data(write("0.5,1.0\n0.5,2.0\n")).y.dtype == np.int64


@pytest.mark.parametrize("label", ["kind", 1, -2, "1"])
def test_label_column_by_name_or_position(write, label):
    table = read_csv(write("a,kind,b\n1,x,3\n4,y,6\n"), label=label)
    assert table.X.tolist() == [[1, 3], [4, 6]]
    assert table.y.tolist() == ["x", "y"]
    assert table.feature_names == ["a", "b"]


def test_a_position_given_as_text_is_not_taken_for_a_cell(write):
    assert read_csv(write("5,2,0\n6,3,1\n"), label="0").y.tolist() == [5, 6]


@pytest.mark.parametrize("query", ["query", 0, "-4"])
@pytest.mark.parametrize("groups", [["7", "3"], ["x", "3"], ["1.5", "2"]])
def test_group_column_by_name_or_position(write, query, groups):
    text = "query,a,b,kind\n{},1,2,x\n{},4,5,y\n".format(*groups)
    table = read_csv(write(text), group=query)
    assert table.X.tolist() == [[1, 2], [4, 5]]
    assert table.y.tolist() == ["x", "y"]
    assert list(map(str, table.qid.tolist())) == [{"2": "2.0"}.get(group, group) for group in groups]
    assert table.feature_names == ["a", "b"]


def test_the_last_column_may_be_the_group(write):
    for label in (None, 1):
        table = read_csv(write("1,2,5\n3,4,6\n"), group=-1, label=label)
        assert (table.X.tolist(), table.y.tolist(), table.qid.tolist()) == ([[1], [3]], [2, 4], [5, 6])
    table = read_csv(write("1,2,5\n3,4,6\n"), group=-1, label=False)
    assert (table.X.tolist(), table.y) == ([[1, 2], [3, 4]], None)


def test_groups_are_whole_numbers_or_text(write):
    table = read_csv(write("q1,1,0\nq1,2,1\nq2,3,0\n"), group=0)  # no header: the features are numbers
    assert table.qid.tolist() == ["q1", "q1", "q2"]
    assert len(table.X) == 3
    assert read_csv(write("1.0,1,0\n2.0,2,1\n"), group=0).qid.dtype == np.int64
    assert read_csv(write("1,1,0\n2,2,1\n")).qid is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("number", [2**24, 2**53, 2**60])
def test_long_group_numbers_stay_apart(write, number, dtype):
    table = read_csv(write(f"{number},1,0\n{number + 1},2,1\n"), group=0, dtype=dtype)
    assert list(map(int, table.qid)) == [number, number + 1]
    assert table.X.dtype == dtype


@pytest.mark.parametrize("digits", [17, 20])
def test_long_labels_stay_apart(write, digits):
    table = read_csv(write(f"1,{10**digits}\n2,{10**digits + 1}\n"))
    assert list(map(int, table.y)) == [10**digits, 10**digits + 1]


@pytest.mark.parametrize("text", ["a,b,kind\r1,2,x\r3,4,y\r", "1,2,x\r\r3,4,y", '"1",2,x\r3,4,"y"\r'])
def test_lines_of_old_spreadsheets(write, text):
    table = read_data(write(text))
    assert (table.X.tolist(), table.y.tolist()) == ([[1, 2], [3, 4]], ["x", "y"])


def test_lines_of_old_spreadsheets_are_counted(write):
    with pytest.raises(FormatError, match=r"line 3, column 2 \(b\): 'z' is not a finite number"):
        read_csv(write("a,b,kind\r1,2,x\r3,z,y\r"))


@pytest.mark.parametrize(
    ("text", "words"),
    [("a,b,c\r1,2,x\n3,4,y\n", "a carriage return stands inside"), ("x" * 200_000 + ",1\n", "field limit")],
)
def test_first_lines_that_are_no_csv(write, text, words):
    with pytest.raises(FormatError, match=f"line 1: .*{words}.*; expected plain CSV"):
        read_csv(write(text))


def test_no_label_column(write):
    table = read_csv(write("1,2\n3,4\n"), label=False)
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert table.y is None


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["data.csv", "data.tsv", "data.unknown"])
def test_delimiter_is_found(write, delimiter, name):
    text = "1,2,0\r\n\r\n 3 , 4 ,1".replace(",", delimiter)
    table = read_data(write(text, name))
    assert table.kind == "csv"
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert table.y.tolist() == [0, 1]


def test_quotes_packing_and_byte_order_mark(write):
    text = '\ufeff"a","b","the, kind"\n"1",2,"x, y"\n3,"4","say ""z"""\n'
    table = read_data(write(gzip.compress(text.encode()), "data.csv.gz"), label="the, kind")
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert table.y.tolist() == ["x, y", 'say "z"']


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**25), 10**25).map(str),
)


@settings(max_examples=80, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 6), st.booleans())
def test_both_ways_of_reading_agree(tmp_path_factory, data, n_features, n, header):
    row = st.lists(numbers, min_size=n_features, max_size=n_features)
    rows = [[*data.draw(row), f"label {k}"] for k in range(n)]
    names = [[f"f{k}" for k in range(n_features)] + ["y"]] * header
    path = tmp_path_factory.getbasetemp() / "both.csv"
    path.write_text("".join(",".join(cells) + "\n" for cells in names + rows))
    fast = read_csv(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_read_plain_cells", lambda *_: None)
        slow = read_csv(path)
    expected = np.array([[float(cell) for cell in cells[:-1]] for cells in rows])
    assert fast.X.tobytes() == slow.X.tobytes() == expected.tobytes()
    assert fast.y.tolist() == slow.y.tolist() == [cells[-1] for cells in rows]


@pytest.mark.parametrize(
    ("content", "where", "words"),
    [
        ("a,b,y\n1,2,0\n1,,0\n", "line 3, column 2 (b)", "empty"),
        ("1,2,0\n\n1,x,0\n", "line 3, column 2", "'x' is not a finite number"),
        ("1,2,0\n1,nan,0\n", "line 2, column 2", "not a finite number"),
        ("1,2,0\n1e999,2,0\n", "line 2, column 1", "not a finite number"),
        ("1,2,0\n1_0,2,0\n", "line 2, column 1", "not a finite number"),
        ("?,2,0\n1,2,0\n", "line 1, column 1", "not a finite number"),
        ("1,2,0\n1,2\n", "line 2", "found 2 cells"),
        ("1,2,0\n1,2,3,4\n", "line 2", "found 4 cells"),
        ("1,2,0\n1,2,\n", "line 2, column 3", "label is empty"),
        ("", "line 1", "empty"),
        ("\n \n", "line 1", "empty"),
        ("a,b,y\n", "line 1", "header is all there is"),
        ("7\n8\n", "line 1", "one column only"),
        (b"1,2,a\n1,2,\xff\n", "line 2", "UTF-8"),
        (b"1,2,\xff\n", "line 1", "UTF-8"),
        ('1,2,a\n1,2,"' + "x" * 200_000, "line 2", "plain CSV"),
    ],
)
def test_bad_files_are_refused_with_line_and_column(write, content, where, words):
    path = write(content)
    with pytest.raises(FormatError) as caught:
        read_csv(path)
    assert str(caught.value).startswith(f"{path}, {where}: ")
    assert words in str(caught.value)


def test_label_columns_that_do_not_exist_are_refused(write):
    with pytest.raises(FormatError, match=r"no label column 'z' among the 2 columns \(a, y\)"):
        read_csv(write("a,y\n1,2\n"), label="z")
    with pytest.raises(FormatError, match="no label column 5"):
        read_csv(write("a,y\n1,2\n"), label=5)
    with pytest.raises(FormatError, match=r"no label column 'x'.*if there is one"):
        read_csv(write("1,2,x\n1,2,y\n"), label="x")
    with pytest.raises(FormatError, match=r"no group column 'z' among the 2 columns \(a, y\)"):
        read_csv(write("a,y\n1,2\n"), group="z")
    with pytest.raises(FormatError, match="column 1 cannot be label and group at once"):
        read_csv(write("a,y\n1,2\n"), group="y", label=1)
    with pytest.raises(FormatError, match="line 2, column 1: the group is empty"):
        read_csv(write("1,2,3\n,2,3\n"), group=0)
    with pytest.raises(FormatError, match="one column only"):
        read_csv(write("a,y\n1,2\n"), group="y")
    with pytest.raises(FormatError, match="found 1 feature columns, but n_features is 3"):
        read_csv(write("a,y\n1,2\n"), n_features=3)

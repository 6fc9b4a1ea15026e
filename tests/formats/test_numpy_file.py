"""NumPy files: the layouts that are known, and that nothing pickled is ever loaded."""

import contextlib
import gzip
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

from oneslack.errors import FormatError, OneslackError
from oneslack.formats import read_data, read_numpy

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])


def test_matrix_with_the_label_in_a_column(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, np.column_stack([X, [5.0, 6.0]]))
    last, first, none = (read_data(path, label=label) for label in (None, 0, False))
    assert last.X.tolist() == X.tolist()
    assert last.y.tolist() == [5, 6]
    assert last.y.dtype == np.int64
    assert first.X.tolist() == [[0, 2, 5], [3, 0, 6]]
    assert first.y.tolist() == [1, 0]
    assert none.X.shape == (2, 4)
    assert none.y is None


@pytest.mark.parametrize("names", [("X", "y"), ("x", "y"), ("data", "target")])
def test_dense_archives(tmp_path, names):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, **{names[0]: X.astype(np.int8), names[1]: ["a", "b"]})
    table = read_data(path, dtype=np.float32)
    assert table.X.dtype == np.float32
    assert table.X.tolist() == X.tolist()
    assert table.y.tolist() == ["a", "b"]
    assert read_numpy(path, label=False).y is None
    assert read_numpy(path, label=names[1]).y.tolist() == ["a", "b"]


def test_sparse_archives(tmp_path):
    S = csr_matrix(X)
    parts = {"X_data": S.data, "X_indices": S.indices, "X_indptr": S.indptr, "X_shape": S.shape}
    np.savez(tmp_path / "parts.npz", **parts, y=[[1], [2]])
    save_npz(tmp_path / "scipy.npz", S)
    table = read_numpy(tmp_path / "parts.npz")
    assert (table.X != S).nnz == 0
    assert table.y.tolist() == [1, 2]
    table = read_numpy(tmp_path / "scipy.npz")
    assert (table.X != S).nnz == 0
    assert table.y is None


def test_groups(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=[1, 2], qid=[7.0, 8.0], query=["a", "b"])
    by_name = [read_data(tmp_path / "a.npz", group=group).qid for group in (None, "qid", "query", False)]
    assert by_name[0].dtype == np.int64
    assert [None if qid is None else qid.tolist() for qid in by_name] == [[7, 8], [7, 8], ["a", "b"], None]
    np.save(tmp_path / "a.npy", np.column_stack([X, [5.0, 6.0]]))
    table = read_data(tmp_path / "a.npy", group=-1)
    assert (table.X.tolist(), table.y.tolist(), table.qid.tolist()) == ([[1, 0], [0, 3]], [2, 0], [5, 6])
    table = read_data(tmp_path / "a.npy", group="0", label=False)
    assert (table.X.shape, table.y, table.qid.tolist()) == ((2, 3), None, [1, 0])
    assert read_data(tmp_path / "a.npy").qid is None


def test_content_decides_when_the_name_does_not(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, y=[1, 2])
    packed = tmp_path / "data.bin"
    packed.write_bytes(gzip.compress((tmp_path / "data.npz").read_bytes()))
    assert read_data(packed).X.tolist() == X.tolist()


class Trap:
    """Unpickling this would raise: the test would see that code ran."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": np.array([Trap()], dtype=object), "y": [1]}, "Python objects"),
        ({"A": X, "b": [1, 2]}, "holds the arrays A, b"),
        ({"X": X[0], "y": [1, 2, 3]}, "two axes"),
        ({"X": np.array([["a"]]), "y": [1]}, "two axes"),
        ({"X": X[:0], "y": []}, "two axes"),
        ({"X": X, "y": [1, 2, 3]}, "expected 2 labels"),
        ({"X": X, "y": np.eye(2)}, "expected 2 labels"),
        ({"X": X * np.nan, "y": [1, 2]}, "row 0, column 0"),
        ({"X": X, "y": [1, np.inf]}, "y holds nan or infinity (row 1"),
        ({"X": X, "y": [1, 2], "qid": [1, np.nan]}, "qid holds nan or infinity (row 1"),
        ({"X": X, "y": [1, 2], "qid": [1, 2, 3]}, "qid has the shape (3,); expected 2 groups"),
        ({"X_data": [1.0], "X_indices": [9], "X_indptr": [0, 1], "X_shape": [1, 3]}, "no CSR"),
        ({"X_data": [1.0], "X_indices": [0], "X_indptr": [0, 5], "X_shape": [1, 3]}, "no CSR"),
        ({"X_data": [np.nan], "X_indices": [0], "X_indptr": [0, 1], "X_shape": [1, 3]}, "entry 0"),
    ],
)
def test_bad_archives_are_refused(tmp_path, arrays, words):
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays)
    with pytest.raises(FormatError) as caught:
        read_numpy(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)


def test_files_that_are_something_else_are_refused(tmp_path):
    np.savez_compressed(tmp_path / "good.npz", X=np.arange(4000.0).reshape(2, -1), y=[1, 2])
    whole = (tmp_path / "good.npz").read_bytes()
    path = tmp_path / "bad.npz"
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0x55
    for content in (b"", b"hello", whole[: len(whole) // 2], bytes(damaged), b"\x93NUMPY"):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"bad\.npz"):
            read_numpy(path)


def with_header(text):
    """The bytes of an .npy file with this header and two numbers."""
    header = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + np.ones(2).tobytes()


GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }"
HEADERS = {
    "open bracket": GOOD.replace("}", ""),
    "closing bracket": GOOD.replace("}", ")"),
    "no quote": GOOD.replace("'shape", "shape"),
    "indented": f" {GOOD}\n  x",
    "a null byte": GOOD.replace(":", "\0"),
    "a long number": GOOD.replace("(1,", f"({'9' * 60},"),
    "a negative length": GOOD.replace("1, 2", "-1, -2"),
    "eight terabytes": GOOD.replace("1, 2", "1000000000, 1000"),
    "eight gigabytes": GOOD.replace("1, 2", "1000000000, 1"),
    "a huge type": GOOD.replace("<f8", "<U99999999"),
    "no type": GOOD.replace("<f8", "<q9"),
    "another type": GOOD.replace("'<f8'", "[('a', [1])]"),
    "code": GOOD.replace("'<f8'", "__import__('os')"),
    "deep": "(" * 100 + GOOD,
    "nothing": "",
}


@pytest.mark.parametrize("archive", [False, True])
@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_damaged_headers_are_refused_before_room_is_made(tmp_path, header, archive):
    content, path = with_header(header), tmp_path / "bad.bin"
    path.write_bytes(content)
    if archive:
        with zipfile.ZipFile(path, "w") as members:
            members.writestr("X.npy", content)
    tracemalloc.start()
    try:
        with pytest.raises(FormatError) as caught:
            read_numpy(path)
        assert tracemalloc.get_traced_memory()[1] < 1e7
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{path}: is no .npy or .npz file, is damaged")
    assert "\n" not in str(caught.value)


def test_every_bit_of_a_header_may_flip(tmp_path):
    path = tmp_path / "bad.npy"
    for place in range(80):
        for bit in range(8):
            content = bytearray(with_header(GOOD))
            content[place] ^= 1 << bit
            path.write_bytes(content)
            with contextlib.suppress(FormatError):
                read_numpy(path)


def test_options_that_contradict_the_file_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "a.npz", X=X)
    save_npz(tmp_path / "csc.npz", csr_matrix(X).tocsc())
    with pytest.raises(FormatError, match="no label column 9"):
        read_numpy(tmp_path / "a.npy", label=9)
    with pytest.raises(FormatError, match="no group column '9'"):
        read_numpy(tmp_path / "a.npy", group="9")
    with pytest.raises(FormatError, match="column 2 cannot be label and group at once"):
        read_numpy(tmp_path / "a.npy", group=2, label=-1)
    with pytest.raises(FormatError, match="no array 'query' of groups"):
        read_numpy(tmp_path / "a.npz", group="query")
    with pytest.raises(FormatError, match="no array 'labels'"):
        read_numpy(tmp_path / "a.npz", label="labels")
    with pytest.raises(FormatError, match="n_features is 7"):
        read_numpy(tmp_path / "a.npz", n_features=7)
    with pytest.raises(FormatError, match="not CSR"):
        read_numpy(tmp_path / "csc.npz")
    with pytest.raises(OneslackError, match="kind must be"):
        read_data(tmp_path / "a.npz", kind="excel")

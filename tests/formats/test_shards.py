"""Shards on disk: what goes in comes out, where it lies; and a zoo of damaged folders."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from oneslack.data.bytes import in_bytes, in_words
from oneslack.errors import FormatError, OneslackError
from oneslack.formats import Shards, ShardWriter, open_shards
from oneslack.formats.shards import columns, writer


def write(folder, X, y=None, **options):
    settings = {name: options.pop(name) for name in ("dtype", "shard_size") if name in options}
    with ShardWriter(folder, **{"shard_size": "4KB", **settings}) as packer:
        packer.append(X, y, **options)
    return open_shards(folder)


def dense(n=300, d=7, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def sparse(n=300, d=40, seed=0):
    X = sp.random_array((n, d), density=0.2, random_state=seed).toarray()
    X[5:9] = 0  # rows without an entry
    return sp.csr_array(X)


def as_dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("X", [dense(), sparse()], ids=["dense", "sparse"])
def test_what_goes_in_comes_out(tmp_path, X, dtype):
    n = X.shape[0]
    y, qid, weight = np.arange(n) % 3 - 1, np.arange(n) // 10, np.linspace(0, 2, n)
    shards = write(tmp_path / "p", X, y, qid=qid, sample_weight=weight, dtype=dtype)
    assert len(shards) > 3
    assert (shards.n_rows, shards.n_features) == X.shape
    assert shards.classes.tolist() == [-1, 0, 1]
    assert shards.dtype == dtype
    end = 0
    for shard in shards:
        assert shard.lo == end
        end = shard.hi
        rows = slice(shard.lo, shard.hi)
        assert shard.X.shape == (len(shard), X.shape[1])
        np.testing.assert_array_equal(as_dense(shard.X), as_dense(X[rows]).astype(dtype))
        np.testing.assert_array_equal(shard.y, y[rows])
        np.testing.assert_array_equal(shard.codes, y[rows] + 1)
        np.testing.assert_array_equal(shard.qid, qid[rows])
        np.testing.assert_array_equal(shard.sample_weight, weight[rows])
        assert os.path.getsize(shard.path) <= 4000 + 512  # the header comes on top
    assert end == n
    shards.verify()


def test_arrays_are_views_of_the_file(tmp_path):
    shard = write(tmp_path / "s", sparse(), np.ones(300))[1]
    content = np.frombuffer(shard._checked.file._map, np.uint8)
    for array in (shard.X.data, shard.X.indices, shard.X.indptr, shard.y):
        assert np.shares_memory(array, content)
        assert array.flags.aligned
        assert not array.flags.writeable
    assert shard.X.has_canonical_format
    X = write(tmp_path / "d", dense(), np.ones(300))[1].X
    assert X.flags.aligned
    assert X.flags.c_contiguous


def test_a_shard_is_a_safetensors_file(tmp_path):
    shards = write(tmp_path / "p", dense(), np.arange(300.0))
    arrays = load_file(shards[2].path)
    np.testing.assert_array_equal(arrays["values"], shards[2].X)
    np.testing.assert_array_equal(arrays["y"], shards[2].y)


def test_blocks_need_not_be_shards(tmp_path):
    """Cut in any way, the same rows come out, and the same classes."""
    X, y = sparse(), np.arange(300) % 5
    whole = write(tmp_path / "whole", X, y, shard_size="1MB")
    with ShardWriter(tmp_path / "cut") as packer:
        for lo in range(0, 300, 70):
            packer.append(X[lo : lo + 70], y[lo : lo + 70])
    cut = open_shards(tmp_path / "cut")
    assert len(whole) == len(cut) == 1
    assert Path(whole[0].path).read_bytes() == Path(cut[0].path).read_bytes()


def test_features_are_counted_over_all_blocks(tmp_path):
    with ShardWriter(tmp_path / "p", shard_size="1KB") as packer:
        packer.append(sparse(50, 10), np.zeros(50))
        packer.append(sparse(50, 30), np.zeros(50))
    shards = open_shards(tmp_path / "p")
    assert shards.n_features == 30
    assert {shard.X.shape[1] for shard in shards} == {30}


LABELS = {
    "integers": ([[1, 2], [3]], np.int64, [1, 2, 3]),
    "whole floats": ([[1.0, 2.0], [3.0]], np.int64, [1, 2, 3]),
    "late float": ([[1, 2], [2.5]], np.float64, [1.0, 2.0, 2.5]),
    "text": ([["no", "yes"], ["no"]], str, ["no", "yes"]),
    "digits": ([["1", "2"], ["10"]], np.int64, [1, 2, 10]),
    "decimals": ([["1", "2"], ["1e1"]], np.float64, [1.0, 2.0, 10.0]),
    "late text": ([["01", "2"], ["b"]], str, ["01", "2", "b"]),
    "numbers, then text": ([[0.5, 2.5], ["b"]], str, ["0.5", "2.5", "b"]),
    "truth": ([[True, False], [True]], np.int64, [0, 1]),
}


@pytest.mark.parametrize("name", LABELS)
def test_types_of_labels_are_known_at_the_end(tmp_path, name):
    blocks, dtype, classes = LABELS[name]
    with ShardWriter(tmp_path / "p") as packer:
        for block in blocks:
            packer.append(np.ones((len(block), 2)), np.array(block))
            packer.flush()
    shards = open_shards(tmp_path / "p")
    assert shards.classes.tolist() == classes
    found = np.concatenate([shard.y for shard in shards])
    codes = np.concatenate([shard.codes for shard in shards])
    assert np.issubdtype(found.dtype, dtype)
    assert shards.classes[codes].tolist() == found.tolist()
    expected = [label for block in blocks for label in block]
    assert list(map(str, found.tolist())) == list(map(str, np.array(expected).astype(found.dtype).tolist()))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "b", "1", "2.5", "-0", "ü", ""]), min_size=1), min_size=1))
def test_columns_of_text_come_back(parts):
    joined = columns.join("y", [columns.as_column(part) for part in parts])
    column = columns.column_of({name: np.concatenate(pieces) for name, pieces in joined.items()}, "y")
    texts = [text for part in parts for text in part]
    assert columns.values_of(column, "text").tolist() == texts
    assert columns.distinct(column) == set(texts)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-50, 50), max_size=200), st.booleans())
def test_distinct_numbers(values, as_float):
    column = np.array(values, np.float64 if as_float else np.int64)
    assert columns.distinct(column) == set(values)


def test_very_many_labels_are_no_classes(tmp_path):
    rng = np.random.default_rng(0)
    X, y = np.ones((20_000, 1)), rng.normal(size=20_000)
    shards = write(tmp_path / "p", X, y, shard_size="100KB")
    assert shards.classes is None
    np.testing.assert_array_equal(np.concatenate([shard.y for shard in shards]), y)
    with pytest.raises(OneslackError, match="too many different labels"):
        _ = shards[0].codes


def test_very_many_texts_that_are_numbers_become_numbers(tmp_path):
    y = np.random.default_rng(0).normal(size=15_000)
    shards = write(
        tmp_path / "p", np.ones((15_000, 1)), np.array(list(map(repr, y.tolist()))), shard_size="1MB"
    )
    assert shards.classes is None
    np.testing.assert_array_equal(np.concatenate([shard.y for shard in shards]), y)


def test_rows_without_labels(tmp_path):
    shards = write(tmp_path / "p", dense())
    assert shards.classes is None
    assert shards[0].y is None
    assert shards[0].qid is None
    assert shards[0].sample_weight is None
    with pytest.raises(OneslackError, match="no labels"):
        _ = shards[0].codes


def test_shards_are_a_sequence(tmp_path):
    shards = write(tmp_path / "p", dense(), np.ones(300))
    assert isinstance(shards, Shards)
    assert shards[-1].hi == 300
    assert [shard.lo for shard in shards[1:3]] == [shards[1].lo, shards[2].lo]
    with pytest.raises(IndexError):
        shards[len(shards)]
    assert "300 × 7 dense" in repr(shards)
    kept = [shard.X for shard in shards]  # pages are let go of, the arrays stay valid
    np.testing.assert_array_equal(np.concatenate(kept), dense().astype(np.float32))


def test_a_damaged_byte_is_found_and_its_shard_named(tmp_path):
    shards = write(tmp_path / "p", dense(), np.ones(300))
    path = Path(shards[2].path)
    content = path.read_bytes()
    for place in (3, 60, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(FormatError, match=r"shard-00002\.safetensors: the shard is damaged"):
            shards.verify()
    path.write_bytes(content)
    shards.verify()


def test_a_damaged_header_is_named_before_its_arrays_are_used(tmp_path):
    shards = write(tmp_path / "p", dense(), np.ones(300))
    path = Path(shards[2].path)
    content = path.read_bytes()
    for old, new in ((b"[", b"{"), (b"values", b"valuez"), (b'"F32"', b'"F33"'), (b'"F32"', b'"U8" ')):
        path.write_bytes(content.replace(old, new, 1))
        with pytest.raises(FormatError, match=r"shard-00002\.safetensors"):
            open_shards(tmp_path / "p")[2]


def test_a_missing_or_short_shard_is_named_at_once(tmp_path):
    path = Path(write(tmp_path / "p", dense())[2].path)
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(FormatError, match=r"shard-00002.*has [0-9,]+ bytes, expected [0-9,]+; pack the data"):
        open_shards(tmp_path / "p")
    path.unlink()
    with pytest.raises(FormatError, match=r"shard-00002.*is missing"):
        open_shards(tmp_path / "p")


def test_folders_that_are_something_else(tmp_path):
    with pytest.raises(
        FormatError, match="there is no such folder; name a folder that `oneslack pack` wrote"
    ):
        open_shards(tmp_path / "absent")
    (tmp_path / "file").write_text("")
    with pytest.raises(FormatError, match="file: is a file"):
        open_shards(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match=r"empty: holds no manifest\.json"):
        open_shards(tmp_path / "empty")
    manifest = tmp_path / "empty" / "manifest.json"
    for content, complaint in (
        ("{", "the manifest is damaged"),
        ("[1]", "is no manifest"),
        ('{"name": "app"}', "is no manifest"),
        ('{"format": "oneslack shards", "format_version": 3}', "newer oneslack"),
        ('{"format": "oneslack shards", "format_version": 1}', "checksum does not match"),
    ):
        manifest.write_text(content)
        with pytest.raises(FormatError, match=complaint) as caught:
            open_shards(tmp_path / "empty")
        assert "manifest.json" in str(caught.value)


def test_a_changed_manifest_is_refused(tmp_path):
    write(tmp_path / "p", dense())
    path = tmp_path / "p" / "manifest.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content, indent=4))  # other blanks are no damage
    open_shards(tmp_path / "p")
    content["n_features"] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match="checksum does not match"):
        open_shards(tmp_path / "p")


def test_an_unfinished_folder_is_refused_and_can_be_resumed(tmp_path):
    X = dense()
    with pytest.raises(RuntimeError), ShardWriter(tmp_path / "p", shard_size="2KB") as packer:
        packer.append(X[:200], np.ones(200))
        raise RuntimeError("the source failed")
    with pytest.raises(FormatError, match=r"not finished \([0-9]+ shards so far\); go on with"):
        open_shards(tmp_path / "p")
    with ShardWriter.resume(tmp_path / "p") as packer:
        done = packer.manifest.n_rows
        assert 0 < done < 200
        packer.append(X[done:], np.ones(300 - done))
    shards = open_shards(tmp_path / "p")
    np.testing.assert_array_equal(np.concatenate([s.X for s in shards]), X.astype(np.float32))
    with pytest.raises(FormatError, match="is packed already"):
        ShardWriter.resume(tmp_path / "p")


def test_leftovers_of_a_killed_writer_are_removed(tmp_path):
    with pytest.raises(RuntimeError), ShardWriter(tmp_path / "p"):
        raise RuntimeError
    leftover = tmp_path / "p" / f".{'0' * 32}.part"
    leftover.write_bytes(b"half a shard")
    with ShardWriter.resume(tmp_path / "p") as packer:
        packer.append(dense())
    assert not leftover.exists()


def test_two_writers_do_not_share_a_folder(tmp_path):
    pytest.importorskip("fcntl")
    first = ShardWriter(tmp_path / "p")
    with pytest.raises(FormatError, match="another process packs into it"):
        ShardWriter.resume(tmp_path / "p")
    first.close()
    ShardWriter.resume(tmp_path / "p").close()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_said_and_what_was_written_is_kept(tmp_path, monkeypatch, code):
    X, real, calls = dense(), writer.write_shard, []

    def full(path, arrays):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(code, "no room")
        return real(path, arrays)

    monkeypatch.setattr(writer, "write_shard", full)
    with pytest.raises(FormatError, match="the disk is full after 2 shards, which are kept; make room"):
        write(tmp_path / "p", X, np.ones(300), shard_size="2KB")
    monkeypatch.undo()
    with ShardWriter.resume(tmp_path / "p", shard_size="2KB") as packer:
        done = packer.manifest.n_rows
        packer.append(X[done:], np.ones(300 - done))
    found = np.concatenate([shard.X for shard in open_shards(tmp_path / "p")])
    np.testing.assert_array_equal(found, X.astype(np.float32))


BAD_BLOCKS = {
    "nan": (lambda packer: packer.append([[np.nan]]), "X holds nan"),
    "too large": (lambda packer: packer.append([[1e39]]), "too large for float32"),
    "text": (lambda packer: packer.append([["a"]]), "expected numbers with two axes"),
    "one axis": (lambda packer: packer.append([1.0]), "expected numbers with two axes"),
    "short labels": (lambda packer: packer.append([[1.0], [2.0]], [1]), "expected 2 values"),
    "nan label": (lambda packer: packer.append([[1.0]], [np.nan]), "holds nan"),
    "negative weight": (lambda packer: packer.append([[1.0]], sample_weight=[-1]), "negative"),
    "sparse after dense": (lambda packer: packer.append(sp.csr_array([[1.0, 0]]), [1]), "rows are sparse"),
    "other width": (lambda packer: packer.append([[1.0]], [1]), "has 1 features, but"),
    "no labels": (lambda packer: packer.append([[1.0, 2]]), "has no labels, but the rows before have them"),
    "groups": (lambda packer: packer.append([[1.0, 2]], [1], qid=[1]), r"has groups \(qid\), but"),
    "weights": (lambda packer: packer.append([[1.0, 2]], [1], sample_weight=[1]), "has weights, but"),
}


@pytest.mark.parametrize("name", BAD_BLOCKS)
def test_bad_blocks_are_refused_by_a_sentence(tmp_path, name):
    append, complaint = BAD_BLOCKS[name]
    packer = ShardWriter(tmp_path / "p")
    packer.append([[1.0, 2.0]], [1])
    with pytest.raises(OneslackError, match=complaint):
        append(packer)
    packer.close()


def test_folders_and_options_that_do_not_do(tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.tex").write_text("")
    with pytest.raises(FormatError, match="taken: is not empty"):
        ShardWriter(tmp_path / "taken")
    with pytest.raises(FormatError, match="cannot be made a folder"):
        ShardWriter(tmp_path / "taken" / "thesis.tex")
    with pytest.raises(OneslackError, match="dtype must be float32 or float64"):
        ShardWriter(tmp_path / "p", dtype="int32")
    with pytest.raises(OneslackError, match="the size 'big' is not understood"):
        ShardWriter(tmp_path / "p", shard_size="big")
    with pytest.raises(FormatError, match="there are no rows"), ShardWriter(tmp_path / "p"):
        pass


def test_sizes():
    assert [in_bytes(s) for s in ("64MB", "1.5 gb", "2GiB", 5000, "1kb")] == [64e6, 1.5e9, 2**31, 5000, 1000]
    for wrong in ("", "MB", "-1MB", "1XB", "3", 999):
        with pytest.raises(OneslackError, match="is not understood"):
            in_bytes(wrong)
    sizes = [0, 999, 1000, 123_456, 64e6, 1.5e9, 3e15]
    assert [in_words(size) for size in sizes] == [
        "0 bytes", "999 bytes", "1 KB", "123 KB", "64 MB", "1.5 GB", "3,000 TB",
    ]  # fmt: skip


MEMORY = """
import json, resource, sys
import numpy as np
from oneslack.formats import open_shards
import scipy.sparse
def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))
shards = open_shards(sys.argv[1])
before = status("VmHWM")
limit = (status("VmData") + 4096) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
total, kept = 0.0, []
for shard in shards:
    total += float(shard.X.sum()) + shard.y.sum()
    kept.append(shard.X)  # the pages are let go of all the same
print(json.dumps([total, status("VmHWM") - before]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_loop_over_shards_stays_small(tmp_path, kind):
    """At least 48 MB in shards of 8, with 4 MB of memory of its own: a copy of one shard would fail."""
    n, d = 12_000, 1000
    rng = np.random.default_rng(0)
    total = 0.0
    with ShardWriter(tmp_path / "p", shard_size="8MB") as packer:
        for _ in range(12):
            X = rng.random((n // 12, d), np.float32)
            total += float(X.sum(dtype=np.float64)) + n // 12
            packer.append(X if kind == "dense" else sp.csr_array(X), np.ones(n // 12))
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path / "p")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    found, kilobytes = json.loads(run.stdout)
    assert found == pytest.approx(total, rel=1e-4)
    assert kilobytes < 30_000


def test_some_rows_of_a_shard(tmp_path):
    X = np.arange(40.0).reshape(10, 4)
    y = np.array(["b", "a", "c", "b", "a", "c", "b", "a", "c", "b"])
    with ShardWriter(tmp_path / "packed") as writer:
        writer.append(X, y, sample_weight=np.arange(10.0))
    shards = open_shards(tmp_path / "packed")
    rows = shards[0].rows(3, 7)
    assert len(rows) == 4
    assert shards.shape == (10, 4)
    np.testing.assert_array_equal(rows.X, X[3:7])
    assert rows.y.tolist() == y[3:7].tolist()
    assert rows.codes.tolist() == [1, 0, 2, 1]
    assert rows.sample_weight.tolist() == [3.0, 4.0, 5.0, 6.0]
    assert "y" not in vars(shards[0])  # the labels of all rows were not made


def test_rows_without_labels_say_so(tmp_path):
    with ShardWriter(tmp_path / "packed") as writer:
        writer.append(np.ones((3, 2)))
    rows = open_shards(tmp_path / "packed")[0].rows(0, 2)
    with pytest.raises(OneslackError, match="holds no labels"):
        _ = rows.y
    assert rows.sample_weight is None

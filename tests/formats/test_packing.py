"""Packing files: equal to reading them whole, killed at any moment and resumed, and a zoo of bad files."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from oneslack.errors import FormatError, OneslackError
from oneslack.formats import open_shards, pack, read_conll, read_conllu, read_data, read_svmlight
from oneslack.formats.labels import texts_at
from oneslack.formats.streams import TextStream, line_end, row_end, sentence_end, windows

PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def svmlight_text(n=400, seed=0, qid=False, first_index=1):
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        indices = np.unique(rng.integers(first_index, 60, rng.integers(0, 9)))
        pairs = " ".join(f"{index}:{rng.normal():.6g}" for index in indices.tolist())
        lines.append(f"{i % 3} {f'qid:{i // 7} ' if qid else ''}{pairs}{' # note' * (i % 5 == 0)}\n")
        lines.append("\n# a line without an example\n" * (i % 11 == 0))
    return "".join(lines)


def csv_text(n=400, seed=0, labels=("low", "high"), header=True):
    rng = np.random.default_rng(seed)
    rows = (
        ",".join([*(f"{x:.4g}" for x in rng.normal(size=4)), f" {labels[i % len(labels)]} "])
        for i in range(n)
    )
    return "a,b,c,d,kind\n" * header + "\n".join(rows)  # the last line lacks its newline


def conll_text(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return "".join(
        "".join(f"word{rng.integers(50)} tag{rng.integers(4)}\n" for _ in range(rng.integers(1, 9))) + "\n"
        for _ in range(n)
    )


def same_rows(shards, table, dtype=np.float32):
    """The shards hold exactly the rows of a Table."""
    assert (shards.n_rows, shards.n_features) == table.X.shape
    expected = table.X.toarray() if sp.issparse(table.X) else table.X
    for shard in shards:
        rows = slice(shard.lo, shard.hi)
        found = shard.X.toarray() if sp.issparse(shard.X) else shard.X
        np.testing.assert_array_equal(found, expected[rows].astype(dtype))
        for column, whole in ((shard.y, table.y), (shard.qid, table.qid)):
            assert (column is None) == (whole is None)
            if whole is not None:
                assert column.tolist() == whole[rows].tolist()
                assert column.dtype.kind == whole.dtype.kind
    if table.y is not None:
        assert shards.classes.tolist() == np.unique(table.y).tolist()
    assert shards.feature_names == table.feature_names


def contents(folder):
    """The bytes of all files but the manifest, and what the manifest says."""
    files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    return files, json.loads(files.pop("manifest.json"))


TEXTS = {
    "one.svm": svmlight_text(),
    "queries.svm": svmlight_text(qid=True),
    "zero.svm": svmlight_text(first_index=0),
    "names.csv": csv_text(),
    "numbers.csv": csv_text(labels=("3", "1", "20"), header=False),
    "decimals.csv": csv_text(labels=("3", "1.5")),
    "digits and a word.csv": csv_text(labels=("01", "1", "2")).replace("01", "one", 1)[:-1] + "1",
}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("name", TEXTS)
def test_packed_text_is_what_the_reader_reads(tmp_path, name, packer):
    path = tmp_path / (name + packer)
    path.write_bytes(PACKERS[packer](TEXTS[name].encode()))
    shards = pack(path, tmp_path / "p", shard_size="5KB", jobs=2)
    assert len(shards) > 1
    same_rows(shards, read_data(path))
    shards.verify()


def test_packed_in_float64_nothing_is_rounded(tmp_path):
    (tmp_path / "a.svm").write_text(TEXTS["one.svm"])
    shards = pack(tmp_path / "a.svm", tmp_path / "p", dtype="float64", shard_size="5KB")
    same_rows(shards, read_data(tmp_path / "a.svm"), np.float64)


def test_several_files_follow_each_other(tmp_path):
    parts = [svmlight_text(seed=seed) for seed in range(3)]
    for k, part in enumerate(parts):
        (tmp_path / f"{k}.svm").write_bytes(gzip.compress(part.encode()) if k == 1 else part.encode())
    (tmp_path / "empty.svm").write_text("")
    (tmp_path / "all.svm").write_text("".join(parts))
    files = [tmp_path / name for name in ("0.svm", "empty.svm", "1.svm", "2.svm")]
    shards = pack(files, tmp_path / "p", shard_size="6KB", jobs=3)
    same_rows(shards, read_data(tmp_path / "all.svm"))


def test_classes_are_those_of_all_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,01\n2,2\n")
    (tmp_path / "b.csv").write_text("x,y\n1,b\n2,01\n")
    shards = pack([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "p")
    assert shards.classes.tolist() == ["01", "2", "b"]
    assert np.concatenate([shard.codes for shard in shards]).tolist() == [0, 1, 2, 0]
    shards = pack(tmp_path / "a.csv", tmp_path / "alone")
    assert shards.classes.tolist() == [1, 2]


def test_threads_change_no_byte(tmp_path):
    (tmp_path / "a.svm").write_text(svmlight_text(2000))
    folders = [tmp_path / f"jobs{jobs}" for jobs in (1, 2, 5)]
    for jobs, folder in zip((1, 2, 5), folders):
        pack(tmp_path / "a.svm", folder, shard_size="7KB", jobs=jobs)
    first, *others = map(contents, folders)
    assert len(first[0]) > 10
    assert all(other == first for other in others)


def test_quoted_cells_may_hold_newlines(tmp_path):
    rows = "".join(f'{i},"a ""{i % 2}""\n{"b" * 20}"\n' for i in range(500))
    (tmp_path / "q.csv").write_text("x,y\n" + rows)
    shards = pack(tmp_path / "q.csv", tmp_path / "p", shard_size="4KB")
    assert len(shards) > 1
    same_rows(shards, read_data(tmp_path / "q.csv"))


def test_groups_of_csv(tmp_path):
    for name, group in (("numbers", "{}"), ("text", "q{}"), ("long", "9007199254740993{}")):
        rows = "".join(f"{group.format(i // 4)},{i % 9}.5,{i % 2}\n" for i in range(600))
        path = tmp_path / f"{name}.csv"
        path.write_text("query,x,y\n" + rows)
        shards = pack(path, tmp_path / name, group="query", shard_size="4KB")
        assert len(shards) > 1
        same_rows(shards, read_data(path, group="query"))


def numpy_files(folder):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 6)), np.arange(500) % 3
    S = sp.random_array((500, 40), density=0.2, random_state=0, format="csr")
    np.save(folder / "matrix.npy", np.c_[X, y])
    np.savez(folder / "dense.npz", X=X, y=y, qid=y)
    np.savez_compressed(folder / "names.npz", data=X.astype(np.float32), target=np.array(["a", "b"])[y % 2])
    np.savez(folder / "nolabels.npz", X=X)
    np.savez(folder / "column.npz", x=X, y=y[:, None])
    np.savez_compressed(
        folder / "csr.npz", X_data=S.data, X_indices=S.indices, X_indptr=S.indptr, X_shape=S.shape, y=y
    )
    sp.save_npz(folder / "saved.npz", sp.csr_matrix(S))


@pytest.mark.parametrize("name", ["matrix.npy", "dense.npz", "names.npz", "nolabels.npz", "column.npz",
                                  "csr.npz", "saved.npz"])  # fmt: skip
def test_numpy_files(tmp_path, name):
    numpy_files(tmp_path)
    shards = pack(tmp_path / name, tmp_path / "p", shard_size="4KB", jobs=2)
    assert len(shards) > 2
    same_rows(shards, read_data(tmp_path / name))


def test_weights_of_an_archive(tmp_path):
    np.savez(tmp_path / "w.npz", X=np.ones((5, 2)), y=np.ones(5), sample_weight=np.arange(5))
    assert pack(tmp_path / "w.npz", tmp_path / "p")[0].sample_weight.tolist() == [0, 1, 2, 3, 4]


def sentences_of(shards):
    return [shard.sentences.sentence(i) for shard in shards for i in range(len(shard))]


@pytest.mark.parametrize("packer", ["", ".xz"])
def test_tagged_text(tmp_path, packer):
    path = tmp_path / ("a.conll" + packer)
    path.write_bytes(PACKERS[packer](conll_text().encode()))
    shards = pack(path, tmp_path / "p", columns=["w", "tag"], shard_size="4KB", jobs=2)
    whole = read_conll(path, ["w", "tag"])
    assert len(shards) > 1
    assert shards.feature_names == ["w", "tag"]
    assert (shards.n_rows, shards.n_entries) == (len(whole), whole.n_tokens)
    assert sentences_of(shards) == [whole.sentence(i) for i in range(len(whole))]
    with pytest.raises(OneslackError, match="holds sentences"):
        _ = shards[0].X


def test_conllu(tmp_path):
    row = "\t_\t_\t_\t_\t_\t_\n"
    text = "".join(f"# {i}\n1\tw{i}\t_\tNOUN{row}2\tb\t_\tX{row}\n" for i in range(200))
    (tmp_path / "a.conllu").write_text(text)
    shards = pack(tmp_path / "a.conllu", tmp_path / "p", shard_size="4KB")
    whole = read_conllu(tmp_path / "a.conllu")
    assert sentences_of(shards) == [whole.sentence(i) for i in range(len(whole))]
    with pytest.raises(FormatError, match="CoNLL-U has no column 'pos'"):
        pack(tmp_path / "a.conllu", tmp_path / "q", columns=["form", "pos"])


@settings(max_examples=150, deadline=None)
@given(
    st.text('ab"\n ,', max_size=120), st.integers(1, 30), st.sampled_from([line_end, row_end, sentence_end])
)
def test_windows_are_the_text_and_depend_on_their_start_only(tmp_path_factory, text, size, last_end):
    path = tmp_path_factory.mktemp("w") / "t"
    path.write_bytes(text.encode())

    def cut(start):
        with TextStream(path, start) as stream:
            return list(windows(stream, size, start, last_end))

    whole = cut(0)
    assert b"".join(window for window, _ in whole).removesuffix(b"\n") == text.encode().removesuffix(b"\n")
    assert all(window.endswith(b"\n") for window, _ in whole)
    for k, (_, stop) in enumerate(whole):
        assert cut(stop) == whole[k + 1 :]
    if last_end is row_end:
        assert all(window.count(b'"') % 2 == 0 for window, _ in whole[:-1])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["a", "bb", "12345678", "a longer one", "ü", "x" * 40, "1"]), min_size=1))
def test_texts_at(texts):
    text = ",".join(f" {part}\t " for part in texts).encode()
    stops = np.cumsum([len(f" {part}\t ".encode()) + 1 for part in texts]) - 1
    starts = np.r_[0, stops[:-1] + 1] + 1
    found = texts_at(text, np.c_[starts, stops])
    assert np.array(found.values)[found.codes].tolist() == texts


FAULTS = {
    "bad.svm": (svmlight_text() + "1 3:x\n" + svmlight_text(), read_svmlight),
    "twice.svm": (svmlight_text() + "1 3:1 2:1 3:4\n" + svmlight_text(), read_svmlight),
    "qid.svm": (svmlight_text(qid=True) + "1 2:3\n1 qid:3 1:4\n", lambda path: read_svmlight(path, qid=True)),
    "short.csv": (csv_text() + "\n1,2,3,low\n" + csv_text(header=False), read_data),
    "word.csv": (csv_text() + "\n1,2,three,4,low\n" + csv_text(header=False), read_data),
    "empty label.csv": (csv_text() + "\n1,2,3,4,\n" + csv_text(header=False), read_data),
    "latin.csv": ((csv_text() + "\n1,2,3,4,").encode() + b"\xff\n", read_data),
    "fields.conll": (conll_text() + "alone\n\n" + conll_text(), read_conll),
}


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("name", FAULTS)
def test_complaints_name_the_line_of_the_whole_file(tmp_path, name, jobs):
    text, read = FAULTS[name]
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError) as whole:
        read(path)
    with pytest.raises(FormatError) as packing:
        pack(path, tmp_path / "p", shard_size="4KB", jobs=jobs)
    line = str(whole.value).split(":")[0]
    assert str(packing.value).startswith(line + ":")
    assert ", line " in line
    if name not in ("qid.svm",):
        assert str(packing.value) == str(whole.value)


def test_a_late_index_zero_is_refused_with_its_line(tmp_path):
    text = svmlight_text(2000)
    (tmp_path / "late.svm").write_text(text + "1 0:1\n")
    with pytest.raises(
        FormatError, match=rf"late\.svm, line {text.count(chr(10)) + 1}: index 0.*--zero-based"
    ):
        pack(tmp_path / "late.svm", tmp_path / "p", shard_size="4KB")
    shards = pack(tmp_path / "late.svm", tmp_path / "q", shard_size="4KB", zero_based=True)
    same_rows(shards, read_data(tmp_path / "late.svm"))
    with pytest.raises(FormatError, match="index 0"):
        (tmp_path / "early.svm").write_text("1 0:1\n")
        pack(tmp_path / "early.svm", tmp_path / "r", zero_based=False)


def test_an_index_zero_in_the_first_shard_is_enough(tmp_path):
    text = svmlight_text(30) + "1 0:1 3:2\n" + svmlight_text(600)
    (tmp_path / "a.svm").write_text(text)
    same_rows(pack(tmp_path / "a.svm", tmp_path / "p", shard_size="8KB"), read_data(tmp_path / "a.svm"))


BAD = {
    "too large": ({"a.svm": "1 1:1\n\n1 2:1e39\n"}, r"a\.svm, line 3: a number is too large for float32"),
    "large cell": ({"a.csv": "x,y\n\n1,a\n1e39,b\n"}, r"a\.csv, line 4: a number is too large for float32"),
    "nothing": ({"a.svm": "", "b.svm": "# nothing\n"}, "there are no rows"),
    "two kinds": ({"a.svm": "1 1:1\n", "b.csv": "1,2\n"}, r"b\.csv: its rows are dense, but .* sparse"),
    "columns": ({"a.csv": "1,2\n", "b.csv": "1,2,3\n"}, r"b\.csv: has 2 features, but .* have 1"),
    "names": ({"a.csv": "x,y\n1,2\n", "b.csv": "z,y\n1,2\n"}, r"b\.csv: has a column 'z' where .* 'x'"),
    "groups": ({"a.svm": "1 qid:1 1:1\n", "b.svm": "\n1 1:1\n"}, r"b\.svm, line 1: has no groups \(qid\)"),
    "archive": ({"a.svm.gz": gzip.compress(b"1 1:1\n" * 999)[:-9]}, "gzip archive is cut short"),
    "object": ({"a.npy": b"\x93NUMPY\x01\x00\x05\x00ab"}, "is no .npy or .npz file, is damaged"),
    "binary": ({"a.svm": b"\x00\x01\x02\n"}, r"a\.svm, line 1: found the bytes"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_one_sentence(tmp_path, name):
    files, complaint = BAD[name]
    for file, content in files.items():
        (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError, match=complaint):
        pack([tmp_path / file for file in files], tmp_path / "p")


def test_bad_archives_of_arrays(tmp_path):
    for k, (arrays, complaint) in enumerate((
        ({"Z": np.ones(3)}, "holds the arrays Z; expected X and y"),
        ({"X": np.ones((3, 2)), "y": np.ones(4)}, r"y has the shape \(4,\); expected 3"),
        ({"X": np.array([[1.0, np.nan]]), "y": np.ones(1)}, "rows from row 0 on: X holds nan"),
        ({"X": np.asfortranarray(np.ones((3, 2)))}, "X is stored column by column"),
        ({"X": np.array([[None]])}, "holds Python objects"),
    )):  # fmt: skip
        np.savez(tmp_path / f"{k}.npz", **arrays)
        with pytest.raises(FormatError, match=complaint):
            pack(tmp_path / f"{k}.npz", tmp_path / f"p{k}")
    np.save(tmp_path / "cube.npy", np.ones((3, 2, 4)))
    with pytest.raises(FormatError, match=r"cube\.npy: holds float64 of shape \(3, 2, 4\); expected"):
        pack(tmp_path / "cube.npy", tmp_path / "p")
    np.savez(tmp_path / "y.npz", X=np.ones((3, 2)))
    with pytest.raises(FormatError, match="holds no array 'labels' of labels; found X"):
        pack(tmp_path / "y.npz", tmp_path / "q", label="labels")


def test_missing_files_and_wrong_kinds(tmp_path):
    with pytest.raises(FormatError, match=r"absent\.svm: cannot be read"):
        pack(tmp_path / "absent.svm", tmp_path / "p", kind="svmlight")
    with pytest.raises(OneslackError, match="no files"):
        pack([], tmp_path / "p")
    with pytest.raises(OneslackError, match="kind must be"):
        pack(__file__, tmp_path / "p", kind="parquet")
    with pytest.raises(FormatError, match="is a folder; name a file in it"):
        pack(tmp_path, tmp_path / "p")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FormatError, match="is a pipe or a device"):
            pack(tmp_path / "pipe", tmp_path / "p")
    assert not (tmp_path / "p").exists()


class Stop(Exception):
    pass


def interrupted(tmp_path, after, first=""):
    """A folder whose packing stopped after so many reports, and the arguments of its packing."""
    (tmp_path / "a.svm").write_text(first + svmlight_text(500))
    (tmp_path / "b.svm.gz").write_bytes(gzip.compress(svmlight_text(500, seed=1).encode()))
    arguments = [tmp_path / "a.svm", tmp_path / "b.svm.gz"], tmp_path / "p"
    calls = []

    def report(progress):
        calls.append(progress)
        if len(calls) == after:
            raise Stop

    with pytest.raises(Stop):
        pack(*arguments, shard_size="6KB", report=report, jobs=2)
    return arguments


@pytest.mark.parametrize("after", [1, 9, 14, 25])
def test_resumed_it_is_the_same_to_the_byte(tmp_path, after):
    files, folder = interrupted(tmp_path, after)
    pack(files, folder, shard_size="6KB", resume=True)
    pack(files, tmp_path / "whole", shard_size="6KB")
    assert contents(folder) == contents(tmp_path / "whole")
    before = contents(folder)
    pack(files, folder, shard_size="6KB", resume=True)  # nothing is left to do
    assert contents(folder) == before


def test_where_indices_start_is_remembered(tmp_path):
    files, folder = interrupted(tmp_path, 9, first="1 0:1\n")  # the only index 0
    assert list(folder.glob("shard-*"))
    shards = pack(files, folder, shard_size="6KB", resume=True)
    pack(files, tmp_path / "whole", shard_size="6KB")
    assert contents(folder) == contents(tmp_path / "whole")
    assert shards.n_features == 60


def test_lines_are_counted_on_after_a_resume(tmp_path):
    text = csv_text(1500)
    path = tmp_path / "a.csv"
    path.write_text(text + "\n1,2,x,4,low\n")
    for _ in range(2):
        with pytest.raises(
            FormatError, match=rf"a\.csv, line {text.count(chr(10)) + 2}, column 3 \(c\): 'x'"
        ):
            pack(path, tmp_path / "p", shard_size="5KB", resume=True)
    path.write_text(text + "\n1,2,3,4,low\n")
    with pytest.raises(FormatError, match=r"a\.csv: has changed since its packing into .* began"):
        pack(path, tmp_path / "p", shard_size="5KB", resume=True)


def test_what_cannot_be_resumed(tmp_path):
    files, folder = interrupted(tmp_path, 9)
    with pytest.raises(FormatError, match="holds an unfinished packing already; go on with --resume"):
        pack(files, folder)
    for options, complaint in (
        ({"dtype": "float64"}, r"begun with other options \(dtype\)"),
        ({"shard_size": "1MB"}, r"\(shard-size\)"),
        ({"zero_based": True}, r"\(zero-based\)"),
        ({"kind": "csv"}, r"\(format\)"),
    ):
        with pytest.raises(FormatError, match=complaint):
            pack(files, folder, resume=True, **{"shard_size": "6KB", **options})
    with pytest.raises(FormatError, match=r"begun with other files \(files\)"):
        pack(files[:1], folder, shard_size="6KB", resume=True)
    Path(folder / "shard-00000.safetensors").unlink()
    with pytest.raises(FormatError, match=r"shard-00000.*is missing"):
        pack(files, folder, shard_size="6KB", resume=True)


def test_a_finished_folder_is_not_packed_into_again(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n")
    pack(tmp_path / "a.svm", tmp_path / "p", resume=True)  # begins when there is nothing yet
    with pytest.raises(FormatError, match="holds packed data already; name a new folder"):
        pack(tmp_path / "a.svm", tmp_path / "p")


# The process dies at the n-th renaming, before or after it, without any cleaning up.
KILLED = """
import os, sys
from oneslack.formats import pack
files, folder, rename = sys.argv[2:], sys.argv[1], os.replace
def die_at(n, late):
    count = [0]
    def replace(*paths):
        count[0] += 1
        if count[0] == n and not late:
            os._exit(9)
        rename(*paths)
        if count[0] == n:
            os._exit(9)
    os.replace = replace
pack(files, folder + "0", jobs=1)  # loads what is compiled once for all the children
for k in range(40):
    if os.fork() == 0:
        die_at(1 + k % 3, k % 2)
        pack(files, folder, shard_size="6KB", jobs=1, resume=True)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.wait()[1]) == 0:
        print(k)
        break
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_killed_at_every_step_and_resumed_nothing_is_lost_or_doubled(tmp_path):
    (tmp_path / "a.svm").write_text(svmlight_text(500))
    (tmp_path / "b.svm").write_text(svmlight_text(300, seed=1))
    files = [str(tmp_path / "a.svm"), str(tmp_path / "b.svm")]
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "p"), *files],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(run.stdout) >= 8, run.stderr
    pack(files, tmp_path / "whole", shard_size="6KB")
    assert contents(tmp_path / "p") == contents(tmp_path / "whole")


MEMORY = """
import sys
from oneslack.formats import pack
def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))
pack(sys.argv[2], sys.argv[1] + "0")
before = status("VmHWM")
pack(sys.argv[3], sys.argv[1], shard_size="2MB", jobs=2)
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    line = "1 " + " ".join(f"{index}:0.{index}" for index in range(1, 90)) + "\n"
    (tmp_path / "small.svm").write_text(line)
    (tmp_path / "large.svm").write_text(line * 50_000)
    assert os.path.getsize(tmp_path / "large.svm") > 34e6
    arguments = [str(tmp_path / name) for name in ("p", "small.svm", "large.svm")]
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, *arguments], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 20_000  # kilobytes: a shard and a few chunks
    shards = open_shards(tmp_path / "p")
    assert (shards.n_rows, shards.n_features) == (50_000, 89)

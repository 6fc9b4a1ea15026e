"""Packed folders that were damaged, or made by someone who wants no good.

A folder is either used as it was packed, or refused by a sentence that names the file: whatever bit flips,
whatever the arrays and the manifest say, with checksums that match too.
"""

import json
import os
import shutil
import zlib
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import LinearSVC, SequenceTagger, ShardedProblem, Streaming
from oneslack.errors import FormatError, OneslackError
from oneslack.formats import ShardWriter, open_shards, pack
from oneslack.formats.packed_sentences import PackedSentences
from oneslack.formats.shards import mapped_file, shard_file
from oneslack.formats.shards.manifest import load_manifest
from oneslack.formats.shards.shard_file import write_shard
from oneslack.models import Binary

N, D = 90, 12
KINDS = ("dense", "sparse", "text labels", "sentences", "format 1")


def make(kind, folder):
    """A folder of a few small shards."""
    rng = np.random.default_rng(0)
    if kind == "sentences":
        text = folder.with_suffix(".conll")
        words = [["the D", "dog N", "ran V", "fast A"][k] for k in rng.integers(0, 4, 400)]
        text.write_text("\n".join(word + "\n" * (k % 5 == 4) for k, word in enumerate(words)) + "\n")
        pack([text], folder, columns=["w", "tag"], shard_size="1KB")
        return folder
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.6)
    y = np.where(X[:, 0] + 0.1 * rng.normal(size=N) > 0, 1, -1)
    if kind == "text labels":
        y = np.where(y > 0, "yes", "no")
    with ShardWriter(folder, dtype="float64", shard_size="3KB") as writer:
        X = X if kind in ("dense", "text labels") else sp.csr_array(X)
        writer.append(X, y, sample_weight=rng.uniform(0.5, 1, N), qid=np.arange(N) // 7)
    if kind == "format 1":
        to_format_1(folder)
    return folder


def to_format_1(folder):
    """As folders were written before blocks had checksums: one for the whole file."""
    for k, entry in enumerate(load_manifest(folder).shards):
        path = folder / entry.file
        content = path.read_bytes()
        start = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:start])
        del header[shard_file.METADATA]
        text = json.dumps(header).encode()
        text += b" " * (-(len(text) + 8) % shard_file.ALIGNMENT)
        path.write_bytes(len(text).to_bytes(8, "little") + text + content[start:])
        describe(folder, k)
        forge(folder, lambda c, k=k, path=path: c["shards"][k].update(crc32=zlib.crc32(path.read_bytes())))


def forge(folder, change):
    """Change the content of a manifest, and its checksum with it."""
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    head = {name: content.pop(name) for name in ("format", "format_version", "crc32")}
    change(content)
    head["crc32"] = zlib.crc32(json.dumps(content, sort_keys=True).encode())
    path.write_text(json.dumps(head | content))


def describe(folder, k, **numbers):
    """Let the manifest say of shard k what its file is now."""
    path = folder / load_manifest(folder).shards[k].file
    content = path.read_bytes()
    header = content[: 8 + int.from_bytes(content[:8], "little")]
    numbers = {"bytes": len(content), "crc32": zlib.crc32(header)} | numbers
    forge(folder, lambda found: found["shards"][k].update(numbers))


def forge_array(folder, name, change, k=0):
    """Write shard k anew with an array that `change` has changed, and checksums that match."""
    shards = open_shards(folder)
    arrays = {each: array.copy() for each, array in shards[k]._checked.file.arrays.items()}
    changed = change(arrays[name])
    arrays[name] = arrays[name] if changed is None else changed
    write_shard(shards[k].path, {each: [array] for each, array in arrays.items()})
    describe(folder, k)


def use(folder):
    """All that a folder holds, and what compiled loops make of it."""
    shards, found = open_shards(folder), []
    if shards.kind == "sentences":
        for part in PackedSentences(shards).parts(50):
            found.append([part.sentence(i) for i in range(len(part))])
        return repr(found)
    for shard in shards:
        X = shard.X.toarray() if sp.issparse(shard.X) else shard.X
        found += [X.tobytes(), shard.y.tobytes(), shard.qid.tobytes(), shard.codes.tobytes()]
        found += [None if shard.sample_weight is None else shard.sample_weight.tobytes()]
    problem = ShardedProblem(Binary(shards.n_features), shards, 0.5)
    S = problem.scores(np.ones(shards.n_features))
    taken = problem.data.take([3, 50, 7])
    return [
        *found,
        S.tobytes(),
        problem.scores.adjoint(S).tobytes(),
        problem.primal(S[0] * np.ones(D)),
        taken.y.tobytes(),
    ]


def train(folder):
    shards = open_shards(folder)
    if shards.kind == "sentences":
        tagger = SequenceTagger(templates="w[-1..1]", solver=Streaming("1MB"), tol=0.1, verbose=0)
        return tagger.fit(shards, "tag").coef_.tobytes()
    return LinearSVC(solver=Streaming("40KB"), tol=0.1).fit(shards).coef_.tobytes()


def outcome(folder, use=use):
    """What use(folder) gives, or None where it is refused by a sentence that names a file of the folder."""
    try:
        return use(folder)
    except OneslackError as error:
        sentence = str(error)
        assert str(folder) in sentence
        assert sentence.count(str(folder)) == 1
        assert sentence.endswith(".")
        return None


@pytest.fixture(scope="module", params=KINDS)
def whole(request, tmp_path_factory):
    folder = make(request.param, tmp_path_factory.mktemp("packed") / "whole")
    assert len(open_shards(folder)) > 1
    return folder


@pytest.fixture
def packed(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "packed"))


def damages(folder, count, seed):
    """(name, content before, damaged content): a bit flipped, a byte changed, the end cut off."""
    rng, names = np.random.default_rng(seed), sorted(os.listdir(folder))
    for _ in range(count):
        name = names[rng.integers(len(names))]
        content = (folder / name).read_bytes()
        place, kind = int(rng.integers(len(content))), rng.integers(8)
        byte = content[place] ^ (1 << rng.integers(8)) if kind < 6 else int(rng.integers(256))
        yield (
            name,
            content,
            content[:place] if kind == 7 else content[:place] + bytes([byte]) + content[place + 1 :],
        )


def check_damages(folder, count, use=use, seed=0):
    expected, refused = use(folder), 0
    for name, content, damaged in damages(folder, count, seed):
        (folder / name).write_bytes(damaged)
        found = outcome(folder, use)
        assert found is None or found == expected
        refused += found is None
        (folder / name).write_bytes(content)
    assert refused > 0.8 * count
    assert use(folder) == expected


def test_damage_is_refused_or_does_not_matter(packed):
    check_damages(packed, 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_much_damage_is_refused_or_does_not_matter(packed, seed):
    check_damages(packed, 500, seed=seed)
    check_damages(packed, 50, train, seed)


def test_damage_is_found_where_it_is_read_first(packed):
    """No call asks for it; and what is known to be whole is not read again, unless the file has changed."""
    shards = open_shards(packed)
    path = Path(shards[1].path)
    content = path.read_bytes()
    damaged = content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]
    expected = use(packed)
    path.write_bytes(damaged)
    assert outcome(packed) is None
    with pytest.raises(FormatError, match=r"shard-00001.*checksum does not match"):
        shards.verify()
    path.write_bytes(content)
    assert use(packed) == expected
    shards.verify()


def test_blocks_are_compared_once(tmp_path, monkeypatch):
    """Rows are compared when they are used, block by block, and never twice."""
    monkeypatch.setattr(shard_file, "BLOCK", 1024)
    monkeypatch.setattr(mapped_file, "BLOCK", 1024)
    monkeypatch.setattr("oneslack.formats.shards.checks.BLOCK", 1024)
    rng = np.random.default_rng(0)
    with ShardWriter(tmp_path / "p") as writer:
        writer.append(rng.normal(size=(1000, 10)))
    shards, compared = open_shards(tmp_path / "p"), []
    real = zlib.crc32
    monkeypatch.setattr(mapped_file.zlib, "crc32", lambda data: compared.append(len(data)) or real(data))
    shard = shards[0]
    compared.clear()  # the header
    _ = shard.rows(30, 40).X
    assert 0 < len(compared) <= 3
    _ = shard.X
    assert len(compared) == 40
    assert sum(compared) == 40_000
    with shards[0] as again:
        compared.clear()
        _ = again.X
    assert compared == []
    with open(shard.path, "r+b") as file:
        file.seek(-30_000, os.SEEK_END)
        file.write(b"wrong")
    shard = open_shards(tmp_path / "p")[0]
    assert shard.rows(0, 200).X.shape == (200, 10)
    with pytest.raises(FormatError, match="checksum does not match"):
        _ = shard.rows(200, 300).X


def put(place, value):
    def change(array):
        array[place] = value

    return change


WRONG_ARRAYS = [
    ("sparse", "indptr", put(5, -4), "row 4 ends before it begins"),
    ("sparse", "indptr", put(5, 2**31 - 1), "row 5 ends before it begins"),
    ("sparse", "indptr", put(0, 1), "run from 1 to"),
    ("sparse", "indptr", put(-1, 5), "run from 0 to 5"),
    ("sparse", "indices", put(7, D), f"the column {D} of {D}"),
    ("sparse", "indices", put(7, -1), f"the column -1 of {D}"),
    ("sparse", "indices", lambda indices: put(1, indices[0])(indices), "not in order"),
    ("sparse", "indices", lambda indices: indices[::-1].copy(), "not in order"),
    ("sparse", "values", put(3, np.nan), "nan or infinity"),
    ("dense", "values", put((3, 2), -np.inf), "nan or infinity"),
    ("dense", "y", put(3, 7), "the label 7 is not among the classes"),
    ("dense", "weights", put(3, -1e-9), "a weight is negative"),
    ("dense", "weights", put(3, np.nan), "a weight is negative, nan"),
    ("dense", "weights", put(3, np.inf), "a weight is negative, nan or inf"),
    ("text labels", "y_codes", put(3, 2), "the code 2 of 2"),
    ("text labels", "y_codes", put(3, -1), "the code -1 of 2"),
    ("text labels", "y_texts", put(0, 0), "its texts cannot be read"),
    ("text labels", "y_texts", lambda texts: as_bytes(["no", "no"]), "two of its texts are the same"),
    ("text labels", "y_texts", lambda texts: as_bytes(["no", "nay"]), "'nay' is not among the classes"),
    ("text labels", "y_texts", lambda texts: as_bytes(["no", 1]), "no list of texts"),
    ("text labels", "y_texts", lambda texts: as_bytes({"no": "yes"}), "no list of texts"),
    ("text labels", "y_texts", lambda texts: np.frombuffer(b"[" * 100_000, np.uint8), "cannot be read"),
    ("sentences", "offsets", put(2, -1), "row 1 ends before"),
    ("sentences", "offsets", put(2, 2**63 - 1), "row 2 ends before"),
    ("sentences", "offsets", lambda offsets: put(2, offsets[1])(offsets), "row 1 ends before"),
    ("sentences", "column:w_codes", put(3, 99), "the code 99 of"),
    ("sentences", "column:tag_codes", put(3, -5), "the code -5 of"),
    ("sentences", "column:w_texts", lambda texts: as_bytes(["\ud800"]), "what is no character"),
]


def as_bytes(content):
    return np.frombuffer(json.dumps(content).encode(), np.uint8)


@pytest.mark.parametrize(("kind", "name", "change", "sentence"), WRONG_ARRAYS)
def test_wrong_arrays_are_refused_whatever_the_checksums_say(tmp_path, kind, name, change, sentence):
    folder = make(kind, tmp_path / "packed")
    forge_array(folder, name, change)
    with pytest.raises(FormatError, match=f"shard-00000.*{sentence}"):
        use(folder)
    with pytest.raises(FormatError, match=f"shard-00000.*{sentence}"):
        open_shards(folder).verify()


def test_arrays_of_other_types_and_names_are_refused(tmp_path):
    folder = make("sparse", tmp_path / "packed")
    changes = [
        ("values", lambda a: a.astype(np.float32)),
        ("indices", lambda a: a.astype(np.int64)),
        ("indices", lambda a: a[:-1].copy()),
        ("indptr", lambda a: a.reshape(1, -1)),
        ("weights", lambda a: a.astype(np.float32)),
        ("y", lambda a: a.astype(np.float64)),
    ]
    for name, change in changes:
        broken = Path(shutil.copytree(folder, tmp_path / "broken"))
        forge_array(broken, name, change)
        with pytest.raises(FormatError, match="is not the shard that the manifest describes"):
            use(broken)
        shutil.rmtree(broken)


def test_headers_that_point_outside_are_refused(tmp_path):
    """Arrays that begin before the file, end behind it, overlap, or have an impossible shape."""
    folder = make("dense", tmp_path / "packed")
    path = folder / "shard-00000.safetensors"
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    for change in (
        lambda header: header["values"].update(data_offsets=[-8, header["values"]["data_offsets"][1] - 8]),
        lambda header: header["values"].update(data_offsets=[0, 2**40]),
        lambda header: header["values"].update(shape=[-1, 12]),
        lambda header: header["values"].update(shape=[2**62, 4]),
        lambda header: header["values"].update(dtype="F16"),
        lambda header: header["values"].update(extra=1),
        lambda header: header.update(other=header["values"]),
        lambda header: header.update(other=None),
        lambda header: header[shard_file.METADATA].update(crc32=""),
        lambda header: header.update({shard_file.METADATA: 3}),
    ):
        header = json.loads(content[8:start])
        change(header)
        text = json.dumps(header).encode()
        text += b" " * (-(len(text) + 8) % 64)
        path.write_bytes(len(text).to_bytes(8, "little") + text + content[start:])
        describe(folder, 0)
        with pytest.raises(FormatError, match=r"shard-00000.*(header cannot be right|does not match)"):
            use(folder)


VALUES = [
    None, True, False, -1, 0, 1, 7, 2**31, 2**63, 10**30, 0.5, float("nan"), float("inf"), "", "x", "\ud800",
    "../x", "/etc/passwd", "..", "dense", "text", [], [1], ["a"], [[]], [2, 1], ["a", "a"], {}, {"files": 3},
    {"a": 1}, [{}], [None],
]  # fmt: skip


def test_forged_manifests_are_refused_or_harmless(packed):
    """Every field, also of a shard, with every value: a sentence, or a folder that can be used."""
    content = (packed / "manifest.json").read_text()
    refused = 0
    entry = asdict(load_manifest(packed).shards[0])
    places = [name for name in json.loads(content) if name not in ("format", "format_version", "crc32")]
    for name in (*places, *(("shards", 0, each) for each in entry)):
        for value in VALUES:

            def change(found, name=name, value=value):
                if isinstance(name, tuple):
                    found[name[0]][name[1]][name[2]] = value
                else:
                    found[name] = value

            forge(packed, change)
            refused += outcome(packed) is None
            (packed / "manifest.json").write_text(content)
    assert refused > 400


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda c: c["shards"][0].update(rows=2**40), "do not fit into"),
        (lambda c: c["shards"][0].update(entries=2**40), "do not fit into"),
        (lambda c: c["shards"][0].update(rows=0), "'rows' is 0, expected a whole number > 0"),
        (lambda c: c["shards"][0].pop("crc32"), "shard 0: expected file, rows"),
        (lambda c: c.update(n_features=2**31), "'n_features' is 2147483648"),
        (lambda c: c.update(n_rows=7), "'n_rows' is 7, but the shards hold 90"),
        (lambda c: c.update(classes=[1, -1]), "the classes are not in order"),
        (lambda c: c.update(classes=list(range(91))), "91 classes are more than the rows"),
        (lambda c: c.update(classes=["a"]), "the classes are not all integers"),
        (lambda c: c.update(labels="words"), "'labels' is 'words', expected one of"),
        (lambda c: c.update(feature_names=["a"]), "there are 1 names of 12 features"),
        (lambda c: c.pop("dtype"), "'dtype' is None, expected one of float32, float64"),
        (lambda c: c.update(source={"files": [{}]}), "'source' is"),
        (lambda c: c.update(shards=[], n_rows=0, n_entries=0), "it is complete, but holds no shard"),
    ],
)
def test_impossible_manifests(tmp_path, change, sentence):
    folder = make("sparse", tmp_path / "packed")
    forge(folder, change)
    with pytest.raises(FormatError, match=rf"manifest\.json: the manifest cannot be right: .*{sentence}"):
        open_shards(folder)


@pytest.mark.parametrize("name", ["../{}", "{outside}", "./{}", "a/../{}", "..", "", "{}\0", "~/{}", "a\\{}"])
def test_names_that_leave_the_folder_are_refused(tmp_path, name):
    folder = make("sparse", tmp_path / "packed")
    inside = folder / "shard-00000.safetensors"
    outside = tmp_path / inside.name
    shutil.copy(inside, outside)
    forge(folder, lambda c: c["shards"][0].update(file=name.format(inside.name, outside=outside)))
    with pytest.raises(FormatError, match=r"shard 0: 'file' is .*, expected a name without a folder"):
        open_shards(folder)


def test_links_that_leave_the_folder_are_refused(tmp_path):
    folder = make("sparse", tmp_path / "packed")
    expected = use(folder)
    for name in ("shard-00000.safetensors", "manifest.json"):
        path = folder / name
        path.rename(folder / "moved")
        path.symlink_to("moved")
        assert use(folder) == expected
        path.unlink()
        (folder / "moved").rename(tmp_path / name)
        path.symlink_to(tmp_path / name)
        with pytest.raises(FormatError, match=f"{name}: is a link to a file outside the folder"):
            use(folder)
        path.unlink()
        (tmp_path / name).rename(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("name", ["shard-00000.safetensors", "manifest.json"])
def test_pipes_are_refused_and_not_waited_for(tmp_path, name):
    folder = make("sparse", tmp_path / "packed")
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(FormatError, match=f"{name}: is no file, but a folder, a pipe"):
        use(folder)


def test_a_link_in_the_way_of_a_shard_is_not_written_through(tmp_path):
    """An unfinished folder of someone else, gone on with."""
    with pytest.raises(RuntimeError), ShardWriter(tmp_path / "p"):
        raise RuntimeError
    mine = tmp_path / "mine"
    mine.write_text("precious")
    (tmp_path / "p" / "shard-00000.safetensors").symlink_to(mine)
    with ShardWriter.resume(tmp_path / "p") as writer:
        writer.append(np.ones((3, 2)))
        with pytest.raises(FormatError, match="is a link, where the next shard goes"):
            writer.flush()
        (tmp_path / "p" / "shard-00000.safetensors").unlink()
    assert mine.read_text() == "precious"
    assert open_shards(tmp_path / "p").n_rows == 3


def test_nested_manifests_do_not_exhaust_the_stack(tmp_path):
    folder = make("dense", tmp_path / "packed")
    (folder / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(FormatError, match="the manifest is damaged"):
        open_shards(folder)


def test_more_features_than_columns_can_count_are_refused(tmp_path):
    wide = sp.csr_array(([1.0], ([0], [2**32 + 1])), shape=(1, 2**33))
    writer = ShardWriter(tmp_path / "p")
    with pytest.raises(OneslackError, match="X has 8,589,934,592 features; expected at most 2,147,483,647"):
        writer.append(wide)
    writer.close()

"""What a file is, by its name or by its first lines; and what a new format gets by one entry."""

import gzip
import os

import numpy as np
import pytest

from oneslack.cli import main
from oneslack.errors import FormatError, OneslackError
from oneslack.formats import Table, open_shards, pack, read_data, registry
from oneslack.formats.format import CERTAIN, LIKELY, Format
from oneslack.formats.registry import FORMATS, format_of

TEXTS = {
    "svmlight": "# made by hand, today\n1 1:0.5 3:2\n-1 2:1\n",
    "csv": "length;width;kind\n1;2;a\n3;4;b\n",
    "conll": "He PRP B-NP\nran VBD B-VP\n\nStop VB B-VP\n",
    "conllu": "# text = Stop\n1\tStop\tstop\tVERB\t_\t_\t0\troot\t_\t_\n\n",
    "trees": "(S (NP (NN time))\n   (VP (VBZ flies)))\n",
}
RANKING = "2 qid:1 1:1\n1 qid:1 2:1\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(content, name="data"):
    content = content if isinstance(content, bytes) else content.encode()
    with open(name, "wb") as file:
        file.write(content)
    return name


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("wrap", [bytes, gzip.compress, b"\xef\xbb\xbf".__add__])
def test_the_content_tells(name, wrap):
    path = write(wrap(TEXTS[name].encode()))
    found = format_of(path)
    assert found.name == name
    assert found.read(path) is not None


def test_arrays_and_folders_are_told():
    np.savez("data.txt", X=np.eye(2), y=[0, 1])
    assert format_of("data.txt.npz").name == "numpy"
    os.rename("data.txt.npz", "data")
    assert format_of("data", least=CERTAIN).name == "numpy"
    pack(["data"], "packed")
    assert format_of("packed").holds == "packed"
    assert format_of("packed").read("packed").n_rows == 2
    with pytest.raises(FormatError, match="is a folder"):
        format_of("packed", "table")


@pytest.mark.parametrize("entry", [entry for entry in FORMATS.values() if entry.extensions])
def test_names_come_before_contents(entry):
    for extension in entry.extensions:
        assert format_of(write("(", f"a{extension.upper()}")) is entry
        assert format_of(write("(", f"a{extension}.xz"), entry.holds) is entry


def test_what_is_asked_for_has_the_benefit_of_the_doubt():
    path = write(RANKING)
    assert format_of(path).name == "svmlight"
    assert format_of(path, "sentences").name == "svmhmm"
    assert format_of(path, least=CERTAIN) is None
    one_sentence = write("He\tPRP\nran\tVBD\n")
    assert format_of(one_sentence).name == format_of(one_sentence, "table").name == "csv"
    assert format_of(one_sentence, "sentences", LIKELY).name == "conll"
    assert format_of(write("1e-3 1:2\n")).name == "svmlight"


@pytest.mark.parametrize("content", ["", "\n", "word\n", b"\x00\x01\xff"])
def test_what_looks_like_nothing_goes_to_the_reader_that_explains_it(content):
    path = write(content)
    assert [format_of(path, holds).name for holds in ("table", "sentences")] == ["svmlight", "conll"]
    assert format_of(path, "sentences", LIKELY) is None


def test_a_line_that_the_sample_cuts_is_not_looked_at():
    line = b"He PRP B-NP\n"
    path = write(line * (registry.SAMPLE // len(line) + 9))
    assert format_of(path).name == "conll"


def test_text_of_any_name_is_packed():
    assert pack([write(TEXTS["conll"], "a.iob")], "packed")[0].sentences.n_tokens == 3
    assert pack([write(TEXTS["conllu"])], "packed conllu")[0].sentences.n_tokens == 1
    assert open_shards("packed conllu").feature_names == ["form", "upos"]


# A format of one entry: numbers between bars, the label first.


def read_bars(path, *, n_features=None, dtype=np.float64):
    rows = np.loadtxt(path, delimiter="|", ndmin=2, dtype=dtype)
    return Table(rows[:, 1:], rows[:, 0], None, path, "bars")


@pytest.fixture
def bars(monkeypatch):
    entry = Format("bars", "bars", "table", read_bars, (".bar",), lambda sample: 0.9 * (b"|" in sample))
    monkeypatch.setitem(FORMATS, "bars", entry)


@pytest.mark.usefixtures("bars")
def test_one_entry_is_enough(capsys):
    def said(*words):
        assert main(words) == 0
        return capsys.readouterr().out

    for name in ("train.bar", "train.txt"):
        write("".join(f"{k % 2}|{k % 2 + 0.1 * k}|{-k % 3}\n" for k in range(40)), name)
        table = read_data(name)
        assert (table.X.shape, table.y.dtype, table.kind) == ((40, 2), np.int64, "bars")
        said("train", "classify", name, "-o", "m", "-q")
        assert len(said("predict", "m", name).splitlines()) == 40
        assert "accuracy" in said("evaluate", "m", name)
        assert "bars data" in said("info", name)
        assert "oneslack train classify" in said("train", name)
        assert main(["train", "classify", name, "-o", "m", "--label", "0"]) == 2


@pytest.mark.usefixtures("bars")
def test_tables_of_any_format_are_packed_in_chunks():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    np.savetxt("a.bar", np.column_stack([y, X]), delimiter="|")
    shards = pack(["a.bar"], "packed", shard_size="4kB", dtype="float64")
    assert len(shards) > 1
    np.testing.assert_array_equal(np.concatenate([shard.X for shard in shards]), X)
    np.testing.assert_array_equal(np.concatenate([shard.y for shard in shards]), y)
    assert shards.manifest.source["kinds"] == ["bars"]
    with pytest.raises(OneslackError, match="'auto', 'svmlight', 'csv', 'numpy' or 'bars', got 'tar'"):
        read_data("a.bar", kind="tar")

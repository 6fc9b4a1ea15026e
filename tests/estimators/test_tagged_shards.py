"""Taggers on packed text: the same columns, the same optimum, features on disk, memory within a limit."""

import errno
import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import oneslack
from oneslack import SequenceTagger, Streaming
from oneslack.errors import OneslackError
from oneslack.features import FeatureIndex
from oneslack.features.rows_on_disk import RowsOnDisk
from oneslack.formats import open_shards, pack, read_conll
from oneslack.formats.packed_sentences import PackedSentences
from oneslack.result import Status

TEMPLATES = "w[-1..1]\nw[0] & w[1]\nsuffix(w[0], 2)\nbias\npos[0] & w[-1] & pos[1]"


def write_text(path, n, seed=0):
    """Sentences whose labels depend on their words, with some noise."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        for _ in range(rng.integers(1, 9)):
            word = int(rng.zipf(1.6)) % 200
            label = "ABC"[(word % 3 if rng.random() < 0.9 else rng.integers(3))]
            lines.append(f"word{word} P{word % 7} {label}\n")
        lines.append("\n")
    path.write_text("".join(lines))


@pytest.fixture
def text(tmp_path):
    write_text(tmp_path / "text.conll", 400)
    pack([tmp_path / "text.conll"], tmp_path / "packed", columns=["w", "pos", "tag"], shard_size="4KB")
    shards = open_shards(tmp_path / "packed")
    assert len(shards) > 2
    return read_conll(tmp_path / "text.conll", {"w": 0, "pos": 1, "tag": 2}), shards


@pytest.mark.parametrize("options", [{}, {"min_count": 3}, {"hash_bits": 6}])
@pytest.mark.parametrize("tokens", [1, 50, 10**6])
def test_an_index_learned_in_parts_is_that_of_the_whole(text, options, tokens):
    whole, shards = text
    packed = PackedSentences(shards)
    assert sum(part.n_tokens for part in packed.parts(tokens)) == whole.n_tokens
    expected = FeatureIndex(TEMPLATES, **options)
    X = expected.fit_transform(whole)
    index = FeatureIndex(TEMPLATES, **options)
    packed.parts = lambda: PackedSentences.parts(packed, tokens)
    index.fit_parts(packed)
    assert index.n_features == expected.n_features
    if not options.get("hash_bits"):
        assert index.feature_names() == expected.feature_names()
    with RowsOnDisk(index.n_features) as rows:
        for part in packed.parts():
            rows.append(index.transform(part))
        assert (rows.matrix() != X).nnz == 0


@pytest.mark.parametrize("solver", ["auto", "one_slack", "dual_cd"])
def test_a_tagger_learns_the_same_from_shards(text, solver):
    whole, shards = text
    options = {"templates": TEMPLATES, "tol": 1e-3, "n_jobs": 1, "constraints": None}
    expected = SequenceTagger(**options).fit(whole, "tag")
    tagger = SequenceTagger(solver=solver, **options).fit(shards, "tag")
    assert tagger.result_.status is Status.CONVERGED
    assert tagger.result_.solver == ("streaming" if solver == "auto" else solver)
    assert tagger.dual_objective_ <= expected.objective_
    assert expected.dual_objective_ <= tagger.objective_
    assert (tagger.model_.n_features, tagger.model_.n_labels) == (expected.model_.n_features, 3)
    assert tagger.predict(shards) == tagger.predict(whole)
    assert tagger.score(shards, "tag") == pytest.approx(tagger.score(whole, "tag"), rel=1e-12)


def test_shards_are_asked_as_sentences_are(text, monkeypatch):
    whole, shards = text
    tagger = SequenceTagger(templates=TEMPLATES, n_jobs=1).fit(whole, "tag")
    found = tagger.predict_topk(shards, 2)
    assert found == tagger.predict_topk(whole, 2)
    assert {len(each) for each in found} == {2}
    for mine, other in zip(tagger.predict_margins(shards), tagger.predict_margins(whole), strict=True):
        np.testing.assert_array_equal(mine, other)
    parts, asked = PackedSentences.parts, []
    monkeypatch.setattr(PackedSentences, "parts", lambda self: [asked.append(1), parts(self, 50)][1])
    assert tagger.score(shards, "tag") == tagger.score(whole, "tag")
    assert len(asked) == 1
    for Y in (tagger.predict(whole), "tags"):
        with pytest.raises(ValueError, match=r"must be the name of a column of .*: w, pos, tag"):
            tagger.score(shards, Y)


def test_what_an_engine_cannot_do_is_said_before_the_text_is_read(text, monkeypatch):
    monkeypatch.setattr(FeatureIndex, "fit_parts", None)
    with pytest.raises(ValueError, match="on this machine only; drop engine"):
        SequenceTagger(templates=TEMPLATES, engine="ray").fit(text[1], "tag")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_folder_that_cannot_be_written_to_is_named(tmp_path, monkeypatch, number):
    def fails(*arguments, **options):
        raise OSError(number, "no")

    why = "the disk is full" if number == errno.ENOSPC else "no"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with RowsOnDisk(2) as rows:
        monkeypatch.setattr("builtins.open", fails)
        with pytest.raises(OneslackError) as caught:
            rows.append(sp.csr_array(np.eye(2)))
    assert not list(tmp_path.iterdir())
    expected = (
        f"features cannot be written to {tmp_path} ({why}); make room, or name another folder by TMPDIR."
    )
    assert str(caught.value) == expected
    monkeypatch.setattr("os.mkdir", fails)
    with pytest.raises(OneslackError) as caught:
        RowsOnDisk(2)
    assert str(caught.value) == expected


def test_a_model_that_learned_from_shards_is_saved(text, tmp_path):
    whole, shards = text
    tagger = SequenceTagger(templates=TEMPLATES, n_jobs=1).fit(shards, "tag")
    tagger.save(tmp_path / "model")
    assert oneslack.load(tmp_path / "model").predict(whole) == tagger.predict(whole)


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        ("tags", {}, "Y='tags' must be the name of a column of .*: w, pos, tag"),
        ([["A"]], {}, "must be the name of a column"),
        ("tag", {"templates": None}, "Sentences need templates"),
        (
            "tag",
            {"templates": "form[0]"},
            "has no column 'form', which the templates use; it has w, pos, tag",
        ),
        ("tag", {"engine": "ray"}, "on this machine only; drop engine"),
        ("tag", {"solver": Streaming("10KB")}, "memory=10 KB is too little: .* weights .* give more"),
    ],
)
def test_what_cannot_be_is_refused(text, columns, options, sentence):
    with pytest.raises((ValueError, OneslackError), match=sentence):
        SequenceTagger(**{"templates": TEMPLATES, "n_jobs": 1} | options).fit(text[1], columns)


def test_rows_of_numbers_are_no_text(tmp_path):
    np.savez(tmp_path / "rows.npz", X=np.eye(3), y=[0, 1, 1])
    pack([tmp_path / "rows.npz"], tmp_path / "packed")
    with pytest.raises(OneslackError, match="holds rows of numbers, no tagged text"):
        PackedSentences(open_shards(tmp_path / "packed"))


LIMITED = """
import json, resource, sys
import numpy as np
import oneslack
from oneslack.formats import open_shards
shards = open_shards(sys.argv[1])
def tagger(memory):
    return oneslack.SequenceTagger(templates="w[-8..8]\\npos[-8..8]", C=0.01, n_jobs=1, tol=0.1,
                                   solver=oneslack.Streaming(memory))
tagger("20MB").fit(open_shards(sys.argv[2]), "tag")  # compiles
used = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmData"))
limit = used + 40_000_000
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    np.ones(60_000_000 // 8)
    is_kept = False
except MemoryError:
    is_kept = True
model = tagger("20MB").fit(shards, "tag")
print(json.dumps({"gap": model.duality_gap_, "solver": model.result_.solver, "tokens": shards.n_entries,
                  "is_kept": is_kept}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_DATA as Linux has it")
def test_memory_is_limited_while_a_tagger_learns(tmp_path):
    for name, n in (("large", 30_000), ("small", 50)):
        write_text(tmp_path / f"{name}.conll", n)
        columns = {"columns": ["w", "pos", "tag"], "shard_size": "1MB"}
        pack([tmp_path / f"{name}.conll"], tmp_path / name, **columns)
    command = [sys.executable, "-c", LIMITED, tmp_path / "large", tmp_path / "small"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert found["is_kept"]
    # Features alone take 34 numbers of 12 bytes a token.
    assert found["tokens"] * 34 * 12 > 50_000_000
    assert found["gap"] <= 0.1
    assert found["solver"] == "streaming"

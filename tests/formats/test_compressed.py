"""Arrays made smaller come back bit for bit; what is damaged is refused."""

import numpy as np
import pytest

from oneslack import SequenceTagger, load
from oneslack.formats import load_model
from oneslack.formats.compressed import SMALL, compress, decompress

RNG = np.random.default_rng(0)
ARRAYS = {
    "sorted": np.sort(RNG.integers(0, 10**6, 3000)).astype(np.int32),
    "falling": np.arange(3000, dtype=np.int64)[::-1] - 1500,
    "unsigned": RNG.integers(0, 50, 3000).astype(np.uint16),
    "repeats": RNG.choice([0.1, -0.25, np.pi, -0.0, np.inf, np.nan], 3000),
    "single": RNG.choice(np.float32([0.1, 0.2]), (50, 60)),
    "text": np.frombuffer(b"the cat sat on the mat " * 400, np.uint8),
    "noise": RNG.normal(size=3000),
    "small": np.arange(5),
    "flags": np.ones(SMALL, bool),
    "empty": np.empty((0, 3)),
}


def test_arrays_come_back_bit_for_bit():
    about, stored = compress(ARRAYS)
    again = decompress(about, stored)
    assert again.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert again[name].dtype == array.dtype
        assert again[name].shape == array.shape
        assert again[name].tobytes() == array.tobytes()


def test_what_repeats_gets_smaller():
    about, stored = compress(ARRAYS)
    sizes = {name: sum(stored[k].nbytes for k in stored if k.split(".")[0] == name) for name in ARRAYS}
    assert all(size <= ARRAYS[name].nbytes for name, size in sizes.items())
    assert set(about) >= {"sorted", "falling", "unsigned", "repeats", "single", "text"}
    assert all(3 * sizes[name] < ARRAYS[name].nbytes for name in ("falling", "repeats", "single", "text"))
    assert stored["small"] is ARRAYS["small"]


def cut_short(about, stored):
    stored["sorted"] = stored["sorted"][:-20]


def scrambled(about, stored):
    stored["sorted"] = RNG.integers(0, 256, 500).astype(np.uint8)


def too_long(about, stored):
    about["sorted"]["shape"] = [10]


def too_short(about, stored):
    about["sorted"]["shape"] = [10**6]


def foreign(about, stored):
    about["sorted"]["dtype"] = "object"


def codes_beyond(about, stored):
    stored["repeats"], about["repeats"]["distinct"] = stored["single"], about["single"]["distinct"]


@pytest.mark.parametrize("harm", [cut_short, scrambled, too_long, too_short, foreign, codes_beyond])
def test_damage_is_refused(harm):
    about, stored = compress(ARRAYS)
    harm(about, stored)
    with pytest.raises(ValueError, match=r"array|numbers"):
        decompress(about, stored)


def test_a_lacking_array_is_named():
    about, stored = compress(ARRAYS)
    del stored["repeats.codes"]
    with pytest.raises(KeyError, match=r"repeats\.codes"):
        decompress(about, stored)


def test_a_large_tagger_is_a_small_file(tmp_path):
    """All weights and names come back as they were, from fewer bytes than the weights alone."""
    words = RNG.integers(0, 2000, (150, 8))
    X = [[{"w": f"word{w}", "shape": str(w % 7)} for w in row] for row in words]
    Y = [[f"L{w % 5}" for w in row] for row in words]
    tagger = SequenceTagger(C=1.0, tol=0.1).fit(X, Y)
    path = tmp_path / "tagger.model"
    tagger.save(path)
    header, _ = load_model(path)
    assert {"coef.index", "coef.value", "features.text"} <= set(header["compressed"])
    assert path.stat().st_size < 8 * np.count_nonzero(tagger.coef_)
    again = load(path)
    assert again.coef_.tobytes() == tagger.coef_.tobytes()
    assert again.predict(X) == tagger.predict(X)

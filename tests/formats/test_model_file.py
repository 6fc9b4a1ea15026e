"""Model files: an exact round trip, and a sentence for every file that is not one."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save_file

from oneslack.errors import FormatError, OneslackError
from oneslack.formats import load_model, model_file, save_model

HEADER = {"kind": "LinearSVC", "classes": ["größer", "小"], "parameters": {"C": 0.1, "tol": 1e-3}}
ARRAYS = {"coef": np.arange(6.0).reshape(2, 3), "bias": np.array([np.nan, -0.0])}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
array_names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
dtypes = st.sampled_from([np.dtype(name) for name in sorted(model_file.STORABLE)])
arrays = dtypes.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.text(), json_values),
    st.dictionaries(array_names, arrays, max_size=4),
)
def test_round_trip_is_exact(tmp_path_factory, header, tensors):
    path = tmp_path_factory.getbasetemp() / "round.safetensors"
    save_model(path, header, tensors)
    header_back, tensors_back = load_model(path)
    assert header_back == header
    assert list(header_back) == list(header)
    assert tensors_back.keys() == tensors.keys()
    for name, array in tensors.items():
        assert tensors_back[name].dtype == array.dtype
        assert tensors_back[name].shape == array.shape
        assert tensors_back[name].tobytes() == array.tobytes()


def test_arrays_in_any_memory_order_survive(path):
    matrix = np.arange(24.0).reshape(4, 6)
    views = {
        "T": matrix.T,
        "step": matrix[::2, 1::3],
        "big": matrix.astype(">f4"),
        "zero": matrix[0, 0],
    }
    save_model(path, {}, views)
    for name, array in load_model(path)[1].items():
        np.testing.assert_array_equal(array, views[name])
        assert array.flags.writeable


def test_equal_models_are_equal_files(tmp_path):
    for name in "ab":
        save_model(tmp_path / name, HEADER, ARRAYS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("header", "tensors", "words"),
    [
        ({"shape": (1, 2)}, {}, "header['shape'] is a tuple"),
        ({"a": [{"b": np.int64(3)}]}, {}, "header['a'][0]['b'] is a int64"),
        ({"a": {1: 2}}, {}, "header['a'] is a dict"),
        ({}, {"names": np.array(["x"])}, "the array 'names' is <U1"),
        ({}, {"objects": np.array([{}])}, "the array 'objects' is object"),
        ({}, {"__metadata__": np.zeros(2)}, "__metadata__"),
    ],
)
def test_what_would_not_survive_is_refused_and_nothing_written(path, header, tensors, words):
    with pytest.raises(OneslackError) as caught:
        save_model(path, header, tensors)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)
    assert list(path.parent.iterdir()) == []


def assert_refused(path, words):
    with pytest.raises(FormatError) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"just some text, long enough to be a header", "is not a model file"),
        (pickle.dumps({"coef": [1.0] * 50}), "pickle"),
        (b"PK\x03\x04" + bytes(100), "is not a model file"),
    ],
)
def test_foreign_files_are_refused(path, content, words):
    path.write_bytes(content)
    assert_refused(path, words)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_other_peoples_safetensors_are_refused(path, metadata):
    save_file({"weight": np.zeros(3)}, path, metadata=metadata)
    assert_refused(path, "no oneslack model")


ENVELOPE = '{"format": "oneslack", "format_version": 1, "crc32": 0, "header": %s}'


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "F8_E5M2", "C64"])
def test_foreign_numbers_are_refused(path, dtype):
    size = {"BF16": 2, "C64": 8}.get(dtype, 1)
    array = {"dtype": dtype, "shape": [8 // size], "data_offsets": [0, 8]}
    header = json.dumps({"__metadata__": {"oneslack": ENVELOPE % "{}"}, "a": array}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    assert_refused(path, "damaged" if dtype == "C64" else "a type that no model has")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "3",
        "{}",
        '{"format_version": "x"}',
        ENVELOPE % "[]",
        ENVELOPE % ("[" * 10**5 + "]" * 10**5),
    ],
    ids=["cut", "list", "number", "empty", "version", "no fields", "deep"],
)
def test_broken_headers_are_refused(path, text):
    save_file({"weight": np.zeros(3)}, path, metadata={"oneslack": text})
    assert_refused(path, "header is damaged")


def test_newer_files_are_refused(path, monkeypatch):
    monkeypatch.setattr(model_file, "FORMAT_VERSION", 2)
    save_model(path, HEADER, ARRAYS)
    monkeypatch.undo()
    assert_refused(path, "upgrade oneslack")


def test_missing_files_and_folders_are_refused(path):
    assert_refused(path, "no such file")
    assert_refused(path.parent, "is a folder")


def test_every_truncation_is_refused(path):
    save_model(path, HEADER, ARRAYS)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert_refused(path, "")


def test_every_changed_byte_is_refused(path):
    save_model(path, HEADER, ARRAYS)
    whole = path.read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0x01
        path.write_bytes(damaged)
        assert_refused(path, "")

"""Files in and out: data sets of several formats, and trained models."""

from oneslack.errors import FormatError
from oneslack.formats.conll import read_conll, read_conllu
from oneslack.formats.delimited import read_csv
from oneslack.formats.model_file import load_model, save_model
from oneslack.formats.numpy_file import read_numpy
from oneslack.formats.packing import pack
from oneslack.formats.read import read_data
from oneslack.formats.sentences import Sentences
from oneslack.formats.shards import Shards, ShardWriter, open_shards
from oneslack.formats.svmhmm import read_svmhmm
from oneslack.formats.svmlight import read_svmlight, write_svmlight
from oneslack.formats.table import Table
from oneslack.formats.trees import read_trees

__all__ = [
    "FormatError",
    "Sentences",
    "ShardWriter",
    "Shards",
    "Table",
    "load_model",
    "open_shards",
    "pack",
    "read_conll",
    "read_conllu",
    "read_csv",
    "read_data",
    "read_numpy",
    "read_svmhmm",
    "read_svmlight",
    "read_trees",
    "save_model",
    "write_svmlight",
]

"""Files in and out: data sets of several formats, and trained models."""

from ..errors import FormatError
from .conll import read_conll
from .conllu import read_conllu
from .delimited import read_csv
from .matchings import read_matchings, write_matchings
from .model_file import load_model, save_model
from .multilabel import read_multilabel
from .numpy_file import read_numpy
from .packing import pack
from .registry import read_data
from .sentences import Sentences
from .shards import Shards, ShardWriter, open_shards
from .svmhmm import read_svmhmm
from .svmlight import read_svmlight, write_svmlight
from .table import Table
from .trees import read_trees

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
    "read_matchings",
    "read_multilabel",
    "read_numpy",
    "read_svmhmm",
    "read_svmlight",
    "read_trees",
    "save_model",
    "write_matchings",
    "write_svmlight",
]

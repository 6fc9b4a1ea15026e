"""The papers' own commands, and LIBLINEAR's: the same options, files and outputs, trained here.

`oneslack compat DIR` writes a launcher for each into a folder; `main(name, words)` runs one.
"""

from __future__ import annotations

import importlib

#: From a program to the module that has it.
MODULES = {
    "svm_learn": "svm_light",
    "svm_classify": "svm_light",
    "svm_perf_learn": "svm_perf",
    "svm_perf_classify": "svm_perf",
    "svm_rank_learn": "svm_rank",
    "svm_rank_classify": "svm_rank",
    "svm_multiclass_learn": "svm_multiclass",
    "svm_multiclass_classify": "svm_multiclass",
    "svm_hmm_learn": "svm_hmm",
    "svm_hmm_classify": "svm_hmm",
    "train": "liblinear",
    "predict": "liblinear",
}


def program(name):
    """The Program of a name."""
    module = importlib.import_module(f".{MODULES[name]}", __package__)
    return next(one for one in module.PROGRAMS if one.name == name)


def main(name, words) -> int:
    """Run a program with the words of its command line; 0, or 1 with one sentence on stderr."""
    return program(name).main(words)

"""What a kind is, and the one table of them.

A kind is what can be trained from a file, or read from a model file.  Commands ask it what differs between a
classifier, a ranking, a tagger ...; a new one is a file here and a line in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from . import plain
from .printing import show_measures
from .rows import looks

#: From the name of an estimator to the file of its kind, which is read when it is asked for.
KINDS = {
    "LinearSVC": "classify",
    "LinearSVR": "regress",
    "MetricSVC": "metric",
    "OrdinalSVC": "ordinal",
    "RankSVM": "rank",
    "KernelSVC": "kernel",
    "IntegerProgramme": "in_python",
    "LatentSVM": "in_python",
    "LatentStructuralSVM": "in_python",
    "GraphTagger": "graph",
    "GridSegmenter": "segment",
    "GrammarParser": "parse",
    "Matcher": "match",
    "MultiLabelSVC": "multilabel",
    "SequenceSegmenter": "segments",
    "SequenceTagger": "tag",
    "StructuralSVM": "in_python",
}


@dataclass(frozen=True)
class Examples:
    """What a file holds: inputs, and the outputs that it says are right."""

    path: str
    X: Any
    y: Any
    #: Whether the file counts features from 0, where it numbers them.
    zero_based: bool | None = None


@dataclass(frozen=True)
class Kind:
    """What commands ask of a kind; `saved` is a model file: `model` is the estimator, beside what is noted.

    facts       (saved) -> {name: value} of what it predicts, for `oneslack info`
    takes       what its files hold: "rows", "sentences", or "own", which `read` reads; None where no file
                holds its inputs, and nothing below is asked
    read        (path, saved, with_outputs) -> Examples; to train, `saved` is None
    cells       (saved, X, scores, say) -> for each output the texts that `oneslack predict` puts side by
                side; `say` prints a remark
    measure     (saved, examples) -> facts of an evaluation, among them {"measures": {name: number}}
    show        (facts) prints them
    sections    (saved, examples, facts) -> (HTML of how good it is, HTML of its errors) of a report
    looks       (saved) -> [HTML] of what the model looks at
    weights     (model) -> {name: number} of what was learned
    by_shards   whether it predicts shard by shard, of a packed folder that is not loaded
    command     of `oneslack train`; None where it has none
    subject     (examples, model) -> Subject, what is learned; examples of rows are a `table`
    about       what the command trains, in a sentence; a command in cli/ has this and the next two itself
    holds       what a file of its own looks like
    parameters  {name: (default, words)} of the estimator that become options
    options     {option: its parameter, or None where it has none}, where the names differ
    repeats     whether the parameters tell the options, so that a report can
    """

    facts: Callable
    takes: str | None = None
    read: Callable | None = None
    cells: Callable | None = None
    measure: Callable | None = None
    show: Callable = show_measures
    sections: Callable = plain.sections
    looks: Callable = looks
    weights: Callable = plain.weights
    by_shards: bool = False
    command: str | None = None
    subject: Callable = plain.subject
    about: str = ""
    holds: str = "Examples."
    parameters: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)
    repeats: bool = True


def kind_of(name) -> Kind:
    """The kind of an estimator, by the name of its class."""
    return import_module(f".{KINDS[name]}", __package__).KIND


def estimator_of(name):
    """The class of an estimator; the others need not be imported."""
    import oneslack

    return getattr(oneslack, name)

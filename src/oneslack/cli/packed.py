"""Packed folders where commands take a file: used where they lie, or loaded where they must be."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from .forecast import in_use
from .output import Exit, Refusal

#: What the compiled code and the libraries take once training has begun, beside what they take before.
LOADED = 35_000_000
#: Bytes of a token in memory: for each template, and beside; and of one whose features lie on disk.
A_TEMPLATE, A_TOKEN, A_TOKEN_ON_DISK = 24, 64, 32


def is_packed(path) -> bool:
    """Is it a folder?  Whether it holds shards, `open_packed` says."""
    return os.path.isdir(path)


def open_packed(path, label=None, zero_based=None, group=None):
    """The shards of rows in a folder."""
    from ..formats import open_shards

    for option, value in (("--label", label), ("--zero-based", zero_based), ("--group", group)):
        if value is not None:
            raise Refusal(f"{path}: is packed; give {option} to `oneslack pack` instead.", Exit.USAGE)
    shards = open_shards(path)
    if shards.kind == "sentences":
        raise Refusal(f"{path}: holds tagged text, no table of numbers; use `oneslack train tag`.")
    return shards


@dataclass(frozen=True)
class PackedTable:
    """Stands where a Table does; X are the shards themselves."""

    X: Any
    path: str
    qid = None
    kind = "packed"

    @property
    def shards(self):
        return self.X

    @property
    def feature_names(self):
        return self.X.feature_names

    @property
    def y(self):
        """All labels, in memory."""
        return labels_of(self.X)


def labels_of(shards):
    """(n,), or None where there are none."""
    import numpy as np

    return None if shards.manifest.labels is None else np.concatenate([shard.y for shard in shards])


def in_memory(shards, need_groups=True):
    """A Table of all rows."""
    import numpy as np
    import scipy.sparse as sp

    from ..formats.table import Table

    parts = [shard.X for shard in shards[:]]
    X = sp.vstack(parts, format="csr") if shards.kind == "sparse" else np.concatenate(parts)
    qid = None
    if need_groups and shards.manifest.groups is not None:
        qid = np.concatenate([shard.qid for shard in shards])
    kind = "svmlight" if source_of(shards).zero_based is not None else "packed"
    return Table(X, labels_of(shards), qid, shards.path, kind, shards.feature_names)


def source_of(shards):
    """How the packed files were read; a model reads others the same way."""
    from .data import Source

    source = shards.manifest.source
    first = source.get("first_index")
    label, group = (None if source.get(name) is None else str(source[name]) for name in ("label", "group"))
    kinds = set(source.get("kinds", ())) or {"packed"}
    kind = kinds.pop() if len(kinds) == 1 else "packed"
    return Source(kind, None if first is None else first == 0, label, shards.feature_names, group)


def table_for_model(path, saved, need_labels):
    """The rows of a folder with the model's features."""
    from .data import _with_features

    shards = open_packed(path)
    if need_labels and shards.manifest.labels is None:
        raise Refusal(f"{path}: holds no labels to compare with; use `oneslack predict`.")
    table = PackedTable(shards, shards.path)
    _check_names(table, saved)
    is_whole = shards.n_features == saved.n_features and shards.manifest.groups is None
    return table if saved.kind.by_shards and is_whole else _with_features(in_memory(shards), saved)


# To train on.


def refuse_memory_of_workers(memory):
    """Complain about --memory beside an engine."""
    if memory is not None:
        raise Refusal("--memory is for a training on this machine; drop it, or --engine.", Exit.USAGE)


def use_memory(model, memory, seed):
    """Let the model stream within a budget, where the solver is not another one by name."""
    from ..solvers.streaming.reader import Streaming

    if model.solver not in ("auto", "streaming"):
        if memory is not None:
            raise Refusal(f"--memory is for --solver streaming, not {model.solver}; drop one.", Exit.USAGE)
        return
    model.solver = Streaming(budget_of(memory), seed)


def say_memory(model, table, quiet):
    """Say before the start what training will take; the number of bytes, or None where it is not known."""
    from ..data.bytes import in_words

    try:
        planned = model.memory_estimate(table.X)
    except ValueError as error:
        raise Refusal(f"{table.X.path}: {error}", Exit.USAGE) from error
    if planned is None:
        return None
    found = (in_use() or 0) + LOADED + planned
    if not quiet:
        budget = in_words(model.solver.in_bytes)
        print(f"memory: about {in_words(found)} (budget for training {budget})", file=sys.stderr, flush=True)
    return found


# For `oneslack info`.


def packed_facts(path) -> dict:
    """What a folder holds, from its manifest alone."""
    from ..formats import open_shards

    shards = open_shards(path)
    is_text = shards.kind == "sentences"
    n, d, labels = shards.n_rows, shards.n_features, shards.manifest.labels
    return {
        "file": path,
        "holds": f"packed {shards.kind} {'' if is_text else shards.dtype.name}".strip(),
        "sentences" if is_text else "examples": n,
        "tokens": shards.n_entries if is_text else None,
        "features": None if is_text else d,
        "density": shards.n_entries / (n * d) if n and d else None,
        "columns" if is_text else "feature_names": shards.feature_names,
        "labels": labels,
        "classes": None if shards.classes is None or is_text else shards.classes.tolist(),
        "groups": shards.manifest.groups,
        "shards": len(shards),
        "bytes": shards.n_bytes,
    }


# Tagged text.


def budget_of(memory) -> int:
    """The bytes of --memory, or its default."""
    from ..data.bytes import in_bytes
    from ..errors import OneslackError
    from ..solvers.streaming.reader import Streaming

    try:
        return in_bytes(memory or Streaming.memory)
    except OneslackError as error:
        raise Refusal(f"--memory: {error}", Exit.USAGE) from error


def stream_text(model, examples, memory, seed, quiet):
    """Set the budget of memory, and say what will be needed, where the sentences stay on disk: the number of
    bytes, or None."""
    from ..data.bytes import in_words
    from ..formats.packed_sentences import PackedSentences
    from ..solvers.streaming.reader import Streaming

    if not isinstance(examples.X, PackedSentences):
        return None
    use_memory(model, memory, seed)
    if not isinstance(model.solver, Streaming):  # which keeps to no budget
        return None
    budget = budget_of(memory)
    found = (in_use() or 0) + LOADED + A_TOKEN_ON_DISK * examples.n_tokens + budget
    if not quiet:
        print(
            f"memory: at most about {in_words(found)}, beside the names of the features "
            f"(budget for training {in_words(budget)})", file=sys.stderr, flush=True,
        )  # fmt: skip
    return found


def _check_names(table, saved):
    """Refuse columns in another order: numbers would be taken for what they are not."""
    names, expected = table.feature_names, saved.feature_names
    if not names or not expected or len(names) != len(expected):
        return
    for position, (name, known) in enumerate(zip(names, expected)):
        if name != known:
            raise Refusal(
                f"{table.path}, line 1: feature {position} is {name!r}, but {saved.path} was trained with "
                f"{known!r} there; order the columns as in training, or name the label with --label."
            )

"""Checkpoints: a run that dies goes on from its last written step as if nothing had happened.

A checkpoint holds what `Step.state` says is enough to go on (planes or duals, random numbers), the best point
with its bounds, and the trace.  It is one file, in the container of the model files: written whole or not at
all, with a checksum, and loading it runs no code.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields

import numpy as np

from .errors import FormatError, OneslackError
from .result import Status, Trace, TraceRow

#: The kind of file, and what to do about one that is of no use.
KIND = "checkpoint"
REMOVE = "remove it to begin anew"
ENDING = ".checkpoint"
#: A checkpoint is not written again before so many times what the last one took.
AT_MOST = 20


@dataclass
class Saved:
    """What a checkpoint gives back."""

    state: dict
    w: np.ndarray | None
    primal: float
    dual: float
    trace: Trace
    done: str | None = None  # the name of the Status that it ended with, and the goal that was reached
    goal: tuple = ()
    error: float = 0.0  # the standard error of primal, where that is an estimate
    probe: float | None = None  # of the problem, where w says nothing about it yet


class Checkpoint:
    """Where and how often a run is written down.

    path   one file
    every  seconds between two writings; less often where a writing takes long
    keep   whether it stays when the run is done: a later run then takes its result from here
    """

    def __init__(self, path, every=300.0, keep=False):
        if not every >= 0:
            raise ValueError(f"every must be a number of seconds >= 0; got {every!r}")
        self.path, self.every, self.keep = os.fspath(path), float(every), keep
        self._next = time.perf_counter() + self.every

    @property
    def is_due(self) -> bool:
        return time.perf_counter() >= self._next

    def save(self, about, saved: Saved):
        """Write; `about` says of which problem and solver."""
        from .formats.model_file import save_model

        begin = time.perf_counter()
        arrays = {}
        header = {
            "kind": KIND,
            "about": about,
            "saved": _encode(vars(saved) | {"trace": _table(saved)}, arrays),
        }
        try:
            save_model(self.path, header, arrays)
        except OSError as error:
            raise OneslackError(
                f"{self.path}: the checkpoint cannot be written ({error.strerror or error}); make room or "
                "choose another place. The one before it, if there was one, is unharmed."
            ) from error
        end = time.perf_counter()
        self._next = end + max(self.every, AT_MOST * (end - begin))

    def load(self, about) -> Saved | None:
        """What was written for this problem and solver; None where there is no checkpoint."""
        from .formats.model_file import load_model

        if not os.path.exists(self.path):
            return None
        header, arrays = load_model(self.path)
        if header.get("kind") != KIND:
            raise FormatError(
                f"{self.path}: is a model, not a checkpoint; name another file for the checkpoint."
            )
        for name, value in about.items():
            before = header["about"].get(name)
            if before != value:
                what = "other data" if name == "data" else f"another run ({name} {before}, now {value})"
                raise FormatError(
                    f"{self.path}: the checkpoint is of {what}; name another file, or {REMOVE}."
                )
        parts = _decode(header["saved"], arrays)
        rows = [TraceRow(*map(_plain, row)) for row in zip(*parts.pop("trace").values(), strict=True)]
        return Saved(**parts, trace=Trace(rows))

    def remove(self):
        """The run is over; nobody needs to go on."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)


class CheckpointFolder:
    """The checkpoints of a training that is several problems (one a class), a file each.

    Those of problems that are done stay until all are.
    """

    def __init__(self, path, every=300.0, resume=False):
        self.path, self.every, self.resume = os.fspath(path), every, resume
        try:
            os.makedirs(self.path, exist_ok=True)
        except OSError as error:
            raise OneslackError(
                f"{self.path}: no folder for checkpoints can be made there ({error.strerror}); name another."
            ) from error
        if self._files() and not resume:
            raise OneslackError(
                f"{self.path}: there are checkpoints already; go on with resume, or remove them."
            )

    def of(self, number) -> Checkpoint:
        return Checkpoint(os.path.join(self.path, f"{number}{ENDING}"), self.every, keep=True)

    def _files(self):
        return [os.path.join(self.path, name) for name in os.listdir(self.path) if name.endswith(ENDING)]

    def remove(self):
        """All is done and saved elsewhere."""
        for path in self._files():
            os.unlink(path)
        with suppress(OSError):  # something else lies there
            os.rmdir(self.path)


class Keeper:
    """Writes a run down, and takes it up again."""

    def __init__(self, checkpoint, resume, problem, solver, run, goal):
        self.goal, self.done = goal, None
        self.checkpoint = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
        self.run, self.state, self.probe = run, None, None
        self.about = problem.identity() | {"solver": repr(solver)}
        if not resume:
            if os.path.exists(self.checkpoint.path):
                raise OneslackError(
                    f"{self.checkpoint.path}: there is a checkpoint already; go on from it with resume, or "
                    f"{REMOVE}."
                )
            return
        saved = self.checkpoint.load(self.about)
        if saved is not None:
            self._compare(problem, saved)
            run.go_on_with(saved)
            self.state = saved.state
            if saved.done and saved.goal == goal:
                self.done = Status[saved.done]

    def _compare(self, problem, saved):
        """Other examples of the same shape would give wrong bounds without a word."""
        if saved.probe is not None:
            there, here = saved.probe, problem.probe()
        elif saved.w is not None and self.run.proves:
            there, here = saved.primal, problem.primal(saved.w)
        else:
            return  # the identity is all there is to compare
        if not problem.is_close(here, there):
            raise FormatError(
                f"{self.checkpoint.path}: the checkpoint is of other data (its model has the objective "
                f"{there:.6g} there, {here:.6g} here); give the data it is of, or {REMOVE}."
            )

    def _probe(self, w):
        """By which to tell the problem where w does not; it costs a look at all examples, once."""
        problem = self.run.problem
        if not problem.needs_probe(w):
            return None
        if self.probe is None:
            self.probe = problem.probe()
        return self.probe

    def after(self, step, status):
        """Write where it is time, or where a run that is not done ends; a run that is done needs none."""
        is_done = status in (Status.CONVERGED, Status.EPSILON)
        if is_done and not self.checkpoint.keep:
            self.checkpoint.remove()
        elif status is not None or self.checkpoint.is_due:
            run, done = self.run, None
            if is_done:
                run.settle()  # no step will come whose P could be the last one's
                done = status.name
            saved = Saved(
                step.state(), run.w, run.primal, run.dual, run.trace, done, self.goal, run.error,
                self._probe(run.w),
            )  # fmt: skip
            self.checkpoint.save(self.about, saved)


def _table(saved):
    rows = [asdict(row) for row in saved.trace]
    return {field.name: np.array([row[field.name] for row in rows]) for field in fields(TraceRow)}


def _plain(number):
    return number.item()


# States are dicts, lists and tuples of numbers, text, arrays, sparse matrices, planes and expansions.


def _encode(value, arrays):
    """The value as JSON can hold it, its arrays moved to `arrays`."""
    from scipy import sparse

    from .cuts import Plane
    from .kernel_problem import Expansion

    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {"dict": [[_encode(k, arrays), _encode(v, arrays)] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_encode(item, arrays) for item in value]}
    if isinstance(value, np.ndarray | np.generic):
        name = f"a{len(arrays)}"
        arrays[name] = np.array(value)
        return {"array" if isinstance(value, np.ndarray) else "number": name}
    if isinstance(value, Plane):
        return {"plane": [_encode(value.normal, arrays), value.offset]}
    if isinstance(value, Expansion):
        parts = [value.index, value.coefficients, value.bias, value.norm2]
        return {"expansion": [_encode(part, arrays) for part in parts]}
    if sparse.issparse(value) and value.format == "csr":
        parts = [value.data, value.indices, value.indptr, tuple(value.shape)]
        return {"csr": [_encode(part, arrays) for part in parts]}
    raise OneslackError(f"a solver's state holds a {type(value).__name__}, which no checkpoint can keep.")


def _decode(value, arrays):
    from scipy import sparse

    from .cuts import Plane
    from .kernel_problem import Expansion

    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "array":
        return arrays[content]
    if kind == "number":
        return arrays[content][()]
    if kind == "dict":
        return {_decode(k, arrays): _decode(v, arrays) for k, v in content}
    parts = [_decode(item, arrays) for item in content]
    if kind == "plane":
        return Plane(*parts)
    if kind == "expansion":
        return Expansion(*parts)
    if kind == "csr":
        return sparse.csr_array(tuple(parts[:3]), shape=parts[3])
    return parts if kind == "list" else tuple(parts)

"""Checkpoints: a run that dies goes on from its last written step as if nothing had happened.

A checkpoint holds what `Step.state` says is enough to go on (planes or duals, random numbers), the best point
with its bounds, and the trace.  It is one file, in the container of the model files: written whole or not at
all, with a checksum, and loading it runs no code.
"""

from __future__ import annotations

import os
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields

import numpy as np

from ..errors import FormatError, OneslackError, users_level
from ..formats.atomic import remove_leftovers
from ..result import Status, Torn, Trace, TraceRow
from .state_coding import decode, encode

#: The kind of file, and what to do about one that is of no use.
KIND = "checkpoint"
#: Of what a checkpoint says about its problem; 2: the identity looks at everything.
FORMAT = 2
REMOVE = "remove it to begin anew"
ENDING = ".checkpoint"
#: A checkpoint is not written again before so many times what the last one took.
AT_MOST = 20
#: Steps after a resume in which a state that does not fit comes to light.
GUARDED = 5


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
    way: float | None = None  # of the scores behind primal, as in result.Step
    end: tuple | None = None  # (w, primal, error) that the run gave back, where it ended and that is better
    proven: tuple | None = None  # the bounds that the run gave back, where it ended
    seen: list | None = None  # how large the answers of a user's model were, for the rounding of what is kept


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
        from ..formats.model_file import save_model

        begin = time.perf_counter()
        arrays = {}
        header = {
            "kind": KIND,
            "about": about,
            "saved": encode(vars(saved) | {"trace": _table(saved)}, arrays),
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
        from ..formats.model_file import load_model

        if not os.path.exists(self.path):
            return None
        header, arrays = load_model(self.path)
        if not isinstance(header, dict) or header.get("kind") != KIND:
            raise FormatError(
                f"{self.path}: is a model, not a checkpoint; name another file for the checkpoint."
            )
        known = header.get("about")
        if not isinstance(known, dict):
            raise FormatError(f"{self.path}: the checkpoint does not say what it is of; {REMOVE}.")
        if known.get("format") != FORMAT:
            raise FormatError(
                f"{self.path}: the checkpoint was written by another version of oneslack; {REMOVE}."
            )
        for name, value in about.items():
            before = known.get(name)
            if before != value:
                what = "other data" if name == "data" else f"another run ({name} {before}, now {value})"
                raise FormatError(
                    f"{self.path}: the checkpoint is of {what}; name another file, or {REMOVE}."
                )
        with _damage_told(self.path, "the checkpoint is damaged"):
            return _saved(dict(header["saved"]["dict"]), arrays)

    def remove(self):
        """The run is over; nobody needs to go on."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)
        remove_leftovers(self.path)


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
        self.run, self.state = run, None
        self.about = {"format": FORMAT, **problem.identity(), "solver": repr(solver)}
        if not resume:
            if os.path.exists(self.checkpoint.path):
                raise OneslackError(
                    f"{self.checkpoint.path}: there is a checkpoint already; go on from it with resume, or "
                    f"{REMOVE}."
                )
            return
        saved = self.checkpoint.load(self.about)
        if saved is not None:
            with _damage_told(self.checkpoint.path, "the checkpoint does not fit the problem"):
                _check_points(problem, saved)
                self._compare(problem, saved)
            with self._blame():
                run.go_on_with(saved)
            run.blame = self._blame
            self.state = saved.state
            if saved.done and saved.goal == goal:
                self.done = Status[saved.done]

    def _compare(self, problem, saved):
        """Of what is unseen the objective may tell something; the rest is for the user to know."""
        unseen = self.about["unseen"]
        if unseen is None:
            return
        knows = saved.w is not None and self.run.proves
        if knows and not problem.has_objective(saved.w, saved.primal):
            raise FormatError(
                f"{self.checkpoint.path}: the checkpoint is of other data (its model has the objective "
                f"{saved.primal:.6g} there, {problem.primal(saved.w):.6g} here); give the data it is of, or "
                f"{REMOVE}."
            )
        warnings.warn(
            f"{self.checkpoint.path}: {unseen}, which cannot be compared with the one of the run that was "
            "written down; the bounds are true only if it is the same.",
            stacklevel=users_level(),
        )

    def _blame(self):
        """Tells of whatever goes wrong that the checkpoint is to blame."""
        return _damage_told(self.checkpoint.path, "the run cannot go on from the checkpoint")

    def guarded(self, steps):
        """The steps; where one of the first fails after a resume, it is the state that does not fit."""
        for _ in range(GUARDED if self.state is not None else 0):
            with self._blame():
                step = next(steps, None)
            if step is None:
                return
            yield step
        yield from steps

    @property
    def written(self):
        """The path, where there is a checkpoint."""
        return self.checkpoint.path if os.path.exists(self.checkpoint.path) else None

    def is_spent(self, max_iter) -> bool:
        """Whether the run has its steps already."""
        run = self.run
        # Where P was never computed only a step can tell the point.
        return len(run.trace) >= max_iter and (run.w is not None or run.end is not None)

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
            saved = Saved(step.state(), run.w, run.primal, run.dual, run.trace, done, self.goal, run.error)
            saved.seen, saved.way = run.problem.seen, run.way
            if status is not None:
                # Beside w, not in its place: a run that goes on must not depend on where it was cut.
                run.settle()
                saved.end = None if run.w is saved.w else (run.w, run.primal, run.error)
                proven = run.prove(self.goal[0])
                saved.proven = None if proven is None else tuple(proven)[:4]
            self._save(saved, is_last=status is not None)

    def _save(self, saved, is_last):
        try:
            self.checkpoint.save(self.about, saved)
        except OneslackError as error:
            if not is_last:
                raise
            # The result is at hand, and must not be lost for want of a place to go on from.
            warnings.warn(str(error), RuntimeWarning, stacklevel=users_level())


@contextmanager
def _damage_told(path, what):
    """A file may lie though its checksum fits: whatever its contents then raise is told in a sentence."""
    try:
        yield
    except (FormatError, Torn):
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise FormatError(
            f"{path}: {what} ({reason}); give the data and the model that it is of, or {REMOVE}."
        ) from error


def _table(saved):
    """The trace by columns, without those that say nothing."""
    columns = {field.name: saved.trace.column(field.name) for field in fields(TraceRow)}
    return {name: column for name, column in columns.items() if not np.isnan(column).all()}


def _saved(parts, arrays) -> Saved:
    """What `save` was given; a ValueError, TypeError or KeyError where it is not that."""
    columns = {name: arrays[place["array"]] for name, place in parts.pop("trace")["dict"]}
    if not all(column.ndim == 1 and column.dtype.kind in "if" for column in columns.values()):
        raise ValueError("the trace holds what is no column of numbers")
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    parts = {name: decode(value, arrays) for name, value in parts.items()}
    rows = ({name: value for name, value in zip(columns, row) if value == value} for row in rows)
    saved = Saved(**parts, trace=Trace(TraceRow(**row) for row in rows))
    points = [(saved.w, saved.primal, saved.error), *([] if saved.end is None else [saved.end])]
    numbers = [saved.dual, *(number for _, *both in points for number in both)]
    numbers += [*(saved.proven or ()), *(saved.seen or ()), saved.way or 0.0]
    if not all(isinstance(number, int | float) and number == number for number in numbers):
        raise ValueError("an objective, a bound or an error is no number")
    if len(saved.proven or range(4)) != 4 or not isinstance(saved.seen, list | None):
        raise ValueError("its proven bounds are not four numbers, or what was seen is no list")
    if not isinstance(saved.state, dict) or not saved.trace:
        raise ValueError("there is no state to go on from, or no trace of it")
    if saved.done is not None:
        Status[saved.done]
    return saved


def _check_points(problem, saved):
    """The best point, and the one that the run gave back, must be points of the problem."""
    for w in (saved.w, saved.end and saved.end[0]):
        if isinstance(w, np.ndarray):
            if w.shape != (problem.n_params,) or w.dtype != np.float64 or not np.isfinite(w).all():
                raise ValueError(f"its weights are not {problem.n_params} finite numbers")
        elif w is not None and (not hasattr(w, "index") or w.index.max(initial=-1) >= problem.n):
            raise ValueError("its expansion is none over the examples")

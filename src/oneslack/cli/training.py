"""From a file of examples to a model with a certificate: read, fit, save, report.

Whatever is learned, a training goes this way; `kinds.targets.Subject` says what differs.
"""

from __future__ import annotations

import math
import re
import signal
import sys
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._jit.clock import compiling, now, watched
from . import dev_set
from .given_options import given_options
from .output import Exit, Refusal, complain, fitted, print_json


@dataclass(frozen=True)
class Examples:
    """What was read: a Table, the Source that the model will remember, and how long it took."""

    table: Any
    source: Any
    seconds: float

    @property
    def path(self) -> str:
        return self.table.path

    @property
    def X(self):
        return self.table.X

    @property
    def y(self):
        return None if self.is_streamed else self.table.y

    @cached_property
    def labels(self) -> list:
        """Those of a file to classify, sorted."""
        from ..kinds.targets import labels_of

        return labels_of(self.table)

    @property
    def is_streamed(self) -> bool:
        """Whether the examples stay on disk."""
        return hasattr(self.table, "shards")

    @property
    def title(self) -> str:
        return "{:,} × {:,}".format(*self.table.X.shape)

    def size(self, model) -> dict:
        return {"examples": self.table.X.shape[0], "features": self.table.X.shape[1]}

    def words(self, facts) -> str:
        label = getattr(self.table, "label_name", None)
        which = f", labels from the column {label}" if label else ""
        return f"{facts['examples']:,} examples, {facts['features']:,} features{which}"


def read(file, label, zero_based, group=None, what="labels", streamed=False, columns=None) -> Examples:
    """The examples of a file; `what` names its targets in a complaint.  A packed folder is loaded, or used
    where it lies if it can be `streamed`.  `columns` are ColumnOptions of a CSV."""
    from . import data
    from .packed import PackedTable

    clock = now()
    table, source = data.read_any(file, label, zero_based, group, streamed, columns)
    if (table.X.manifest.labels if isinstance(table, PackedTable) else table.y) is None:
        raise Refusal(f"{file}: holds no {what}; training needs one for each example.")
    if 0 in table.X.shape:
        raise Refusal(f"{file}: its examples have no features; there is nothing to learn from.")
    return Examples(table, source, now() - clock)


def build(name, **parameters):
    """An estimator by the name of its class."""
    from ..kinds.registry import estimator_of

    return estimator_of(name)(**parameters)


def stream(model, examples, memory, seed, quiet):
    """Set the budget of memory, and say what will be needed, where examples stay on disk: so many bytes, or
    None."""
    from . import packed

    if getattr(model, "engine", None) is not None:  # the workers read their parts of the shards themselves
        packed.refuse_memory_of_workers(memory)
        return None
    if examples.is_streamed or memory is not None or model.solver == "streaming":
        packed.use_memory(model, memory, seed)
    return packed.say_memory(model, examples.table, quiet) if examples.is_streamed else None


def subject_of(model, examples):
    """What is learned, by the kind of the model; refused where the examples do not suit it."""
    from ..kinds.registry import kind_of

    return kind_of(type(model).__name__).subject(examples, model)


def train(model, examples, output, telling, keeping=None, subject=None, estimate=None, dev=None) -> int:
    """Fit the model, save and report it; the exit code.  `keeping` is a CheckpointFolder or None; `estimate`
    the number of bytes that was announced, or None; `dev` a Validation or None."""
    subject = subject or subject_of(model, examples)
    if not telling.quiet:
        _remark_on_index(examples)
    model._keeps_up_to = math.inf  # the examples are here anyway until the model is saved
    with _logs(telling, output) as logs:
        signal_number = _fit(model, examples, subject, telling.quiet, keeping, dev, logs)
    facts = _facts(model, examples, subject, output, signal_number, estimate) | dev_set.facts_of(model, dev)
    if facts["steps"] == 0:
        raise Refusal("interrupted before there was a model; nothing was written.", Exit(facts["exit_code"]))
    _save(model, output, examples.source, facts, telling.proof)
    if keeping is not None:
        if facts["exit_code"] == Exit.OK:
            keeping.remove()
        else:
            facts["checkpoint"] = keeping.path
    return _report(facts, examples, subject, telling)


def _remark_on_index(examples):
    from .table_columns import remark_on_index

    if not getattr(examples, "is_streamed", True) and (remark := remark_on_index(examples.table)):
        complain(remark)


@contextmanager
def _logs(telling, output):
    """Yield the loggers that were asked for, and close them."""
    if not telling.log:
        yield []
        return
    from ..loggers import logger_from

    with ExitStack() as stack:
        params = {"options": " ".join(given_options() or [])}
        try:
            logs = [logger_from(text, run_name=str(output), params=params) for text in telling.log]
        except (ValueError, ImportError) as error:
            raise Refusal(f"--log: {error}.", Exit.USAGE) from error
        yield [stack.enter_context(log) for log in logs]


def _fit(model, examples, subject, quiet, keeping, dev, logs) -> int | None:
    """Train; the answer is the signal that cut it short, if one did."""
    from sklearn.exceptions import ConvergenceWarning

    from ..errors import Interrupted
    from .interrupt import Interrupt
    from .progress import progress

    title = f"{examples.path}: {examples.title}, {subject.words}"
    tol = model.tol if model._stopping_epsilon() is None else None
    with Interrupt() as interrupt, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said by _report, with the exit code
        with progress(title, tol, subject.n_problems, quiet) as show, watched(show.compiling):
            watch = {"callbacks": [show, interrupt, *logs], "checkpoint": keeping}
            watch |= {} if dev is None else {"validation": dev}
            try:
                model.fit(examples.X, examples.y, **subject.fit, **watch)
            except Interrupted:
                pass  # the model so far is stored, and its status says so
            except ValueError as error:
                raise Refusal(f"{examples.path}: {error}") from error
    return interrupt.asked_by


def _facts(model, examples, subject, output, signal_number, estimate) -> dict:
    """All there is to say about a training, as JSON can hold it."""
    results = model.result_.parts
    worst = max(results, key=lambda result: (not result.status.ok, result.gap))
    reached = all(result.status.name in ("CONVERGED", "EPSILON", "VALIDATED") for result in results)
    cut_short = not reached and (signal_number or any(r.status.name == "INTERRUPTED" for r in results))
    status = "INTERRUPTED" if cut_short else worst.status.name
    stopped = Exit.TERMINATED if signal_number == signal.SIGTERM else Exit.INTERRUPTED
    code = Exit.OK if reached else stopped if cut_short else Exit.NOT_REACHED
    return {
        "data": examples.path,
        "model": output,
        **examples.size(model),
        **subject.facts,
        "status": status.lower(),
        "advice": _advice(type(worst.status)[status]),
        "certified": all(result.certified for result in results),
        "primal": float(model.objective_),
        "dual": float(model.dual_objective_),
        "relative_gap": float(model.duality_gap_),
        "tol": model.tol,
        "epsilon": model._stopping_epsilon(),
        "solver": worst.solver,
        "reason": worst.reason,
        "steps": int(sum(result.n_iter for result in results)),
        "memory_estimate": estimate,
        "options": given_options(),
        "seconds": sum(result.seconds for result in results),
        "read_seconds": examples.seconds,
        "compile_seconds": compiling.seconds,
        "exit_code": int(code),
    }


def _advice(status) -> str:
    """The status in the words of the command line."""
    return re.sub(r"\b(max_iter|time_limit|tol)\b", lambda m: "--" + m[0].replace("_", "-"), status.advice)


def _save(model, output, source, facts, proof):
    from ..estimators._saving.proof import no_proof
    from .model_store import save

    facts["proof"] = None
    if proof:
        from ..checks.proof import checker_lines

        if (why := no_proof(model)) is None:
            facts["proof"] = checker_lines(model)
        else:
            complain(f"saved without a proof: {why}.")

    # What is not finite (a bound that was never found) JSON cannot hold.
    known = {
        name: value for name, value in facts.items()
        if name not in ("model", "classes", "exit_code")
        and not (isinstance(value, float) and not math.isfinite(value))
    }  # fmt: skip
    save(model, output, source, known, bool(facts["proof"]))


def _report(facts, examples, subject, telling) -> int:
    if telling.as_json:
        print_json(facts)
    elif not telling.quiet:
        print(fitted(_summary(facts, examples, subject), sys.stdout))
    code = Exit(facts["exit_code"])
    if code != Exit.OK:
        from ..certificate.words import distance

        far = distance(facts["primal"], facts["dual"])
        on = "; --resume goes on from here" if "checkpoint" in facts else ""
        complain(f"{facts['advice']}; saved {facts['model']}: {far}{on}.")
    return code


def _summary(facts, examples, subject) -> str:
    from ..certificate.words import distance
    from .progress import number

    kind = "certified" if facts["certified"] else "estimated"
    remark = f"  {subject.remark}\n" if subject.remark else ""
    remark += dev_set.words_of(facts) if "dev_score" in facts else ""
    return (
        f"{facts['model']}: {distance(facts['primal'], facts['dual'])} ({kind})\n"
        f"  objective {number(facts['primal'])}, optimum at least {number(facts['dual'])}\n"
        f"  {examples.words(facts)}, {subject.words}; read in {facts['read_seconds']:.2f} s"
        f"{_compiled(facts)}\n{remark}"
        f"  {facts['solver']}: {facts['steps']:,} steps in {facts['seconds']:.2f} s ({facts['reason']})"
        + (f"\n  {proof_words(facts)}" if facts["proof"] else "")
    )


def proof_words(facts) -> str:
    """How to check a model that carries its proof."""
    import shlex

    words = shlex.join(["oneslack", "verify", str(facts["model"]), str(facts["data"])])
    return f"proven by {facts['proof']} lines of NumPy you can read: `{words}` recomputes both bounds"


def _compiled(facts) -> str:
    """What was compiled first, if anything was."""
    from .progress import COMPILING

    seconds = facts["compile_seconds"]
    return f"; {COMPILING.replace('compiling', 'compiled')}, in {seconds:.1f} s" if seconds else ""

"""`oneslack train classify`: from a file of examples to a model with a certificate."""

from __future__ import annotations

import re
import time
import warnings
from enum import StrEnum
from typing import Annotated

import typer

from .options import DataFile, Json, Label, ZeroBased, not_negative, positive
from .output import Exit, Refusal, check_writable, complain, guarded, print_json


class Solver(StrEnum):
    """Names of solvers."""

    auto = "auto"
    dual_cd = "dual_cd"
    newton = "newton"
    one_slack = "one_slack"


class MultiClass(StrEnum):
    """Ways to treat more than two classes."""

    crammer_singer = "crammer_singer"
    ovr = "ovr"


@guarded
def classify(
    file: DataFile,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="MODEL", help="Write here.", show_default=False)
    ],
    C: Annotated[
        float,
        typer.Option("-C", help="Weight of the sum of the hinges, as in LIBLINEAR.", callback=positive),
    ] = 1.0,
    tol: Annotated[
        float, typer.Option(help="Stop at this relative duality gap.", callback=not_negative)
    ] = 1e-3,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Stop by the papers' rule instead: no constraint violated by more (mean loss).",
            callback=positive, show_default=False,
        ),
    ] = None,
    solver: Annotated[Solver, typer.Option(help="How to solve it; auto chooses and says why.")] = Solver.auto,
    multi_class: Annotated[
        MultiClass, typer.Option(help="More than two classes: all at once, or one problem a class.")
    ] = MultiClass.crammer_singer,
    class_weight: Annotated[
        str | None,
        typer.Option(
            metavar="balanced|LABEL=W,...", help="Let errors on a class count W times.", show_default=False
        ),
    ] = None,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Learn no intercept.")] = False,
    max_iter: Annotated[int, typer.Option(help="Stop after so many steps.", min=1)] = 100_000,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop training after so long.", callback=positive,
                     show_default=False),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Threads. (default: all cores)", min=1, show_default=False)
    ] = None,
    label: Label = None,
    zero_based: ZeroBased = None,
    seed: Annotated[
        int, typer.Option(help="Of the order in which examples are visited.", min=0, max=2**31 - 1)
    ] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    as_json: Json = False,
):  # fmt: skip
    """Train a linear classifier, binary or multi-class, to a certified distance from the optimum.

    Ctrl-C keeps the best model so far and says its gap.
    """
    check_writable(output, inputs=[file])
    from ..estimators import LinearSVC

    clock = time.perf_counter()
    table, source = _read(file, label, zero_based)
    read_seconds = time.perf_counter() - clock
    model = LinearSVC(
        C, tol=tol, epsilon=epsilon, solver=solver.value, multi_class=multi_class.value,
        fit_intercept=not no_intercept, class_weight=_class_weight(class_weight, table, file),
        n_jobs=jobs, max_iter=max_iter, time_limit=time_limit, random_state=seed,
    )  # fmt: skip
    interrupted = _fit(model, table, quiet)
    facts = _facts(model, file, output, table, read_seconds, interrupted)
    if facts["steps"] == 0:
        raise Refusal("interrupted before there was a model; nothing was written.", Exit.INTERRUPTED)
    _save(model, output, source, facts)
    return _report(facts, quiet, as_json)


def _read(file, label, zero_based):
    import numpy as np

    from .data import read_labelled

    table, source = read_labelled(file, label, zero_based)
    if 0 in table.X.shape:
        raise Refusal(f"{file}: its examples have no features; there is nothing to learn from.")
    if table.y.dtype.kind == "f":
        raise Refusal(
            f"{file}: labels such as {_a_fraction(table.y):g} are not classes; use whole numbers or names, "
            "or name the label's column with --label."
        )
    if len(np.unique(table.y)) < 2:
        raise Refusal(
            f"{file}: all examples have the label {table.y[0].item()!r}; classification needs at least two."
        )
    return table, source


def _a_fraction(y):
    return y[y != y.round()][0] if (y != y.round()).any() else y[0]


def _class_weight(text, table, file):
    """None, "balanced" or {label: weight} from LABEL=W,..."""
    if text is None or text == "balanced":
        return text
    import numpy as np

    classes = {str(value): value for value in np.unique(table.y).tolist()}
    weights = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        name = name.strip()
        if not equals:
            raise Refusal(f"--class-weight: {part!r} is not LABEL=WEIGHT, nor balanced.", Exit.USAGE)
        if name not in classes:
            known = ", ".join(list(classes)[:20])
            raise Refusal(f"--class-weight: {file} has no label {name!r}; it has {known}.", Exit.USAGE)
        if classes[name] in weights:
            raise Refusal(f"--class-weight: the label {name!r} stands there twice.", Exit.USAGE)
        weights[classes[name]] = _weight(number, part)
    return weights


def _weight(text, part):
    import math

    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        raise Refusal(f"--class-weight: the weight in {part!r} is not a positive number.", Exit.USAGE)
    return weight


def _fit(model, table, quiet) -> bool:
    """Train; the answer tells whether Ctrl-C cut it short."""
    from sklearn.exceptions import ConvergenceWarning

    from .interrupt import Interrupt
    from .progress import progress

    n_classes = len(set(table.y.tolist()))
    n_problems = n_classes if n_classes > 2 and model.multi_class == "ovr" else 1
    title = f"{table.path}: {table.X.shape[0]:,} × {table.X.shape[1]:,}, {n_classes} classes"
    tol = model.tol if model.epsilon is None else None
    with Interrupt() as interrupt, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said by _report, with the exit code
        with progress(title, tol, n_problems, quiet) as show:
            model._row_callbacks = [show, interrupt]
            try:
                model.fit(table.X, table.y)
            except ValueError as error:
                raise Refusal(f"{table.path}: {error}") from error
    return interrupt.asked


def _facts(model, file, output, table, read_seconds, interrupted) -> dict:
    """All there is to say about a training, as JSON can hold it."""
    results = model.result_ if isinstance(model.result_, list) else [model.result_]
    worst = max(results, key=lambda result: (not result.status.ok, result.gap))
    reached = all(result.status.name in ("CONVERGED", "EPSILON") for result in results)
    cut_short = not reached and (interrupted or any(r.status.name == "INTERRUPTED" for r in results))
    status = "INTERRUPTED" if cut_short else worst.status.name
    code = Exit.OK if reached else Exit.INTERRUPTED if cut_short else Exit.NOT_REACHED
    return {
        "data": file,
        "model": output,
        "examples": table.X.shape[0],
        "features": table.X.shape[1],
        "classes": model.classes_.tolist(),
        "status": status.lower(),
        "advice": _advice(type(worst.status)[status]),
        "certified": all(result.certified for result in results),
        "primal": float(model.objective_),
        "dual": float(model.dual_objective_),
        "relative_gap": float(model.duality_gap_),
        "tol": model.tol,
        "epsilon": model.epsilon,
        "solver": worst.solver,
        "reason": worst.reason,
        "steps": int(sum(result.n_iter for result in results)),
        "seconds": sum(result.seconds for result in results),
        "read_seconds": read_seconds,
        "exit_code": int(code),
    }


def _advice(status) -> str:
    """The status in the words of the command line."""
    return re.sub(r"\b(max_iter|time_limit|tol)\b", lambda m: "--" + m[0].replace("_", "-"), status.advice)


def _save(model, output, source, facts):
    import math

    from .model_store import save

    # What is not finite (a bound that was never found) JSON cannot hold.
    known = {
        name: value for name, value in facts.items()
        if name not in ("model", "classes", "exit_code")
        and not (isinstance(value, float) and not math.isfinite(value))
    }  # fmt: skip
    save(model, output, source, known)


def _report(facts, quiet, as_json) -> int:
    if as_json:
        print_json(facts)
    elif not quiet:
        print(_summary(facts))
    code = Exit(facts["exit_code"])
    if code != Exit.OK:
        from .progress import distance

        far = distance(facts["primal"], facts["dual"])
        complain(f"{facts['advice']}; saved {facts['model']}: {far}.")
    return code


def _summary(facts) -> str:
    from .progress import distance, number

    kind = "certified" if facts["certified"] else "estimated"
    return (
        f"{facts['model']}: {distance(facts['primal'], facts['dual'])} ({kind})\n"
        f"  objective {number(facts['primal'])}, optimum at least {number(facts['dual'])}\n"
        f"  {facts['examples']:,} examples, {facts['features']:,} features, "
        f"{len(facts['classes'])} classes; read in {facts['read_seconds']:.2f} s\n"
        f"  {facts['solver']}: {facts['steps']:,} steps in {facts['seconds']:.2f} s ({facts['reason']})"
    )

"""`oneslack demo`: real data, the certificate, and scikit-learn on the same split beside it."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from .output import check_writable, guarded


@guarded
def demo(
    output: Annotated[
        str, typer.Option("--output", metavar="DIR", help="Where the picture goes.")
    ] = "demo-output",
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Draw no picture.")] = False,
):
    """Show it all on real data, beside scikit-learn.

    The data come with scikit-learn; the picture of the closing gap needs matplotlib.
    """
    from rich.console import Console

    picture = None if no_plot else _picture_path(output)
    console = Console(highlight=False)
    console.print("[bold]oneslack demo[/bold]: every model comes with a certificate, the duality gap\n")
    tasks = _tasks()
    _compile(tasks, console)
    traces = [_show(task, console) for task in tasks]
    if picture is not None:
        _draw(picture, tasks, traces, console)


@dataclass(frozen=True)
class Task:
    """A data set, split; `sklearn` are the parameters that make scikit-learn solve the same problem."""

    name: str
    about: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    sklearn: dict


@dataclass(frozen=True)
class Row:
    """One line of the comparison."""

    name: str
    accuracy: float
    primal: float
    seconds: float
    note: str


def _tasks():
    from sklearn.datasets import load_breast_cancer, load_digits

    X, y = load_breast_cancer(return_X_y=True)
    digits, digit = load_digits(return_X_y=True)
    return [
        _split("Breast cancer", "two classes, raw columns from 0.001 to 4000", X, y, {}),
        _split("Handwritten digits", "ten classes, 8 × 8 pixels", digits / 16, digit,
               {"multi_class": "crammer_singer"}),
    ]  # fmt: skip


def _split(name, about, X, y, sklearn):
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    return Task(name, about, X, y, X_test, y_test, sklearn)


def _compile(tasks, console):
    """Let numba compile the loops first, so that the times below are times of training."""
    clock = time.perf_counter()
    for task in tasks:
        for solver in ("auto", "one_slack"):
            _fit(task, solver, max_iter=3)
    console.print(
        f"[dim]loops compiled or fetched from the cache in {time.perf_counter() - clock:.1f} s[/dim]"
    )


def _fit(task, solver, callbacks=(), **options):
    from sklearn.exceptions import ConvergenceWarning

    import oneslack

    model = oneslack.LinearSVC(solver=solver, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says it
        return model.fit(task.X, task.y, callbacks=callbacks)


def _show(task, console):
    """Train and compare; returns (trace of the cutting planes, scikit-learn's objective)."""
    from .progress import progress

    n, d = task.X.shape
    console.print(f"\n[bold]{task.name}[/bold]: {n:,} × {d:,} to train on, {task.about}")
    with progress("closing the gap", 1e-3) as show:
        planes = _fit(task, "one_slack", callbacks=[show])
    best = _fit(task, "auto")
    lower = max(planes.dual_objective_, best.dual_objective_)
    rows = [_our_row(task, best), _our_row(task, planes), _their_row(task)]
    console.print(_comparison(rows, lower))
    return planes.result_.trace, rows[-1].primal


def _our_row(task, model):
    result = model.result_
    note = "certified" if result.gap < 1 else "no lower bound"
    name = f"oneslack, {result.solver}"
    return Row(name, model.score(task.X_test, task.y_test), result.primal, result.seconds, note)


def _their_row(task):
    from sklearn.svm import LinearSVC

    model = LinearSVC(loss="hinge", random_state=0, **task.sklearn)
    clock = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(task.X, task.y)
    seconds = time.perf_counter() - clock
    note = "not converged" if said else "no certificate"
    accuracy = model.score(task.X_test, task.y_test)
    return Row("scikit-learn", accuracy, _primal(task, model), seconds, note)


def _primal(task, model):
    """The objective that oneslack minimises, at scikit-learn's weights."""
    import numpy as np

    from ..models import Binary, Multiclass
    from ..problems.in_memory import Problem

    d, K = task.X.shape[1], len(model.classes_)
    codes = np.searchsorted(model.classes_, task.y)
    if K == 2:
        problem = Problem(Binary(d, True), task.X, np.where(codes == 1, 1.0, -1.0))
        return problem.primal(np.append(model.coef_[0], model.intercept_))
    problem = Problem(Multiclass(d, K, True), task.X, codes)
    return problem.primal(np.vstack([model.coef_.T, model.intercept_]).ravel())


def _comparison(rows, lower):
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for name in ("test\naccuracy", "\nobjective", "above the\noptimum", "\nseconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in rows:
        table.add_row(
            row.name, f"{100 * row.accuracy:.1f} %", f"{row.primal:.2f}",
            f"≤ {100 * (row.primal / lower - 1):.2f} %", f"{row.seconds:.3f}", f"[dim]{row.note}[/dim]",
        )  # fmt: skip
    return table


def _picture_path(folder):
    """The path of the picture, in a folder that exists and takes it."""
    from .output import Refusal

    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Refusal(f"{folder}: cannot be made a folder ({error.strerror}); name another.") from error
    path = os.path.join(folder, "convergence.png")
    check_writable(path)
    return path


def _draw(path, tasks, traces, console):
    try:
        from .demo_plot import draw
    except ImportError:
        console.print('\n[dim]No picture: it needs matplotlib, as in  pip install "oneslack\\[plot]"[/dim]')
        return
    draw(path, [(task.name, trace, theirs) for task, (trace, theirs) in zip(tasks, traces)])
    console.print(f"\nThe closing bounds are drawn in [bold]{path}[/bold]")

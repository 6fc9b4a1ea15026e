"""`oneslack demo`: real data, the certificate, and scikit-learn on the same split beside it."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from .output import Refusal, check_writable, guarded, writing
from .progress import progress


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


def _tasks():
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.model_selection import train_test_split

    tasks = []
    for name, about, data, sklearn in (
        ("Breast cancer", "two classes, raw columns from 0.001 to 4000", load_breast_cancer(), {}),
        ("Handwritten digits", "ten classes, 8 × 8 pixels", load_digits(), {"multi_class": "crammer_singer"}),
    ):
        X = data.data / 16 if sklearn else data.data
        X, X_test, y, y_test = train_test_split(
            X, data.target, test_size=0.25, random_state=0, stratify=data.target
        )
        tasks.append(Task(name, about, X, y, X_test, y_test, sklearn))
    return tasks


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
    from rich.table import Table

    n, d = task.X.shape
    console.print(f"\n[bold]{task.name}[/bold]: {n:,} × {d:,} to train on, {task.about}")
    with progress("closing the gap", 1e-3) as show:
        planes = _fit(task, "one_slack", callbacks=[show])
    best, (theirs, seconds, converged) = _fit(task, "auto"), _their_fit(task)
    lower, their_primal = max(planes.dual_objective_, best.dual_objective_), _primal(task, theirs)
    rows = [
        (f"oneslack, {one.result_.solver}", one, one.result_.primal, one.result_.seconds,
         "certified" if one.result_.gap < 1 else "no lower bound")
        for one in (best, planes)
    ]  # fmt: skip
    rows.append(
        ("scikit-learn", theirs, their_primal, seconds, "no certificate" if converged else "not converged")
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for name in ("test\naccuracy", "\nobjective", "above the\noptimum", "\nseconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name, model, primal, seconds, note in rows:
        table.add_row(
            name, f"{100 * model.score(task.X_test, task.y_test):.1f} %", f"{primal:.2f}",
            f"≤ {100 * (primal / lower - 1):.2f} %", f"{seconds:.3f}", f"[dim]{note}[/dim]",
        )  # fmt: skip
    console.print(table)
    return planes.result_.trace, their_primal


def _their_fit(task):
    """(scikit-learn's model, seconds, whether it said nothing of not converging)."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(loss="hinge", random_state=0, **task.sklearn)
    clock = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(task.X, task.y)
    return model, time.perf_counter() - clock, not said


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


def _picture_path(folder):
    """The path of the picture, in a folder that exists and takes it."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Refusal(f"{folder}: cannot be made a folder ({error.strerror}); name another.") from error
    path = os.path.join(folder, "convergence.png")
    check_writable(path)
    return path


def _draw(path, tasks, traces, console):
    """The band between the two bounds, which closes on the optimum, and where scikit-learn stopped."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        console.print('\n[dim]No picture: it needs matplotlib, as in  pip install "oneslack\\[plot]"[/dim]')
        return
    from ..viz.bounds import plot_bounds
    from ..viz.look import NEGATIVE

    figure = Figure(figsize=(5.6 * len(tasks), 4.6), layout="constrained", dpi=150)
    panels = figure.subplots(1, len(tasks), squeeze=False)[0]
    for axes, task, (trace, theirs) in zip(panels, tasks, traces):
        plot_bounds(trace, labels=[task.name], ax=axes)
        above = 100 * (theirs / trace[-1].primal - 1)
        axes.axhline(theirs, color=NEGATIVE, linestyle="--", label=f"scikit-learn stopped: {above:+.1f} %")
        axes.legend(frameon=False)
    with writing(path, text=False) as file:
        figure.savefig(file, format="png")
    console.print(f"\nThe closing bounds are drawn in [bold]{path}[/bold]")

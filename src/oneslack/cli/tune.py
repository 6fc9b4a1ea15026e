"""`oneslack tune`: choose C, and the width of a kernel, by cross-validation."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import typer

from .options import (
    ClassWeight,
    DataFile,
    Group,
    Jobs,
    Json,
    Label,
    Metric,
    NoIntercept,
    PosLabel,
    Quiet,
    Telling,
    Tol,
    ZeroBased,
    not_negative,
)
from .output import Exit, Refusal, check_writable, guarded
from .table_columns import ColumnOptions


def numbers(text: str | None) -> list[float] | None:
    """A callback of an option that is numbers: 0.1,1,10, or LOW:HIGH:COUNT in equal ratios."""
    if text is None:
        return None
    import numpy as np

    try:
        if ":" in text:
            low, high, count = text.split(":")
            values = np.geomspace(float(low), float(high), int(count))
        else:
            values = np.array([float(part) for part in text.split(",")])
    except ValueError:
        values = np.array([np.nan])
    if not len(values) or not (np.isfinite(values).all() and (values > 0).all()):
        raise typer.BadParameter(f"{text!r} is not positive numbers such as 0.1,1,10 or 0.001:100:10")
    return [float(f"{value:.12g}") for value in values]


def _estimator(task, gamma, metric):
    """(name of the estimator, its parameters)."""
    if task in ("regress", "rank", "ordinal"):
        return {"regress": "LinearSVR", "rank": "RankSVM", "ordinal": "OrdinalSVC"}[task], {}
    if metric is not None:
        return "MetricSVC", {"metric": metric}
    return ("LinearSVC" if gamma is None else "KernelSVC"), {}


def _parameters(of, tol, jobs, no_intercept, tube):
    """The same with what else it takes."""
    kind, options = of
    options |= {"tol": tol, "n_jobs": jobs}
    if kind in ("LinearSVC", "LinearSVR", "MetricSVC"):
        options |= {"fit_intercept": not no_intercept}
    if kind in ("LinearSVC", "LinearSVR", "MetricSVC", "KernelSVC"):
        options |= {"random_state": 0}
    if kind == "LinearSVR":
        options |= {"epsilon": tube}
    return kind, options


def _refuse_others(task, **given):
    """Refuse options of other tasks."""
    takes = {"gamma": (None, "classify"), "metric": (None, "classify"), "group": ("rank",),
             "class_weight": (None, "classify", "ordinal")}  # fmt: skip
    words = {"gamma": "classes", "metric": "classes", "group": "--task rank", "class_weight": "classes"}
    for name, value in given.items():
        if value is not None and task not in takes[name]:
            option = f"--{name.replace('_', '-')}"
            raise Refusal(f"{option} is for {words[name]}; drop it, or --task {task}.", Exit.USAGE)
    if given["gamma"] is not None and given["metric"] is not None:
        raise Refusal("--metric is for linear models; drop it, or --gamma.", Exit.USAGE)
    if given["metric"] in ("fbeta", "precision_at_k", "recall_at_k"):
        sentence = f"--metric {given['metric']} needs numbers of its own; use oneslack.tune in Python."
        raise Refusal(sentence, Exit.USAGE)


def _check_outputs(file, output, plot):
    """Refuse places that cannot be written to."""
    if output is not None and plot is not None and os.path.realpath(output) == os.path.realpath(plot):
        raise Refusal(f"{plot}: cannot hold both the model and the picture; name another.", Exit.USAGE)
    for path in (output, plot):
        if path is not None:
            check_writable(path, inputs=[file])


def _read(file, task, label, zero_based, group, columns):
    from . import training

    what = "targets" if task in ("regress", "rank") else "labels"
    examples = training.read(file, label, zero_based, group, what, columns=columns)
    if getattr(examples.table, "qid", None) is not None and task is None:
        raise Refusal(f"{file}: has queries; say --task rank to order them, or --task classify.", Exit.USAGE)
    return examples


def _label(text, examples, file):
    from .train_terms import positive_label

    return positive_label(text, examples.labels, file)


@guarded
def tune(
    *,
    file: DataFile,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="MODEL",
            help="Train on all examples with the best parameters, and write the model here.",
        ),
    ] = None,
    task: Annotated[
        Literal["classify", "regress", "rank", "ordinal"] | None,
        typer.Option(help="Classes, numbers, an order in queries, classes in an order. (default: classify)"),
    ] = None,
    metric: Annotated[
        Metric | None, typer.Option(help="For classes: train for this measure, and compare by it.")
    ] = None,
    pos_label: PosLabel = None,
    class_weight: ClassWeight = None,
    C: Annotated[
        str,
        typer.Option(
            "-C", metavar="NUMBERS", callback=numbers,
            help="What to try: 0.1,1,10, or LOW:HIGH:COUNT in equal ratios.",
        ),
    ] = "0.001:100:10",
    gamma: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS", callback=numbers,
            help="For classes: an rbf kernel instead of a linear model, with these widths.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(help="Of the cross-validation.", min=2)] = 5,
    scoring: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A scorer of scikit-learn, such as f1_macro. (default: accuracy; R2 of numbers)",
        ),
    ] = None,
    tol: Tol = 1e-3,
    tube: Annotated[
        float, typer.Option(help="Of numbers: errors up to this cost nothing.", callback=not_negative)
    ] = 0.0,
    no_intercept: NoIntercept = False,
    try_all: Annotated[
        bool, typer.Option("--all", help="Try every C, even once larger ones only fit worse.")
    ] = False,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the scores (.png, .svg or .pdf)."),
    ] = None,
    jobs: Jobs = None,
    label: Label = None,
    group: Group = None,
    columns: ColumnOptions,
    zero_based: ZeroBased = None,
    quiet: Quiet = False,
    as_json: Json = False,
):  # fmt: skip
    """Choose C by cross-validation, and say how the scores compare.

    Candidates are trained in the order of C, each from where the last one ended. Linear classifiers that
    are compared by their accuracy are trained no more precisely than that needs, and --tol is for the model
    that is written; all others that may win are trained to --tol.
    """
    from . import train_terms, training, tune_report

    _refuse_others(task, gamma=gamma, metric=metric, class_weight=class_weight, group=group)
    _check_outputs(file, output, plot)
    tune_report.check(scoring, plot)
    examples = _read(file, task, label, zero_based, group, columns)
    kind, options = _parameters(_estimator(task, gamma, metric), tol, jobs, no_intercept, tube)
    if class_weight is not None:
        options["class_weight"] = train_terms.weight_of_classes(class_weight, examples.labels, file)
    terms = {"pos_label": None if pos_label is None else _label(pos_label, examples, file)}
    if kind == "MetricSVC":
        options |= terms
        terms = {}
    elif kind == "RankSVM":
        terms = {"groups": getattr(examples.table, "qid", None)}
    model = training.build(kind, **options)
    subject = training.subject_of(model, examples)
    found = tune_report.search(model, examples, C, gamma, folds, scoring, jobs, quiet, try_all, **terms)
    if plot is not None:
        tune_report.draw(plot, found, scoring)
    tune_report.tell(found, examples, output, quiet, as_json)
    if output is None:
        return None
    model.set_params(**found.best_params)
    return training.train(model, examples, output, Telling(quiet or as_json), subject=subject)

"""`oneslack train classify | regress | rank | ordinal`: what each takes, and what it builds from it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from .class_weight import weight_of_classes
from .engine import engine_for
from .kernel_options import (
    HowKernel,
    KernelOptions,
    NBasis,
    SampleSize,
    basis_terms,
    kernel_terms,
    refuse_with_kernel,
)  # fmt: skip
from .options import DataFile, Group, Label, ZeroBased, not_negative, positive
from .output import check_writable, guarded
from .train_options import (
    ClassWeight,
    Epsilon,
    Limits,
    Machines,
    Memory,
    Output,
    PairC,
    Planes,
    PlaneSolver,
    Telling,
    Tol,
)  # fmt: skip
from .weight_options import Nonnegative, Prior, refuse_with_metric, weight_terms


class Solver(StrEnum):
    """Names of solvers."""

    auto = "auto"
    dual_cd = "dual_cd"
    newton = "newton"
    one_slack = "one_slack"
    streaming = "streaming"


class MultiClass(StrEnum):
    """Ways to treat more than two classes."""

    crammer_singer = "crammer_singer"
    ovr = "ovr"


class Metric(StrEnum):
    """Measures of a whole sample."""

    f1 = "f1"
    fbeta = "fbeta"
    error = "error"
    prbep = "prbep"
    precision_at_k = "precision_at_k"
    recall_at_k = "recall_at_k"
    roc_auc = "roc_auc"
    average_precision = "average_precision"


@guarded
def classify(
    *,
    file: DataFile,
    output: Output,
    C: Annotated[
        float,
        typer.Option("-C", help="Weight of the sum of the hinges, as in LIBLINEAR.", callback=positive),
    ] = 1.0,
    metric: Annotated[
        Metric | None,
        typer.Option(help="Train for this measure of the whole sample.", show_default=False),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option(
            "--k", metavar="NUMBER|SHARE", show_default=False,
            help="For precision_at_k and recall_at_k: how many examples to predict positive, as 10, or which "
            "share of them, as 0.1.",
        ),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            help="For fbeta: above 1 recall counts more, below 1 precision.", callback=positive,
            show_default=False,
        ),
    ] = None,
    tol: Tol = 1e-3,
    epsilon: Epsilon = None,
    solver: Annotated[Solver, typer.Option(help="How to solve it; auto chooses and says why.")] = Solver.auto,
    multi_class: Annotated[
        MultiClass | None,
        typer.Option(
            help="More than two classes: all at once, or one problem a class. (default: crammer_singer)",
            show_default=False,
        ),
    ] = None,
    class_weight: ClassWeight = None,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Learn no intercept.")] = False,
    kernel: KernelOptions,
    method: HowKernel = None,
    sample_size: SampleSize = None,
    prior: Prior = None,
    nonnegative: Nonnegative = False,
    limits: Limits,
    machines: Machines,
    memory: Memory = None,
    label: Label = None,
    zero_based: ZeroBased = None,
    seed: Annotated[
        int, typer.Option(help="Of the order in which examples are visited.", min=0, max=2**31 - 1)
    ] = 0,
    telling: Telling,
):  # fmt: skip
    """Train a linear classifier, binary or multi-class, to a certified distance from the optimum.

    With --kernel it is not linear, and has no intercept; the sampled methods only estimate the distance.
    With --metric it is trained for that measure, of the second of two labels in their sorted order, or of
    each of more labels against the rest. Ctrl-C keeps the best model so far and says its gap.
    """
    from . import metric_options, training

    k = metric_options.check(metric, k, beta, solver, multi_class, class_weight, no_intercept)
    refuse_with_metric(metric, prior, nonnegative, memory)
    by_kernel = kernel_terms(kernel, method, sample_size)
    refuse_with_kernel(
        by_kernel, metric=metric, prior=prior, nonnegative=nonnegative, memory=memory,
        solver=solver != Solver.auto, engine=not machines.is_here,
    )  # fmt: skip
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    examples = training.read(file, label, zero_based, streamed=metric is None and not by_kernel)
    labels = examples.labels
    options = {
        "tol": tol, "epsilon": epsilon, "solver": solver.value, "fit_intercept": not no_intercept,
        "engine": engine_for(machines, limits.jobs), "random_state": seed, **limits.parameters(),
    }  # fmt: skip
    estimate = None
    if by_kernel:
        way = multi_class or MultiClass.crammer_singer
        names = ("tol", "epsilon", "n_jobs", "max_iter", "time_limit", "random_state")
        shared = {name: options[name] for name in names}
        weight = weight_of_classes(class_weight, labels, file)
        model = training.build(
            "KernelSVC", C=C, multi_class=way.value, class_weight=weight, **shared, **by_kernel
        )
    elif metric is None:
        way = multi_class or MultiClass.crammer_singer
        weight = weight_of_classes(class_weight, labels, file)
        options |= weight_terms("LinearSVC", prior, nonnegative, examples, labels)
        model = training.build("LinearSVC", C=C, multi_class=way.value, class_weight=weight, **options)
        estimate = training.stream(model, examples, memory, seed, telling.quiet)
    else:
        metric_options.check_size(k, examples.table)
        model = training.build("MetricSVC", metric=metric.value, C=C, k=k, beta=beta or 1.0, **options)
    return training.train(model, examples, output, telling, keeping, estimate=estimate)


@guarded
def regress(
    *,
    file: DataFile,
    output: Output,
    C: Annotated[
        float, typer.Option("-C", help="Weight of the sum of the errors.", callback=positive)
    ] = 1.0,
    tube: Annotated[
        float, typer.Option(help="Errors up to this cost nothing.", callback=not_negative)
    ] = 0.0,
    tol: Tol = 1e-3,
    solver: Annotated[Solver, typer.Option(help="How to solve it; auto chooses and says why.")] = Solver.auto,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Learn no intercept.")] = False,
    prior: Prior = None,
    nonnegative: Nonnegative = False,
    limits: Limits,
    memory: Memory = None,
    label: Label = None,
    zero_based: ZeroBased = None,
    telling: Telling,
):  # fmt: skip
    """Train a linear prediction of numbers, by the sum of the absolute errors.

    Ctrl-C keeps the best model so far and says its gap.
    """
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    from . import training

    examples = training.read(file, label, zero_based, what="targets", streamed=True)
    model = training.build(
        "LinearSVR", C=C, epsilon=tube, tol=tol, solver=solver.value, fit_intercept=not no_intercept,
        random_state=0, **limits.parameters(),
        **weight_terms("LinearSVR", prior, nonnegative, examples),
    )  # fmt: skip
    subject = training.subject_of(model, examples)
    estimate = training.stream(model, examples, memory, 0, telling.quiet)
    return training.train(model, examples, output, telling, keeping, subject, estimate)


@guarded
def rank(
    *,
    file: DataFile,
    output: Output,
    C: PairC = 1.0,
    tol: Tol = 1e-3,
    epsilon: Epsilon = None,
    solver: Planes = PlaneSolver.auto,
    kernel: KernelOptions,
    n_basis: NBasis = None,
    limits: Limits,
    machines: Machines,
    label: Label = None,
    group: Group = None,
    zero_based: ZeroBased = None,
    telling: Telling,
):
    """Train a linear score that puts the examples of each query in the order of their targets.

    Targets are numbers, larger is better; without queries all examples are compared. With --kernel the score
    is a sum over basis functions, and the gap that of their span. Ctrl-C keeps the best model so far and says
    its gap.
    """
    by_kernel = basis_terms(kernel, n_basis)
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    from . import training

    examples = training.read(file, label, zero_based, group, "targets")
    model = training.build(
        "RankSVM", C=C, tol=tol, epsilon=epsilon, solver=solver.value,
        engine=engine_for(machines, limits.jobs), **limits.parameters(), **by_kernel,
    )  # fmt: skip
    return training.train(model, examples, output, telling, keeping)


@guarded
def ordinal(
    *,
    file: DataFile,
    output: Output,
    C: PairC = 1.0,
    tol: Tol = 1e-3,
    epsilon: Epsilon = None,
    solver: Planes = PlaneSolver.auto,
    class_weight: ClassWeight = None,
    limits: Limits,
    label: Label = None,
    zero_based: ZeroBased = None,
    telling: Telling,
):
    """Train a classifier for classes in an order, as grades are: one score, cut by thresholds.

    The order is that of the sorted labels, so numbers are best; the report says it. Ctrl-C keeps the best
    model so far and says its gap.
    """
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    from . import training

    examples = training.read(file, label, zero_based)
    labels = examples.labels
    model = training.build(
        "OrdinalSVC", C=C, tol=tol, epsilon=epsilon, solver=solver.value,
        class_weight=weight_of_classes(class_weight, labels, file), **limits.parameters(),
    )  # fmt: skip
    return training.train(model, examples, output, telling, keeping)

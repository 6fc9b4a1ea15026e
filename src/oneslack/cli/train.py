"""`oneslack train classify | regress | rank | ordinal`: what each takes, and what it builds from it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from . import train_terms
from .dev_set import DevOptions
from .options import (
    Aim,
    ClassLoss,
    ClassWeight,
    DataFile,
    Epsilon,
    Group,
    HingeC,
    KernelOptions,
    Label,
    Limits,
    Machines,
    Memory,
    MultiClass,
    NBasis,
    NoIntercept,
    Nonnegative,
    Output,
    PairC,
    Penalty,
    PlaneSolver,
    Prior,
    Solver,
    Telling,
    Tol,
    ZeroBased,
    not_negative,
    positive,
    share,
)  # fmt: skip
from .output import check_writable, guarded
from .table_columns import ColumnOptions


@guarded
def classify(
    *,
    file: DataFile,
    output: Output,
    C: HingeC = None,
    aim: Aim,
    loss: ClassLoss = None,
    penalty: Penalty = None,
    tol: Tol = 1e-3,
    epsilon: Epsilon = None,
    solver: Solver = "auto",
    multi_class: MultiClass = None,
    class_weight: ClassWeight = None,
    no_intercept: NoIntercept = False,
    kernel: KernelOptions,
    method: Annotated[
        Literal["auto", "exact", "linear", "constant", "basis"] | None,
        typer.Option(
            help="With a kernel: exact, sampled in linear or constant time a step, or the span of a basis. "
            "(default: auto, by the number of examples)",
        ),
    ] = None,
    sample_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Examples of a sampled cut (default: 400 for linear, 1000 for constant), or of the "
            "basis (500).",
        ),
    ] = None,
    prior: Prior = None,
    nonnegative: Nonnegative = False,
    limits: Limits,
    dev: DevOptions,
    machines: Machines,
    memory: Memory = None,
    label: Label = None,
    columns: ColumnOptions,
    zero_based: ZeroBased = None,
    seed: Annotated[
        int, typer.Option(help="Of the order in which examples are visited.", min=0, max=2**31 - 1)
    ] = 0,
    telling: Telling,
):  # fmt: skip
    """Train a linear classifier, binary or multi-class, to a certified distance from the optimum.

    With --kernel it is not linear, and has no intercept; the sampled methods only estimate the distance.
    With --metric it is trained for that measure of one of two classes, which --pos-label names, or of each
    of more classes against the rest. Ctrl-C keeps the best model so far and says its gap.
    """
    from . import training

    weighed = {"prior": prior, "nonnegative": nonnegative, "memory": memory}
    only_linear = {"loss": loss, "penalty": penalty} | weighed
    of_classes = {"multi_class": multi_class, "class_weight": class_weight}
    metric = aim.metric
    k = train_terms.check_metric(aim, solver, no_intercept, **of_classes, **only_linear)
    dev.check(("--checkpoint", limits.checkpoint), ("--kernel", kernel.kernel))
    by_kernel = train_terms.kernel_terms(kernel, method=method, sample_size=sample_size)
    if by_kernel:
        elsewhere = {"solver": solver != "auto", "engine": not machines.is_here}
        train_terms.refuse_beside("--kernel", metric=metric, **only_linear, **elsewhere)
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    examples = training.read(
        file, label, zero_based, streamed=metric is None and not by_kernel, columns=columns
    )
    labels = examples.labels
    C = C or (1.0 if metric is None else "scale")
    options = {"C": C, "tol": tol, "epsilon": epsilon, "random_state": seed, **limits.parameters()}
    engine = machines.engine_for(limits.jobs)
    if not by_kernel:
        options |= {"solver": solver, "fit_intercept": not no_intercept, "engine": engine}
    if metric is not None:
        train_terms.check_size(k, examples.table)
        positive_label = train_terms.positive_label(aim.pos_label, labels, file)
        model = training.build(
            "MetricSVC", metric=metric, k=k, beta=aim.beta or 1.0, pos_label=positive_label, **options
        )
        return training.train(model, examples, output, telling, keeping, dev=dev.rows(model, examples))
    loss = loss or ("squared_hinge" if penalty == "l1" else "hinge")
    options["multi_class"] = multi_class or ("crammer_singer" if loss == "hinge" else "ovr")
    options["class_weight"] = train_terms.weight_of_classes(class_weight, labels, file)
    estimate = None
    if by_kernel:
        model = training.build("KernelSVC", **options, **by_kernel)
    else:
        options |= train_terms.weight_terms("LinearSVC", prior, nonnegative, examples, labels)
        model = training.build("LinearSVC", loss=loss, penalty=penalty or "l2", **options)
        estimate = training.stream(model, examples, memory, seed, telling.quiet)
    return training.train(
        model, examples, output, telling, keeping, estimate=estimate, dev=dev.rows(model, examples)
    )


@guarded
def regress(
    *,
    file: DataFile,
    output: Output,
    C: Annotated[
        float, typer.Option("-C", help="Weight of the sum of the errors.", callback=positive)
    ] = 1.0,
    loss: Annotated[
        Literal["epsilon_insensitive", "squared_epsilon_insensitive", "pinball", "huber"] | None,
        typer.Option(help="What an error costs. (default: epsilon_insensitive, or pinball with --quantile)"),
    ] = None,
    tube: Annotated[
        float, typer.Option(help="Errors up to this cost nothing.", callback=not_negative)
    ] = 0.0,
    quantile: Annotated[
        float | None,
        typer.Option(help="Predict what this share of the targets lies below, as 0.9.", callback=share),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="For huber: errors beyond this cost linearly. (default: 1)", callback=positive),
    ] = None,
    tol: Tol = 1e-3,
    solver: Solver = "auto",
    no_intercept: NoIntercept = False,
    prior: Prior = None,
    nonnegative: Nonnegative = False,
    limits: Limits,
    dev: DevOptions,
    memory: Memory = None,
    label: Label = None,
    columns: ColumnOptions,
    zero_based: ZeroBased = None,
    telling: Telling,
):  # fmt: skip
    """Train a linear prediction of numbers, by the sum of the absolute errors or of another loss.

    Ctrl-C keeps the best model so far and says its gap.
    """
    from . import training

    dev.check(("--checkpoint", limits.checkpoint))
    of_loss = train_terms.loss_terms(loss, tube, quantile, delta)
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    examples = training.read(file, label, zero_based, what="targets", streamed=True, columns=columns)
    model = training.build(
        "LinearSVR", C=C, tol=tol, solver=solver, fit_intercept=not no_intercept, random_state=0,
        **of_loss, **limits.parameters(),
        **train_terms.weight_terms("LinearSVR", prior, nonnegative, examples),
    )  # fmt: skip
    subject = training.subject_of(model, examples)
    estimate = training.stream(model, examples, memory, 0, telling.quiet)
    return training.train(
        model, examples, output, telling, keeping, subject, estimate, dev.rows(model, examples)
    )


@guarded
def rank(
    *,
    file: DataFile,
    output: Output,
    C: PairC = 1.0,
    tol: Tol = 1e-3,
    epsilon: Epsilon = None,
    solver: PlaneSolver = "auto",
    kernel: KernelOptions,
    n_basis: NBasis = None,
    limits: Limits,
    dev: DevOptions,
    machines: Machines,
    label: Label = None,
    columns: ColumnOptions,
    group: Group = None,
    zero_based: ZeroBased = None,
    telling: Telling,
):
    """Train a linear score that puts the examples of each query in the order of their targets.

    Targets are numbers, larger is better; without queries all examples are compared. With --kernel the score
    is a sum over basis functions, and the gap that of their span. Ctrl-C keeps the best model so far and says
    its gap.
    """
    from . import training

    dev.check(("--checkpoint", limits.checkpoint))
    by_kernel = train_terms.kernel_terms(kernel, n_basis=n_basis)
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    examples = training.read(file, label, zero_based, group, "targets", columns=columns)
    model = training.build(
        "RankSVM", C=C, tol=tol, epsilon=epsilon, solver=solver,
        engine=machines.engine_for(limits.jobs), **limits.parameters(), **by_kernel,
    )  # fmt: skip
    return training.train(model, examples, output, telling, keeping, dev=dev.rows(model, examples))


@guarded
def ordinal(
    *,
    file: DataFile,
    output: Output,
    C: PairC = 1.0,
    tol: Tol = 1e-3,
    epsilon: Epsilon = None,
    solver: PlaneSolver = "auto",
    class_weight: ClassWeight = None,
    limits: Limits,
    dev: DevOptions,
    label: Label = None,
    columns: ColumnOptions,
    zero_based: ZeroBased = None,
    telling: Telling,
):
    """Train a classifier for classes in an order, as grades are: one score, cut by thresholds.

    The order is that of the sorted labels, so numbers are best; the report says it. Ctrl-C keeps the best
    model so far and says its gap.
    """
    from . import training

    dev.check(("--checkpoint", limits.checkpoint))
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    examples = training.read(file, label, zero_based, columns=columns)
    weights = train_terms.weight_of_classes(class_weight, examples.labels, file)
    model = training.build(
        "OrdinalSVC", C=C, tol=tol, epsilon=epsilon, solver=solver, class_weight=weights,
        **limits.parameters(),
    )  # fmt: skip
    return training.train(model, examples, output, telling, keeping, dev=dev.rows(model, examples))

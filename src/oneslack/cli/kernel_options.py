"""Options of `train classify | rank | tag` about kernels."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from .options import not_negative, positive
from .output import Exit, Refusal


class KernelName(StrEnum):
    """Kernels by name."""

    rbf = "rbf"
    poly = "poly"
    linear = "linear"
    laplacian = "laplacian"


class Method(StrEnum):
    """Ways to train with a kernel."""

    auto = "auto"
    exact = "exact"
    linear = "linear"
    constant = "constant"
    basis = "basis"


Kernel = Annotated[
    KernelName | None,
    typer.Option("--kernel", help="Learn with this kernel instead of linearly.", show_default=False),
]
Gamma = Annotated[
    float | None,
    typer.Option(
        help="Of the kernel: exp(-gamma |a - b|^2) for rbf. (default: 1 / (features × variance))",
        callback=positive, show_default=False,
    ),
]  # fmt: skip
Degree = Annotated[
    float | None, typer.Option(help="Of poly. (default: 3)", callback=not_negative, show_default=False)
]
Coef0 = Annotated[
    float | None, typer.Option("--coef0", help="Of poly: what is added. (default: 0)", show_default=False)
]
HowKernel = Annotated[
    Method | None,
    typer.Option(
        "--method", show_default=False,
        help="With a kernel: exact, sampled in linear or constant time a step, or the span of a basis. "
        "(default: auto, by the number of examples)",
    ),
]  # fmt: skip
SampleSize = Annotated[
    int | None,
    typer.Option(
        "--sample-size", min=1, show_default=False,
        help="Examples of a sampled cut (default: 400 for linear, 1000 for constant), or of the basis (500).",
    ),
]  # fmt: skip
NBasis = Annotated[
    int | None,
    typer.Option(
        "--n-basis", min=1, show_default=False,
        help="With a kernel: examples of the basis (default: 500 to rank, 1000 tokens to tag).",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class KernelOptions:
    """Which kernel, and its parameters."""

    kernel: Kernel = None
    gamma: Gamma = None
    degree: Degree = None
    coef0: Coef0 = None


def kernel_terms(by_kernel, method, sample_size) -> dict:
    """The parameters of KernelSVC that are given; empty without a kernel."""
    given = {"method": None if method is None else method.value, "sample_size": sample_size}
    terms = _terms(by_kernel, **given)
    if method == Method.basis and sample_size is not None:
        terms["n_basis"] = terms.pop("sample_size")
    return terms


def basis_terms(by_kernel, n_basis) -> dict:
    """The parameters of RankSVM or SequenceTagger that are given; empty without a kernel."""
    return _terms(by_kernel, n_basis=n_basis)


def _terms(by_kernel, **others):
    given = {name: value for name, value in {**vars(by_kernel), **others}.items() if value is not None}
    if by_kernel.kernel is not None:
        return {**given, "kernel": by_kernel.kernel.value}
    for name in given:
        option = "--" + name.replace("_", "-")
        raise Refusal(f"{option} is for a kernel; add --kernel rbf, or drop it.", Exit.USAGE)
    return {}


def refuse_with_kernel(terms, **others):
    """A kernel model has no weights of features, and is trained on this machine."""
    for name, value in others.items():
        if terms and value:
            option = "--" + name.replace("_", "-")
            raise Refusal(f"{option} and --kernel do not go together; drop one of them.", Exit.USAGE)

"""Options of `train classify` and `train regress` about single weights."""

from __future__ import annotations

from typing import Annotated

import typer

from .output import Exit, Refusal

Prior = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", show_default=False,
        help="Draw the weights to those of this earlier model, instead of to 0.",
    ),
]  # fmt: skip
Nonnegative = Annotated[bool, typer.Option("--nonnegative", help="Hold all weights >= 0.")]


def refuse_with_metric(metric, prior, nonnegative, memory):
    """Training for a measure knows none of these."""
    for option, given in (("--prior", prior), ("--nonnegative", nonnegative), ("--memory", memory)):
        if metric is not None and given:
            raise Refusal(f"{option} and --metric do not go together; drop one of them.", Exit.USAGE)


def weight_terms(kind, prior, nonnegative, examples, labels=None) -> dict:
    """The parameters of the estimator of this kind."""
    terms = {"nonnegative": True} if nonnegative else {}
    if prior is not None:
        terms["prior"] = _weights(kind, prior, examples, labels)
    return terms


def _weights(kind, path, examples, labels):
    from . import model_store

    saved = model_store.load(path)
    if saved.header["kind"] != kind:
        raise Refusal(f"--prior {path}: holds a {saved.header['kind']}; expected a {kind}.")
    before, now = saved.n_features, examples.X.shape[1]
    if before != now:
        raise Refusal(f"--prior {path}: has {before:,} features, but {examples.path} has {now:,}.")
    if labels is not None and saved.model.classes_.tolist() != labels:
        raise Refusal(f"--prior {path}: was trained on other labels than those of {examples.path}.")
    return saved.model.coef_

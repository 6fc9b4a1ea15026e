"""`oneslack train parse`: trees for sentences, by a grammar read off trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from .._jit.clock import now
from .data import OwnExamples
from .options import Epsilon, Limits, Machines, Output, Rescaling, StructuredSolver, SumC, Telling, Tol
from .output import Exit, Refusal, check_writable, guarded

#: How the log-probability of trees enters, as GrammarParser has it.
FREQUENCIES = {"prior": "prior", "feature": True, "none": False}


@dataclass(frozen=True)
class TreeSource:
    """How trees were read; the model remembers it."""

    kind: str
    tagged: bool


@dataclass(frozen=True)
class TreeExamples(OwnExamples):
    """Trees, some of which may have been left out."""

    n_words: int
    n_longer: int
    max_words: int | None
    called = "trees"

    def size(self, model) -> dict:
        grammar = model.grammar_
        return {
            "examples": len(self.X), "tokens": self.n_words, "symbols": grammar.n_symbols,
            "rules": grammar.n_rules, "features": model.model_.n_params,
        }  # fmt: skip

    def words(self, facts) -> str:
        return f"{self.title}, {facts['tokens']:,} words, {facts['rules']:,} rules"


@guarded
def parse(
    *,
    file: Annotated[
        str,
        typer.Argument(
            metavar="TREES",
            help="Trees in brackets, such as (S (NP (NN time)) (VP (VBZ flies))), on one or several lines; "
            "may be packed (.gz .bz2 .xz). Function tags, indices and traces are taken out.",
        ),
    ],
    output: Output,
    C: SumC = 0.1,
    span_features: Annotated[
        bool,
        typer.Option("--span-features", help="Weights for the words at the edges of phrases, beside rules."),
    ] = False,
    frequencies: Annotated[
        Literal["prior", "feature", "none"],
        typer.Option(
            help="The log-probability of a tree by relative frequencies of rules: one more feature, also "
            "what weights are drawn to (prior), or none."
        ),
    ] = "feature",
    horizontal: Annotated[
        int, typer.Option(help="How many children to come a part of a large node knows; -1 for all.", min=-1)
    ] = 1,
    vertical: Annotated[
        int, typer.Option(help="Labels that a phrase knows: 1 for its own, 2 for its parent's too.", min=1)
    ] = 1,
    binarise: Annotated[
        Literal["right", "left"], typer.Option(help="From which side large nodes are taken apart.")
    ] = "right",
    loss: Annotated[
        Literal["brackets", "zero_one"],
        typer.Option(help="Wrong and missing brackets, or 1 for every wrong tree."),
    ] = "brackets",
    missing: Annotated[
        float,
        typer.Option(
            help="What a missing bracket costs, from 0 to 2; one too many costs the rest of 2.", min=0, max=2
        ),
    ] = 1.0,
    rescaling: Annotated[
        Rescaling, typer.Option(help="How the loss enters; slack is for zero_one.")
    ] = "margin",
    min_count: Annotated[
        int, typer.Option(help="Words that occur less often are known by shape and suffix alone.", min=1)
    ] = 2,
    tagged: Annotated[
        bool, typer.Option("--tagged", help="Learn to parse sentences whose tags are given.")
    ] = False,
    max_words: Annotated[
        int | None, typer.Option(help="Leave longer trees out.", min=1)
    ] = None,
    tol: Tol = 1e-2,
    epsilon: Epsilon = None,
    solver: Annotated[
        StructuredSolver, typer.Option(help="How to solve it; auto chooses and says why.")
    ] = "auto",
    limits: Limits,
    machines: Machines,
    seed: Annotated[
        int, typer.Option(help="Of the order in which trees are visited.", min=0, max=2**31 - 1)
    ] = 0,
    telling: Telling,
):  # fmt: skip
    """Train a parser: the grammar of the trees, with weights by which the right trees win.

    Ctrl-C keeps the best model so far and says its gap.
    """
    from . import training

    if rescaling == "slack" and loss == "brackets":
        raise Refusal("--rescaling slack needs --loss zero_one; choose one of the two.", Exit.USAGE)
    if missing != 1.0 and loss == "zero_one":
        raise Refusal("--missing needs --loss brackets; drop it, or --loss zero_one.", Exit.USAGE)
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    examples = _read(file, tagged, max_words)
    model = training.build(
        "GrammarParser", C=C, span_features=span_features, frequencies=FREQUENCIES[frequencies],
        horizontal=None if horizontal < 0 else horizontal, vertical=vertical, binarise=binarise,
        loss=loss, missing=missing, rescaling=rescaling, min_count=min_count, solver=solver,
        tol=tol, epsilon=epsilon, engine=machines.engine_for(limits.jobs), random_state=seed,
        **limits.parameters(),
    )  # fmt: skip
    return training.train(model, examples, output, telling, keeping)


def _read(file, tagged, max_words):
    """TreeExamples of the trees that are not too long."""
    from ..formats.trees import read_trees

    clock = now()
    trees = read_trees(file)
    kept = [tree for tree in trees if max_words is None or len(tree.words()) <= max_words]
    if not kept:
        raise Refusal(f"{file}: no tree has at most {max_words} words; raise --max-words.")
    sentences = [tree.tagged() for tree in kept]
    n_words = sum(map(len, sentences))
    X, y = (sentences, kept) if tagged else (kept, None)
    seconds = now() - clock
    source = TreeSource("trees", tagged)
    return TreeExamples(file, X, y, source, seconds, n_words, len(trees) - len(kept), max_words)

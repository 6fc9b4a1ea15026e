"""`oneslack train tag`: labels for the tokens of sentences."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import typer

from ..kinds.tag import is_iob
from . import packed
from .dev_set import DevOptions
from .options import (
    Columns,
    Epsilon,
    Format,
    KernelOptions,
    Limits,
    Machines,
    Memory,
    NBasis,
    Output,
    Rescaling,
    StructuredSolver,
    SumC,
    Telling,
    Tol,
)  # fmt: skip
from .output import Exit, Refusal, check_writable, guarded
from .train_terms import kernel_terms

TaggedFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Tagged text: CoNLL (a token a line, columns between blanks or tabs, an empty line after a "
        "sentence), CoNLL-U, or SVM-hmm; may be packed (.gz .bz2 .xz).",
    ),
]
TagLabel = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="The label's column, by name or by position from 0. (default: the last; in CoNLL-U upos)",
    ),
]


@guarded
def tag(
    *,
    file: TaggedFile,
    output: Output,
    templates: Annotated[
        str | None,
        typer.Option(
            metavar="SET|FILE|TEXT",
            help="Features of a token: a set (chunking, tagging, ner), a file of templates, or a template "
            'such as "w[-1..1]". (default: chunking with a column pos, else ner for IOB labels, or tagging)',
        ),
    ] = None,
    C: SumC = 0.1,
    tol: Tol = 1e-2,
    epsilon: Epsilon = None,
    solver: Annotated[
        StructuredSolver, typer.Option(help="How to solve it; auto is dual_cd.")
    ] = "auto",
    rescaling: Annotated[Rescaling, typer.Option(help="How the loss enters.")] = "margin",
    order: Annotated[
        int, typer.Option(help="1: weights for pairs of neighbouring labels, 2: triples too.", min=1, max=2)
    ] = 1,
    start: Annotated[bool, typer.Option("--start", help="Weights for a sentence's first label.")] = False,
    end: Annotated[bool, typer.Option("--end", help="Weights for a sentence's last label.")] = False,
    constraints: Annotated[
        Literal["iob"] | None,
        typer.Option(help="iob: predict I-X after B-X or I-X only."),
    ] = None,
    min_count: Annotated[
        int, typer.Option(help="Features that occur less often get no weight.", min=1)
    ] = 1,
    hash_bits: Annotated[
        int | None,
        typer.Option(
            help="Hash features to 2 to the power of this many weights a label, and keep no index.", min=1,
            max=30,
        ),
    ] = None,
    kernel: KernelOptions,
    n_basis: NBasis = None,
    label: TagLabel = None,
    columns: Columns = None,
    format: Format = None,
    unlabelled: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What stands for a label that is not known; such tokens are filled in as training goes on.",
        ),
    ] = None,
    limits: Limits,
    dev: DevOptions,
    memory: Memory = None,
    machines: Machines,
    seed: Annotated[
        int, typer.Option(help="Of the order in which sentences are visited.", min=0, max=2**31 - 1)
    ] = 0,
    telling: Telling,
):  # fmt: skip
    """Train a tagger: a label for every token, the order of labels taken into account.

    With --kernel, tokens of numbers (SVM-hmm) score by basis functions, and the gap is that of their span.
    Ctrl-C keeps the best model so far and says its gap.
    """
    from . import training

    if hash_bits is not None and min_count > 1:
        raise Refusal("--min-count and --hash-bits do not go together; drop one of them.", Exit.USAGE)
    by_kernel = kernel_terms(kernel, n_basis=n_basis)
    dev.check(("--checkpoint", limits.checkpoint), ("--unlabelled", unlabelled))
    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    on_this_machine = machines.is_here
    if memory is not None:
        _check_memory(file, memory, unlabelled, on_this_machine)
    examples, chosen = read_to_train(
        file, format, templates, columns, label, unlabelled, memory=memory, on_disk=on_this_machine
    )
    if examples.source.kind == "svmhmm" and (min_count, hash_bits) != (1, None):
        raise Refusal(
            f"{file}: holds numbers, where --min-count and --hash-bits have no meaning; drop them.",
            Exit.USAGE,
        )
    if examples.source.kind != "svmhmm" and by_kernel:
        raise Refusal(
            f"{file}: holds text, but --kernel needs numbers (SVM-hmm: TAG qid:NUMBER FEATURE:VALUE ...); "
            "drop it.",
            Exit.USAGE,
        )
    model = training.build(
        "SequenceTagger", C=C, templates=chosen, min_count=min_count, hash_bits=hash_bits, order=order,
        start=start, end=end, constraints=constraints, rescaling=rescaling,
        solver=solver, tol=tol, epsilon=epsilon,
        engine=machines.engine_for(limits.jobs), random_state=seed, **limits.parameters(), **by_kernel,
    )  # fmt: skip
    estimate = packed.stream_text(model, examples, memory, seed, telling.quiet)
    held_out = None
    if dev.dev is not None:
        held_out = dev.sentences(read_to_train(dev.dev, format, templates, columns, label, None)[0])
    return training.train(model, examples, output, telling, keeping, estimate=estimate, dev=held_out)


def _check_memory(file, memory, unlabelled, on_this_machine):
    """Complain about --memory where it would have no meaning."""
    if not packed.is_packed(file):
        raise Refusal(f"{file}: --memory is for a packed folder; run `oneslack pack` first.", Exit.USAGE)
    if not on_this_machine:
        packed.refuse_memory_of_workers(memory)
    if unlabelled is not None:
        raise Refusal(
            f"{file}: text with labels that are not known is loaded whole; drop --memory, or --unlabelled.",
            Exit.USAGE,
        )


def read_to_train(file, format, templates, names, label, unlabelled, **where):
    """(TaggedExamples, templates as the estimator takes them: the name of a set, templates, or None)."""
    from ..features.template_sets import as_templates
    from .tag_columns import Columns, kind_of
    from .tag_data import read_tagged, read_tagged_numbers
    from .tag_model import refuse_text_options

    _refuse_trees(file, format)
    kind = kind_of(file, format)
    if kind is None:
        raise Refusal(
            f"{file}: looks like a table of numbers, not like tagged text; use `oneslack train classify`, or "
            "name the format with --format."
        )
    if kind == "svmhmm":
        refuse_text_options(file, names, label)
        for option, value in (("--templates", templates), ("--unlabelled", unlabelled)):
            if value is not None:
                raise Refusal(f"{file}: holds numbers, where {option} has no meaning; drop it.", Exit.USAGE)
        return _of_several_labels(read_tagged_numbers(file)), None
    columns = Columns.of(file, kind, names)
    label = columns.label(label)
    chosen = _templates(templates) or ("chunking" if columns.has_pos(label) else "tagging")
    examples = read_tagged(columns, label, as_templates(chosen), unlabelled, **where)
    if templates is None and chosen == "tagging" and is_iob(examples.labels):
        chosen = "ner"  # which looks at the words as well, and nothing else
    return _of_several_labels(examples), chosen


def _refuse_trees(file, format):
    from ..formats.registry import format_of

    if format is None and not packed.is_packed(file) and format_of(file).holds == "trees":
        raise Refusal(f"{file}: holds trees, no tagged text; use `oneslack train parse`.")


def _templates(text):
    """The name of a set as it is; the templates of a file, or of the text itself."""
    from ..features import parse_templates, read_templates
    from ..features.template_sets import SETS

    if text is None or text in SETS:
        return text
    if os.path.exists(text):
        return read_templates(text)
    if "[" in text:
        return parse_templates(text)
    raise Refusal(
        f"--templates: there is no set and no file {text!r}; choose from {', '.join(SETS)}, name a file, or "
        'write a template such as "w[0]".',
        Exit.USAGE,
    )


def _of_several_labels(examples):
    if not examples.labels:
        raise Refusal(f"{examples.path}: no token has a label; there is nothing to learn from.")
    if len(examples.labels) < 2:
        raise Refusal(
            f"{examples.path}: all tokens have the label {examples.labels[0]!r}; there is nothing to learn. "
            "Name the label's column with --label."
        )
    return examples

"""`oneslack report`: a model on one page of HTML."""

from __future__ import annotations

import os
import shlex
from typing import Annotated

import typer

from .options import FileOptions, ModelFile, PosLabel
from .output import Exit, Refusal, check_writable, guarded, writing


@guarded
def report(
    *,
    model: ModelFile,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="PAGE", help="Where to write the page."),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            "--data", "-d", metavar="FILE",
            help="Examples with labels or targets, best such as the training did not see: how good the "
            "model is on them, and its errors.",
        ),
    ] = None,
    options: FileOptions,
    pos_label: PosLabel = None,
):  # fmt: skip
    """Write what a model is, how good and how certain, to one page that needs no network.

    The page holds its own style and script; it can be sent by mail, and printed.
    """
    check_writable(output, inputs=[model, *([data] if data else [])])
    if data is None:
        _refuse_options_of_data(options, pos_label)
    html = make_page(model, data, options, pos_label)
    with writing(output) as file:
        file.write(html)


def _refuse_options_of_data(options, pos_label):
    given = {
        "--pos-label": pos_label,
        "--label": options.label,
        "--group": options.group,
        "--zero-based": options.zero_based,
    }
    for name, value in (given | options.of_tags()).items():
        if value is not None:
            raise Refusal(f"{name} says how --data is read; give --data, or drop it.", Exit.USAGE)


def make_page(path, data, options, pos_label=None) -> str:
    """The HTML of a report."""
    from .. import __version__
    from ..viz.report import page
    from ..viz.report.looks import looks
    from ..viz.report.training import about, on_training_data, reproduction
    from .evaluate import with_positive
    from .model_store import load, load_to_predict
    from .report_again import commands, versions

    saved = load(path) if data is None else with_positive(load_to_predict(path), pos_label)
    good, wrong, remark = _sections_of_data(saved, data, options) if data else ("", "", "")
    if data and _is_training_data(saved, data):
        good = on_training_data(good)
    return page(
        os.path.basename(path),
        _subtitle(saved, data),
        [
            good,
            _certainty(saved, remark),
            looks(saved.kind.looks(saved)),
            wrong,
            about(_facts(saved)),
            reproduction(commands(saved, data), repr(saved.model), versions(path, data)),
        ],
        f"Written by oneslack {__version__}.",
    )


def _is_training_data(saved, data) -> bool:
    """Whether it is the file that the model was trained on, by its name."""
    before = saved.header.get("training", {}).get("data")
    return before is not None and os.path.realpath(before) == os.path.realpath(data)


def _sections_of_data(saved, path, options):
    """(HTML of how good it is, HTML of its errors, what is settled)."""
    from ..kinds.settled import settled_facts, settled_remark
    from . import packed
    from .evaluate import examples_for

    examples = examples_for(saved, path, options)
    if hasattr(examples, "shards"):  # errors are looked at one by one
        examples = packed.in_memory(examples.shards)
    sections = saved.kind.sections(saved, examples, saved.kind.measure(saved, examples))
    return *sections, settled_remark(settled_facts(saved, examples))


def _subtitle(saved, data) -> str:
    training = saved.header.get("training", {})
    words = [f"{saved.header['kind']}"]
    if "data" in training:
        words.append(f"trained on {training['data']}")
    if data:
        words.append(f"seen on {data}")
    return ", ".join(words)


def _certainty(saved, remark):
    from ..viz.report.training import certainty

    told, training = saved.header["certificate"], saved.header.get("training", {})
    return certainty(
        told["primal"],
        told["dual"],
        told["relative_gap"],
        saved.model._is_certified(),
        getattr(saved.model, "trace_", ()),
        training.get("advice"),
        remark,
        _proof(saved, training.get("data", "DATA")),
    )


def _proof(saved, data) -> str:
    """How to check a model that carries its proof; nothing for one that does not."""
    if "proof" not in saved.header:
        return ""
    from ..checks.proof import checker_lines

    return (
        f"The model carries its proof, for {checker_lines(saved.model)} lines of NumPy that you can read: "
        f"{shlex.join(['oneslack', 'verify', saved.path, data])} recomputes both bounds from the data."
    )


def _facts(saved):
    """(name, words) of all that `oneslack info` says."""
    from .info import model_facts, words_of

    facts = {**model_facts(saved.path), "why_this_solver": saved.header.get("training", {}).get("reason")}
    return list(words_of(facts).items())

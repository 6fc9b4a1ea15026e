"""`oneslack pack`: data files as shards, to train on more than fits into memory."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import typer

from .options import Group, Jobs, Json, Label, Quiet, TableFormat, ZeroBased
from .output import Exit, Refusal, guarded, print_json

MANY = 20


@guarded
def pack(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Examples: svmlight, CSV/TSV, .npy, .npz or CoNLL; text may be packed (.gz .bz2 .xz).",
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="A new folder.")],
    shard_size: Annotated[str, typer.Option(metavar="SIZE", help="Bytes of a shard, about.")] = "64MB",
    file_format: Annotated[
        Literal["auto", TableFormat, "conll"],
        typer.Option("--format", help="What the files are."),
    ] = "auto",
    dtype: Annotated[Literal["float32", "float64"], typer.Option(help="The type of the values.")] = "float32",
    label: Label = None,
    group: Group = None,
    zero_based: ZeroBased = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Names of the columns of CoNLL files; which ones to keep of CoNLL-U. (default: form,upos)",
        ),
    ] = None,
    jobs: Jobs = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the same command was stopped before.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
):
    """Pack files into a folder of shards, which can be used without loading them.

    A row of the shards is a row of the files, in their order. Stopped at any moment, the work goes on with
    --resume. Numbers are kept as float32 unless --dtype says otherwise.
    """
    from ..formats.packing import pack as pack_files
    from .progress import pack_progress

    clock = time.perf_counter()
    with pack_progress(quiet) as show:
        try:
            shards = pack_files(
                files, output, kind=file_format, dtype=dtype, shard_size=shard_size, label=label,
                group=group, zero_based=zero_based, columns=columns.split(",") if columns else None,
                jobs=jobs, resume=resume, report=show,
            )  # fmt: skip
        except KeyboardInterrupt:
            raise Refusal(
                f"interrupted; the shards so far are in {output}: go on with --resume.", Exit.INTERRUPTED
            ) from None
    facts = _facts(shards, files, output, time.perf_counter() - clock)
    if as_json:
        print_json(facts)
    elif not quiet:
        print(_summary(facts))


def _facts(shards, files, output, seconds) -> dict:
    source = shards.manifest.source
    return {
        "folder": output,
        "files": files,
        "read_bytes": sum(file["bytes"] for file in source["files"]),
        "kind": shards.kind,
        "dtype": shards.dtype.name,
        "rows": shards.n_rows,
        "features": None if shards.kind == "sentences" else shards.n_features,
        "entries": shards.n_entries,
        "labels": shards.manifest.labels,
        "classes": None if shards.classes is None else shards.classes.tolist(),
        "groups": shards.manifest.groups,
        "zero_based": None if source["first_index"] is None else source["first_index"] == 0,
        "shards": len(shards),
        "bytes": shards.n_bytes,
        "seconds": seconds,
    }


def _summary(facts) -> str:
    from ..data.bytes import in_words

    if facts["kind"] == "sentences":
        shape = f"{facts['rows']:,} sentences, {facts['entries']:,} tokens"
    else:
        shape = f"{facts['rows']:,} × {facts['features']:,} {facts['kind']} {facts['dtype']}"
    n = facts["shards"]
    return (
        f"{facts['folder']}: {shape}, {_labels(facts)}{n} {'shard' if n == 1 else 'shards'}, "
        f"{in_words(facts['bytes'])}\n"
        f"  from {in_words(facts['read_bytes'])} in {facts['seconds']:.2f} s"
    )


def _labels(facts) -> str:
    if facts["labels"] is None:
        return ""
    if facts["classes"] is None:
        return "numbers as labels, " if facts["labels"] != "text" else "texts as labels, "
    n = len(facts["classes"])
    if n > MANY:
        return f"{n:,} classes, "
    return f"{n} {'class' if n == 1 else 'classes'} ({', '.join(map(str, facts['classes']))}), "

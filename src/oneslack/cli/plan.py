"""`oneslack plan`: what a training would take on more machines, before they are rented."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Json, Label, ZeroBased, positive
from .output import Exit, Refusal, guarded, print_json


@guarded
def plan(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Examples, or a folder of packed ones."),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Examples.", min=1)] = None,
    features: Annotated[int | None, typer.Option(help="Features.", min=1)] = None,
    nnz: Annotated[
        float | None,
        typer.Option(
            help="Stored numbers an example. (default: all features, dense)", callback=positive,
        ),
    ] = None,
    classes: Annotated[int, typer.Option(help="Classes, without a file.", min=2)] = 2,
    workers: Annotated[
        str, typer.Option(metavar="N,N,...", help="How many workers.")
    ] = "1,2,10,100,1000",
    per_machine: Annotated[int, typer.Option(help="Workers on a machine.", min=1)] = 1,
    rounds: Annotated[
        int | None,
        typer.Option(help="Rounds that the training takes. (default: 45)", min=1),
    ] = None,
    bandwidth: Annotated[
        float, typer.Option(help="Megabytes a second between machines.", callback=positive)
    ] = 1000.0,
    latency: Annotated[
        float, typer.Option(help="Milliseconds of a message to a worker and back.", callback=positive)
    ] = 1.0,
    label: Label = None,
    zero_based: ZeroBased = None,
    as_json: Json = False,
):  # fmt: skip
    """Forecast time, memory and traffic of a training on 1 to 1,000 workers, from costs measured here.

    The examples are those of a file, or --rows, --features and --nnz say what they look like. See
    docs/scaling.md for what is counted.
    """
    from dataclasses import asdict

    from ..engines.threads import count_jobs
    from ..selection import scaling

    counts = _counts(workers)
    size, X = _size(file, rows, features, nnz, classes, label, zero_based)
    known = scaling.Costs(0.0, 0.0, 0.0, latency=latency / 1e3, bandwidth=bandwidth * 1e6)
    costs = scaling.calibrate(size, X, known, threads=min(per_machine, count_jobs(None)))
    rounds = rounds or scaling.ROUNDS
    table = [scaling.forecast(size, costs, count, rounds, per_machine) for count in counts]
    if as_json:
        print_json(
            {"size": asdict(size), "costs": asdict(costs), "rounds": rounds, "plan": list(map(asdict, table))}
        )
    else:
        _print(size, rounds, table)


def _counts(text):
    try:
        counts = [int(word) for word in text.split(",")]
        if min(counts) < 1:
            raise ValueError
    except ValueError:
        raise Refusal(
            f"--workers: {text!r} is no list of whole numbers such as 1,10,100.", Exit.USAGE
        ) from None
    return counts


def _size(file, rows, features, nnz, classes, label, zero_based):
    """(Size, some rows or None)."""
    from ..selection.scaling import SAMPLE, Size

    if (file is None) == (rows is None and features is None and nnz is None):
        raise Refusal("name a file, or give --rows, --features and --nnz; not both.", Exit.USAGE)
    if file is None:
        if rows is None or features is None:
            raise Refusal("--rows and --features belong together; give both.", Exit.USAGE)
        if nnz is not None and nnz > features:
            raise Refusal(f"--nnz {nnz:g} is more than the {features} features.", Exit.USAGE)
        entries = int(rows * (features if nnz is None else nnz))
        return Size(rows, features, entries, 1 if classes == 2 else classes, nnz is not None), None
    size, X = _of_data(file, label, zero_based)
    return size, X[: max(1, SAMPLE * size.rows // max(size.entries * size.columns, 1))]


def _of_data(path, label, zero_based):
    """(Size, rows): of a folder those of the first shard, where the manifest tells the rest."""
    import numpy as np

    from ..selection.scaling import Size
    from .data import read_any
    from .packed import is_packed, open_packed

    if is_packed(path):
        shards = open_packed(path, label, zero_based)
        shape, entries, X = shards.shape, shards.n_entries, shards[0].X
        is_amount = shards.manifest.labels in (None, "numbers") or shards.classes is None
        kinds = 2 if is_amount else len(shards.classes)
    else:
        table, _ = read_any(path, label, zero_based)
        X, y, shape = table.X, table.y, table.X.shape
        entries = X.nnz if hasattr(X, "nnz") else X.size
        kinds = 2 if y is None or y.dtype.kind == "f" else len(np.unique(y))
    if entries == 0:
        raise Refusal(f"{path}: its examples have no features; there is nothing to learn from.")
    # So many kinds that they are no classes are amounts.
    columns = 1 if kinds == 2 or kinds > 1000 else kinds
    return Size(*shape, entries, columns, hasattr(X, "nnz"), X.dtype.itemsize), X


def _print(size, rounds, table):
    from ..data.bytes import in_words

    kind = "two classes or numbers" if size.columns == 1 else f"{size.columns} classes"
    print(
        f"{size.rows:,} examples, {size.features:,} features, {size.entries / max(size.rows, 1):,.1f} "
        f"numbers an example, {kind}; {rounds} rounds of cutting planes"
    )
    print(f"{'workers':>8} {'time':>10} {'a round':>10} {'sent a round':>13} {'worker':>9} {'driver':>9}")
    for row in table:
        sent, worker, driver = map(in_words, (row.bytes_a_round, row.worker_bytes, row.driver_bytes))
        print(
            f"{row.workers:>8,} {_time(row.seconds):>10} {_time(row.round_seconds):>10} "
            f"{sent:>13} {worker:>9} {driver:>9}"
        )


def _time(seconds) -> str:
    if seconds < 1.0:
        return f"{1000 * seconds:.1f} ms"
    if seconds < 120.0:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"

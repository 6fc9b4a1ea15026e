"""The course of a training as it is shown and kept: bounds of several problems added up, and thinned rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..objective import relative_gap
from ..result import Trace, TraceRow

#: Rows that a model file keeps.
KEPT_ROWS = 100
#: Digits of the numbers that it keeps: enough for the gaps that training reaches.
DIGITS = 10
#: What it keeps of a row.
COLUMNS = ("iteration", "seconds", "primal", "dual")


def completed(result) -> Trace:
    """The trace of a result, ending with its bounds: in the last row, which knows no rounding, or in one more
    where a better point was found after it."""
    trace = Trace(result.trace)
    if trace:
        bounds = {"primal": result.primal, "dual": result.dual, "gap": result.gap}
        end = replace(trace[-1], **bounds, inference=result.inference)
        if result.primal < trace[-1].primal:
            trace.append(replace(end, seconds=result.seconds))
        else:
            trace[-1] = end
    return trace


def joined(traces) -> Trace:
    """One trace of problems whose objectives are added up, as if they had been started together.

    At each time stand the sums of the bounds that each problem had by then.  Rows before every problem has
    an upper bound are left out.  No objective is below 0, so that no lower bound is, either.
    """
    traces = [_known(trace) for trace in traces]
    if not traces or not all(traces):
        return Trace()
    times = np.unique(np.concatenate([trace.column("seconds") for trace in traces]))
    times = times[times >= max(trace[0].seconds for trace in traces)]
    rows = [
        [trace[i] for i in np.searchsorted(trace.column("seconds"), times, side="right") - 1]
        for trace in traces
    ]
    return Trace(_sum(seconds, parts) for seconds, parts in zip(times.tolist(), zip(*rows)))


def _known(trace) -> Trace:
    return Trace(row for row in trace if np.isfinite(row.primal))


def _sum(seconds, parts) -> TraceRow:
    primal, dual = sum(row.primal for row in parts), sum(max(row.dual, 0.0) for row in parts)
    steps, cuts = sum(row.iteration for row in parts), sum(row.n_cuts for row in parts)
    return TraceRow(steps, seconds, primal, dual, relative_gap(primal, dual), cuts)


def thinned(trace, at_most=KEPT_ROWS) -> Trace:
    """The first row, the last, and those between that show how the gap closed and the time went by."""
    if len(trace) <= at_most:
        return Trace(trace)
    seconds, gap = trace.column("seconds"), np.maximum(trace.column("gap"), 1e-15)
    closing, passing = np.abs(np.diff(np.log(gap))), np.diff(seconds)
    way = np.cumsum(closing / max(closing.sum(), 1e-300) + passing / max(passing.sum(), 1e-300))
    marks = np.searchsorted(way, np.linspace(0.0, way[-1], at_most - 1)[1:-1], side="left") + 1
    return Trace(trace[i] for i in sorted({0, *marks.tolist(), len(trace) - 1}))


def to_header(trace) -> dict | None:
    """What a model file keeps, or None where there is nothing to keep."""
    rows = thinned(trace)
    if not rows:
        return None
    return {name: [_short(value) for value in rows.column(name).tolist()] for name in COLUMNS}


def from_header(header) -> Trace:
    """The trace again; a ValueError, TypeError or KeyError where the header is damaged."""
    columns = [header[name] for name in COLUMNS]
    for name, column in zip(COLUMNS, columns):
        if not isinstance(column, list) or not all(type(value) in (int, float) for value in column):
            raise ValueError(f"{name} of the trace is no list of numbers")
    rows = zip(*columns, strict=True)
    return Trace(
        TraceRow(int(step), float(seconds), float(primal), float(dual), relative_gap(primal, dual), 0)
        for step, seconds, primal, dual in rows
    )


def _short(value):
    return value if isinstance(value, int) else float(f"{value:.{DIGITS}g}")

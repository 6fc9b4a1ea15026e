"""The band between the two bounds, closing on the optimum."""

from __future__ import annotations

import numpy as np

from ..errors import OneslackError
from ..memory.trace_keeping import completed, joined
from ..result import Result, Trace
from .look import LOWER, UPPER, axes_of, colour, tidy

#: How far above the optimum the picture of one run reaches: what is higher tells nothing.
HEIGHT = 3.0


def plot_bounds(*runs, labels=None, x="seconds", ax=None):
    """Upper and lower bounds of the optimum over time; of several runs, how their gaps close.

    One run is drawn as a band: the optimum lies in it, whatever the data.  Several runs are drawn as their
    relative gaps on a log scale, so that they can be compared.

    Parameters
    ----------
    *runs : Result, Trace, list of Results, or fitted estimators
        An estimator of several problems (one against the rest) counts as one run: its bounds are added up.
    labels : list of str or None
        Names of the runs; by default those of their solvers.
    x : {"seconds", "iteration"}, default="seconds"
        What goes to the right.
    ax : matplotlib Axes or None
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import oneslack
    >>> from oneslack import viz
    >>> from sklearn.datasets import load_iris
    >>> model = oneslack.LinearSVC().fit(*load_iris(return_X_y=True))
    >>> viz.plot_bounds(model).get_xlabel()
    'seconds of training'
    """
    if not runs:
        raise OneslackError("plot_bounds needs at least one run; give a Result or a fitted estimator")
    if x not in ("seconds", "iteration"):
        raise OneslackError(f"x must be 'seconds' or 'iteration', got {x!r}")
    traces = [_trace_of(run) for run in runs]
    names = list(labels) if labels is not None else [_name_of(run, k) for k, run in enumerate(runs)]
    if len(names) != len(runs):
        raise OneslackError(f"there are {len(runs)} runs but {len(names)} labels")
    ax = axes_of(ax)
    if len(traces) == 1:
        _band(ax, traces[0], x)
        if labels is not None:
            ax.set_title(names[0], loc="left")
    else:
        _gaps(ax, traces, names, x)
    ax.set_xlabel("seconds of training" if x == "seconds" else "step")
    return tidy(ax)


def _trace_of(run) -> Trace:
    if isinstance(run, Result):
        trace = completed(run)
    elif isinstance(run, Trace):
        trace = run
    elif isinstance(run, list) and all(isinstance(one, Result) for one in run):
        trace = joined(map(completed, run))
    elif hasattr(run, "trace_"):
        trace = run.trace_
    else:
        raise OneslackError(
            f"a run is a Result, a Trace or a fitted estimator, got {type(run).__name__}"
            " (a model saved by an older oneslack has no trace)"
        )
    trace = Trace(row for row in trace if np.isfinite(row.primal) and np.isfinite(row.dual))
    if not trace:
        raise OneslackError("the run has no step with two bounds; there is nothing to draw")
    return trace


def _name_of(run, k) -> str:
    results = getattr(run, "result_", run)
    first = results[0] if isinstance(results, list) and results else results
    return f"{k + 1}: {getattr(first, 'solver', type(run).__name__)}"


def _band(ax, trace, x):
    at, upper, lower = trace.column(x), trace.column("primal"), trace.column("dual")
    ax.fill_between(
        at, lower, upper, step="post", color=UPPER, alpha=0.18, linewidth=0, label="the optimum lies here"
    )
    ax.step(at, upper, where="post", color=UPPER, label="objective of the model so far")
    ax.step(at, lower, where="post", color=LOWER, linestyle="--", label="proven lower bound")
    if len(trace) == 1:  # no line leads from one point to itself
        ax.plot(at, upper, "o", color=UPPER)
        ax.plot(at, lower, "o", color=LOWER)
    best = upper[-1]
    if best > 0:
        ax.set_ylim(0, min(1.05 * upper.max(), HEIGHT * best))
    ax.set_ylabel("objective")
    # In the frame's fraction, clear of the lines: they end at the right, near the optimum.
    ax.annotate(
        f"gap {100 * trace[-1].gap:.2g} %", (1, best), xycoords=("axes fraction", "data"), xytext=(-4, 6),
        textcoords="offset points", ha="right", va="bottom",
    )  # fmt: skip
    ax.legend(frameon=False)


def _gaps(ax, traces, names, x):
    styles = ("-", "--", "-.", ":")
    for k, (trace, name) in enumerate(zip(traces, names)):
        gap = trace.column("gap")
        gap[gap <= 0] = np.nan  # an exact answer has no place on a log scale
        ax.step(
            trace.column(x), gap, where="post", color=colour(k), linestyle=styles[k % len(styles)],
            label=name, marker="o", markevery=[-1],  # a run of one step is a point
        )  # fmt: skip
    ax.set_yscale("log")
    ax.set_ylabel("relative duality gap")
    ax.legend(frameon=False)

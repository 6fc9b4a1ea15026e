"""Figures 1, 5 and 8 of Joachims, Finley & Yu (2009) with our solvers: measure, then draw.

Figure 1: training time against n.  Figure 5: questions to the oracle against n.  Both at the same C n, the
paper's epsilon, one thread.  Figure 8: rounds of one-slack, and questions of one-slack with its cache,
against epsilon.  Runs that reach --limit are left out, and so are larger n of the same solver.

    python benchmarks/figures.py measure --data DIR      # writes benchmarks/figures.csv
    python benchmarks/figures.py draw                    # writes docs/figures/*.svg, from the table alone
"""

import argparse
import csv
import sys
from pathlib import Path

from problems import add_options, data_folder
from structured import SOLVERS, TASKS, measure, warm_up

HERE = Path(__file__).parent
TABLE = HERE / "figures.csv"
FOLDER = HERE.parent / "docs" / "figures"
SIZES = {
    "covtype": (1_000, 3_000, 10_000, 30_000, 100_000, 581_012),
    "chunking": (250, 500, 1_000, 2_000, 4_000, 8_936),
    "pos": (400, 800, 1_600, 3_200, 6_400, 12_544),
}
#: Examples of the runs against epsilon, and factors of the paper's epsilon.
EPSILON_SIZES = {"covtype": 3_000, "chunking": 250, "pos": 400}
EPSILON_FACTORS = (16, 8, 4, 2, 1)
COLUMNS = ("figure", "problem", "solver", "n", "epsilon", "seconds", "rounds", "oracle_calls", "gap")

#: Colours after Okabe and Ito that show on white and on black, and markers for those who see no colours.
STYLES = {
    "n-slack": ("#D55E00", "s"),
    "one-slack": ("#2a87c8", "o"),
    "one-slack, cache": ("#009E73", "^"),
    "dual_cd": ("#CC79A7", "D"),
    "covtype": ("#D55E00", "s"),
    "chunking": ("#2a87c8", "o"),
    "pos": ("#009E73", "^"),
}
INK = "#7f7f7f"


def against_n(name, task, args):
    """Rows for figures 1 and 5."""
    for solver in (name for name in SOLVERS if name in STYLES):
        for n in (size for size in SIZES[name] if size <= args.largest):
            part = task.part(n) if n < task.n else task
            run = measure(part, SOLVERS[solver], args.limit)
            if not run.done:
                break
            yield _row("n", name, solver, part, part.epsilon, run)


def against_epsilon(name, task, args):
    """Rows for figure 8."""
    part = task.part(min(EPSILON_SIZES[name], args.largest))
    for solver in ("one-slack", "one-slack, cache"):
        for factor in EPSILON_FACTORS:
            epsilon = factor * part.epsilon
            run = measure(part, SOLVERS[solver], args.limit, epsilon=epsilon)
            if not run.done:
                break
            yield _row("epsilon", name, solver, part, epsilon, run)


def _row(figure, name, solver, task, epsilon, run):
    numbers = (
        task.n,
        f"{epsilon:g}",
        f"{run.seconds:.3f}",
        run.iterations,
        run.oracle_calls,
        f"{run.gap:.3g}",
    )
    return dict(zip(COLUMNS, (figure, name, solver, *numbers), strict=True))


def measure_all(args):
    rows = _read(args.table) if args.table.exists() else []
    for name in args.tasks:
        task = TASKS[name](data_folder(args.data), args.cache)
        warm_up(task)
        rows = [row for row in rows if row["problem"] != name]
        for kind in (against_n, against_epsilon):
            for row in kind(name, task, args):
                rows.append(row)
                print(*row.values(), file=sys.stderr, flush=True)
        _write(args.table, rows)


def _write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def draw_all(args):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "oneslack", "font.size": 9, "text.color": INK}
        | dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    )
    rows = _read(args.table)
    args.folder.mkdir(parents=True, exist_ok=True)
    _draw_sizes(rows, "seconds", "processor seconds", args.folder / "figure1_time.svg")
    _draw_sizes(rows, "oracle_calls", "oracle calls", args.folder / "figure5_calls.svg")
    _draw_epsilons(rows, args.folder / "figure8_epsilon.svg")


def _draw_sizes(rows, column, label, path):
    """One panel a problem, one line a solver, a dashed line for growth like n."""
    figure, panels = _panels(len(SIZES))
    for panel, name in zip(panels, SIZES, strict=True):
        seen = []
        for solver in SOLVERS:
            points = [(int(r["n"]), float(r[column])) for r in _chosen(rows, "n", name, solver)]
            _line(panel, points, solver, solver)
            seen += points
        if seen:
            n, value = min(seen)
            ends = (n, max(seen)[0])
            panel.plot(ends, [value * end / n for end in ends], "--", color=INK, lw=1, label="O(n)")
        panel.set(title=name, xlabel="examples")
    panels[0].set_ylabel(label)
    _finish(figure, path)


def _draw_epsilons(rows, path):
    """Rounds without a cache, questions with one; one line a problem."""
    figure, panels = _panels(2)
    wanted = (("one-slack", "rounds"), ("one-slack, cache", "oracle_calls"))
    for panel, (solver, column) in zip(panels, wanted, strict=True):
        for name in SIZES:
            chosen = _chosen(rows, "epsilon", name, solver)
            per = [1.0 if column == "rounds" else float(r["n"]) for r in chosen]
            points = [(float(r["epsilon"]), float(r[column]) / p) for r, p in zip(chosen, per, strict=True)]
            _line(panel, points, name, name)
        panel.set(title=solver, xlabel="epsilon (mean loss)")
    panels[0].set_ylabel("rounds")
    panels[1].set_ylabel("oracle calls / n")
    _finish(figure, path)


def _chosen(rows, figure, problem, solver):
    wanted = {"figure": figure, "problem": problem, "solver": solver}
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def _panels(count):
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, count, figsize=(3.0 * count + 0.6, 2.9), layout="constrained")
    return figure, panels


def _line(panel, points, label, style):
    if points:
        colour, marker = STYLES[style]
        panel.plot(*zip(*sorted(points), strict=True), color=colour, marker=marker, ms=4, lw=1.5, label=label)


def _finish(figure, path):
    labels = {}
    for panel in figure.axes:
        panel.set(xscale="log", yscale="log")
        panel.grid(color=INK, alpha=0.25, lw=0.5)
        panel.set_facecolor("none")
        panel.title.set_color(INK)
        handles, names = panel.get_legend_handles_labels()
        labels |= dict(zip(names, handles, strict=True))
    figure.legend(labels.values(), labels.keys(), loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, transparent=True, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=["measure", "draw"])
    add_options(parser)
    parser.add_argument("--tasks", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--limit", type=float, default=15.0, help="processor seconds of a run")
    parser.add_argument("--largest", type=int, default=10**9, help="leave out larger n")
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    args = parser.parse_args()
    (measure_all if args.action == "measure" else draw_all)(args)


if __name__ == "__main__":
    main()

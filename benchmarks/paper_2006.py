"""Table 1 and Figures 1, 2, 4 to 9 of Joachims (2006), with one-slack cutting planes: measure, then draw.

Time and rounds against n, epsilon and C, for the error rate and for ROC area (ordinal regression with two
ranks), at the paper's C (times the mean loss).  Covertype class 1 is the paper's own problem; rcv1_like is in
the place of its Reuters topics.  The algorithm of the paper to the letter and ours, with its line search, are
run.

    python benchmarks/paper_2006.py measure --data DIR      # writes benchmarks/paper_2006.csv
    python benchmarks/paper_2006.py draw                    # writes docs/figures/paper_2006_*.svg from it

`--largest 10000` takes smaller parts, `--limit 20` ends runs of more seconds, which are left out.
"""

import argparse
import csv
import sys
import time
from pathlib import Path

from problems import add_options, load

from oneslack import OneSlack, Problem, solve
from oneslack.models import measure_model

HERE = Path(__file__).parent
TABLE = HERE / "paper_2006.csv"
FOLDER = HERE.parent / "docs" / "figures"
#: The paper's C, times the mean loss, and sizes.
C_OF = {"covtype1": 1e6, "rcv1_like": 1e4}
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 200_000, 581_012)
EPSILONS = (0.1, 0.03, 0.01, 0.003, 0.001)
C_FACTORS = (1e-3, 1e-2, 1e-1, 1)
MEASURES = {"error": "classification", "roc_auc": "ROC area"}
SOLVERS = {"paper": OneSlack(line_search=False), "ours": OneSlack()}
PART = 30_000
EPSILON = 1e-3
COLUMNS = ("against", "problem", "measure", "solver", "n", "epsilon", "C", "seconds", "rounds", "gap")
STYLES = {"ours": ("#0072b2", "o", "-"), "paper": ("#d55e00", "s", "--")}
INK = "#7f7f7f"


def run(X, y, measure, solver, C, epsilon, limit):
    """(processor seconds, result), or None where it took too long."""
    model = measure_model(measure, X.shape[1], intercept=False)
    problem = Problem(model, X, y, C / len(y), n_jobs=1)
    with problem.engine:
        start = time.process_time()
        result = solve(problem, SOLVERS[solver], epsilon=epsilon, time_limit=limit)
        seconds = time.process_time() - start
    return (seconds, result) if result.status.ok else None


def settings(problem, X, largest):
    """(what it is against, n, epsilon, C) of all runs."""
    C, most = C_OF[problem], min(X.shape[0], largest)
    for n in sorted({min(size, most) for size in SIZES}):
        yield "n", n, EPSILON, C
    part = min(PART, most)
    for epsilon in EPSILONS:
        yield "epsilon", part, epsilon, C
    for factor in C_FACTORS:
        yield "C", part, EPSILON, C * factor


def measure_all(args):
    rows = [row for row in _read(args.table) if row["problem"] not in args.problems]
    for problem in args.problems:
        X, y = load(problem, args.data, args.cache)
        for measure in MEASURES:
            for solver in SOLVERS:
                run(X[:500], y[:500], measure, solver, 1.0, 0.1, 60)  # compiles
                for against, n, epsilon, C in settings(problem, X, args.largest):
                    found = run(X[:n], y[:n], measure, solver, C, epsilon, args.limit)
                    if found is None:
                        continue
                    seconds, result = found
                    setting = (against, problem, measure, solver, n, f"{epsilon:g}", f"{C:g}")
                    values = (*setting, f"{seconds:.4f}", result.n_iter, f"{result.gap:.3g}")
                    rows.append(dict(zip(COLUMNS, values, strict=True)))
                    print(*values, file=sys.stderr, flush=True)
    with open(args.table, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _read(table):
    if not table.exists():
        return []
    with open(table, newline="") as file:
        return list(csv.DictReader(file))


def draw_all(args):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "oneslack", "font.size": 9, "text.color": INK,
         "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK}
    )  # fmt: skip
    rows = _read(args.table)
    names = {"n": "examples", "epsilon": "epsilon", "C": "C, times the mean loss"}
    for against, name in names.items():
        _figure(rows, against, name, args.folder / f"paper_2006_{against.lower()}.svg")


def _figure(rows, against, name, path):
    """Seconds above, rounds below; a column for each problem and measure."""
    from matplotlib.figure import Figure

    mine = [row for row in rows if row["against"] == against]
    panels = sorted({(row["problem"], row["measure"]) for row in mine})
    figure = Figure(figsize=(2.6 * len(panels) + 0.6, 4.4), layout="constrained")
    axes = figure.subplots(2, len(panels), squeeze=False, sharex="col")
    for column, (problem, measure) in enumerate(panels):
        for solver, (colour, marker, line) in STYLES.items():
            part = [
                r for r in mine if (r["problem"], r["measure"], r["solver"]) == (problem, measure, solver)
            ]
            xs = [float(row[against]) for row in part]
            for ax, key in zip(axes[:, column], ("seconds", "rounds")):
                ys = [float(row[key]) for row in part]
                ax.loglog(xs, ys, color=colour, marker=marker, linestyle=line, markersize=4, label=solver)
        axes[0, column].set_title(f"{problem}, {MEASURES[measure]}")
        axes[1, column].set_xlabel(name)
        for ax in axes[:, column]:
            ax.spines[["top", "right"]].set_visible(False)
            ax.minorticks_off()
    axes[0, 0].set_ylabel("processor seconds")
    axes[1, 0].set_ylabel("rounds")
    axes[0, 0].legend(frameon=False, labelcolor=INK)
    figure.savefig(path, transparent=True, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("measure", "draw"))
    add_options(parser)
    parser.add_argument("--problems", nargs="+", default=list(C_OF), choices=list(C_OF))
    parser.add_argument("--largest", type=int, default=max(SIZES))
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    args = parser.parse_args()
    (measure_all if args.what == "measure" else draw_all)(args)


if __name__ == "__main__":
    main()

"""Kernel training beside scikit-learn's SVC, by the tables of Yu & Joachims (2008).

    python benchmarks/kernels.py table1   --data DIR     # Checkers, Adult, Covertype: error, seconds
    python benchmarks/kernels.py figure1  --data DIR     # seconds against n, into a table and a picture
    python benchmarks/kernels.py draw                    # the picture again, from the table
    python benchmarks/kernels.py samples  --data DIR     # Adult: error and seconds against the sample size
    python benchmarks/kernels.py schemes                 # what the additions to Algorithms 2 and 3 bring
    python benchmarks/kernels.py mnist    --data DIR     # ten classes
    python benchmarks/kernels.py chains   --data DIR     # handwritten words, ten folds
    python benchmarks/kernels.py envelope --data DIR     # beside Nystroem and random features + LinearSVC

`--shrink 10` takes a tenth of the examples; `--sets`, `--methods`, `--seeds` run a part, `--skip-svc` leaves
SVC out.  The kernel is exp(-|a - b|^2 / sigma^2) with the paper's sigma^2; C is that of the paper for one
example.  SVC gets a cache of 2 GB.  Where it would take more than half an hour, its time is extrapolated from
three smaller sizes by a power law, and marked "~".  Methods take turns: one seed of each, then the next seed.
"""

import argparse
import csv
import statistics
import warnings
from pathlib import Path

import numpy as np
from kernel_sets import LOADERS, PAPER, SETTINGS, Split, seconds_at, svc, svc_course, timed
from problems import add_options, data_folder
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import oneslack
from oneslack import Binary, Kernel, KernelProblem, KernelSVC, SampledCuts, SequenceTagger, solve
from oneslack.datasets import make_checkers

HERE = Path(__file__).parent
TABLE, PICTURE = HERE / "kernels_figure1.csv", HERE.parent / "docs" / "figures" / "kernels_figure1.svg"
METHODS = {
    "exact": {"method": "exact", "tol": 1e-2},
    "linear": {"method": "linear", "sample_size": 400},
    "constant": {"method": "constant", "sample_size": 1000},
    "basis500": {"method": "basis", "n_basis": 500, "memory": 6e9, "tol": 1e-2},
    "basis2000": {"method": "basis", "n_basis": 2000, "memory": 6e9, "tol": 1e-2},
}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def ours(name, method, seed=0, **more):
    return KernelSVC(**SETTINGS[name], **METHODS[method] | more, random_state=seed)


def told(values):
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.2f} ({spread:.2f})"


def row(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def head(*cells):
    row(*cells)
    row(*["---"] * len(cells))


def table1(options):
    head(
        "set",
        "n",
        "method",
        "train error %",
        "test error %",
        "seconds",
        "CPU",
        "vectors",
        "gap",
        "of SVC's time",
    )
    for name in options.sets or ("checkers", "adult", "covertype"):
        found = {method: [] for method in options.methods or ("constant", "linear", "exact")}
        if len(Split(name, options).y) > 30_000 and not options.methods:
            found.pop("exact")
        for seed in range(options.seeds):
            split = Split(name, options, seed)
            for method, runs in found.items():
                runs.append(_run(ours(name, method, seed), split))
        n = len(split.y)
        course = [] if options.skip_svc else svc_course(name, n, options)
        limit, guessed = seconds_at(course, n) if course else (float("nan"), True)
        for method, runs in found.items():
            *figures, sizes, gaps = zip(*runs, strict=True)
            size, share = int(statistics.mean(sizes)), statistics.mean(figures[2]) / limit
            row(name, f"{n:,}", method, *map(told, figures), f"{size:,}", gaps[-1], f"{share:.3f}")
        for m, seconds, error in course:
            row(name, f"{m:,}", "SVC", "", f"{error:.2f}", f"{seconds:.1f}", "", "", "", "")
        if course and guessed:
            row(name, f"{n:,}", "SVC", "", "", f"~{limit:.0f}", "", "", "", "")
        row(name, "", "paper: SVM-light, constant, linear", "", PAPER[name], "", "", "", "", "")


def _run(model, split):
    """(train error, test error, seconds, CPU seconds, vectors, gap in words)."""
    model, seconds, error = timed(model, split)
    part = slice(0, 20_000)
    train = 100 * (1 - model.score(split.X[part], split.y[part]))
    gap = f"{model.duality_gap_:.3f}" if model.certified_ else "not certified"
    return train, error, seconds, model.cpu, len(model.support_), gap


def figure1(options):
    name = (options.sets or ["checkers"])[0]
    methods = options.methods or ("constant", "linear")
    sizes = [n // options.shrink for n in SIZES]
    taken = []
    head("n", *methods, "SVC")
    for n in sizes:
        runs = {method: [] for method in (*methods, "SVC")}
        split = Split(name, options, n=n)
        for seed in range(options.seeds):
            for method in methods:
                runs[method].append(timed(ours(name, method, seed), split))
            if n <= SIZES[2] // options.shrink and seed == 0 and not options.skip_svc:
                runs["SVC"].append(timed(svc(name), split))
        cells = [f"{n:,}"]
        for method, results in runs.items():
            if results:
                seconds = statistics.median(seconds for _, seconds, _ in results)
                rounds = np.median([np.max(model.n_iter_) for model, _, _ in results])
                error = statistics.mean(error for _, _, error in results)
                taken.append((method, n, f"{seconds:.3f}", int(rounds), f"{error:.3f}"))
                cells.append(f"{seconds:.1f} s, {int(rounds)} rounds, {error:.2f} %")
        row(*cells)
    with open(options.table_file, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [("method", "n", "seconds", "rounds", "error"), *taken]
        )
    for method in (*methods, "SVC"):
        points = [(n, float(seconds)) for label, n, seconds, *_ in taken if label == method]
        if len(points) > 1:
            exponent = np.polyfit(*np.log(points).T, 1)[0]
            last = points[-1][1] / points[0][1]
            print(f"{method}: seconds grow as n^{exponent:.2f}; last / first {last:.2f}")
    draw(options)


def draw(options):
    """Seconds and test error against n, from the table."""
    import matplotlib
    from figures import _finish, _panels

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "oneslack", "font.size": 9})
    with open(options.table_file, newline="") as file:
        rows = list(csv.DictReader(file))
    figure, panels = _panels(2)
    styles = {"constant": ("#009E73", "^"), "linear": ("#2a87c8", "o"), "SVC": ("#D55E00", "s")}
    for panel, column in zip(panels, ("seconds", "error"), strict=True):
        for method, (colour, marker) in styles.items():
            points = [(int(r["n"]), float(r[column])) for r in rows if r["method"] == method]
            if points:
                panel.plot(*zip(*points, strict=True), color=colour, marker=marker, ms=4, label=method)
        panel.set(xlabel="examples", title="seconds" if column == "seconds" else "test error, per cent")
    _finish(figure, options.picture)
    print(f"wrote {options.picture}")


def samples(options):
    head("method", "r", "C", "rounds", "CPU seconds", "train error %", "test error %")
    for method in options.methods or ("constant", "linear"):
        for r in (100, 400, 1000, 4000):
            for C in (0.01, 0.1, 1.0, 10.0, 100.0):
                runs, rounds = [], []
                for seed in range(options.seeds):
                    model = ours("adult", method, seed, sample_size=r, time_limit=options.limit).set_params(
                        C=C
                    )
                    runs.append(_run(model, Split("adult", options, seed)))
                    rounds.append(model.n_iter_)
                train, error, seconds, cpu, *_ = zip(*runs, strict=True)
                late = "over " if max(seconds) >= options.limit else ""
                row(method, r, f"{C:g}", int(np.mean(rounds)), late + told(cpu), told(train), told(error))


def schemes(options):
    """Algorithms 2 and 3 as they stand, and with line search and pull, touching planes, spread samples."""
    head("scheme", "n", "additions", "rounds", "seconds", "P / C n", "test error %")
    for scheme, n in (("constant", 1_000_000 // options.shrink), ("linear", 30_000 // options.shrink)):
        X, y = make_checkers(n, random_state=0)
        X_test, y_test = make_checkers(20_000, random_state=1000)
        kernel = Kernel("rbf", 20.0, dtype=np.float32).fitted(X)
        test = kernel.inputs(X_test)
        for number in range(4 if scheme == "linear" else 2):  # how many of the additions
            given = {name: k < number for k, name in enumerate(("line_search", "touch", "spread"))}
            cells = []
            for seed in range(options.seeds):
                solver = SampledCuts(scheme, METHODS[scheme]["sample_size"], seed=seed, **given)
                problem = KernelProblem(Binary(0), kernel, X, y, n_jobs=None)
                with problem.engine:
                    result = solve(problem, solver, epsilon=1e-3, time_limit=options.limit)
                    w = result.w.merged()
                    f = kernel.product(test, problem.inputs.take(w.index), w.coefficients, problem.engine)
                error = 100 * np.mean((f[:, 0] > 0) != (y_test > 0))
                cells.append((result.n_iter, result.seconds, problem.primal(result.w) / n, error))
            rounds, seconds, primal, error = zip(*cells, strict=True)
            names = [name.replace("_", " ") for name, used in given.items() if used]
            primal = f"{statistics.mean(primal):.4f}"
            row(
                scheme,
                f"{n:,}",
                " and ".join(names) or "none: the paper's",
                int(np.mean(rounds)),
                told(seconds),
                primal,
                told(error),
            )


def mnist_table(options):
    head("method", "test error %", "seconds", "CPU", "vectors", "of SVC's time")
    found = {method: [] for method in options.methods or ("exact", "basis2000")}
    for seed in range(options.seeds):
        split = Split("mnist", options, seed)
        for method, runs in found.items():
            more = {"memory": 6e9} if method == "exact" else {}
            runs.append(_run(ours("mnist", method, seed, **more), split))
    limit = float("nan")
    if not options.skip_svc:
        model, limit, error = timed(svc("mnist"), split)
        row("SVC", f"{error:.2f}", f"{limit:.1f}", f"{model.cpu:.1f}", f"{len(model.support_):,}", 1)
    for method, runs in found.items():
        _, error, seconds, cpu, sizes, _ = zip(*runs, strict=True)
        share = statistics.mean(seconds) / limit
        row(method, told(error), told(seconds), told(cpu), f"{int(np.mean(sizes)):,}", f"{share:.3f}")


def chains(options):
    """Ten folds of words, train on one ("small") or on nine: a linear chain, and one with a kernel."""
    from ocr import read_words

    from oneslack.data.rows import Ragged

    X, Y, folds = read_words(data_folder(options.data))
    constant = Ragged(np.hstack([X.values, np.ones((len(X.values), 1))]), X.offsets)
    makers = {
        "linear": (constant, {"C": 0.1}),
        "rbf, 1000 basis functions": (X, {"C": 3.0, "kernel": "rbf", "gamma": 0.06, "n_basis": 1000}),
    }
    head("training", "chain", "letters right %", "seconds a fit", "gap")
    for protocol in options.protocols:
        found = {name: [] for name in makers}
        for fold in np.unique(folds)[: options.folds]:
            inside = (folds == fold) == (protocol == "small")
            train, test = np.flatnonzero(inside), np.flatnonzero(~inside)
            for name, (inputs, parameters) in makers.items():
                tagger = SequenceTagger(tol=0.01, random_state=0, **parameters)
                tagger.fit(inputs.take(train), Y.take(train))
                codes = tagger.predict_codes(inputs.take(test)).values
                right = 100 * np.mean(tagger.classes_[codes] == Y.take(test).values)
                found[name].append((right, tagger.result_.seconds, tagger.duality_gap_))
        for name, runs in found.items():
            right, seconds, gaps = zip(*runs, strict=True)
            row(
                "one fold" if protocol == "small" else "nine folds",
                name,
                told(right),
                told(seconds),
                f"{max(gaps):.4f}",
            )


def envelope(options):
    head("set", "method", "test error %", "seconds", "nothing is better in both")
    for name in options.sets or ("checkers", "adult", "covertype", "letter", "usps"):
        n = min(len(Split(name, options).y), options.largest)
        runs = {}
        for seed in range(options.seeds):
            split = Split(name, options, seed, n=n)
            for label, model in _rivals(name, n, seed, options).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    _, seconds, error = timed(model, split)
                runs.setdefault(label, []).append((error, seconds))
        means = {label: tuple(np.mean(values, axis=0)) for label, values in runs.items()}
        for label, at in sorted(means.items(), key=lambda item: item[1][1]):
            row(name, label, f"{at[0]:.2f}", f"{at[1]:.1f}", "yes" if _is_lowest(at, means) else "")
        lowest = [label for label, at in means.items() if _is_lowest(at, means)]
        mine = sum(label.startswith("ours") for label in lowest)
        row(name, f"on the lower envelope: ours {mine}, others {len(lowest) - mine}", "", "", "")


def _is_lowest(at, means):
    """Is no other one better in error and in time?"""
    return not any(error < at[0] and seconds < at[1] for error, seconds in means.values())


def _rivals(name, n, seed, options):
    """All methods with the C of the set, or each one given: that of a squared hinge means another thing."""
    return {
        f"{label}, C = {C:g}": model
        for C in options.C or [SETTINGS[name]["C"]]
        for label, model in _rivals_with(name, n, seed, C, options).items()
    }


def _rivals_with(name, n, seed, C, options):
    gamma = SETTINGS[name]["gamma"]
    rivals = {}
    for k in options.functions:
        if 4 * n * k > 5e9:
            continue
        nystroem = Nystroem(gamma=gamma, n_components=k, random_state=seed)
        rivals[f"Nystroem({k}) + LinearSVC"] = make_pipeline(nystroem, LinearSVC(C=C))
        fourier = RBFSampler(gamma=gamma, n_components=k, random_state=seed)
        rivals[f"random features({k}) + LinearSVC"] = make_pipeline(fourier, LinearSVC(C=C))
        rivals[f"ours: basis({k})"] = ours(name, "basis500", seed, n_basis=k)
    for method in ("constant", "exact"):
        if method != "exact" or n <= 30_000:
            rivals[f"ours: {method}"] = ours(name, method, seed)
    for label, model in rivals.items():
        if label.startswith("ours"):
            model.set_params(C=C, time_limit=options.limit)
    return rivals


TABLES = {
    "table1": table1, "figure1": figure1, "draw": draw, "samples": samples, "schemes": schemes,
    "mnist": mnist_table, "chains": chains, "envelope": envelope,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", choices=TABLES)
    add_options(parser)
    parser.add_argument("--shrink", type=int, default=1, help="take one example in so many")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", choices=LOADERS)
    parser.add_argument("--methods", nargs="*", choices=METHODS)
    parser.add_argument("--skip-svc", action="store_true")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of a run of ours")
    parser.add_argument(
        "--C", type=float, nargs="+", help="envelope: for all methods; the set's own if left out"
    )
    parser.add_argument("--functions", type=int, nargs="+", default=[200, 500, 1000, 2000], help="envelope")
    parser.add_argument("--largest", type=int, default=100_000, help="envelope: examples at most")
    parser.add_argument("--protocols", nargs="+", choices=["small", "large"], default=["small", "large"])
    parser.add_argument("--folds", type=int, default=10, help="chains: how many of the ten")
    parser.add_argument("--table-file", type=Path, default=TABLE)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = make_checkers(300, random_state=0)
    for method in METHODS.values():  # compile first
        KernelSVC(**method | {"max_iter": 50, "time_limit": 5}).fit(X, y)
    print(f"oneslack {oneslack.__version__}; seconds are those of the clock", flush=True)
    TABLES[options.table](options)


if __name__ == "__main__":
    main()

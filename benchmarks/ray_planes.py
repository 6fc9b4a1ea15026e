"""Planes a round: rounds and seconds of one-slack to a gap of 1e-3 with 1, 2, 8 and 32 planes a round.

On a cluster a round costs most, so that fewer of them may be worth a larger QP.  Each plane is that of a
group of neighbouring examples, with a slack of its own.

    python benchmarks/ray_planes.py --data DIR
    python benchmarks/ray_planes.py --problems rcv1_like --rows 50000
"""

import argparse

from problems import BINARY, MULTICLASS, add_options, load

from oneslack import Binary, Multiclass, OneSlack, Problem, solve

PLANES = (1, 2, 8, 32)


def measure(name, args, planes):
    X, y = load(name, args.data, args.cache)
    X, y = X[: args.rows], y[: args.rows]
    if name in MULTICLASS:
        model, y = Multiclass(X.shape[1], int(y.max()) + 1, True), y.astype(int)
    else:
        model = Binary(X.shape[1], True)
    problem = Problem(model, X, y, args.C, n_jobs=None)
    with problem.engine:
        return solve(problem, OneSlack(planes=planes), tol=1e-3, time_limit=args.time_limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--problems", nargs="+", default=[*BINARY, "news20", "mnist"])
    parser.add_argument("--rows", type=int, help="only so many of each")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--time-limit", type=float, default=120.0)
    args = parser.parse_args()
    print("| problem | " + " | ".join(f"{planes} planes" for planes in PLANES) + " |")
    print("| --- |" + " ---: |" * len(PLANES))
    for name in args.problems:
        cells = []
        for planes in PLANES:
            result = measure(name, args, planes)
            reached = "" if result.gap <= 1e-3 else f", gap {result.gap:.1e}"
            cells.append(f"{result.n_iter} rounds, {result.seconds:.2f} s{reached}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

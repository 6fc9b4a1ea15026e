"""The best known optimum of each (problem, C), kept in a JSON file in the cache folder.

It is the lowest primal objective that any run of any program has reached, together with the
highest lower bound that any has proved; every run of the benchmarks is entered.  This script
starts the file with tight runs of LIBOCAS (good with few features) and of scikit-learn's
LIBLINEAR (good with many).

    python benchmarks/optima.py --data DIR --problems a9a --C 1 10
"""

import argparse
import json
import sys

from peers import Worker
from problems import BINARY, MULTICLASS, add_options, load

TIGHT = (
    ("libocas", {"r": 1e-5}),
    ("sklearn", {"tol": 1e-2}),  # LIBLINEAR proper gives up after 300 epochs
    ("sklearn", {"tol": 1e-3}),
    ("sklearn", {"tol": 1e-4}),
)


def known(cache, name, C):
    """{"primal", "by", "lower_bound"}, or None."""
    return _read(cache).get(_key(name, C))


def record(cache, name, C, primal, lower_bound, by):
    table = _read(cache)
    entry = table.setdefault(_key(name, C), {"primal": float("inf"), "by": "", "lower_bound": 0.0})
    if primal < entry["primal"]:
        entry.update(primal=primal, by=by)
    entry["lower_bound"] = max(entry["lower_bound"], lower_bound)
    path, part = cache / "optima.json", cache / "optima.part"
    part.write_text(json.dumps(table, indent=1))
    part.replace(path)


def tighten(name, C, data, cache, limit):
    """Run the tight settings, each program until it exceeds its seconds."""
    for program in dict(TIGHT):
        worker = Worker(program, name, data, cache)
        for setting in [s for p, s in TIGHT if p == program]:
            result = worker.run(C, setting, limit)
            if result is None:
                break
            seconds, primal, lower_bound = result
            record(cache, name, C, primal, lower_bound, f"{program} {setting}")
            print(
                f"{name} C={C:g} {program} {setting}: {primal:.8g} in {seconds:.3g} s",
                file=sys.stderr,
                flush=True,
            )
            if seconds > limit / 4:  # the next one, tighter, would hardly end in time
                break
        worker.close()
    return known(cache, name, C)


def _key(name, C):
    return f"{name} C={C:g}"


def _read(cache):
    path = cache / "optima.json"
    return json.loads(path.read_text()) if path.exists() else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", nargs="+", default=BINARY + MULTICLASS)
    parser.add_argument("--C", nargs="+", type=float, default=[0.1, 1, 10])
    parser.add_argument("--limit", type=float, default=60, help="seconds a run")
    add_options(parser)
    args = parser.parse_args()
    for name in args.problems:
        load(name, args.data, args.cache)  # parsed once here, not by every worker
        for C in args.C:
            entry = tighten(name, C, args.data, args.cache, args.limit)
            gap = 1 - entry["lower_bound"] / entry["primal"]
            print(f"{name:16} C={C:<5g} {entry['primal']:.10g}  proved to {gap:.1e}", flush=True)


if __name__ == "__main__":
    main()

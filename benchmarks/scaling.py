"""How training time and memory grow with the number of examples.

Trains on rcv1_like at n, 2n, 4n, ... with the C of the cutting-plane papers held fixed, where
the objective has the mean of the losses: C times their sum is then C_PAPER / n.  Each size
runs in a process of its own, which reads the data from a file; its peak memory from then on, data and
training together, is compared with the bytes of the data.  The
slope of log seconds over log n is the exponent: 1 means linear.

    python benchmarks/scaling.py -o scaling.json
    python benchmarks/scaling.py --program liblinear --setting '{"e": 0.1}' --sizes 50000 100000
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from peers import PROGRAMS
from problems import primal, rcv1_like

C_PAPER = 1e5  # C = 1 at n = 100,000
SIZES = (50_000, 100_000, 200_000, 400_000, 800_000)
SETTINGS = {"ours": {"tol": 1e-3}, "liblinear": {"e": 0.1}, "sklearn": {"tol": 0.1}}


def measure(n, folder, program, setting, repeat):
    """One size, in this process: seconds, objective, bytes of data, peak bytes for data and training."""
    PROGRAMS[program]("rcv1_like", *rcv1_like(1000), None).train(1.0, setting, None)
    reset_peak()
    before = resident()
    X, y = read(folder)
    C = C_PAPER / n
    trainer = PROGRAMS[program]("rcv1_like", X, y, None)
    runs = [trainer.train(C, setting, None) for _ in range(repeat)]
    above = peak() - before
    data_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + y.nbytes
    return {
        "n": n,
        "seconds": float(np.median([run.seconds for run in runs])),
        "primal_over_C_paper": float(primal(X, y, runs[0].w, C)) / C_PAPER,
        "data_bytes": data_bytes,
        "peak_over_data": above / data_bytes,
    }


def write(n, folder):
    """Making the data needs more memory than training, so another process does it."""
    X, y = rcv1_like(n)
    for name, array in {"data": X.data, "indices": X.indices, "indptr": X.indptr, "y": y}.items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "shape.npy", X.shape)


def read(folder):
    data, indices, indptr, y, shape = (
        np.load(folder / f"{name}.npy") for name in ("data", "indices", "indptr", "y", "shape")
    )
    return sp.csr_matrix((data, indices, indptr), shape=tuple(shape)), y


def reset_peak():
    """Forget the peak of imports and compilation (Linux only)."""
    Path("/proc/self/clear_refs").write_text("5")


def resident():
    return _status("VmRSS")


def peak():
    return _status("VmHWM")


def _status(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def in_new_process(n, args):
    with tempfile.TemporaryDirectory() as folder:
        ask(["--write", str(n), "--folder", folder])
        one = ["--one", str(n), "--folder", folder, "--program", args.program]
        return json.loads(ask([*one, "--setting", json.dumps(args.setting), "--repeat", str(args.repeat)]))


def ask(arguments):
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def exponent(rows):
    logs = np.log([[row["n"], row["seconds"]] for row in rows])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--program", choices=list(SETTINGS), default="ours")
    parser.add_argument("--setting", type=json.loads, help="as JSON, e.g. '{\"tol\": 0.001}'")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    for name, kind in (("--one", int), ("--write", int), ("--folder", Path)):
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.setting = args.setting or SETTINGS[args.program]
    return args


def main():
    args = options()
    if args.write:
        return write(args.write, args.folder)
    if args.one:
        return print(json.dumps(measure(args.one, args.folder, args.program, args.setting, args.repeat)))
    print("|       n | seconds | objective / C | peak / data |")
    print("| ---: | ---: | ---: | ---: |")
    rows = []
    for n in args.sizes:
        rows.append(row := in_new_process(n, args))
        print(
            f"| {n:7,} | {row['seconds']:.3f} | {row['primal_over_C_paper']:.5f}"
            f" | {row['peak_over_data']:.2f} |",
            flush=True,
        )
    print(f"\nseconds grow like n^{exponent(rows):.2f}")
    if args.output:
        args.output.write_text(json.dumps({"rows": rows, "exponent": exponent(rows)}, indent=1))


if __name__ == "__main__":
    main()

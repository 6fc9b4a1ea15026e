"""What becomes of a training on a cluster of two machines when something breaks at a random moment.

The machines are network namespaces with a Ray node each (tests/machines.py), so this needs Linux and root:

    python benchmarks/faults.py --moments 20
    python benchmarks/faults.py --faults "machine killed" "cable cut for good" --moments 5 --seed 1

Each run trains on 2,000 made-up rows in two parts, one on each machine, slowed to a few steps a second, with
a checkpoint at every step.  A run is good when it ends with a certified model whose bounds hold the optimum,
or with one sentence, and leaves no process and no file behind.  "still" is the longest time from the fault to
the next step or to the sentence.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from machines import Machines, last_json, sh, why_not

TOL = {"one_slack": 1e-6, "distributed_dual": 1e-4}
#: Seconds that a run may take after a fault has struck, at most.
TOO_LONG = 200.0
#: Bytes of the disk for checkpoints.
DISK = "20m"


def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 30))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=2000) > 0, 1.0, -1.0)


def drive(address, name, path):
    """The driver: tells of each step, and last of the result."""
    from oneslack import Binary, DistributedDual, OneSlack, OneslackError, Ray, SplitProblem, solve
    from oneslack.memory.checkpoint import Checkpoint

    solver = {"one_slack": OneSlack(), "distributed_dual": DistributedDual()}[name]

    def told(row):
        print("step", len(set(problem.engine.nodes)), flush=True)
        time.sleep(0.1)

    try:
        problem = SplitProblem(Binary(30), *data(), 0.1, engine=Ray(2, address))
        with problem.engine:
            print("ready", flush=True)
            keep = Checkpoint(path, every=0.0)
            result = solve(problem, solver, tol=TOL[name], callbacks=[told], checkpoint=keep, resume=True)
        said = [result.status.name, result.primal, result.dual, result.certified]
    except OneslackError as error:
        said = [type(error).__name__, str(error)]
    print(json.dumps(said), flush=True)


class Drive:
    """A driver on machine k, and when it took its steps."""

    def __init__(self, machines, k, solver, path):
        self.machines = machines
        command = [sys.executable, Path(__file__).resolve(), "--drive", machines.address, solver, path]
        self.process = machines.popen(k, command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines, self.steps, self.errors = [], [], []
        self.readers = [
            threading.Thread(target=self._read), threading.Thread(target=self._read_errors)
        ]  # fmt: skip
        for reader in self.readers:
            reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.strip())
            self.steps.append(time.monotonic())

    def _read_errors(self):
        self.errors.extend(self.process.stderr)

    def n_steps(self):
        return sum(line.startswith("step") for line in self.lines)

    def wait_for(self, steps):
        end = time.monotonic() + TOO_LONG
        while self.n_steps() < steps and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)

    def end(self):
        """(what the run came to, or None where it had to be killed)."""
        try:
            self.process.wait(TOO_LONG)
        except subprocess.TimeoutExpired:
            self.machines.signal_to(self.process, signal.SIGKILL)
            self.process.wait()
        for reader in self.readers:
            reader.join()
        return last_json(self.lines[-1]) if self.lines and self.lines[-1].startswith("[") else None

    def still(self, moment):
        """Seconds from the moment on without news, at most until the first."""
        return next((at - moment for at in self.steps if at > moment + 0.3), float("nan"))


# Faults: each strikes, and puts right again what the next run needs.


def worker_killed(machines, run, folder, rng):
    for process in machines.workers(int(rng.integers(2))):
        os.kill(process, signal.SIGKILL)


def machine_killed(machines, run, folder, rng):
    machines.kill(1)
    return lambda: machines.start(1)


def machine_killed_and_back(machines, run, folder, rng):
    machines.kill(1)
    machines.start(1)


def machine_stopped(machines, run, folder, rng):
    machines.signal(1, signal.SIGSTOP)
    time.sleep(60.0)
    machines.signal(1, signal.SIGCONT)
    return lambda: machines.restart_if_lost(1)


def cable_cut_for_a_while(machines, run, folder, rng):
    machines.cut(1)
    time.sleep(10.0)
    machines.mend(1)


def cable_cut_for_good(machines, run, folder, rng):
    machines.cut(1)

    def mend():
        machines.kill(1)
        machines.mend(1)
        machines.start(1)

    return mend


def driver_killed(machines, run, folder, rng):
    machines.signal_to(run.process, signal.SIGKILL)


def disk_full(machines, run, folder, rng):
    with open(folder / "filler", "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"0" * 4096)
    return lambda: (folder / "filler").unlink()


FAULTS = {
    "worker killed": worker_killed, "machine killed": machine_killed,
    "machine killed and back": machine_killed_and_back, "machine stopped for a minute": machine_stopped,
    "cable cut for 10 s": cable_cut_for_a_while, "cable cut for good": cable_cut_for_good,
    "driver killed, resumed on the other machine": driver_killed, "disk full at a checkpoint": disk_full,
}  # fmt: skip


def one_moment(machines, folder, fault, solver, rng, optimum):
    """(outcome, seconds without a step, what else is to be told)."""
    path, steps = folder / "run", int(rng.integers(1, 40))
    run = Drive(machines, 0, solver, path)
    run.wait_for(steps)
    moment, put_right = time.monotonic(), None
    if run.process.poll() is None:
        put_right = FAULTS[fault](machines, run, folder, rng)
    said = run.end()
    still = run.still(moment)
    if fault.startswith("driver"):
        again = Drive(machines, 1, solver, path)
        said, still = again.end(), again.steps[1] - moment if len(again.steps) > 1 else float("nan")
    if put_right is not None:
        put_right()
    if fault.startswith("disk") and said and said[0] not in ("CONVERGED",):
        outcome = judged(said, optimum)
        said = Drive(machines, 0, solver, path).end()
        outcome += ", then " + judged(said, optimum)
    else:
        outcome = judged(said, optimum)
    left = os.listdir(folder)
    end = time.monotonic() + 40.0
    while (alive := [*machines.workers(0), *machines.workers(1)]) and time.monotonic() < end:
        time.sleep(0.2)
    if left or alive:
        outcome += f"; LEFT BEHIND {left} {alive}"
    for name in left:
        (folder / name).unlink()
    return outcome, still, said[1] if outcome.startswith("sentence") else "".join(run.errors)[-300:]


def judged(said, optimum):
    if said is None:
        return "HUNG OR CRASHED"
    if len(said) == 2:
        return "sentence" if "\n" not in said[1] else "NO SENTENCE"
    status, primal, dual, certified = said
    is_right = dual <= optimum[0] * (1 + 1e-9) and optimum[1] <= primal * (1 + 1e-9)
    return "right model" if status == "CONVERGED" and certified and is_right else f"WRONG {said}"


def main():
    if sys.argv[1:2] == ["--drive"]:
        return drive(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=np.inf, help="no new run afterwards")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if reason := why_not():
        return print(reason)
    disk = Path(tempfile.mkdtemp(prefix="onedisk"))
    sh("mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", str(disk))
    try:
        found = strike(args, disk)
    finally:
        sh("umount", str(disk), check=False)
        disk.rmdir()
    for fault, runs in found.items():
        outcomes = [outcome for outcome, _ in runs]
        counts = ", ".join(f"{outcomes.count(each)} {each}" for each in sorted(set(outcomes)))
        still = [seconds for _, seconds in runs if np.isfinite(seconds)] or [np.nan]
        print(f"| {fault} | {len(runs)} | {counts} | {np.median(still):.1f} s | {max(still):.1f} s |")


def strike(args, disk):
    """{fault: [(outcome, seconds without a step)]}, the faults in turn."""
    from oneslack import Binary, OneSlack, Problem, solve

    truth = solve(Problem(Binary(30), *data(), 0.1), OneSlack(), tol=1e-7)
    found, end = {fault: [] for fault in args.faults}, time.monotonic() + 60.0 * args.minutes
    rng = np.random.default_rng(args.seed)
    with Machines(2) as machines:
        machines.start_all()
        for moment in range(args.moments):
            for fault in args.faults:
                if time.monotonic() > end:
                    return found
                solver = list(TOL)[moment % 2]
                *run, told = one_moment(machines, disk, fault, solver, rng, (truth.primal, truth.dual))
                found[fault].append(run)
                print(" ", fault, solver, *run, told, flush=True)
    return found


if __name__ == "__main__":
    main()

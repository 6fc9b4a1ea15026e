"""What oneslack does, to the bit: hundreds of small fits written down, to be compared after a refactoring.

    cd benchmarks/behaviour
    python behaviour.py record before.json
    python behaviour.py record after.json                # with the code changed
    python behaviour.py compare before.json after.json   # exit code 1 where anything differs
    python behaviour.py record part.json --only 'LinearSVC/*'

Each case is a fit, some fits of one kind, a few commands or refusals through the public interface, on data
made by a seed.  Written down are digests of weights, predictions and files, bounds, traces, warnings, printed
texts and sentences of errors, but nothing that tells a time.  Two recordings by the same code on the same
machine are equal; another processor, NumPy or numba may round otherwise, and `compare` says so.  PATTERN is
one of `fnmatch`, or a part of a name.  The code is that of the `oneslack` that Python imports, so that
PYTHONPATH=src names that of another checkout.

behaviour_cases.py has the estimators, behaviour_problems.py problems, solvers, files; behaviour_commands.py
the command line and refusals, behaviour_data.py what they learn from; behaviour_facts.py says what is kept.
"""

import argparse
import contextlib
import difflib
import faulthandler
import fnmatch
import io
import json
import os
import platform
import sys
import tempfile
import time
import warnings

# Before NumPy is loaded: sums of products must not depend on the number of cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import behaviour_cases
import behaviour_commands
import behaviour_problems
import numba
import numpy as np
import scipy
import sklearn
from behaviour_facts import raised, steady

import oneslack

#: Warnings about Python and its libraries, which come and go with the garbage.
OTHERS = (DeprecationWarning, PendingDeprecationWarning, ResourceWarning, FutureWarning)
#: Characters of a value that are shown, and cases that took most time.
LONGEST, SLOWEST = 300, 5


def all_cases() -> dict:
    """From the name of a case to the function that runs it."""
    cases = {}
    for module in (behaviour_cases, behaviour_problems, behaviour_commands):
        for name, run in module.cases():
            if name in cases:
                raise ValueError(f"two cases are called {name!r}")
            cases[name] = run
    return cases


def is_wanted(name, pattern) -> bool:
    return pattern is None or pattern in name or fnmatch.fnmatch(name, pattern)


def outcome(run) -> dict:
    """What a case gives, raises, prints and warns of, run in a folder of its own."""
    printed, back = io.StringIO(), os.getcwd()
    folders = tempfile.TemporaryDirectory(prefix="behaviour-")
    with folders as folder, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(printed):
                facts = run()
        except (Exception, oneslack.Interrupted) as error:
            facts = raised(error)
        finally:
            os.chdir(back)
    facts["warnings"] = [_warning(one) for one in told if not issubclass(one.category, OTHERS)]
    return facts | {"printed": steady(printed.getvalue())}


def _warning(one):
    """With the file that it points to: it should be the user's."""
    return f"{one.category.__name__} at {os.path.basename(one.filename)}: {steady(str(one.message))}"


def record(path, only):
    faulthandler.enable()  # a compiled loop may go wrong in a way that is no exception
    seconds, found = {}, {}
    for name, run in all_cases().items():
        if is_wanted(name, only):
            begin = time.perf_counter()
            found[name] = outcome(run)
            seconds[name] = time.perf_counter() - begin
    with open(path, "w") as file:
        json.dump({"made by": _versions(), "cases": found}, file, indent=1, sort_keys=True)
    print(f"{path}: {len(found)} cases in {sum(seconds.values()):.0f} s", file=sys.stderr)
    for name in sorted(seconds, key=seconds.get)[-SLOWEST:]:
        print(f"  {seconds[name]:6.1f} s  {name}", file=sys.stderr)
    return 0


def _versions() -> dict:
    modules = (np, scipy, sklearn, numba)
    versions = {module.__name__: module.__version__ for module in modules}
    return versions | {"python": platform.python_version(), "machine": f"{platform.machine()} {_processor()}"}


def _processor():
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "")
    return platform.processor()


def compare(old_path, new_path, only):
    (old, old_by), (new, new_by) = (_read(path, only) for path in (old_path, new_path))
    for name in [name for name in old_by if old_by[name] != new_by.get(name)]:
        print(f"made by another {name}: {old_by[name]} -> {new_by.get(name)}")
    missing, added = [name for name in old if name not in new], [name for name in new if name not in old]
    changed = [name for name in old if name in new and _key(old[name]) != _key(new[name])]
    for name in changed:
        print(f"\n{name}")
        for line in differences(_flat(old[name]), _flat(new[name])):
            print(f"  {line}")
    for word, names in (("missing", missing), ("new", added)):
        for name in names:
            print(f"{word}: {name}")
    equal = len(old) - len(missing) - len(changed)
    print(f"{equal} equal, {len(changed)} changed, {len(added)} new, {len(missing)} missing")
    return 1 if changed or added or missing else 0


def _read(path, only):
    with open(path) as file:
        content = json.load(file)
    cases = {name: facts for name, facts in content["cases"].items() if is_wanted(name, only)}
    return cases, content["made by"]


def _key(value):
    return json.dumps(value, sort_keys=True)  # NaN is like NaN there


def _flat(facts, before="") -> dict:
    """From dotted names to values that are no dicts."""
    if not isinstance(facts, dict):
        return {before[:-1]: facts}
    return {key: value for name in facts for key, value in _flat(facts[name], f"{before}{name}.").items()}


def differences(old, new):
    """Lines about the fields that differ."""
    for field in sorted({*old, *new}, key=lambda name: ("digest" in name, name)):
        a, b = (facts.get(field, "(nothing)") for facts in (old, new))
        if _key(a) == _key(b):
            continue
        if isinstance(a, str) and isinstance(b, str) and "\n" in a + b:
            yield f"{field}:"
            lines = difflib.unified_diff(a.split("\n"), b.split("\n"), lineterm="", n=0)
            yield from (f"    {line}" for line in list(lines)[2:])
        else:
            yield f"{field}: {_short(a)} -> {_short(b)}{_relative(a, b)}"


def _short(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def _relative(a, b):
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in (a, b)):
        return ""
    return f"  (relative {abs(b - a) / max(abs(a), abs(b)):.1e})" if a or b else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, paths in (("record", ["out"]), ("compare", ["old", "new"])):
        command = commands.add_parser(name)
        for path in paths:
            command.add_argument(path)
        command.add_argument("--only", metavar="PATTERN")
    args = parser.parse_args()
    if args.command == "record":
        return record(os.path.abspath(args.out), args.only)
    return compare(args.old, args.new, args.only)


if __name__ == "__main__":
    sys.exit(main())

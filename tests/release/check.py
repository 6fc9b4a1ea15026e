"""Is what would be uploaded good?  `make release-check` runs this from a checkout; it stops at what is not.

1. Build the archive and, from it, the wheel into dist/; twine checks them, and what is in them is looked at.
2. In a fresh environment with the wheel alone, out of sight of the checkout: the blocks of the README, the
   newcomer's walk (tests/newcomer.py), and mypy as a user has it (typed_user.py).
3. The quick tests of the unpacked archive, without its src/, with the newest dependencies and the oldest.
4. The README and the walk with every other Python that is here.

    python tests/release/check.py [--tests "tests/solvers tests/cli"] [--folder DIR] [--only NAME ...]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
BIN = "Scripts" if sys.platform == "win32" else "bin"
#: Lines of the README that build or install: that is done here already.
LEFT_OUT = ("make", "pip", "git", "python3")
#: About the checkout itself.
NOT_OF_THE_WHEEL = ["--ignore=tests/test_quick_runs.py"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--tests", default="tests", help="the quick tests to run (default: all)")
    words.add_argument("--folder", help="where environments are made (default: a temporary folder)")
    words.add_argument("--only", nargs="+", help="environments: wheel, newest, oldest, 3.12, ...")
    given = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="release-") as temporary:
        folder = Path(given.folder or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        wheel, unpacked = build(folder)
        asked = {
            "wheel": lambda home: as_a_user(home, sys.executable, wheel, typed=True),
            "newest": lambda home: tested(home, wheel, unpacked, given.tests.split(), []),
            "oldest": lambda home: tested(home, wheel, unpacked, given.tests.split(), oldest()),
        }
        for version, python in other_pythons().items():
            asked[version] = lambda home, python=python: as_a_user(home, python, wheel)
        for name in given.only or asked:
            say(f"== {name}")
            asked[name](folder / name)
    say(f"good: {', '.join(sorted(path.name for path in DIST.iterdir()))}")


def say(text):
    print(text, flush=True)


def run(*command, folder=ROOT, **environment):
    """Run a command without the checkout on its path; its failure ends the check."""
    say(f"$ {' '.join(map(str, command))}")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([str(word) for word in command], cwd=folder, env=kept | environment)
    if done.returncode:
        sys.exit(f"release-check: this failed, in {folder}: {' '.join(map(str, command))}")


def environment(home, python=sys.executable):
    """A fresh environment of a Python; its own interpreter."""
    shutil.rmtree(home, ignore_errors=True)
    run(python, "-m", "venv", home / "env")
    return home / "env" / BIN / "python"


def install(python, *wanted):
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)


def build(folder):
    """(the wheel, the folder of the unpacked archive without src/)."""
    say("== build")
    python = environment(folder / "tools")
    install(python, "build", "twine")
    shutil.rmtree(DIST, ignore_errors=True)
    run(python, "-m", "build", "--outdir", DIST)
    ((wheel,), (archive,)) = list(DIST.glob("*.whl")), list(DIST.glob("*.tar.gz"))
    run(python, "-m", "twine", "check", "--strict", wheel, archive)
    look_into(wheel)
    unpacked = folder / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(unpacked, filter="data")
    (inside,) = unpacked.iterdir()
    shutil.rmtree(inside / "src")
    return wheel, inside


def look_into(wheel):
    """The package and nothing else, with its types and its licence."""
    with zipfile.ZipFile(wheel) as zipped:
        names = zipped.namelist()
    stray = [
        name
        for name in names
        if not re.match(r"oneslack(-[\d.]+\w*\.dist-info)?/", name) or "__pycache__" in name
    ]
    assert not stray, f"{wheel.name} holds {stray[:5]}"
    there = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py*")}
    there = {name for name in there if "__pycache__" not in name} | {"oneslack/py.typed"}
    assert there <= set(names), f"{wheel.name} lacks {sorted(there - set(names))[:5]}"
    assert any(name.endswith("licenses/LICENSE") for name in names), f"{wheel.name} has no licence"


def as_a_user(home, python, wheel, typed=False):
    """The wheel alone, with what it depends on: the README, the walk, the types."""
    python = environment(home, python)
    install(python, wheel)
    run(python, "-m", "pip", "check")
    here = home / "here"
    here.mkdir()
    readme(python, here)
    run(python, "-P", ROOT / "tests" / "newcomer.py", folder=here)
    if typed:
        install(python, "mypy>=1.11")
        typed_user(python, home)


def readme(python, folder):
    """The blocks of the README, Python as one program and commands as one script."""
    programs, lines = [], []
    for language, code in FENCE.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        if language == "python":
            programs.append(code)
        elif language == "sh":
            lines += [line for line in code.splitlines() if line.split() and line.split()[0] not in LEFT_OUT]
    (folder / "readme.py").write_text("\n".join(programs), encoding="utf-8")
    run(python, "-P", "-W", "error", "readme.py", folder=folder)
    (folder / "readme.sh").write_text("\n".join(lines), encoding="utf-8")
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    run("sh", "-e", "readme.sh", folder=folder, PATH=path)


def typed_user(python, home):
    """mypy accepts a user's program but for the lines that it must refuse."""
    program = home / "typed_user.py"
    shutil.copy(ROOT / "tests" / "release" / "typed_user.py", program)
    command = [python, "-m", "mypy", "--strict", "--cache-dir", os.devnull, program]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True)
    refused = {int(line) for line in re.findall(r"typed_user\.py:(\d+): error", done.stdout)}
    lines = program.read_text(encoding="utf-8").splitlines()
    expected = {number for number, line in enumerate(lines, 1) if "# error: " in line}
    assert refused == expected, f"mypy:\n{done.stdout}{done.stderr}"
    say(f"mypy reads the types, and refuses the {len(expected)} lines that are wrong")


def tested(home, wheel, unpacked, tests, constraints):
    """The archive's quick tests with the wheel; `constraints` hold dependencies at their oldest."""
    python = environment(home)
    (home / "constraints.txt").write_text("\n".join(constraints), encoding="utf-8")
    install(python, f"{wheel}[plot,test]", "-c", home / "constraints.txt")
    run(python, "-m", "pip", "check")
    where = "import oneslack, sys; sys.exit(not oneslack.__file__.startswith(sys.prefix))"
    run(python, "-P", "-c", where, folder=unpacked)
    # What old libraries say of newer ones beside them is nobody's fault.
    warnings = ["-o", "filterwarnings=default"] if constraints else []
    options = ["-q", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider", "-m", "not slow", *warnings]
    run(python, "-P", "-m", "pytest", *options, *NOT_OF_THE_WHEEL, *tests, folder=unpacked)


def oldest():
    """The oldest of each dependency that pyproject.toml allows, as pip's constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["plot"]]
    return [re.sub(r">=([\d.]+).*", r"==\1.*", one) for one in needed]


def other_pythons():
    """{"3.12": its interpreter} of the supported Pythons that are here, without the one that runs."""
    found = {}
    for minor in range(11, 20):
        if minor == sys.version_info.minor:
            continue
        pyenv = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        for python in [shutil.which(f"python3.{minor}"), *map(str, pyenv)]:
            ask = [python, "-c", "import venv, ensurepip, sys; print(sys.version_info.minor)"]
            if python and subprocess.run(ask, capture_output=True, text=True).stdout.strip() == str(minor):
                found.setdefault(f"3.{minor}", python)
    return found


if __name__ == "__main__":
    main()

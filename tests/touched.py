"""Print the test files that a change can touch, the closest first: `make check` runs them.

A change is what differs from the last commit; where nothing does, what the last commit changed.  A test file
is at distance 0 if it was changed itself, 1 if it is named after a changed module, 2 if it is in the module's
room, and 2 and the number of imports between them elsewhere, where imports within _jit do not count.

    python tests/touched.py [the farthest, 4 if not given]
"""

import ast
import heapq
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS, SOURCE = ROOT / "tests", ROOT / "src"


def changed_files():
    """Paths relative to the root, of files that exist."""

    def ask(*words):
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    new = ask("ls-files", "--others", "--exclude-standard")
    found = {*ask("diff", "--name-only", "HEAD"), *new} or ask("diff", "--name-only", "HEAD~1", "HEAD")
    return sorted(Path(name) for name in found if (ROOT / name).exists())


def dotted(path, base):
    """The name by which a module is imported."""
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path, name):
    """The names that a module imports, as modules or as names out of modules."""
    found = set()
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *(node.module or "").split(".")]).strip(".")
            found |= {f"{base}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")  # oneslack.LinearSVC
    return found


def other_names(modules):
    """{name: where it comes from}: what packages pass on, and the public names."""
    found = {}
    for package, path in modules.items():
        if path.name == "__init__.py":
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ImportFrom) and node.level == 1:
                    base = f"{package}.{node.module}" if node.module else package
                    found |= {f"{package}.{each.name}": f"{base}.{each.name}" for each in node.names}
                elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOME":
                    home = ast.literal_eval(node.value)
                    found |= {f"{package}.{name}": f"{package}.{home[name]}.{name}" for name in home}
    return found


def import_graph():
    """{module: the modules that it imports}, of ours and of the tests."""
    modules = {dotted(path, SOURCE): path for path in SOURCE.rglob("*.py")}
    modules |= {dotted(path, TESTS): path for path in TESTS.rglob("*.py")}
    others = other_names(modules)

    def home(name):
        """The module that a name is of: itself one, or a name in one."""
        while name not in modules and name in others and others[name] != name:
            name = others[name]
        return name if name in modules else name.rpartition(".")[0]

    graph = {}
    for name, path in modules.items():
        found = {home(each) for each in imports(path, name)}
        graph[name] = {each for each in found if each in modules} - {"oneslack", name}
    return graph


def distances(graph, start):
    """{module: imports from it to `start`, at least}."""
    users = {}
    for name, used in graph.items():
        for each in used:
            users.setdefault(each, set()).add(name)
    found, waiting = {}, [(0, start)]
    while waiting:
        far, name = heapq.heappop(waiting)
        if name not in found:
            found[name] = far
            for user in users.get(name, ()):
                heapq.heappush(waiting, (far + ("._jit." not in user), user))
    return found


def touched_by(path, graph, files):
    """{test file: distance} of a changed file."""
    if path in files:
        return {path: 0}
    if path.suffix != ".py" or path.parts[0] not in ("src", "tests"):
        room = "docs" if path.suffix == ".md" else path.parts[0]
        return dict.fromkeys([each for each in files if each.parts[1] == room], 2)
    if path.name == "conftest.py":
        return dict.fromkeys([each for each in files if each.is_relative_to(path.parent)], 2)
    name = dotted(ROOT / path, SOURCE if path.parts[0] == "src" else TESTS)
    far, found = distances(graph, name), {}
    room = name.split(".")[1:2]
    for file in files:
        place = 2 + far.get(dotted(ROOT / file, TESTS), 99)
        if path.parts[0] == "src" and [file.parts[1]] == room:
            place = min(place, 2)
            if path.stem in file.stem:
                place = 1
        found[file] = place
    return found


def main(farthest=4):
    graph = import_graph()
    files = sorted(path.relative_to(ROOT) for path in TESTS.rglob("test_*.py"))
    nearest = {}
    for path in changed_files():
        for file, place in touched_by(path, graph, files).items():
            nearest[file] = min(place, nearest.get(file, place))
    chosen = [file for file in files if nearest.get(file, 99) <= farthest]
    for file in sorted(chosen, key=lambda file: nearest[file]):
        print(file)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

"""The tree shows the architecture: imports point one way, lazy ones too, and the corridor stays empty."""

import ast
from pathlib import Path

import oneslack

ROOT = Path(oneslack.__file__).parent
#: What is in the corridor: the theory, and two doors.
CORRIDOR = {"__init__", "__main__", "protocols", "objective", "cuts", "result", "driver", "errors"}
#: From the ground up: a room imports from those before it.  A room within a room may stand elsewhere.
ROOMS = [
    "errors", "verify", "_jit", "losses", "objective", "data", "cuts", "certificate", "result", "protocols",
    "engines",
    "trees", "metrics", "formats", "features", "datasets", "kernels", "memory", "models", "solvers",
    "problems", "checks", "driver", "latent", "selection", "viz", "loggers", "estimators",
    "checks.definitions", "checks.certificate", "adapters", "kinds", "checks.proof_examples",
    "checks.proof_graphs", "checks.proof_matchings", "checks.proof_problems", "checks.proof",
    "cli", "__main__",
]  # fmt: skip
#: Beside the order: neither of these knows the other.
STRANGERS = [("models", "solvers"), ("models", "features"), ("solvers", "formats")]


def modules():
    """{dotted name: path} of all that is ours."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imported(name):
    """The modules of ours that a module imports anywhere in it."""
    path, found = MODULES[name], set()
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    package = [] if name == "" else package
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name.partition("oneslack.")[2] for each in node.names if "oneslack." in each.name}
        if not isinstance(node, ast.ImportFrom):
            continue
        assert node.level or (node.module or "").partition(".")[0] != "oneslack", f"{name}: not relative"
        if node.level:
            base = package[: len(package) - node.level + 1] + (node.module or "").split(".")
            base = ".".join(part for part in base if part)
            for each in node.names:
                full = f"{base}.{each.name}".lstrip(".")
                found.add(full if full in MODULES else base)
    return found - {""}  # of the package itself, the version


def room(name):
    """The room that a module is in."""
    return max((each for each in ROOMS if name == each or name.startswith(f"{each}.")), key=len, default=None)


def edges():
    return {(a, b) for a in MODULES if a for b in imported(a)}


def test_the_corridor_holds_the_theory_alone():
    assert {name for name, path in MODULES.items() if path.parent == ROOT and name} | {"__init__"} == CORRIDOR


def test_every_module_is_in_a_room():
    assert [name for name in MODULES if name and room(name) is None] == []


def test_imports_point_one_way():
    rank = {name: place for place, name in enumerate(ROOMS)}
    wrong = [(a, b) for a, b in edges() if rank[room(a)] < rank[room(b)]]
    assert sorted(wrong) == []


def test_strangers_do_not_know_each_other():
    pairs = {pair for a, b in STRANGERS for pair in [(a, b), (b, a)]}
    assert sorted((a, b) for a, b in edges() if (room(a), room(b)) in pairs) == []


def test_compiled_loops_know_nothing_of_ours():
    assert {room(b) for a, b in edges() if room(a) == "_jit"} == {"_jit"}


def test_files_and_functions_are_short():
    lines = {name: path.read_text().splitlines() for name, path in MODULES.items()}
    assert [name for name, text in lines.items() if len(text) > 400] == []
    long = []
    for name, text in lines.items():
        for node in ast.walk(ast.parse("\n".join(text))):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= 100:
                long.append((name, node.name))
    assert long == []


def test_a_wrong_import_is_found(tmp_path, monkeypatch):
    """A lazy one, from a solver up into the driver."""
    text = "def f():\n    from ..driver import solve\n    return solve\n"
    path = tmp_path / "newton.py"
    path.write_text(text)
    monkeypatch.setitem(MODULES, "solvers.newton", path)
    assert imported("solvers.newton") == {"driver"}
    rank = {name: place for place, name in enumerate(ROOMS)}
    assert rank[room("solvers.newton")] < rank[room("driver")]

"""What only compiled code calls has no wrapper for Python, which can double the time of a first run."""

import ast
from pathlib import Path

import oneslack

HERE = Path(__file__).parents[1]
SOURCE = Path(oneslack.__file__).parent


def used_elsewhere():
    """(module, name) of what is taken from _jit outside of it, by `from ... import` or as an attribute."""
    used = set()
    for path in [*SOURCE.rglob("*.py"), *HERE.rglob("*.py")]:
        if path.parent.name == "_jit":
            continue
        modules, nodes = {}, list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and "_jit" in (node.module or ""):
                module = node.module.split(".")[-1]
                if module == "_jit":
                    modules |= {name.asname or name.name: name.name for name in node.names}
                used |= {(module, name.name) for name in node.names}
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.add((modules.get(node.value.id), node.attr))
    return used


def compiled_for_python():
    """(module, name) of the functions of _jit that are `njit`, but for sums that may be reordered: only a
    function of its own has flags of its own."""
    for path in (SOURCE / "_jit").glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and "njit" in map(_name, node.decorator_list):
                flags = " ".join(map(ast.unparse, node.decorator_list))
                if "reassoc" not in flags and "SUMS" not in flags:
                    yield path.stem, node.name


def _name(decorator):
    return ast.unparse(decorator).split("(")[0]


def test_helpers_are_compiled_with_their_callers():
    found = set(compiled_for_python())
    assert ("scalar_loss", "dual_pass") in found
    alone = sorted(found - used_elsewhere())
    assert alone == [], "only compiled code calls these: make them register_jitable"

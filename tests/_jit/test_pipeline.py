"""Helpers are compiled only as far as the loops that call them need it."""

import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import codegen, event

from oneslack._jit import compiler, pipeline


@compiler.register_jitable
def inner(x, y):
    if x.shape[0] != y.shape[0]:
        raise ValueError("two lengths")
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@compiler.register_jitable
def _length(x):
    return np.sqrt(inner(x, x))


def length(x):
    return _length(x)


compiler.overload(length)(lambda x: _length)


@compiler.njit(nogil=True)
def cosine(x, y):
    return inner(x, y) / (length(x) * length(y))


pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def compile_cosine():
    """What a loop says, and how often machine code was made."""
    made = []
    make = codegen.JITCodeLibrary._finalize_specific

    def counted(library):
        made.append(library.name)
        return make(library)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codegen.JITCodeLibrary, "_finalize_specific", counted)
        found = cosine(np.array([3.0, 4.0]), np.array([4.0, 3.0]))
    return found, made


@pytest.mark.skipif(not pipeline._IS_TRIED, reason="with this version all is left to numba")
def test_machine_code_is_made_of_loops_only():
    found, made = compile_cosine()
    assert found == pytest.approx(24.0 / 25.0, abs=1e-15)
    ours = [name for name in made if name == "helper" or name.split(".")[-1] in ("inner", "_length")]
    assert "cosine" in made
    assert not ours


def test_what_a_helper_raises_arrives():
    with pytest.raises(ValueError, match="two lengths"):
        cosine(np.ones(2), np.ones(3))


def test_options_of_helpers_reach_the_compiler():
    """A sum that may be reordered is still the sum."""

    @compiler.register_jitable(fastmath={"reassoc"})
    def total(x):
        found = 0.0
        for k in range(x.shape[0]):
            found += x[k]
        return found

    twice = compiler.njit()(lambda x: 2.0 * total(x))
    assert twice(np.arange(5.0)) == 20.0


def test_quick_flags_compare_as_flags_do():
    plain, other = numba.core.compiler.Flags(), numba.core.compiler.Flags()
    other.nrt = True
    quick = pipeline.QuickFlags(plain)
    assert hash(quick) == hash(plain) == hash(pipeline.QuickFlags(other))
    assert quick == plain
    assert quick == pipeline.QuickFlags(plain)
    assert quick != other
    assert quick != pipeline.QuickFlags(other)
    plain.nrt = plain.nrt  # set to what it is by default
    assert quick == pipeline.QuickFlags(plain)


def test_a_numba_without_these_parts_compiles_as_it_does():
    code = """
from numba.core import codegen
known = codegen.CPUCodeLibrary._verify_declare_only_symbols
del codegen.CPUCodeLibrary._verify_declare_only_symbols
from oneslack._jit import pipeline
assert pipeline.LOOP == pipeline.HELPER == {"no_cfunc_wrapper": True}
codegen.CPUCodeLibrary._verify_declare_only_symbols = known
from oneslack._jit import compiler
helper = compiler.register_jitable(lambda x: x + 1.0)
assert compiler.njit()(lambda x: helper(x))(1.0) == 2.0
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_compilations_are_still_told():
    told = []

    class Listener(event.Listener):
        def on_start(self, event):
            told.append(event.data["dispatcher"].py_func)

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Listener()):
        loop = compiler.njit()(lambda x: inner(x, x))
        assert loop(np.ones(3, np.float32)) == 3.0
    assert loop.py_func in told
    assert inner in told

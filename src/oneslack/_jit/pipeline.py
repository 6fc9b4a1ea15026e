"""How numba compiles loops and their helpers: what nobody will call is not made.

A helper is compiled into each loop that calls it.  Left to itself numba also optimises every helper alone,
and makes machine code of it and a function that C could call, for a third of the time of a first run; all a
loop needs is the helper's intermediate code, which is optimised where it is linked in.

The parts of numba that this builds on are not promised to stay: with a version that was not tried, or where
one of them is missing, `LOOP` and `HELPER` leave all of it to numba.
"""

import numba
from numba.core import codegen, compiler

#: Versions of numba with which all tests have passed.
TRIED = ("0.68",)


class QuickFlags(compiler.Flags):
    """Flags that are compared by what was set: numba looks each operator's candidates up by them, and would
    list all options each time."""

    def __hash__(self):
        return _SAME

    def __eq__(self, other):
        if isinstance(other, QuickFlags) and self._values == other._values:
            return True
        return super().__eq__(other)


#: The hash of flags depends on the options' names only.
_SAME = hash(compiler.Flags())


class Loop(compiler.Compiler):
    """Compiles what Python calls."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        super().__init__(typingctx, targetctx, library, args, return_type, QuickFlags(flags), locals)


class Helper(Loop):
    """Compiles what only compiled code calls."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        if library is None:
            library = Linked(targetctx.codegen(), "helper")
            library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


class Linked(codegen.JITCodeLibrary):
    """Code to be linked into others: it is never optimised alone, and has no address."""

    def finalize(self):
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        return _Homeless(self._codegen)


class _Homeless:
    """A code generator for code without an address: its environment has no place to be written to."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, env_name, env):
        pass


#: Options of numba.njit for loops, and of numba.extending for their helpers; nobody takes their addresses.
LOOP, HELPER = {"no_cfunc_wrapper": True}, {"no_cfunc_wrapper": True}
_BUILT_ON = (
    *("_raise_if_finalized", "_ensure_finalized", "_get_module_for_linking", "enable_object_caching"),
    *("_finalize_dynamic_globals", "_verify_declare_only_symbols"),
)
_IS_TRIED = ".".join(numba.__version__.split(".")[:2]) in TRIED
if _IS_TRIED and all(hasattr(codegen.JITCodeLibrary, name) for name in _BUILT_ON):
    LOOP, HELPER = LOOP | {"pipeline_class": Loop}, HELPER | {"pipeline_class": Helper}

"""Which method for a kernel: by the number of examples and the memory."""

from __future__ import annotations

from ..kernels.rounding import lacks_duals
from .kernel.basis_functions import BasisFunctions
from .kernel.exact import ExactKernel
from .kernel.sampled_cuts import SampledCuts

#: From here on "auto" no longer looks at all examples in each round.
CONSTANT_FROM = 400_000
#: "auto" is exact while this share of the rows of the kernel matrix fits into the memory.
EXACT_SHARE = 1 / 8
#: Examples of a sampled plane.
SAMPLE_SIZE = {"linear": 400, "constant": 1000}


def method_for(n, itemsize, memory) -> str:
    """The method for n examples, with kernel values of `itemsize` bytes and `memory` bytes for them."""
    if EXACT_SHARE * n * n * itemsize <= memory:
        return "exact"
    return "linear" if n < CONSTANT_FROM else "constant"


def solver_of(method, seed=0, sample_size=None, n_basis=500):
    """The solver of a method's name."""
    if method == "exact":
        return ExactKernel(seed=seed)
    if method == "basis":
        return BasisFunctions(n_basis, seed=seed)
    return SampledCuts(method, sample_size or SAMPLE_SIZE[method], seed=seed)


def choose_kernel_solver(problem, seed=0):
    """(solver, why) for a problem with a kernel."""
    n = problem.n_nodes
    if not problem.is_plain:
        return solver_of("linear", seed), "examples of several rows: only sampled cuts of all know them"
    method = method_for(n, problem.kernel.itemsize, problem.memory)
    if method == "exact" and (lacking := lacks_duals(problem)):
        return solver_of("linear", seed), f"exact duals lack {lacking}: sampled cuts work for any model"
    reasons = {
        "exact": "the kernel's rows fit into the memory: exact duals",
        "linear": "too many rows of the kernel for the memory: sampled cuts",
        "constant": "cuts of samples alone take no time that grows with the examples",
    }
    return solver_of(method, seed), f"{n} examples: {reasons[method]}"

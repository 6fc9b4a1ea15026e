"""oneslack: large-margin models for any kind of output, each with a certificate."""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

# Names are imported when they are first used: `oneslack --help` need not wait for scikit-learn.
_HOME = {
    "BasisFunctions": "solvers.basis_functions",
    "Binary": "models",
    "Chain": "models",
    "ConstraintProblem": "constraint_problem",
    "DualCD": "solvers",
    "ExactKernel": "solvers.exact_kernel",
    "FormatError": "errors",
    "GrammarModel": "models.grammar",
    "GrammarParser": "estimators",
    "Grouped": "models",
    "Kernel": "mercer",
    "KernelProblem": "kernel_problem",
    "KernelSVC": "estimators",
    "LinearSVC": "estimators",
    "LinearSVR": "estimators",
    "MetricSVC": "estimators",
    "Multiclass": "models",
    "NSlack": "solvers",
    "Newton": "solvers",
    "OneSlack": "solvers",
    "OneslackError": "errors",
    "OrdinalSVC": "estimators",
    "Problem": "problem",
    "RankSVM": "estimators",
    "Ranking": "models",
    "Regression": "models",
    "Result": "result",
    "SampledCuts": "solvers.sampled_cuts",
    "SequenceTagger": "estimators",
    "Status": "result",
    "StructuralSVM": "estimators",
    "Tree": "trees",
    "brute_force": "brute",
    "check_model": "check",
    "load": "estimators",
    "minimize": "driver",
    "solve": "driver",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'oneslack' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)

"""oneslack: large-margin models for any kind of output, each with a certificate."""

from __future__ import annotations

import importlib

__version__ = "1.0.0"

# Names are imported when they are first used: `oneslack --help` need not wait for scikit-learn.
_HOME = {
    "BasisFunctions": "solvers.kernel.basis_functions",
    "Binary": "models",
    "CertificateError": "errors",
    "ProofError": "errors",
    "Chain": "models",
    "ConstraintProblem": "problems.constraints",
    "DistributedDual": "solvers.distributed.dual",
    "DualCD": "solvers",
    "ExactKernel": "solvers.kernel.exact",
    "FormatError": "errors",
    "GraphModel": "models.graph",
    "GraphTagger": "estimators.graph_tagger",
    "GridSegmenter": "estimators.grid_segmenter",
    "GrammarModel": "models.grammar",
    "GrammarParser": "estimators.grammar_parser",
    "Grouped": "models",
    "InconsistentWarning": "errors",
    "IntegerCosts": "models.programme",
    "IntegerProgramme": "estimators.integer_programme",
    "Interrupted": "errors",
    "Kernel": "kernels.mercer",
    "KernelChainProblem": "problems.kernel_chains",
    "KernelFeatures": "estimators.kernel_features",
    "KernelProblem": "problems.kernel",
    "KernelSVC": "estimators.kernel_svc",
    "IndependentLabels": "models.labels",
    "L1Problem": "problems.l1",
    "LabelSets": "models.labels",
    "LatentSVM": "estimators.latent_svm",
    "LatentStructuralSVM": "estimators.latent_structural_svm",
    "Linear": "models",
    "LinearSVC": "estimators.linear_svc",
    "LinearSVR": "estimators.linear_svr",
    "Matcher": "estimators.matcher",
    "Matching": "models.matching",
    "MLflowLogger": "loggers",
    "MetricSVC": "estimators.metric_svc",
    "MultiLabelSVC": "estimators.multilabel_svc",
    "Multiclass": "models",
    "NSlack": "solvers",
    "Newton": "solvers",
    "OneSlack": "solvers",
    "OneslackError": "errors",
    "OrdinalSVC": "estimators.ordinal_svc",
    "Problem": "problems.in_memory",
    "Programme": "models.programme",
    "ProximalNewton": "solvers",
    "RankSVM": "estimators.rank_svm",
    "Ranking": "models",
    "Ray": "engines.ray",
    "Regression": "models",
    "Result": "result",
    "SampledCuts": "solvers.kernel.sampled_cuts",
    "SequenceSegmenter": "estimators.sequence_segmenter",
    "SequenceTagger": "estimators.sequence_tagger",
    "ShardedProblem": "problems.on_disk",
    "SplitProblem": "problems.parts.problem",
    "Status": "result",
    "Streaming": "solvers",
    "StructuralSVM": "estimators.structural_svm",
    "TensorBoardLogger": "loggers",
    "ThreadCrews": "engines.crew",
    "Tree": "trees",
    "Validation": "estimators.validation",
    "brute_force": "checks.brute",
    "check_certificate": "checks.certificate",
    "check_proof": "checks.proof",
    "check_latent_model": "checks.latent",
    "check_model": "checks.model",
    "load": "kinds.load",
    "minimize": "driver",
    "path": "selection.path",
    "report": "kinds.report",
    "solve": "driver",
    "tune": "selection.tuning",
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

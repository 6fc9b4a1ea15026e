"""Matchings: a partner for each member of one set in another, or none."""

from .model import Matching

__all__ = ["Matching"]

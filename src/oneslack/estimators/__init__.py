"""The scikit-learn fronts: they check, call `solve`, and store what was learned."""

from .linear_svc import LinearSVC
from .persist import load

__all__ = ["LinearSVC", "load"]

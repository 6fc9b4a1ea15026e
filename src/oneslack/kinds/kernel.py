"""Classes by a kernel: a classifier that has no weights of features."""

from __future__ import annotations

from dataclasses import replace

from .classify import KIND as CLASSIFY


def _looks(saved) -> list[str]:
    from ..viz.report.looks import support_vectors

    return [support_vectors(saved.model)]


def _weights(model) -> dict:
    return {"support_vectors": len(model.support_)}


KIND = replace(CLASSIFY, looks=_looks, weights=_weights, repeats=False)

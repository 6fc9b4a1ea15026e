"""Classes by a kernel: a classifier that has no weights of features."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from . import classify


def _looks(saved) -> list[str]:
    from ..viz.report.looks import support_vectors

    return [support_vectors(saved.model)]


def _weights(model) -> dict:
    return {"support_vectors": len(model.support_)}


SECTIONS = partial(classify.sections, by_weights=False)
KIND = replace(
    classify.KIND,
    sections=SECTIONS,
    looks=_looks,
    weights=_weights,
    repeats=False,
    by_shards=False,
)

"""Taggers of graphs and pictures as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from ...models.graph import GraphModel
from .basis import basis_from_file, basis_to_file
from .file_fields import check_shape, number, table
from .linear import classes_from_file, classes_to_file, common_from_file
from .structured import model_from_file, structured_to_file, weights_from_file


def to_file(tagger):
    """(header, arrays) of a fitted GraphTagger or GridSegmenter."""
    header, arrays = structured_to_file(tagger, tagger.model_)
    header["classes"], class_arrays = classes_to_file(tagger.classes_)
    if hasattr(tagger, "contrast_scale_"):
        header["contrast_scale"] = tagger.contrast_scale_
    if tagger.basis_ is not None:
        header["basis"], basis = basis_to_file(tagger.basis_)
        arrays |= basis
    return header, arrays | class_arrays


def from_file(cls, header, arrays):
    """The estimator; a ValueError, TypeError or KeyError where something is missing or wrong."""
    tagger = common_from_file(cls, header, arrays)
    tagger.classes_ = classes_from_file(table(header, "classes"), arrays, at_least=1)
    tagger.model_ = model_from_file(table(header, "model"), arrays, {"GraphModel": GraphModel})
    check_shape("class labels", tagger.classes_, (tagger.model_.n_labels,))
    tagger.coef_ = weights_from_file(tagger.model_.n_params, arrays)
    tagger.basis_ = basis_from_file(table(header, "basis"), arrays) if "basis" in header else None
    if tagger.basis_ is not None:
        check_shape("basis", np.empty(tagger.basis_.mapping_.shape[1]), (tagger.model_.n_features,))
    if "contrast_scale" in header:
        known = header["contrast_scale"] is not None
        tagger.contrast_scale_ = number(header, "contrast_scale", 0.0) if known else None
    return tagger

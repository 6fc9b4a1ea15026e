"""MultiLabelSVC as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from ...models.labels import BoundedLabelSets, IndependentLabels, LabelSets
from ...models.labels.model import MAX_LABELS
from .basis import basis_from_file, basis_to_file
from .file_fields import check_shape, flag, floats, integers, table
from .linear import classes_from_file, classes_to_file, common_from_file, common_to_file, inputs_from_file
from .structured import compressed, decompressed

WEIGHTS = ("coef", "intercept", "pair_weights")


def to_file(svm):
    """(header, arrays) of a fitted one."""
    header, arrays = common_to_file(svm)
    header["n_features"], header["as_sets"] = int(svm.n_features_in_), bool(svm.as_sets_)
    if hasattr(svm, "feature_names_in_"):
        header["feature_names"] = [str(name) for name in svm.feature_names_in_]
    header["classes"], classes = classes_to_file(svm.classes_)
    arrays |= classes | {name: getattr(svm, f"{name}_") for name in WEIGHTS}
    arrays["pairs"] = svm.pairs_
    if svm.basis_ is not None:
        header["basis"], basis = basis_to_file(svm.basis_)
        arrays |= basis
    return compressed(header, arrays)


def from_file(cls, header, arrays):
    """The MultiLabelSVC; a ValueError, TypeError or KeyError where something is missing or wrong."""
    arrays = decompressed(header, arrays)
    svm = common_from_file(cls, header, arrays)
    d = inputs_from_file(svm, header)
    svm.as_sets_ = flag(header, "as_sets")
    svm.classes_ = classes_from_file(table(header, "classes"), arrays, at_least=1)
    svm.basis_ = basis_from_file(table(header, "basis"), arrays) if "basis" in header else None
    if svm.basis_ is not None:
        check_shape("basis", np.empty(svm.basis_.n_features_in_), (d,))
        d = svm.basis_.mapping_.shape[1]
    L = len(svm.classes_)
    svm.pairs_ = integers(arrays, "pairs", (None, 2), L)
    shapes = {"coef": (L, d), "intercept": (L,), "pair_weights": (len(svm.pairs_),)}
    for name, shape in shapes.items():
        setattr(svm, f"{name}_", floats(arrays, name, shape))
    is_plain = svm.loss == "hamming" and not len(svm.pairs_)
    width = d + bool(svm.fit_intercept)
    if is_plain:
        svm.label_model_ = IndependentLabels(width, L)
    else:
        is_large = svm.dependencies == "full" and L > MAX_LABELS
        kind = BoundedLabelSets if is_large else LabelSets
        svm.label_model_ = kind(width, L, svm.loss, svm.pairs_)
    return svm

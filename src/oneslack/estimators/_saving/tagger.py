"""Taggers as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from ...features import DictIndexer, FeatureIndex
from ...models import Chain
from .._shared.kernel_indexer import KernelIndexer
from .file_fields import check_shape, choice, table
from .linear import classes_from_file, classes_to_file, common_from_file
from .structured import compressed, decompressed, model_from_file, structured_to_file, weights_from_file

#: What turns tokens into features, by its name in the header; matrices need nothing.
INDEXERS = {"dicts": DictIndexer, "templates": FeatureIndex, "kernel": KernelIndexer, "matrices": None}


def to_file(tagger):
    """(header, arrays) of a fitted SequenceTagger."""
    header, arrays = structured_to_file(tagger, tagger.model_)
    header["classes"], class_arrays = classes_to_file(tagger.classes_)
    indexer = tagger._indexer
    name = next(name for name, kind in INDEXERS.items() if kind is (indexer and type(indexer)))
    about, index = ({}, {}) if indexer is None else indexer.to_arrays()
    header["features"] = {"from": name, **about}
    return compressed(header, arrays | class_arrays | index)


def from_file(cls, header, arrays):
    """The SequenceTagger; a ValueError, TypeError or KeyError where something is missing or wrong."""
    arrays = decompressed(header, arrays)
    tagger = common_from_file(cls, header, arrays)
    tagger.classes_ = classes_from_file(table(header, "classes"), arrays, at_least=1)
    tagger.model_ = model_from_file(table(header, "model"), arrays)
    if not isinstance(tagger.model_, Chain):
        raise ValueError("a tagger has a Chain")
    check_shape("class labels", tagger.classes_, (tagger.model_.n_labels,))
    _check_allowed(tagger.model_)
    about = table(header, "features")
    indexer = INDEXERS[choice(about, "from", INDEXERS, "features from")]
    tagger._indexer = None if indexer is None else indexer.from_arrays(about, arrays)
    if indexer is not None and tagger._indexer.n_features != tagger.model_.n_features:
        raise ValueError(
            f"there are {tagger._indexer.n_features} features, expected {tagger.model_.n_features}"
        )
    tagger.coef_ = weights_from_file(tagger.model_.n_params, arrays)
    return tagger


def _check_allowed(chain):
    """Raise unless sentences of any length have labels that may follow each other."""
    may = np.ones(chain.n_labels, bool) if chain.allowed_start is None else chain.allowed_start
    for _ in range(chain.n_labels + 1):
        if not may.any():
            raise ValueError("allowed and allowed_start of the model leave no labels for a sentence")
        before, may = may, may if chain.allowed is None else chain.allowed[may].any(axis=0)
        if (may == before).all():
            return

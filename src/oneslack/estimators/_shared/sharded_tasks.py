"""Tasks whose examples lie in a folder of shards: labels are coded when a part of them is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linear_svc import ClassTask
from .given import _shown, check_weights, weights_of_classes

#: Targets that are looked at to see where they lie.
SOME = 100_000


def prepare(model, shards, y, sample_weight):
    """Refuse what shards cannot have, and learn the names of the features."""
    if y is not None or sample_weight is not None:
        raise ValueError("shards hold their own labels and weights; give y and sample_weight when packing")
    if shards.kind == "sentences":
        raise ValueError(f"{shards.path}: holds sentences, no rows of features; use SequenceTagger")
    if shards.manifest.labels is None:
        raise ValueError(f"{shards.path}: holds no labels; pack files that have some")
    if model.warm_start or model.C == "auto":
        raise ValueError("warm_start and C='auto' need examples in memory, not shards")
    if model._penalises_intercept:
        raise ValueError("penalize_intercept=True needs examples in memory, not shards")
    model.n_features_in_ = shards.n_features
    if shards.feature_names:
        model.feature_names_in_ = np.array(shards.feature_names, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


@dataclass(frozen=True)
class ShardedClassTask(ClassTask):
    """of_class (K,): weights of the classes, or None."""

    of_class: np.ndarray | None = None

    def _targets(self, k=None):
        """Of rows, as a function."""
        return (lambda rows: rows.codes) if k is None else lambda rows: np.where(rows.codes == k, 1.0, -1.0)

    def _weights(self, costs=None):
        """Likewise; None leaves them as they were packed."""
        given = [values for values in (self.of_class, costs) if values is not None]
        if not given:
            return None
        of_class = np.prod(given, axis=0)

        def weigh(rows):
            weights = of_class[rows.codes]
            return weights if rows.sample_weight is None else weights * rows.sample_weight

        return weigh


def class_task(model, shards, weighed) -> ShardedClassTask:
    """What a LinearSVC learns from shards; the weights of classes may need a look at all of them."""
    classes, class_weight = shards.classes, model.class_weight
    if classes is None or shards.manifest.labels == "numbers":
        raise ValueError(f"{shards.path}: its labels are no classes; use a regressor, or pack other labels")
    if len(classes) < 2:
        raise ValueError(f"y has only one class ({_shown(classes[0])}); classification needs at least two")
    of_class = None
    if class_weight is not None and weighed:
        codes = np.arange(len(classes))
        counts = _counts(shards) if class_weight == "balanced" else None
        of_class = check_weights(weights_of_classes(class_weight, classes, codes, counts))
    return model._task(shards.n_features, classes, None, None, ShardedClassTask, of_class=of_class)


def memory_estimate(model, shards):
    """The bytes that Streaming will take for shards; None for a solver that keeps to no budget."""
    from ...problems.on_disk import ShardedProblem

    if not hasattr(model.solver, "estimate"):
        return None
    shape, code, _ = next(model._sharded_task(shards, weighed=False).models())
    return model.solver.estimate(ShardedProblem(shape, shards, model.C, code=code, weigh=None))


def some_targets(shards):
    """Numbers from the beginning of the shards."""
    if shards.manifest.labels == "text":
        raise ValueError(f"{shards.path}: its labels are text, no numbers; use a classifier")
    first = shards[0]
    return np.asarray(first.rows(0, min(SOME, len(first))).y, dtype=np.float64)


def _counts(shards):
    """(K,): how often each class is there, by weight."""
    counts = np.zeros(len(shards.classes))
    for shard in shards:
        counts += np.bincount(shard.codes, shard.sample_weight, minlength=len(counts))
    return counts

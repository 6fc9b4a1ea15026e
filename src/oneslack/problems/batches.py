"""Examples in packed blocks: how a model with compiled decoders (loss-augmented inference) is driven."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..cuts import BatchCuts
from ..data.rows import MAX_SHARDS, Shard, equal_shards
from ..errors import ModelError

#: What such a model offers (protocols.Batches).
NEEDS = ("pack", "worst_batch", "delta_sum", "delta_rows")
#: Examples that are worth a thread.
SMALL = 64


@dataclass(frozen=True)
class BatchOracle:
    """Worst cuts of ranges of packed examples, found by compiled loops in threads."""

    model: object
    data: object
    rescaling: str
    engine: object

    def mean(self, w):
        """(normal, offset): the sum of s_i times the worst cut of each example."""
        found = self.engine.map(lambda shard: self._worst(w, shard), self.data.shards)
        normal, offset = None, 0.0
        # One after the other: sums are cheap beside decoding, and each is as long as w.
        for shard, (Z, losses, factors, _) in zip(self.data.shards, found, strict=True):
            s = self.data.weights[shard.lo : shard.hi]
            offset += float(s[factors > 0] @ losses[factors > 0])
            part = self.model.delta_sum(self.data, shard, Z, s * factors)
            normal = part if normal is None else np.add(normal, part, out=normal)
        return normal, offset

    def cuts(self, w, lo, hi, names=None) -> BatchCuts:
        """The cuts of the examples lo <= i < hi whose truth is not best; `names` of all of them, or their
        numbers."""
        split = getattr(self.data, "split", None)  # data that know what each example costs
        shards = split(lo, hi) if split else equal_shards(lo, hi, min(MAX_SHARDS, (hi - lo) // SMALL))
        parts = self.engine.map(lambda shard: self._worst(w, shard, names), shards)
        Z, losses, factors, leads = (np.concatenate(each) for each in zip(*parts, strict=True))
        kept = np.flatnonzero(factors)
        return BatchCuts(
            self.model, self.data, Shard(lo, hi), Z, kept, losses[kept], factors[kept], leads[kept], names
        )

    def _worst(self, w, shard, names=None):
        """(Z, losses, factors, leads): a cut is the example's delta times its factor; 0 where the truth is
        best."""
        Z, losses, leads = self.model.worst_batch(self.data, shard, w, self.rescaling)
        _check_answers(losses, leads, shard, names)
        factors = losses if self.rescaling == "slack" else np.ones(len(losses))
        return Z, losses, np.where(losses - factors * leads > 0.0, factors, 0.0), leads


def _check_answers(losses, leads, shard, names):
    """Raise unless there is a loss >= 0 and a lead for each example, all finite: others would make their cut
    vanish."""
    n = shard.hi - shard.lo
    if np.shape(losses) != (n,) or np.shape(leads) != (n,):
        raise ModelError(
            f"worst_batch: examples {shard.lo} to {shard.hi - 1} have losses of shape {np.shape(losses)} and "
            f"<w, delta> of shape {np.shape(leads)}, expected ({n},)"
        )
    bad = np.flatnonzero(~((losses >= 0.0) & (losses < np.inf) & np.isfinite(leads)))
    if len(bad):
        k = bad[0]
        i = shard.lo + k if names is None else names[shard.lo + k]
        raise ModelError(
            f"worst_batch: example {i} has loss {losses[k]:g} and <w, delta> {leads[k]:g}, expected finite "
            "numbers, and a loss >= 0; are its features finite, and not too large?"
        )

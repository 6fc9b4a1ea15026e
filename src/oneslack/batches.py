"""Examples in packed blocks: how a model with compiled decoders is driven."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .rows import MAX_SHARDS, equal_shards

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
        parts = self.engine.map(lambda shard: self._sum(w, shard), self.data.shards)
        return np.sum([normal for normal, _ in parts], axis=0), sum(offset for _, offset in parts)

    def rows(self, w, lo, hi):
        """(index, rows, losses, outputs) of the examples lo <= i < hi whose truth is not best."""
        parts = self.engine.map(
            lambda shard: self._rows(w, shard), equal_shards(lo, hi, min(MAX_SHARDS, (hi - lo) // SMALL))
        )
        index, losses = (np.concatenate([part[k] for part in parts]) for k in (0, 2))
        outputs = [z for part in parts for z in part[3]]
        return index, sp.vstack([part[1] for part in parts], format="csr"), losses, outputs

    def _worst(self, w, shard):
        """(Z, losses, factors): a cut is the example's delta times its factor; 0 where the truth is best."""
        Z, losses, leads = self.model.worst_batch(self.data, shard, w, self.rescaling)
        factors = losses if self.rescaling == "slack" else np.ones(len(losses))
        factors = np.where(losses - factors * leads > 0.0, factors, 0.0)
        return Z, losses, factors

    def _sum(self, w, shard):
        Z, losses, factors = self._worst(w, shard)
        s = self.data.weights[shard.lo : shard.hi]
        offset = float(s[factors > 0] @ losses[factors > 0])
        return self.model.delta_sum(self.data, shard, Z, s * factors), offset

    def _rows(self, w, shard):
        Z, losses, factors = self._worst(w, shard)
        kept = np.flatnonzero(factors)
        rows = self.model.delta_rows(self.data, shard, Z, factors)[kept]
        ends = self.data.offsets[shard.lo : shard.hi + 1] - self.data.offsets[shard.lo]
        outputs = [Z[ends[k] : ends[k + 1]] for k in kept]
        return shard.lo + kept, rows, losses[kept], outputs

"""Examples in packed blocks: how a model with compiled decoders (loss-augmented inference) is driven."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..data.rows import MAX_SHARDS, Shard, equal_shards
from ..errors import ModelError
from ..memory.dual_points import packed_outputs

#: What such a model offers (protocols.Batches).
NEEDS = ("pack", "worst_batch", "delta_sum", "delta_rows")
#: By what share a bound may be below a value, as both are rounded.
BELOW = 1e-9
#: Examples that are worth a thread.
SMALL = 64


@dataclass(frozen=True, eq=False)
class BatchCuts:
    """Cuts of neighbouring packed examples as their outputs; rows are made when they are asked for.

    model, data, shard   of which the outputs are
    Z                    outputs of all examples of the shard, flat
    kept                 (m,) examples that have a cut, counted from the shard's first
    losses, factors, leads   (m,): row = factor delta, <w, delta> = lead where they were found
    names                what the shard's examples are called in `index`, None for their numbers
    excess               (examples of the shard,) or None, as that of Cuts
    """

    model: object
    data: object
    shard: Shard
    Z: np.ndarray
    kept: np.ndarray
    losses: np.ndarray
    factors: np.ndarray
    leads: np.ndarray
    names: np.ndarray | None = None
    excess: np.ndarray | None = None

    def __len__(self):
        return len(self.kept)

    @cached_property
    def index(self):
        return self.shard.lo + self.kept if self.names is None else self.names[self.kept]

    @cached_property
    def deltas(self):
        """(m, n_params) CSR."""
        factors = np.zeros(self.shard.hi - self.shard.lo)
        factors[self.kept] = self.factors
        return self.model.delta_rows(self.data, self.shard, self.Z, factors)[self.kept]

    @cached_property
    def outputs(self):
        lo, hi = self.shard.lo, self.shard.hi
        ends = self.data.offsets[lo : hi + 1] - self.data.offsets[lo]
        return [self.Z[ends[k] : ends[k + 1]] for k in self.kept]

    def values(self, w) -> np.ndarray:
        """(m,) hinge values at w."""
        return self.losses - self.deltas @ w

    def found_values(self, w) -> np.ndarray:
        """(m,) hinge values at the w where they were found: the decoder has told them."""
        return self.losses - self.factors * self.leads

    def some(self, mask) -> BatchCuts:
        """The cuts where mask is true."""
        parts = {name: getattr(self, name)[mask] for name in ("kept", "losses", "factors", "leads")}
        return replace(self, **parts)


@dataclass(frozen=True)
class BatchOracle:
    """Worst cuts of ranges of packed examples, found by compiled loops in threads."""

    model: object
    data: object
    rescaling: str
    engine: object

    def at_precision(self, precision) -> BatchOracle:
        """The same, of a decoder that may leave open a share of each hinge, if there is such a one."""
        if not precision or not hasattr(self.model, "at_precision"):
            return self
        return replace(self, model=self.model.at_precision(precision))

    def mean(self, w):
        """(normal, offset, excess, outputs): the sum of s_i times the worst cut of each example, and times
        what its hinge may be above that; and their outputs, packed, where these are whole numbers."""
        found = self.engine.map(lambda shard: self._worst(w, shard), self.data.shards)
        shards = self.data.shards
        if len(w) > self.data.n and len(shards) > 1:
            # A sum as long as w costs more than what is summed up: one for all.
            shards, found = [Shard(0, self.data.n)], [[np.concatenate(part) for part in zip(*found)]]
        normal, offset, excess, examples, outputs = None, 0.0, 0.0, [], []
        # One after the other: sums are cheap beside decoding, and each is as long as w.
        for shard, (Z, losses, factors, _, open_) in zip(shards, found, strict=True):
            s = self.data.weights[shard.lo : shard.hi]
            offset += float(s[factors > 0] @ losses[factors > 0])
            excess += float(s @ open_)
            part = self.model.delta_sum(self.data, shard, Z, s * factors)
            normal = part if normal is None else np.add(normal, part, out=normal)
            if outputs is not None:
                kept, found_here = np.flatnonzero(factors), _labels_of(self.data, shard, Z)
                outputs = None if found_here is None else outputs + [found_here[k] for k in kept]
                examples += (shard.lo + kept).tolist()
        packed = None if outputs is None else packed_outputs(self.data.n, examples, outputs)
        return normal, offset, excess, packed

    def cuts(self, w, lo, hi, names=None) -> BatchCuts:
        """The cuts of the examples lo <= i < hi whose truth is not best; `names` of all of them, or their
        numbers."""
        split = getattr(self.data, "split", None)  # data that know what each example costs
        shards = split(lo, hi) if split else equal_shards(lo, hi, min(MAX_SHARDS, (hi - lo) // SMALL))
        parts = self.engine.map(lambda shard: self._worst(w, shard, names), shards)
        Z, losses, factors, leads, excess = (np.concatenate(each) for each in zip(*parts, strict=True))
        kept = np.flatnonzero(factors)
        return BatchCuts(
            self.model,
            self.data,
            Shard(lo, hi),
            Z,
            kept,
            losses[kept],
            factors[kept],
            leads[kept],
            names,
            excess if gives_bounds(self.model, self.rescaling) else None,
        )

    def _worst(self, w, shard, names=None):
        """(Z, losses, factors, leads, excess): a cut is the example's delta times its factor; 0 where the
        truth is best.  The hinge is at most `excess` above the cut's."""
        if gives_bounds(self.model, self.rescaling):
            Z, losses, leads, uppers = self.model.bound_batch(self.data, shard, w)
            _check_answers(losses, leads, shard, names)
            values = np.maximum(losses - leads, 0.0)
            _check_bounds(uppers, values, shard, names)
            excess = np.maximum(uppers - values, 0.0)  # a bound is raised by this, never lowered
        else:
            Z, losses, leads = self.model.worst_batch(self.data, shard, w, self.rescaling)
            _check_answers(losses, leads, shard, names)
            excess = np.zeros(len(losses))
        factors = losses if self.rescaling == "slack" else np.ones(len(losses))
        return Z, losses, np.where(losses - factors * leads > 0.0, factors, 0.0), leads, excess


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


def _check_bounds(uppers, values, shard, names):
    """Raise unless there is a bound for each example, not below what was found."""
    n = shard.hi - shard.lo
    if np.shape(uppers) != (n,):
        raise ModelError(
            f"bound_batch: examples {shard.lo} to {shard.hi - 1} have bounds of shape {np.shape(uppers)}, "
            f"expected ({n},)"
        )
    bad = np.flatnonzero(~(uppers - values >= -BELOW * (1.0 + values)))
    if len(bad):
        k = bad[0]
        i = shard.lo + k if names is None else names[shard.lo + k]
        raise ModelError(
            f"bound_batch: example {i} has a hinge of at most {uppers[k]:g}, but its own output has "
            f"{values[k]:g}"
        )


def gives_bounds(model, rescaling="margin") -> bool:
    """Whether the decoder of packed examples tells bounds (protocols.Batches)."""
    return rescaling == "margin" and hasattr(model, "bound_batch")


def _labels_of(data, shard, Z):
    """The outputs Z of a shard, one an example, where these are whole numbers in a row; else None."""
    offsets = getattr(data, "offsets", None)
    if offsets is None or getattr(Z, "ndim", 0) != 1 or Z.dtype.kind not in "iu":
        return None
    ends = offsets[shard.lo : shard.hi + 1] - offsets[shard.lo]
    return np.split(Z, ends[1:-1]) if ends[-1] == len(Z) else None

"""A problem whose examples lie on disk, packed in shards: what is in memory is what is worked on.

Every model on a feature matrix sees its examples part by part, each a range of rows of one shard, mapped
where it lies.  Arrays with a number for each example (scores, cuts, duals) are cut into the same ranges.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..certificate.rounding import Extent, Proof, dual_proof, extent_of, gamma
from ..certificate.worst import worst_scores
from ..cuts import Plane
from ..data.digests import Digest
from ..data.ranges import Ranges
from ..data.row_parts import bytes_of_numbers
from ..data.rows import Shard, check_total, weights_of
from ..engines.threads import Threads
from ..errors import FormatError, OneslackError
from ..models.answers import finite
from .capabilities import Scores, Shares, lacks, offers_scores
from .in_memory import Problem, check_C, is_certifiable
from .regulariser_input import regulariser_of
from .work import Work

#: Rows of one shard that a thread works on at a time hold about so many bytes.
PART_BYTES = 16_000_000
#: Shards that stay mapped, and rows whose targets are summed at a time.
OPEN, SUMMED = 256, 1 << 18
#: Who reads one row, reads a page of the file; the rows of about so many bytes are checked with it.
PAGE, TAKEN_BYTES = 4096, 1_000_000


class ShardedData:
    """The rows of a folder of shards, as a model packs them.

    model    its `pack` checks and codes the rows of a part
    folder   formats.shards.Shards
    code     code(rows) -> targets of ShardRows as the model has them
    weigh    weigh(rows) -> their weights, or None where all are 1
    """

    def __init__(self, model, folder, code, weigh=None):
        self.model, self.folder, self._code, self._weigh = model, folder, code, weigh
        self.n, self.n_features = folder.n_rows, folder.n_features
        self.n_numbers, self.dtype = folder.n_entries, folder.dtype
        self.is_sparse = folder.kind == "sparse"
        self._offsets = [int(offset) for offset in folder.offsets]
        self._open = OrderedDict()
        self._lock = Lock()
        self._noted, self._extent, self._has_sizes = Ranges(), None, not lacks(model, ["sizes"])
        #: Rows that were read so far; n of them are one read of the data.
        self.n_read = 0
        self.total_weight, self.unit = self._sums()

    def _sums(self):
        """(sum of the weights, how large a loss is): targets and weights are read, no rows."""
        total, size = 0.0, 0.0
        has_unit = self.n > 0 and getattr(self.part(0, 1), "unit", None) is not None
        if self._weigh is None and not has_unit:
            return float(self.n), 1.0
        for lo, hi in self.pieces(SUMMED):
            rows = self._rows(lo, hi)
            weights = self._weights(rows, hi - lo)
            total += float(weights.sum())
            if has_unit:
                size += float(weights @ np.abs(np.asarray(self._code(rows), float)))
        return total, (size / total if total > 0 and size > 0 else 1.0)

    def _weights(self, rows, n):
        try:
            return weights_of(None if self._weigh is None else self._weigh(rows), n)
        except ValueError as error:
            raise OneslackError(f"{rows.shard.path}: {error}") from error

    @property
    def row_bytes(self):
        """What a row takes in the mean."""
        whole = bytes_of_numbers(self.n_numbers, self.n, self.dtype.itemsize, self.is_sparse)
        return whole / max(self.n, 1)

    @cached_property
    def digest(self):
        """(digest, None): of the shards' checksums, the targets and the weights."""
        found = Digest([(entry.rows, entry.crc32) for entry in self.folder.manifest.shards])
        for lo, hi in self.pieces(SUMMED):
            rows = self._rows(lo, hi)
            for function in filter(None, (self._code, self._weigh)):
                found.add(np.asarray(function(rows)))
        return found.hex, found.unseen

    @cached_property
    def shards(self) -> list[Shard]:
        """Ranges of rows, none across two files."""
        return [Shard(*bounds) for bounds in self.pieces(int(PART_BYTES / max(self.row_bytes, 1.0)))]

    def pieces(self, rows):
        """Bounds (lo, hi) of ranges of at most `rows` rows, of about equal size in each file."""
        bounds = []
        for first, last in pairwise(self._offsets):
            count = -(-(last - first) // max(1, rows))
            cuts = [first + (last - first) * k // max(count, 1) for k in range(count + 1)]
            bounds += list(pairwise(cuts))
        return bounds

    def numbers(self, bounds):
        """(len(bounds),): stored numbers of each range."""
        if not self.is_sparse:
            return np.array([(hi - lo) * self.n_features for lo, hi in bounds], np.int64)
        found = []
        for lo, hi in bounds:
            shard, first = self._file(lo)
            found.append(int(shard.indptr[hi - first]) - int(shard.indptr[lo - first]))
        return np.array(found, np.int64)

    def _file(self, row):
        """(shard that holds a row, its first row)."""
        k = bisect_right(self._offsets, row) - 1
        with self._lock:
            if k not in self._open:
                while len(self._open) >= OPEN:
                    self._open.popitem(last=False)
                self._open[k] = self.folder[k]
            self._open.move_to_end(k)
            return self._open[k], self._offsets[k]

    def _rows(self, lo, hi):
        shard, first = self._file(lo)
        return shard.rows(lo - first, hi - first)

    def part(self, lo, hi, is_read=True):
        """Rows lo <= i < hi, which lie in one file, as the model packs them; X is mapped.  Where all of it is
        going to be read, how large its numbers are is noted."""
        rows = self._rows(lo, hi)
        self.n_read += hi - lo
        try:
            part = self.model.pack(
                rows.X, self._code(rows), None if self._weigh is None else self._weigh(rows)
            )
        except FormatError:  # which names the file
            raise
        except ValueError as error:
            raise OneslackError(f"{rows.shard.path}: {error}") from error
        if is_read and self._has_sizes and not self._noted.covers(lo, hi):
            extent = extent_of(self.model, part)
            with self._lock:
                self._noted.add(lo, hi)
                self._extent = extent if self._extent is None else self._extent + extent
        return part

    @property
    def extent(self) -> Extent:
        """How large the numbers are; rows that were read in parts of several sizes may count twice."""
        for lo, hi in self.pieces(int(PART_BYTES / max(self.row_bytes, 1.0))):
            if not self._noted.covers(lo, hi):
                self.part(lo, hi)
                self.release(lo)
        return self._extent

    def release(self, lo):
        """Let go of the memory of the file that holds row lo; it is read again when it is used."""
        self._file(lo)[0].release()

    def read_ahead(self, lo, hi):
        """Ask the system to read rows lo <= i < hi, of one file, while something else is done."""
        shard, first = self._file(lo)
        shard.read_ahead(lo - first, hi - first)

    def take(self, index):
        """The examples `index` as a copy in memory, in this order."""
        index = np.asarray(index, np.int64)
        order = np.argsort(index, kind="stable")
        pieces = self.pieces(int(TAKEN_BYTES / max(self.row_bytes, 1.0)))
        runs = np.searchsorted(index[order], [0, *(last for _, last in pieces)])
        parts, before = [], self.n_read
        for (first, last), (a, b) in zip(pieces, pairwise(runs), strict=True):
            if a < b:
                part = self.part(first, last, is_read=False)
                rows = index[order[a:b]] - first
                parts.append((part.X[rows], part.y[rows], part.weights[rows]))
                self.release(first)
        self.n_read = before + int(len(index) * max(PAGE / max(self.row_bytes, 1.0), 1.0))
        Xs, ys, weights = zip(*parts, strict=True)
        X = sp.vstack(Xs, format="csr") if self.is_sparse else np.concatenate(Xs)
        back = np.argsort(order, kind="stable")
        return self.model.pack(X[back], np.concatenate(ys)[back], np.concatenate(weights)[back])


class ShardedProblem(Problem):
    """A Problem over a folder of shards, for cutting planes and Streaming.

    Parameters
    ----------
    model : Binary, Multiclass or Regression, or another model with scores whose risk is a sum over examples
    shards : formats.open_shards(folder)
    C : weight of the sum of the examples' hinges
    code : code(rows) -> targets of ShardRows as the model has them; by default their own: -1 and +1 of two
        classes in their order for Binary, positions of the classes for Multiclass, numbers for Regression
    weigh : weigh(rows) -> their weights; by default those that were packed
    n_jobs : threads

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, oneslack
    >>> from oneslack.formats import open_shards, pack
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, packed = (os.path.join(folder.name, name) for name in ("data.npz", "packed"))
    >>> np.savez(file, X=np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), y=[1, 1, -1])
    >>> _ = pack([file], packed)
    >>> problem = oneslack.ShardedProblem(oneslack.Binary(2), open_shards(packed), C=1.0)
    >>> oneslack.solve(problem, oneslack.OneSlack(), tol=1e-4).gap <= 1e-4
    True
    >>> folder.cleanup()
    """

    sees_scores, has_batches = True, False
    rescaling, cache_size = "margin", 0

    def __init__(
        self, model: Any, shards: Any, C: float = 1.0, *, code: Any = None, weigh: Any = None,
        n_jobs: int = 1, prior: Any = None, scale: Any = None, nonnegative: Any = None,
    ) -> None:  # fmt: skip
        check_C(C)
        if hasattr(model, "cut_along"):
            raise ValueError(
                f"the risk of {type(model).__name__} is no sum over examples; use Problem, with the examples "
                "in memory."
            )
        if not offers_scores(model) or not hasattr(model, "free"):
            raise ValueError(
                f"{type(model).__name__} does not see examples through scores; use Binary, Multiclass or "
                "Regression on shards."
            )
        if shards.kind == "sentences":
            raise ValueError(f"{shards.path}: holds sentences, no rows of features.")
        if shards.n_features != getattr(model, "n_features", shards.n_features):
            raise ValueError(
                f"{shards.path}: holds {shards.n_features} features, but {type(model).__name__} was made for "
                f"{model.n_features}; make it for as many as there are."
            )
        if weigh is None and shards.manifest.weights:
            weigh = attrgetter("sample_weight")
        self.model, self.C, self.X, self.Y = model, float(C), None, None
        self.work, self.engine = Work(), Threads(n_jobs)
        self.certified = is_certifiable(model, has_scores=True)
        self.regulariser = regulariser_of(model, prior, scale, nonnegative)
        self.data = data = ShardedData(model, shards, code or _default_code(model), weigh)
        check_total(data.total_weight, self.C)
        self.mean, self.weight = 1.0 / data.total_weight, self.C * data.total_weight
        self.n, self.unit, self.n_params = data.n, data.unit, model.n_params

    def in_memory(self) -> Problem:
        """The same problem with its examples read into memory."""
        from ..memory.working_set import WorkingSet

        rows = WorkingSet(self.data, self.n, self.data.n_numbers)
        for shard in self.data.shards:
            rows.add(self.data.part(shard.lo, shard.hi), np.arange(shard.lo, shard.hi))
            self.data.release(shard.lo)
        return self.on(rows.data)

    @property
    def scores(self) -> ShardedScores:
        return ShardedScores(self)

    @property
    def shares(self) -> ShardedShares:
        return ShardedShares(self)

    @property
    def storage(self) -> ShardedData:
        return self.data

    def each_part(self, function):
        """function(part, rows of it, slice of the whole) over all parts, in threads; its values, in order."""

        def one(shard):
            part = self.data.part(shard.lo, shard.hi)
            found = function(part, Shard(0, shard.hi - shard.lo), slice(shard.lo, shard.hi))
            self.data.release(shard.lo)
            return found

        # A few at a time: results may be as long as w.
        shards, step = self.data.shards, 2 * self.engine.n_jobs
        for first in range(0, len(shards), step):
            yield from self.engine.map(one, shards[first : first + step])

    def risk(self, w):
        """Without scores of all the examples in memory."""
        return self._risk_by(w, lambda part, S: S)

    def worst_risk(self, w):
        terms, positive = self.extent.terms, []

        def worsened(part, S):
            S = worst_scores(self.model, part, S, w, terms)
            if not positive and not self.model.is_zero(part, S):
                positive.append(True)
            return S

        return self._risk_by(w, worsened), bool(positive)

    def _risk_by(self, w, change):
        """R by change(part, S), the scores S of a part at w."""

        def sum_of(part, rows, at):
            S = self.model.new_scores(part)
            self.model.scores(part, rows, w, S)
            return self.model.risk(part, rows, change(part, S))

        return finite(self.mean * sum(self.each_part(sum_of)), "risk")

    @property
    def extent(self) -> Extent:
        return self.data.extent


class ShardedScores(Scores):
    """Scores part by part; arrays with a row for each example are in memory."""

    shape = None

    def __call__(self, w):
        S = np.empty((self.data.n, *self.model.new_scores(self.data.part(0, 1)).shape[1:]))
        deque(
            self.problem.each_part(lambda part, rows, at: self.model.scores(part, rows, w, S[at])), maxlen=0
        )
        return S

    def map_rows(self, function, *arguments):
        """Arrays among the arguments have a row for each example."""
        return list(self.problem.each_part(lambda part, rows, at: function(part, rows, *_cut(arguments, at))))

    def map_scores(self, function, S, *arguments):
        return self.map_rows(function, S, *arguments)

    def adjoint(self, coefficients):
        def normal(part, rows, at):
            return self.model.adjoint(part, rows, coefficients[at])

        return sum(self.problem.each_part(normal), start=np.zeros(self.problem.n_params))

    def group_cuts(self, S, count):
        def plane(part, rows, at):
            c = np.empty_like(S[at])
            offset = self.model.cut(part, rows, S[at], c)
            return Plane(self.model.adjoint(part, rows, c) * self.problem.mean, self.problem.mean * offset)

        return list(self.problem.each_part(plane))

    def n_groups(self, count):
        return len(self.data.shards)

    def believed(self, w, S, way):
        return None


class ShardedShares(Shares):
    """Sums over the parts."""

    def proof(self, shares) -> Proof:
        problem, model, regulariser = self.problem, self.model, self.problem.regulariser
        flow = None
        if regulariser.n_free:
            flow = sum(problem.each_part(lambda part, rows, at: model.flow(part, shares[at])))

        def sums(part, rows, at):
            p = shares[at]
            p = p if flow is None else model.balanced(part, p, flow)
            return model.adjoint(part, rows, model.coefficients(part, p)), model.dual_loss(part, p)

        v, linear = np.zeros(problem.n_params), 0.0
        for normal, loss in problem.each_part(sums):
            v += normal
            linear += loss
        extent, C = problem.extent, problem.C
        sizes, excess = extent.dual_sizes(C, C * linear), gamma(32 + shares.size // problem.n)
        return dual_proof(regulariser, C * v, C * linear, *sizes, problem.n, excess)


def _cut(arguments, at):
    return [argument[at] if isinstance(argument, np.ndarray) else argument for argument in arguments]


def _default_code(model):
    if not hasattr(model, "phi"):
        return lambda rows: rows.codes
    if model.phi.has_sides:
        return lambda rows: np.where(rows.codes == 1, 1.0, -1.0)
    return lambda rows: rows.y

"""Training on examples that do not fit into memory.

    D(alpha) = sum alpha_iz loss_iz - 1/2 |v|^2         v = sum alpha_iz delta_iz

A read of the data takes examples that may move into memory (scan.py), beside those remembered, optimises
the dual over both when memory is full, and then forgets examples that rest at a bound (Ramanan 2013,
algorithm 2).  Unlike there the dual of a forgotten example is kept, as one number (or one a class): its part
stays in v.  So D is a bound at any time, forgetting never lowers it, and an example that comes by again goes
on where it was.

From the second read on, the points that the read before has ended with (read_points.py) are looked at on the
way: at the end P of the best of them is known, beside a D that the same read has raised. How far away the
optimum is, a few thousand examples tell that stay in memory (probe.py): where losses are those of a few, too
little.  So only where they promise enough and reads that go on tell no smaller gap, the next one only
certifies: it gives P, and D from the kept duals anew, without what rounding had added up. With intercepts D
needs duals that balance: sums of either sign tell it (KeptDuals.balanced), or a certificate.

Where few weights are learned from many examples, the working set is optimised by Newton steps on the smoothed
hinge (newton.py), else by dual passes.  Data that fit into the budget are read once and trained on in memory.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np

from ...certificate.rounding import Proof, dual_proof, gamma
from ...data.row_parts import RowsInMemory
from ...data.rows import Shard
from ...memory.kept_duals import KeptDuals
from ...memory.working_set import WorkingSet
from ...objective import relative_gap
from ...result import Step, Torn
from ..dual_cd import DualCD
from ..newton import Newton
from .optimise import DualOptimiser, NewtonOptimiser
from .plan import bytes_to_hold_all, plan_for
from .probe import Probe
from .read_points import MeanPoint, ReadPoints
from .scan import Scan

#: Reads without a certificate, at most, whatever the estimate says.
LIMIT = 5
#: The estimate must promise this share of the tolerance, and after each promise in vain so much less.
PROMISE, CAUTION = 0.5, 0.6
#: Reads that tell the gap go on while each leaves no more than this share of it.
PROGRESS = 0.9
#: Certificates without progress after which rounding is to blame.
PATIENCE = 30
#: Where the examples that may move take no more of the memory than this, all of them are remembered.
ALL_THAT_MOVE = 0.875
#: An example that is farther from moving is passed by, in units of a loss; less, once scores move less.
HORIZON = 0.5
#: Hessians that threads make at the same time.
HESSIANS = 6
#: What a state keeps of a Reader: bounds, and where in the data it is.
BOUNDS = ("best", "bound")
PLACE = ("read", "place", "moving", "read_over", "since", "caution", "vain", "gap", "horizon", "progress")


@dataclass(frozen=True)
class Streaming:
    """Dual ascent over examples on disk, within a budget of memory.

    memory  for examples, duals and weights: a number of bytes, or "2GB"
    seed    of the order in which pieces of the data are read

    >>> import os, tempfile
    >>> import numpy as np, oneslack
    >>> from oneslack.formats import open_shards, pack
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, packed = (os.path.join(folder.name, name) for name in ("data.npz", "packed"))
    >>> np.savez(file, X=np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), y=[1, 1, -1])
    >>> _ = pack([file], packed)
    >>> problem = oneslack.ShardedProblem(oneslack.Binary(2), open_shards(packed), C=1.0)
    >>> oneslack.solve(problem, oneslack.Streaming(memory="100MB"), tol=1e-4).gap <= 1e-4
    True
    >>> folder.cleanup()
    """

    memory: int | str = "2GB"
    seed: int = 0

    name = "streaming"
    needs = ("weights", "squares", "here", "reads")

    def steps(self, problem, start=None, tol=1e-3):
        if problem.scores is None:
            from .structured import structured_streaming

            return structured_streaming(problem, self.in_bytes, self.seed, start, tol)
        source = source_of(problem)
        if self.bytes_in_memory(problem) <= self.in_bytes:
            whole = problem if problem.storage is None else problem.in_memory()
            solver = Newton(self.seed) if few_weights(problem) else DualCD(self.seed)
            return (replace(step, within=whole) for step in solver.steps(whole, start, tol))
        return Reader(problem, source, self.plan(problem), self.seed, tol).steps(start)

    @property
    def in_bytes(self) -> int:
        from ...data.bytes import in_bytes

        return in_bytes(self.memory)

    def bytes_in_memory(self, problem) -> int:
        """What training takes where all examples are in memory at once."""
        return bytes_to_hold_all(source_of(problem), *_sizes(problem))

    def plan(self, problem):
        """What is in memory, where not all examples can be."""
        return plan_for(source_of(problem), self.in_bytes, *_sizes(problem))

    def estimate(self, problem) -> int:
        """Bytes that training will take beside what the process has now; of a model that is asked for worst
        outputs the budget itself, as nobody knows how many of them there will be."""
        if problem.scores is None:
            return self.in_bytes
        whole = self.bytes_in_memory(problem)
        return whole if whole <= self.in_bytes else self.plan(problem).bytes


def source_of(problem):
    """The problem's examples, by ranges."""
    return RowsInMemory(problem.data) if problem.storage is None else problem.storage


def _sizes(problem):
    """(scores of an example, weights, Hessians)."""
    return n_scores_of(problem), problem.n_params, HESSIANS if few_weights(problem) else 0


def n_scores_of(problem) -> int:
    """Scores of an example."""
    return int(problem.model.new_scores(source_of(problem).part(0, 1)).size)


def few_weights(problem) -> bool:
    """Whether Newton steps are cheap, and possible."""
    from ..choose import are_few

    is_smooth = problem.smooth is not None and problem.regulariser.nonnegative is None
    return is_smooth and are_few(problem.n_params, problem.n)


def optimiser_for(problem):
    """How the working set is optimised."""
    return NewtonOptimiser if few_weights(problem) else DualOptimiser


def _layout(plan) -> dict:
    """What must be the same where a read is to go on in its middle."""
    return {**asdict(plan), "duals": plan.duals.name}


class Reader:
    """Reads of the data in pieces, in an order of their own for each read."""

    def __init__(self, problem, source, plan, seed, tol):
        self.problem, self.source, self.plan, self.seed, self.tol = problem, source, plan, seed, tol
        self.duals = KeptDuals(problem, n_scores_of(problem), plan.duals)
        self.rows = WorkingSet(source, plan.rows, plan.numbers)
        self.pieces = source.pieces(plan.piece_rows)
        self.written = partial(self.duals.written, source, self.pieces)
        self.w = problem.regulariser.start()
        self.read, self.place = 0, (0, 0)  # the place in a read, see scan.py
        self.moving = np.inf, 0  # examples that might move when the last read, and this one, came by
        self.read_over = False  # and whether to certify is not yet decided
        self.since, self.caution, self.vain = 0, 1.0, 0
        self.best, self.bound = np.inf, -np.inf
        self.mean, self.points = MeanPoint(), None
        self.progress = True  # whether the last read has told a smaller gap
        self.gap = np.inf  # what the estimate says at the end of a read
        self.balanced = self.balanced_of = None  # the best dual point with intercepts, and what it is made of
        self.optimiser = optimiser_for(problem)(problem, seed, tol)
        self.scan = Scan(problem, source, self.pieces, self.duals)
        self.horizon = HORIZON * problem.unit  # an example that is farther from moving is forgotten
        self.probe = Probe(problem, source, plan.probe_rows, seed)

    def steps(self, start):
        if start and "streaming" in start:
            self._restore(start["streaming"])
        while True:
            if not self.read_over:
                yield from self._read()
            self.read_over = False
            self.since += 1
            promised = self.gap <= self.caution * PROMISE * self.tol * abs(self.duals.dual)
            if (promised and not (self.tells and self.progress)) or (self.since >= LIMIT and not self.tells):
                yield self._certify(promised)
            elif self.since >= LIMIT:
                self.since = 0
                self.optimiser.sharpen()

    @property
    def tells(self):
        """Whether reads that go on tell both bounds."""
        return not self.problem.regulariser.n_free or self.duals.v_up is not None

    # A read.

    def _read(self):
        """Go on where a read was left."""
        order = np.random.default_rng([self.seed, self.read]).permutation(len(self.pieces)).tolist()
        if self.place == (0, 0):
            self.points = self._ends() if self.mean.count else None
            self.mean.clear()
        while self.place[0] < len(order):
            self.place, moving = self.scan.fill(
                self.rows, order, self.place, self.w, self.points, self.horizon
            )
            self.moving = self.moving[0], self.moving[1] + moving
            self._optimise()
            self.mean.add(self.w)
            if self.place[0] == len(order):
                self.read, self.place, self.read_over = self.read + 1, (0, 0), True
                self.moving = self.moving[1], 0
                self.optimiser.read()
                self.gap, t = self.estimate()
                self.horizon = min(self.horizon, self.probe.change(self.w))
                yield self._looked_at() if self.points else self._step(self._ends().at(t))
                return
            yield self._step(self.w)

    def _ends(self):
        """The last point of a read, and the mean of its points."""
        return ReadPoints(self.w.copy(), self.mean.value() if self.mean.count else self.w.copy())

    def _step(self, w):
        return Step(w, self._best_bound(), n_cuts=self.rows.m, state=self.state, proof=self.proof)

    def proof(self):
        """The last dual point that was summed up with balanced duals, or the one of now."""
        if self.problem.regulariser.n_free:
            return self.balanced
        if not self.duals.is_whole:
            raise Torn
        return self._proof_of(self.duals.v, self.duals.loss, self.duals.sums, self.duals.store)

    def _proof_of(self, v, linear, sums, store, flow=None):
        sizes = self.problem.extent.dual_sizes(self.problem.C, linear)
        excess, point = gamma(32 + n_scores_of(self.problem)), partial(self.written, store, flow)
        return dual_proof(self.problem.regulariser, v, linear, *sizes, sums, excess, point=point)

    def _looked_at(self):
        """The best of the points that were looked at in this read."""
        w, primal, way = self.points.best(self.problem)
        self._balance()
        before = relative_gap(self.best, self.bound)
        self.best, self.bound = min(self.best, primal), self._best_bound()
        self.progress = relative_gap(self.best, self.bound) <= PROGRESS * before
        return Step(w, self.bound, primal, n_cuts=self.rows.m, state=self.state, proof=self.proof, way=way)

    def _balance(self):
        """With intercepts: D of balanced duals, where their sums are known without a read."""
        if (sums := self.duals.balanced()) is None:
            return
        if (dual := self.problem.regulariser.dual(*sums)) > self.bound:
            self.bound, self.balanced_of = dual, (self.duals.store.copy(), self.duals.flow)
            self.balanced = self._proof_of(*sums, 2 * self.duals.sums, *self.balanced_of)

    def _best_bound(self):
        """With intercepts duals must balance for D to be a bound: else a certificate sees to it."""
        return self.bound if self.problem.regulariser.n_free else max(self.bound, self.duals.dual)

    def _optimise(self):
        """Raise the dual over what is in memory, then forget what rests."""
        duals, problem = self.duals, self.problem
        data, index = self.rows.data, self.rows.index
        if not data.weights.any():  # their duals are 0
            self.rows.keep(np.arange(0))
            return
        part = problem.on(data)
        old = duals.shares(index, data.y)
        new, self.w = self.optimiser.run(part, old, duals.v, self.w, abs(duals.dual))
        new = duals.change(part, index, new, old, self.w)
        del old
        self.w = self.optimiser.point(self.w, duals.v)
        rest = problem.model.rest(data, part.scores(self.w), new)
        self._forget(np.where(data.weights > 0.0, rest, np.inf))

    def _forget(self, rest):
        """Remember those that may move, and of the others the nearest to it, as far as there is room: there
        is more where all that may move, as the last read has counted them, find a place together."""
        plan, full = self.plan, ALL_THAT_MOVE * self.plan.rows
        order = len(rest) - 1 - np.argsort(rest[::-1], kind="stable")  # of equals the newest
        moving, used = int((rest <= 0.0).sum()), np.cumsum(self.rows.sizes()[order])
        rows, numbers = plan.rows - plan.block_rows, plan.numbers - plan.block_numbers
        if self.moving[0] <= full:
            rows = max(rows, min(moving, int(full)))
            numbers = max(
                numbers, min(int(used[moving - 1]) if moving else 0, int(ALL_THAT_MOVE * plan.numbers))
            )
        order = order[:rows]
        order = order[(rest[order] <= self.horizon) & (used[:rows] <= numbers)]
        self.rows.keep(np.sort(order))

    # How far it is.

    def estimate(self):
        """(P - D, t) at the best point between the last one and the mean, told from a sample."""
        return self.probe.estimate(self._ends(), self.duals)

    def _certify(self, promised):
        """One read at fixed points: P of the best of them, and D with v summed anew; whether the estimate has
        `promised` that the tolerance is reached."""
        points, self.points = self._ends(), None
        self.mean.clear()  # the next read need not look at them again
        dual = self._bounds(points)
        w, primal, way = points.best(self.problem)
        self.since = 0
        progress = primal < self.best or dual > self.bound + 1e-12 * abs(dual)
        self.vain = 0 if progress else self.vain + 1
        self.best, self.bound = min(self.best, primal), max(self.bound, dual)
        if relative_gap(self.best, self.bound) > self.tol:
            self.caution *= CAUTION if promised else 1.0
            self.optimiser.sharpen()  # in either case: else hard problems need ten times the reads
        stalled = self.vain >= PATIENCE
        return Step(
            w, self.bound, primal, n_cuts=self.rows.m, stalled=stalled, state=self.state, proof=self.proof,
            way=way,
        )  # fmt: skip

    def _bounds(self, points):
        """D, with v summed anew; the points see all examples."""
        problem, model, duals = self.problem, self.problem.model, self.duals
        flow = duals.flow if problem.regulariser.n_free else None

        def one(bounds):
            lo, hi = bounds
            part, rows = self.source.part(lo, hi), Shard(0, hi - lo)
            p = duals.shares(slice(lo, hi), part.y)
            sums = [points.risks_on(model, part, rows), model.dual_loss(part, p)]
            sums.append(model.adjoint(part, rows, model.coefficients(part, p)))
            if duals.v_up is not None:
                up = model.upward(p)
                sums += [model.dual_loss(part, up), model.adjoint(part, rows, model.coefficients(part, up))]
            if flow is not None:
                sums.append(model.flow(part, p))
                p = model.balanced(part, p, flow)
                sums += [model.dual_loss(part, p), model.adjoint(part, rows, model.coefficients(part, p))]
            self.source.release(lo)
            return sums

        sums = self._sum_over(one)
        points.risks = sums[0]
        duals.loss, duals.v, duals.sums = problem.C * sums[1], problem.C * sums[2], problem.n
        if flow is None:
            return duals.dual
        if duals.v_up is not None:
            duals.loss_up, duals.v_up = problem.C * sums[3], problem.C * sums[4]
        duals.flow = sums[-3]
        dual = problem.regulariser.dual(v := problem.C * sums[-1], linear := problem.C * sums[-2])
        if self.balanced is None or dual >= self.bound:
            self.balanced_of = duals.store.copy(), flow
            self.balanced = self._proof_of(v, linear, problem.n, *self.balanced_of)
        return dual

    def _sum_over(self, function):
        """Sums over all pieces, in threads; a few at a time, as they may be as long as w."""
        bounds, engine = self.pieces, self.problem.engine
        total, step = None, 2 * engine.n_jobs
        for first in range(0, len(bounds), step):
            for sums in engine.map(function, bounds[first : first + step]):
                total = sums if total is None else [a + b for a, b in zip(total, sums, strict=True)]
        return total

    # To go on later.

    def state(self):
        mine = {name: getattr(self, name) for name in ("w", *BOUNDS, *PLACE)}
        mine |= {"duals": self.duals.state(), "remembered": self.rows.index.copy()}
        mine |= {"plan": _layout(self.plan), "optimiser": self.optimiser.state()}
        mine |= {"mean": self.mean.state(), "points": self.points and self.points.state()}
        mine |= {"probe": self.probe.scores}
        mine |= {"balanced": self.balanced and (*self.balanced.sums(), self.balanced_of)}
        return {"w": self.w, "streaming": mine}

    def _restore(self, state):
        self.w = np.array(state["w"])
        self.duals.restore(state["duals"])
        self.optimiser.restore(state["optimiser"])
        for name in BOUNDS:
            setattr(self, name, state[name])
        if kept := state.get("balanced"):
            self.balanced, self.balanced_of = Proof(*kept[:5], point=partial(self.written, *kept[5])), kept[5]
        if state["plan"] != _layout(self.plan):
            self._bounds(self._ends())  # the duals may be of another type
            return
        self.mean.restore(state["mean"])
        self.points = ReadPoints.of_state(state["points"])
        for name in PLACE:
            setattr(self, name, state[name])
        self.probe.scores = state["probe"]
        remembered = np.asarray(state["remembered"])
        for first in range(0, len(remembered), self.plan.piece_rows):
            index = remembered[first : first + self.plan.piece_rows]
            self.rows.add(self.source.take(index), index)

"""SplitProblem: a Problem whose examples lie with workers; GatheredProblem: only the rows of X do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..._jit.clock import now
from ...certificate.rounding import Extent, Proof, dual_proof, gamma
from ...cuts import Cuts, Plane
from ...data.rows import check_total, stacked, weights_of
from ...engines.scores import SplitScores
from ...engines.sums import LOST, unpacked
from ...errors import OneslackError
from ...memory.cut_cache import CutCache
from ...memory.dual_points import joined_points
from ..capabilities import Look, Scores, lacks, offers_scores
from ..in_memory import Problem, check_C, checked_rescaling, is_certifiable, is_compiled
from ..per_example import count_of, digest_of
from ..regulariser_input import regulariser_of
from ..work import Work
from .parts import MemoryPart, folder_digest, folder_parts, memory_parts
from .worker import RowsWorker, Worker


@dataclass(frozen=True)
class SplitData:
    """What the driver knows of the examples: their weights (n,), the size of a loss, and find_digest() for
    identity.py, which is the same for any number of workers."""

    weights: np.ndarray
    unit: float
    find_digest: Callable[[], tuple[str, str | None]]

    @cached_property
    def digest(self) -> tuple[str, str | None]:
        """See identity.py."""
        return self.find_digest()

    @property
    def n(self) -> int:
        return len(self.weights)


class SplitProblem(Problem):
    """A problem in parts, with a worker for each.

    Scores stay with the workers (scores.py); values, slopes and planes come back as sums.

    Parameters
    ----------
    model, C, sample_weight, rescaling, cache_size : as for Problem
    X, Y : sequences of n examples, as for Problem; or shards, as `formats.open_shards` gives them, which the
        workers read themselves, and code(shard) -> targets as the model has them; sample_weight is then
        weigh(shard) or None
    engine : Ray(...) or ThreadCrews(...)

    Its `engine` is the crew; leave it by `with problem.engine:`, which ends the workers.

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [-0.5, 0.0]]), [1, 1, -1, -1]
    >>> problem = oneslack.SplitProblem(oneslack.Binary(2), X, y, C=1.0, engine=oneslack.ThreadCrews(2))
    >>> with problem.engine:
    ...     result = oneslack.solve(problem, oneslack.OneSlack(), tol=1e-4)
    >>> result.gap <= 1e-4
    True
    """

    def __init__(
        self, model: Any, X: Any, Y: Any, C: float = 1.0, *, engine: Any, sample_weight: Any = None,
        rescaling: str = "margin", cache_size: int = 0, prior: Any = None, scale: Any = None,
        nonnegative: Any = None,
    ) -> None:  # fmt: skip
        check_C(C)
        self.model, self.X, self.Y, self.C = model, None, None, float(C)
        self.cache_size, self.rescaling = cache_size, checked_rescaling(model, rescaling)
        self.sees_scores, self.has_batches = offers_scores(model, rescaling), False
        self.certified, self.work = is_certifiable(model, self.sees_scores, rescaling), Work()
        if self.sees_scores and hasattr(model, "cut_along"):
            raise OneslackError(
                f"the risk of {type(model).__name__} is no sum over examples; use GatheredProblem"
            )
        self.regulariser = regulariser_of(model, prior, scale, nonnegative)
        engine = engine.laid_out(decodes=self.is_compiled and not self.sees_scores)
        if hasattr(X, "manifest"):
            parts, weights = folder_parts(X, Y, sample_weight, engine.n_workers)

            def find_digest():
                return folder_digest(X, Y, weights)

        else:
            parts = memory_parts(X, Y, sample_weight, engine.n_workers)
            weights = weights_of(sample_weight, count_of(X))
            known = digest_of(X, Y, weights)  # now: only the workers have them afterwards

            def find_digest():
                return known

        check_total(float(weights.sum()), self.C)
        self.parts = [(part.lo, part.hi) for part in parts]
        self.engine = engine.start(Worker, parts, model, {"C": self.C, "rescaling": rescaling})
        try:
            _, total, unit, self._stiffness = self._total("about")
        except BaseException:
            self.engine.close()
            raise
        self._set_data(SplitData(weights, unit / total, find_digest))

    @property
    def scores(self) -> ScoresOfWorkers | None:
        return ScoresOfWorkers(self) if self.sees_scores else None

    @property
    def oracle(self):
        """The workers' together."""
        return self if hasattr(self.model, "decode") else None

    @property
    def stiffness(self) -> float:
        return self._stiffness

    #: Shares of duals, and what solvers need that go over them, lie with the workers.
    shares = smooth = None

    @property
    def passes(self):
        """True where the workers' models have dual passes of their own, and know how these balance."""
        can = self.sees_scores and not lacks(self.model, ["dual_passes", "flow"])
        return True if can and self.regulariser.is_plain else None

    @property
    def is_compiled(self) -> bool:
        """Whether the workers' loops over examples are."""
        return is_compiled(self.model, self.rescaling)

    def _total(self, method, *arguments):
        """The sum of the workers' answers; vectors among them dense."""
        answer = self.engine.total(method, *arguments)
        if isinstance(answer, str):
            return answer
        return tuple(unpacked(value) for value in answer)

    @property
    def extent(self) -> Extent:
        # What a model of three methods has been asked for grows.
        return self._known_extent if self.is_compiled else self._extent_now()

    @cached_property
    def _known_extent(self):
        return self._extent_now()

    def _extent_now(self):
        first, *others = self.engine.ask("extent")
        return sum(others, start=first)

    @property
    def seen(self):
        return None if self.is_compiled else np.max(self.engine.ask("seen"), axis=0).tolist()

    def see(self, seen):
        self.engine.ask("see", seen)

    def cut_lengths(self):
        return np.concatenate(self.engine.ask("cut_lengths"))

    def worst_risk(self, w) -> tuple[float, bool]:
        risk, positive = self._total("worst_risk", np.asarray(w))
        return self.mean * risk, positive > 0.0

    def proof_of_sums(self, v, linear, flow=None) -> Proof:
        """Duals given by their sums; those of the workers balance by their flow."""
        extent, C = self.extent, self.C
        sizes = extent.dual_sizes(C, linear)
        point = partial(self._written_duals, flow)
        return dual_proof(
            self.regulariser, np.array(v), linear, *sizes, extent.rows, gamma(1024), point=point
        )

    def _written_duals(self, flow) -> dict | None:
        """The duals of all workers, one behind the other, as `Proof.point` gives them; None where one has
        lost them."""
        found = {}
        for answer in self.engine.ask("dual_point", flow):
            found |= answer
        if len(found) < len(self.parts) or any(point is None for point in found.values()):
            return None
        return joined_points(sorted(found.items()))

    def sample(self, index):
        raise OneslackError("a problem in parts gives no samples; use another solver than newton")

    # Values and cuts at w.

    def mean_cut(self, w) -> Plane:
        if self.scores is not None:
            return self.scores.cut(self.scores(w))
        with self._asking(self.n):
            plane, excess = self.plane_of("mean_cut", w)
        return replace(plane, excess=self.mean * excess)

    def plane_of(self, method, w, *arguments):
        """The plane that the workers' answers make; with what else they tell, summed up."""
        normal, offset, *more = self._total(method, np.asarray(w), *arguments)
        plane = self._plane((normal, offset))
        return (plane, *more) if more else plane

    def _plane(self, answer):
        normal, offset = answer
        return Plane(unpacked(normal) * self.mean, offset * self.mean)

    def cuts(self, w, index=None, precision=0.0) -> Cuts:
        index = np.arange(self.n) if index is None else np.asarray(index)
        lows = [lo for lo, _ in self.parts]
        owner = np.searchsorted(lows, index, side="right") - 1
        mine = [index[owner == k] for k in range(len(lows))]
        with self._asking(len(index)):
            found = self.engine.ask_each("cuts", mine, np.asarray(w))
        places = np.concatenate([part[0] for part in found]).astype(np.int64)
        rows = stacked([part[1] for part in found if len(part[0])] or [found[0][1]])
        losses = np.concatenate([part[2] for part in found])
        excess = None
        if any(part[4] is not None and len(part[4]) for part in found):
            excess = np.empty(len(index))
            for k, part in enumerate(found):
                excess[owner == k] = part[4]
        return Cuts(places, rows, losses, [output for part in found for output in part[3]], excess)

    # The workers' remembered cuts.

    def cut_cache(self, size, enough):
        return SplitCutCache(self, size, enough)

    # The workers' duals: see solvers/distributed/dual.py.

    def total_duals(self, method, *arguments):
        """A sum over the workers, or None where one of them has lost its duals."""
        answer = self._total(method, *arguments)
        return None if isinstance(answer, str) and answer == LOST else answer

    def changes(self, method, separate, *arguments, meanwhile=None):
        """The workers' answers one by one, or their sum as the only one, vectors packed; None where duals are
        lost.  meanwhile() is what the driver does before it waits."""
        ask = self.engine.ask if separate else self.engine.total
        answers = ask(method, *arguments, meanwhile=meanwhile)
        if isinstance(answers, str):
            return None
        return answers if separate else [answers]


class SplitCutCache(CutCache):
    """The constraint cache of a problem in parts: every worker remembers the cuts of its own examples, and is
    asked where CutCache looks itself.  What they remember is no part of a checkpoint."""

    def __init__(self, problem: Any, size: Any, enough: Any) -> None:
        self.problem, self.size, self.enough = problem, size, enough
        self.store = ()
        self.last, self.seconds, self.dual = "", 0.0, -np.inf
        self.asked_rate = self.pause = self.wait = self.n_looks = 0
        self.is_idle = False

    def plane(self, w) -> Plane:
        begin = now()
        with self.problem.recalling(self.problem.n):
            plane = self.problem.plane_of("remembered_cut", w)
        self.last, self.seconds = "recalled", now() - begin
        self.n_looks += 1
        return plane

    def ask(self, w) -> tuple[Plane, float, float]:
        begin = now()
        with self.problem._asking(self.problem.n):
            plane, hinges, inference = self.problem.plane_of("cut_and_remember", w, self.size)
        self.store = (plane,)  # there is something to look at
        self.last, self.seconds = "asked", now() - begin
        return plane, self.problem.mean * hinges, self.problem.mean * inference

    def state(self):
        own = {name: value for name, value in vars(self).items() if name not in ("problem", "store")}
        return own | {"n_remembered": len(self.store)}

    def restore(self, state):
        self.store = ()  # until they are asked
        vars(self).update({name: value for name, value in state.items() if name != "n_remembered"})


class ScoresOfWorkers(Scores):
    """Scores that the workers keep: here they have names (engines/scores.py)."""

    def __call__(self, w) -> SplitScores:
        return SplitScores(np.array(w, dtype=float))

    def risk(self, S) -> float:
        return self.problem.mean * self.problem._total("risk", S)[0]

    def along(self, S, dS, t) -> Look:
        found = self.problem._total("along", S, dS, float(t))
        loss, risk, slope = (self.problem.mean * value for value in found)
        return Look(risk, slope, loss, None)

    def cut(self, S) -> Plane:
        return self.problem._plane(self.problem._total("cut", S))

    def group_cuts(self, S, count) -> list[Plane]:
        """Planes under the parts of the risk that `count` groups of examples make, or so many as there are
        workers if those are more."""
        per_worker = max(1, round(count / len(self.problem.parts)))
        answers = self.problem.engine.ask("cuts_of_groups", S, per_worker)
        return [self.problem._plane(answer) for worker in answers for answer in worker]

    def n_groups(self, count) -> int:
        """How many planes `group_cuts` gives."""
        return len(self.problem.parts) * max(1, round(count / len(self.problem.parts)))

    def believed(self, w, S, way):
        return None


class GatheredProblem(Problem):
    """A problem whose risk is no sum over examples: workers hold rows of X and give scores and their adjoint;
    the risk and its cuts are found here."""

    def __init__(self, model: Any, X: Any, Y: Any, C: float = 1.0, *, engine: Any, **options: Any) -> None:
        from ...data import rows

        X = rows.as_rows(X)
        super().__init__(model, X, Y, C, n_jobs=None, **options)
        self.X, engine = None, engine.laid_out(decodes=False)
        parts = [
            MemoryPart(part.lo, part.hi, part.X, np.zeros(part.hi - part.lo), None)
            for part in memory_parts(X, np.zeros(self.n), None, engine.n_workers)
        ]
        self.engine = engine.start(RowsWorker, parts, model, {})

    @property
    def scores(self) -> GatheredScores:
        return GatheredScores(self)


class GatheredScores(Scores):
    """Scores that are found by the workers and worked on here."""

    def __call__(self, w):
        return np.concatenate(self.problem.engine.ask("scores_of", np.asarray(w)))

    def adjoint(self, coefficients):
        return unpacked(self.problem.engine.total("adjoint_of", coefficients, 0)[0])

"""SplitProblem: a Problem whose examples lie with workers; GatheredProblem: only the rows of X do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..cuts import Cuts, Plane
from ..errors import OneslackError
from ..per_example import count_of
from ..problem import Look, Problem, Work, check_C, checked_rescaling, is_compiled, offers_scores
from ..regulariser_input import regulariser_of
from ..rows import stacked
from .parts import MemoryPart, folder_parts, memory_parts
from .scores import SplitScores
from .sums import LOST, unpacked
from .worker import RowsWorker, Worker


@dataclass(frozen=True)
class SplitData:
    """What the driver knows of the examples: their weights (n,), and the size of a loss."""

    weights: np.ndarray
    unit: float

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
        self, model, X, Y, C=1.0, *, engine, sample_weight=None, rescaling="margin", cache_size=0,
        prior=None, scale=None, nonnegative=None,
    ):  # fmt: skip
        check_C(C)
        self.model, self.X, self.Y, self.C = model, None, None, float(C)
        self.cache_size, self.rescaling = cache_size, checked_rescaling(model, rescaling)
        self.certified, self.work = bool(getattr(model, "exact", True)), Work()
        self.has_scores, self.has_batches = offers_scores(model) and rescaling == "margin", False
        if self.has_scores and hasattr(model, "cut_along"):
            raise OneslackError(
                f"the risk of {type(model).__name__} is no sum over examples; use GatheredProblem"
            )
        self.regulariser = regulariser_of(model, prior, scale, nonnegative)
        engine = engine.laid_out(decodes=self.is_compiled and not self.has_scores)
        if hasattr(X, "manifest"):
            parts, weights = folder_parts(X, Y, sample_weight, engine.n_workers)
        else:
            weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
            parts = memory_parts(X, Y, weights, engine.n_workers)
            weights = np.ones(count_of(X)) if weights is None else weights
        if not weights.sum() > 0:
            raise ValueError("there is no example with a positive weight")
        self.parts = [(part.lo, part.hi) for part in parts]
        self.engine = engine.start(Worker, parts, model, {"C": self.C, "rescaling": rescaling})
        try:
            _, total, unit, self.stiffness = self._total("about")
        except BaseException:
            self.engine.close()
            raise
        self._set_data(SplitData(weights, unit / total))

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

    def sample(self, index):
        raise OneslackError("a problem in parts gives no samples; use another solver than newton")

    # Values and cuts at w.

    def risk(self, w) -> float:
        return self.risk_at(self.scores(w)) if self.has_scores else self.mean_cut(w).value(w)

    def mean_cut(self, w) -> Plane:
        if self.has_scores:
            return self.cut_at(self.scores(w))
        with self._asking(self.n):
            return self.plane_of("mean_cut", w)

    def plane_of(self, method, w, *arguments) -> Plane:
        """The plane that the workers' answers make."""
        return self._plane(self._total(method, np.asarray(w), *arguments))

    def _plane(self, answer):
        normal, offset = answer
        return Plane(unpacked(normal) * self.mean, offset * self.mean)

    def cuts(self, w, index=None) -> Cuts:
        index = np.arange(self.n) if index is None else np.asarray(index)
        lows = [lo for lo, _ in self.parts]
        owner = np.searchsorted(lows, index, side="right") - 1
        mine = [index[owner == k] for k in range(len(lows))]
        with self._asking(len(index)):
            found = self.engine.ask_each("cuts", mine, np.asarray(w))
        places = np.concatenate([part[0] for part in found]).astype(np.int64)
        rows = stacked([part[1] for part in found if len(part[0])] or [found[0][1]])
        losses = np.concatenate([part[2] for part in found])
        return Cuts(places, rows, losses, [output for part in found for output in part[3]])

    # Through scores, which the workers keep.

    def scores(self, w) -> SplitScores:
        return SplitScores(np.array(w, dtype=float))

    def risk_at(self, S) -> float:
        return self.mean * self._total("risk", S)[0]

    def along(self, S, dS, t) -> Look:
        loss, risk, slope = (self.mean * value for value in self._total("along", S, dS, float(t)))
        return Look(risk, slope, loss, None)

    def cut_at(self, S) -> Plane:
        return self._plane(self._total("cut", S))

    def group_cuts_at(self, S, count) -> list[Plane]:
        """Planes under the parts of the risk that `count` groups of examples make, or so many as there are
        workers if those are more."""
        per_worker = max(1, round(count / len(self.parts)))
        answers = self.engine.ask("cuts_of_groups", S, per_worker)
        return [self._plane(answer) for worker in answers for answer in worker]

    def groups(self, count) -> int:
        """How many planes `group_cuts_at` gives."""
        return len(self.parts) * max(1, round(count / len(self.parts)))

    # The workers' remembered cuts.

    def cut_cache(self, size, enough):
        from .caches import SplitCutCache

        return SplitCutCache(self, size, enough)

    # The workers' duals: see solvers/distributed_dual.py.

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


class GatheredProblem(Problem):
    """A problem whose risk is no sum over examples: workers hold rows of X and give scores and their adjoint;
    the risk and its cuts are found here."""

    def __init__(self, model, X, Y, C=1.0, *, engine, **options):
        from .. import rows

        X = rows.as_rows(X)
        super().__init__(model, X, Y, C, n_jobs=None, **options)
        self.X, engine = None, engine.laid_out(decodes=False)
        parts = [
            MemoryPart(part.lo, part.hi, part.X, np.zeros(part.hi - part.lo), None)
            for part in memory_parts(X, np.zeros(self.n), None, engine.n_workers)
        ]
        self.engine = engine.start(RowsWorker, parts, model, {})

    def scores(self, w):
        return np.concatenate(self.engine.ask("scores_of", np.asarray(w)))

    def adjoint(self, coefficients):
        return unpacked(self.engine.total("adjoint_of", coefficients, 0)[0])

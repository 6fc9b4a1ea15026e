"""What a training would cost on more machines: a model of its time, memory and traffic.

A round of cutting planes on K workers (docs/scaling.md):

    seconds = (entries a_e + looks rows a_r) / K           the workers' passes, each over its share
            + calls (latency + K send)                      the driver asks everybody, and waits
            + 8 d hops / bandwidth                          w goes out, the plane comes back
            + d planes a_q                                  products of the new plane with the others

a_e, a_r and a_q are measured on this machine; latency and send are those of Ray here.

Where the examples themselves are at hand, short trainings on two samples of them say more, of any solver:

    seconds of a step = fixed + n example      of which K workers share the second part

On the engine that is meant, they also count what its messages cost.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

#: Looks at the risk along a line, and messages to all workers, in a round of cutting planes.
LOOKS, CALLS = 7, 8
#: Rounds to a relative gap of 1e-3: what the sets of benchmarks/RESULTS.md took, in the middle.
ROUNDS = 45
#: Scores that a worker keeps at a time (engines/scores.py), and vectors as long as w that it holds.
KEPT, VECTORS = 8, 4
#: Seconds that a calibration takes, about, and the entries of its sample: more than caches hold.
BUDGET, SAMPLE = 0.5, 5_000_000
#: Short trainings, of which the middle one counts.
REPEATS = 3
#: Bytes of a process with Python and compiled code in it.
PROCESS = 250_000_000


@dataclass(frozen=True)
class Size:
    """Rows, features and stored numbers of a data set; `columns` scores a row: 1 for two classes, else K."""

    rows: int
    features: int
    entries: int
    columns: int = 1
    is_sparse: bool = True
    item: int = 8

    @property
    def n_params(self) -> int:
        return self.features * self.columns

    @property
    def data_bytes(self) -> int:
        index = 4 * self.entries + 4 * self.rows if self.is_sparse else 0
        return self.entries * self.item + index + 16 * self.rows


@dataclass(frozen=True)
class Costs:
    """Seconds: a stored number (scores and their adjoint), a row's look at its score, a number of a plane's
    product; a message and its part for each worker; bytes a second between machines."""

    entry: float
    row: float
    product: float
    latency: float = 1e-3
    send: float = 2e-4
    bandwidth: float = 1e9


@dataclass(frozen=True)
class Forecast:
    """What a training on so many workers takes."""

    workers: int
    seconds: float
    round_seconds: float
    bytes_a_round: int
    worker_bytes: int
    driver_bytes: int


def forecast(size, costs, workers, rounds=ROUNDS, per_machine=1, looks=LOOKS, calls=CALLS) -> Forecast:
    """The costs of `rounds` rounds of cutting planes on `workers` workers, some of them on a machine."""
    machines = math.ceil(workers / per_machine)
    vector = 8 * size.n_params
    hops = 2 * (1 + math.ceil(math.log2(machines))) if machines > 1 else 2
    work = (size.entries * costs.entry + looks * size.rows * size.columns * costs.row) / workers
    asking = calls * (costs.latency + workers * costs.send)
    planes = size.n_params * 0.5 * rounds * costs.product  # half of them are there in the mean
    seconds = work + asking + vector * hops / costs.bandwidth + planes
    share = math.ceil(size.rows / workers)
    return Forecast(
        workers,
        rounds * seconds,
        seconds,
        vector * machines + vector * min(workers, machines),
        size.data_bytes // workers + 8 * share * size.columns * (KEPT + 2) + VECTORS * vector + PROCESS,
        rounds * vector + 8 * size.rows + VECTORS * vector + PROCESS,
    )


def calibrate(size, X=None, costs=None, threads=1) -> Costs:
    """Measure what a thread of this machine takes while so many of them work, as those of a machine share its
    memory; on some rows of X or on made-up rows of the same shape."""
    from ..models import Binary, Multiclass
    from ..problems.in_memory import Problem

    X = _made_up(size) if X is None else X
    size = _size_of(X, size)
    rng = np.random.default_rng(0)
    if size.columns == 1:
        model, y = Binary(size.features), rng.choice([-1.0, 1.0], size.rows)
    else:
        model, y = Multiclass(size.features, size.columns), rng.integers(0, size.columns, size.rows)
    problem = Problem(model, X, y, n_jobs=threads)
    w, c = rng.normal(size=model.n_params), rng.normal(size=np.shape(model.new_scores(problem.data)))
    S = problem.scores(w)
    passes = threads * _median(lambda: (problem.scores(w), problem.scores.adjoint(c)))
    look = threads * _median(lambda: problem.scores.along(S, S, 0.5))
    normals = rng.normal(size=(8, min(size.n_params, 1_000_000)))
    product = _median(lambda: normals @ normals[0])
    known = costs or Costs(0.0, 0.0, 0.0)
    numbers = size.rows * size.columns
    return replace(known, entry=passes / size.entries, row=look / numbers, product=product / normals.size)


def _made_up(size):
    import scipy.sparse as sp

    per_row = max(1, size.entries // max(size.rows, 1))
    rows = int(max(1, min(size.rows, SAMPLE // (per_row * size.columns))))
    rng = np.random.default_rng(0)
    if not size.is_sparse:
        return rng.normal(size=(rows, size.features))
    # Few words are frequent: the weights that are read are mostly in the cache.
    ranks = (size.features ** rng.random(rows * per_row)).astype(np.int64) - 1
    places = rng.permutation(size.features)[np.clip(ranks, 0, size.features - 1)].astype(np.int32)
    starts = np.arange(rows + 1, dtype=np.int32) * per_row
    X = sp.csr_array((np.ones(len(places)), places, starts), shape=(rows, size.features))
    X.sum_duplicates()
    return X


def _size_of(X, size):
    entries = X.nnz if hasattr(X, "nnz") else X.size
    return replace(size, rows=X.shape[0], entries=max(entries, 1))


def _median(work):
    """Seconds of one call: the median of as many as the budget has room for."""
    work()  # compiles
    times, end = [], time.perf_counter() + BUDGET
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 50):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


@dataclass(frozen=True)
class StepCosts:
    """Seconds of a solver's step on `measured` workers: fixed + n example."""

    fixed: float
    example: float
    measured: int = 1

    def seconds(self, n, workers, steps, rounds=0, latency=0.0, moved=0, bandwidth=1e9) -> float:
        """Of so many steps on n examples, in which the driver waits for all workers `rounds` times and
        `moved` bytes travel; the last four are for costs that were measured without messages."""
        work = self.fixed + n * self.example * self.measured / workers
        return steps * work + rounds * latency + moved / bandwidth


def measure_steps(model, X, Y, C, solver, sizes, steps=20, engine=None, tol=1e-4) -> StepCosts:
    """The costs of a step from short trainings on the first examples: two sizes of them.

    steps   of each training: as many as the large one will take, where that is known
    engine  where they run: None for one worker in this process; Ray(...) counts what its messages cost
    tol     a gap at which they stop even so: a tenth of the large one's, as solvers search longer in a step
            where the gap is to be small

    >>> import numpy as np, oneslack
    >>> from oneslack.selection.scaling import measure_steps
    >>> X = np.random.default_rng(0).normal(size=(400, 5))
    >>> costs = measure_steps(oneslack.Binary(5), X, np.sign(X[:, 0]), 1.0, oneslack.OneSlack(), (100, 400))
    >>> costs.seconds(10_000, workers=2, steps=30) > 0
    True
    """
    from ..driver import solve
    from ..engines.crew import ThreadCrews
    from ..problems.new import new_problem
    from ..problems.parts.parts import neighbours

    engine, seconds = engine or ThreadCrews(1), []
    for n in sizes:
        X_n, Y_n = neighbours(X, 0, n), neighbours(Y, 0, n)
        problem = new_problem(model, X_n, Y_n, C, engine=engine, solver=solver)
        with problem.engine:
            n_workers = len(problem.engine)
            # The first training compiles, and its memory is new.
            _, *results = [solve(problem, solver, tol=tol, max_iter=steps) for _ in range(1 + REPEATS)]
        seconds.append(float(np.median([result.seconds / result.n_iter for result in results])))
    return step_costs(sizes, seconds, n_workers)


def step_costs(sizes, seconds, measured) -> StepCosts:
    """From the seconds of a step on two numbers of examples, on so many workers."""
    (small, large), (few, many) = seconds, sizes
    example = max((large - small) / (many - few), 0.0)
    return StepCosts(max(small - few * example, 0.0), example, measured)
